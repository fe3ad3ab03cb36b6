"""Older raw output is drawn with the metrics of today's configuration, and without variants that were refused."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.derive.experiment import configured_metrics, derive_experiment
from replay.design.configuration import load_experiment
from support.rawtree import METRICS, RawTree

MINUTES = {**METRICS[1], "metric": "minutes", "name": "minutes", "title": "Minutes", "unit": "count", "ratio": True}


@pytest.fixture
def derived(tmp_path, monkeypatch):
    """Derive an experiment whose configuration lists these metrics; writes of 4 KiB state `minutes`, by variant."""

    def of(*configured):
        monkeypatch.setattr("replay.derive.experiment.configured_metrics", lambda name: [*configured])
        tree = RawTree(tmp_path / "demo" / "rbd-journaling", metrics=METRICS)
        facts = {one["name"]: {"minutes": 2 + number} for number, one in enumerate(tree.variants)}
        for point in tree.points:
            tree.attempt(1, point, facts=facts if point == "write-seq-4096" else None)
        return derive_experiment(tree.directory).entry["charts"], tree.directory / "aggregate"

    return of


def test_a_metric_that_was_added_since_is_drawn_with_its_ratio(derived):
    charts, folder = derived(*METRICS, MINUTES)
    assert (folder / "minutes-write-seq.csv").read_text().splitlines()[1] == "Without journal,2,"
    assert charts["ratio-minutes-write-seq"]["column"] == "minutes"


def test_a_metric_that_no_run_states_has_no_chart(derived):
    charts, _ = derived(*METRICS, MINUTES, {**MINUTES, "metric": "hours", "name": "hours"})
    assert [name for name in charts if "minutes-read" in name or "hours" in name] == []


def test_a_metric_that_is_no_longer_configured_is_not_drawn(derived):
    charts, folder = derived({**METRICS[0], "title": "Another title"})
    assert charts["throughput-write-seq"]["y"]["label"] == "Another title"
    assert {name.removeprefix("ratio-").split("-")[0] for name in charts} == {METRICS[0]["name"]}
    assert not [*folder.glob(f"{METRICS[1]['name']}-*.csv")]


def test_an_experiment_that_is_not_configured_keeps_its_own_metrics(derived):
    charts, _ = derived()
    assert charts["throughput-write-seq"]["y"]["label"] == METRICS[0]["title"]


def test_the_configuration_is_that_of_the_experiment():
    assert configured_metrics("failover") == load_experiment("failover")["metrics"]


def test_an_experiment_without_a_configuration_gains_nothing():
    assert configured_metrics("no-such-experiment") == []
    assert configured_metrics("") == []


def test_an_invalid_configuration_is_refused_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "failover.yaml").write_text("metrics: [\n")
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"failover\.yaml"):
        configured_metrics("failover")


REFUSED = {"variant": "with-journal", "requires": "pool_create", "detail": "the monitors refuse it"}


def measured(folder, *skipped_by_receipt):
    """A block for each receipt, without the variant that the receipt skips."""
    tree = RawTree(folder / "demo" / "rbd-journaling")
    everything = tree.variants
    for block, skipped in enumerate(skipped_by_receipt, start=1):
        without = {one["variant"] for one in skipped}
        tree.variants = [one for one in everything if one["name"] not in without]
        for point in tree.points:
            tree.attempt(block, point)
        content = {"schema_version": 1, "block": block, "design": tree.design_digest, "skipped": skipped}
        tree.record(f"block-{block:02d}/receipt-{block:012x}.json", {**content, "ended_at": tree.moment()})
    return derive_experiment(tree.directory), tree.directory


def test_the_manifest_names_refused_variants_and_the_others_are_drawn(tmp_path):
    derived, directory = measured(tmp_path, [REFUSED])
    assert derived.entry["skipped"] == [REFUSED]
    assert derived.entry["cells_measured"] == derived.entry["cells"] * 2 / 3
    rows = (directory / "aggregate" / "throughput-write-seq.csv").read_text().splitlines()[1:]
    by_label = {row.split(",")[0]: row.split(",")[1:] for row in rows}
    assert by_label["With journal"] == ["", ""]
    assert all(by_label["Without journal"])


def test_the_newest_receipt_counts(tmp_path):
    derived, _ = measured(tmp_path / "allowed later", [REFUSED], [])
    assert derived.entry["skipped"] == []
    derived, _ = measured(tmp_path / "refused later", [], [REFUSED])
    assert derived.entry["skipped"] == [REFUSED]
