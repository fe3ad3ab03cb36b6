"""The manifest's summary of an experiment: its set-up, its A/A control, its trials."""

from __future__ import annotations

import pytest

from replay.derive.experiment import derive_experiment
from support.rawtree import VARIANTS, RawTree


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "demo" / "rbd-journaling"


def entry_of(tree):
    return derive_experiment(tree.directory).entry


def test_the_set_up_is_that_of_the_recorded_design(directory):
    tree = RawTree(directory, options={"io_threads": 16}, target_seconds=1.5).measure()
    assert entry_of(tree)["parameters"] == {
        "io_threads": 16,
        "largest_io_size_bytes": 65536,
        "smallest_io_size_bytes": 4096,
        "target_seconds": 1.5,
    }


def test_facts_that_the_design_does_not_record_come_from_the_sidecars_if_they_agree(directory):
    tree = RawTree(directory)
    tree.attempt(1, "write-seq-4096", facts={"with-journal": {"snapshot_interval_seconds": 5}})
    assert entry_of(tree)["parameters"]["snapshot_interval_seconds"] == 5
    tree.attempt(1, "write-seq-65536", facts={"with-journal": {"snapshot_interval_seconds": 60}})
    assert "snapshot_interval_seconds" not in entry_of(tree)["parameters"]


def test_the_control_says_how_many_of_its_intervals_exclude_1(directory):
    def rate(block, variant, levels):
        noise = 1 + 0.01 * (block % 2)
        off = 0.5 if variant == "control" and levels["io_size_bytes"] == 4096 else 1
        return 1000 * off * (noise if variant == "control" else 1)

    control = entry_of(RawTree(directory, rate=rate).measure(blocks=4))["control"]
    # Read and write, two sizes: at 4096 bytes the second image is half as fast.
    assert (control["intervals"], control["excluding_one"], control["share"]) == (4, 2, 0.5)
    assert control["geometric_mean"] == pytest.approx(2**0.5, rel=0.01)


def test_one_block_gives_the_control_no_interval(directory):
    control = entry_of(RawTree(directory).measure())["control"]
    assert (control["intervals"], control["excluding_one"], control["share"]) == (0, 0, None)
    assert control["geometric_mean"] == pytest.approx(1, abs=0.1)


def test_without_a_control_the_manifest_says_none(directory):
    assert entry_of(RawTree(directory, variants=VARIANTS[:2]).measure())["control"] is None


@pytest.mark.parametrize(("unit", "keys"), [("seconds", "_seconds"), ("count", "")])
def test_trials_are_summed_up_by_variant(directory, unit, keys):
    variants = [{"name": "journal", "label": "Journal"}, {"name": "snapshot", "label": "Snapshot"}]
    metric = {"metric": "seconds_to_first_write", "name": "first-write", "title": "To write", "unit": unit}
    tree = RawTree(
        directory, factors={"kind": ["planned"]}, variants=variants, metrics=[metric], tool="no-tool",
        protocol="failover", x_factor=None, x_label=None, x_unit=None, workload_factors=["kind"],
    )  # fmt: skip
    for block, seconds in enumerate((3, 9.25, 4), start=1):
        facts = {"journal": {"seconds_to_first_write": seconds}, "snapshot": {"seconds_to_first_write": 2}}
        tree.attempt(block, "planned", facts=facts, outputs={one["name"]: {"stdout": "steps"} for one in variants})
    summary = entry_of(tree)["charts"]["first-write-planned"]["summary"]
    assert summary["journal"] == {f"median{keys}": 4, f"min{keys}": 3, f"max{keys}": 9.25, "n": 3}
    assert summary["snapshot"]["n"] == 3


def test_charts_over_an_axis_have_no_summary_of_trials(directory):
    charts = entry_of(RawTree(directory).measure())["charts"]
    assert [name for name, chart in charts.items() if "summary" in chart] == []
