"""Facts of cells come from the sidecar, its samples and the metrics; unknown facts are left out."""

from __future__ import annotations

import csv

import pytest

from replay.base.paths import ROOT
from replay.derive.fact_vocabulary import FACTS
from replay.derive.facts import facts_of

REFERENCE = ROOT / "benchmarks" / "reference"
HERE = {"load": {"cpu_idle_fraction": 0.3, "disk_busy_fraction": 0.5}, "limiter": "none", "limiter_rule": "a rule"}
STEADY = {"daemons": {"machine": {"cpu_idle_fraction": 0.1, "disk_busy_fraction": 0.2}}}


def host(idle_cpu_seconds):
    return {"cpus": 2, "seconds": 10.0, "cpu_idle_seconds": idle_cpu_seconds}


def of(sidecar=None, metrics=None, outputs=None):
    return facts_of({**HERE, **(sidecar or {})}, outputs or {}, metrics or {})


def test_the_cpu_of_the_whole_run_is_used_if_nothing_better_is_known():
    assert of() == {"idle_cpu_fraction": 0.3, "limiter": "none"}


def test_the_steady_part_is_preferred():
    found = of({"samples": STEADY})
    assert (found["idle_cpu_fraction"], found["limiter"]) == (0.1, "cpu")


def test_of_several_hosts_the_busiest_counts():
    hosts = {"prometheus": {"hosts": {"host-1": host(16.0), "host-2": host(4.0)}, "osds": {}}}
    assert of({"samples": hosts})["idle_cpu_fraction"] == pytest.approx(0.2)
    assert "idle_cpu_fraction" not in of({"samples": {"prometheus": {"hosts": {}, "osds": {}}}})


def test_daemons_on_unobserved_machines_give_no_fact():
    assert of({"limiter": "unknown"}) == {}


@pytest.mark.parametrize(
    ("metrics", "fact", "value"),
    [
        ({"duration_seconds": 8.0}, "load_seconds", 8.0),
        ({"offered_share_met": 0.97}, "offered_share_met", 0.97),
        ({"snapshots_taken": 3.0}, "snapshots_taken_in_cell", 3.0),
        ({"snapshots_copied_in_cell": 0.0}, "snapshots_synced_in_cell", 0.0),
        ({"replayed_bytes_in_cell": 30.0, "bytes": 40.0}, "replayed_fraction_during_cell", 0.75),
        ({"replayed_bytes_in_cell": 0.0, "bytes": 40.0}, "replayed_fraction_during_cell", 0.0),
        ({"duration_seconds": 60.0, "journal_poll_age_seconds": 5.0}, "poll_ages_in_cell", 12.0),
        ({"duration_seconds": 60.0, "snapshot_interval_seconds": 15.0}, "snapshot_intervals_in_cell", 4.0),
    ],
)
def test_a_fact_comes_from_the_metrics_of_the_cell(metrics, fact, value):
    assert of(metrics=metrics)[fact] == value


@pytest.mark.parametrize(
    "metrics",
    [{"replayed_bytes_in_cell": 30.0}, {"bytes": 40.0}, {"bytes": 0.0, "replayed_bytes_in_cell": 1.0}],
)
def test_half_of_a_fraction_gives_no_fact(metrics):
    assert "replayed_fraction_during_cell" not in of(metrics=metrics)


def test_the_cpu_time_of_an_operation_and_of_a_byte_comes_from_the_steady_part():
    rates = {"operations_per_second": 900.0, "bytes_per_second": 9000.0}
    found = of({"samples": STEADY, "host": {"cores": 2}}, rates)
    assert found["machine_cpu_seconds_per_operation"] == pytest.approx(0.9 * 2 / 900)
    assert found["machine_cpu_seconds_per_byte"] == pytest.approx(0.9 * 2 / 9000)
    assert "machine_cpu_seconds_per_byte" not in of({"host": {"cores": 2}}, rates), "a whole run has no such rate"
    assert "machine_cpu_seconds_per_byte" not in of({"samples": STEADY}, rates), "nobody knows how many cores"


def shipped(experiment):
    with (REFERENCE / experiment / "tidy.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_shipped_cell_states_each_of_its_facts_once():
    for path in REFERENCE.glob("*/tidy.csv"):
        header, *rows = csv.reader(path.read_text().splitlines())
        assert len(set(header)) == len(header), path
        facts = [name for name in header if name in FACTS]
        assert "limiter" in facts
        valid = [row for row in rows if row[header.index("valid")] == "1"]
        for name in ("idle_cpu_fraction", "limiter"):
            assert all(row[header.index(name)] for row in valid), f"{path}: {name}"


def test_facts_of_replay_over_time_agree_with_the_measured_lag():
    """A copy that is far behind when the writer ends has not replayed all of it; one that is level has."""
    for cell in shipped("mirror-lag"):
        if cell["mode" if "mode" in cell else "variant"] != "journal":
            continue
        replayed = float(cell["replayed_fraction_during_cell"])
        behind = float(cell["lag_end_seconds"]) / float(cell["duration_seconds"])
        assert 1 - replayed == pytest.approx(behind, abs=0.15)
        assert float(cell["offered_to_replay_ratio"]) > 0


def test_a_slower_load_is_a_smaller_share_of_the_rate_of_replay():
    ratios = {}
    for cell in shipped("mirror-lag"):
        if ratio := cell["offered_to_replay_ratio"]:
            ratios.setdefault(int(cell["writes_per_second"]), []).append(float(ratio))
    assert max(ratios[10]) < min(ratios[160])


def test_the_documentation_lists_the_facts_as_they_are():
    section = (ROOT / "docs" / "data-formats.md").read_text().split("\n### Facts\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "| `" in line]
    words = {one.name: f": {', '.join(one.words)}" if one.words else "" for one in FACTS.values()}
    assert rows == [
        [f"`{one.name}`", one.type.value, f"{one.says}{words[one.name]}", one.origin] for one in FACTS.values()
    ]
