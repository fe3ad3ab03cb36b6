"""Older raw output is drawn with metrics that were configured since, and without variants that were refused."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.derive.experiment import configured_metrics, derive_experiment, with_added
from replay.design.configuration import load_experiment
from support.rawtree import METRICS, RawTree

MINUTES = {**METRICS[1], "metric": "minutes", "name": "minutes", "title": "Minutes", "unit": "count", "ratio": True}


@pytest.fixture
def derived(tmp_path, monkeypatch):
    """Derive an experiment whose configuration lists further metrics; writes of 4 KiB state `minutes`, by variant."""

    def of(*configured, recorded=METRICS):
        monkeypatch.setattr("replay.derive.experiment.configured_metrics", lambda name: [*METRICS, *configured])
        tree = RawTree(tmp_path / "demo" / "rbd-journaling", metrics=recorded)
        facts = {one["name"]: {"minutes": 2 + number} for number, one in enumerate(tree.variants)}
        for point in tree.points:
            tree.attempt(1, point, facts=facts if point == "write-seq-4096" else None)
        return derive_experiment(tree.directory).entry["charts"], tree.directory / "aggregate"

    return of


def test_a_metric_that_was_added_since_is_drawn_with_its_ratio(derived):
    charts, folder = derived(MINUTES)
    assert (folder / "minutes-write-seq.csv").read_text().splitlines()[1] == "Without journal,2,"
    assert charts["ratio-minutes-write-seq"]["column"] == "minutes"


def test_a_metric_that_no_run_states_has_no_chart(derived):
    charts, _ = derived(MINUTES, {**MINUTES, "metric": "hours", "name": "hours"})
    assert [name for name in charts if "minutes-read" in name or "hours" in name] == []


def test_metrics_in_the_design_stay_as_they_were_recorded(derived):
    charts, _ = derived({**METRICS[0], "title": "Another title"}, recorded=[*METRICS, {**MINUTES, "ratio": False}])
    assert charts["throughput-write-seq"]["y"]["label"] == METRICS[0]["title"]
    assert "ratio-minutes-write-seq" not in charts
    assert "minutes-read-seq" in charts, "one that is recorded is drawn empty, as before"


def test_only_metrics_that_a_design_does_not_list_are_added_to_it():
    design = {"metrics": [{"name": "a"}], "title": "as recorded"}
    found = with_added(design, [{"name": "a", "unit": "bytes"}, {"name": "b"}])
    assert found == {"metrics": [{"name": "a"}, {"name": "b", "added": True}], "title": "as recorded"}
    assert design == {"metrics": [{"name": "a"}], "title": "as recorded"}


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
