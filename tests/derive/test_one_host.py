"""A block is of one host: what another one measured in it is void, and does not reach a table as good."""

from __future__ import annotations

import json

import pytest

from replay.claims.data_set import derive_data_set
from support.datasets import manifest_of, rows_of
from support.rawtree import HOST, RawTree

OTHER = {**HOST, "id": "host-1"}


@pytest.fixture
def tree(tmp_path):
    return RawTree(tmp_path / "demo" / "rbd-journaling", sealed=False).measure(blocks=2)


def moved(tree, pattern, host):
    """Say in these sidecars that another host measured them."""
    tree.change_sidecars(pattern, lambda told: {"host": host})


def derived(tree):
    """The rows of tidy.csv, and what the manifest says of the experiment."""
    data_set = tree.directory.parent
    derive_data_set(data_set)
    return rows_of(tree.directory / "tidy.csv"), manifest_of(data_set)["experiments"]["rbd-journaling"]


def test_the_manifest_names_the_host_of_each_block(tree):
    moved(tree, "block-02/*/attempt-1/*.json", OTHER)
    rows, entry = derived(tree)
    assert all(row["used"] == "1" for row in rows)
    assert entry["provenance"]["machines_by_block"] == {"1": ["host-0"], "2": ["host-1"]}
    assert [(one["host"], one["blocks"]) for one in entry["provenance"]["hosts"]] == [("host-0", [1]), ("host-1", [2])]
    assert {(row["block"], row["host"]) for row in rows} == {("1", "host-0"), ("2", "host-1")}
    assert entry["charts"]["throughput-write-seq"]["hosts"] == ["host-0", "host-1"]


def test_a_host_without_a_pseudonym_is_told_by_its_processor_and_kernel(tree):
    moved(tree, "block-*/*/attempt-1/*.json", {"cpu": "A CPU", "kernel": "6.1.0"})
    rows, entry = derived(tree)
    assert {row["host"] for row in rows} == {"A CPU, 6.1.0"}
    assert "hosts" not in entry["charts"]["throughput-write-seq"], "one host needs no mark"


@pytest.mark.parametrize("host", [OTHER, {**HOST, "cpu": "Another CPU"}], ids=["a machine", "a processor"])
def test_in_a_block_that_moved_only_what_its_last_host_measured_counts(tree, host):
    last = max(
        (json.loads(path.read_text())["ended_at"], path.parts[-3])
        for path in tree.files("block-02/*/attempt-1/attempt.json")
    )[1]
    moved(tree, f"block-02/{last}/attempt-1/*.json", host)
    rows, entry = derived(tree)
    for row in rows:
        stays = row["block"] == "1" or row["point"] == last
        found = (row["used"], row["valid"], row["invalid_reason"])
        assert found == (("1", "1", "") if stays else ("0", "0", "host_changed")), row["point"]
    assert entry["provenance"]["machines_by_block"] == {"1": ["host-0"], "2": [host["id"]]}
    assert entry["invalid"] == {"host_changed": sum(row["valid"] == "0" for row in rows)}


def test_a_set_that_two_hosts_measured_is_void(tree):
    moved(tree, "block-02/write-seq-4096/attempt-1/with-journal.json", OTHER)
    rows, _ = derived(tree)
    void = {(row["block"], row["point"]) for row in rows if row["valid"] == "0"}
    assert void == {("2", "write-seq-4096")}
