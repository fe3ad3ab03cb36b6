"""Metrics computed from what a sidecar holds besides the tool's output: samples and facts."""

from __future__ import annotations

import copy
import csv

import pytest

from replay.base.paths import ROOT
from replay.derive.computed import computed_metrics, ledger_entities
from replay.derive.facts import FACTS, facts_of
from replay.evidence.record import bottleneck_of
from support.datasets import rows_of


def osd(writes, copies, *, media=None, cpu=None):
    found = {
        "client": {"write_operations": writes, "read_write_operations": 2, "read_operations": 5, "in_bytes": 4096},
        "replication": {"operations": copies, "in_bytes": 9000},
        "store": {"big_bytes": 0, "small_bytes": 4096, "deferred_bytes": 0},
        "database": {"log_bytes": 100, "table_bytes": 20, "journal_bytes": 3},
    }
    if media is not None:
        found["media"] = {"write_bytes": media, "read_bytes": 7}
    if cpu is not None:
        found["cpu"] = {"seconds": cpu}
    return found


LEDGER = {
    "seconds": 5.0,
    "cost_seconds": 0.1,
    "primary": {"osd.0": osd(60, 80, media=1000, cpu=1.0), "osd.1": osd(40, 120, media=3000, cpu=3.0),
                "mgr": {"cpu": {"seconds": 9.0}, "media": {"write_bytes": 10**9, "read_bytes": 0}}},
    "secondary": {"osd.0": osd(30, 0, media=500, cpu=0.5)},
}  # fmt: skip
TOOL = {"operations": 100.0, "bytes": 8192.0, "operations_per_second": 90.0}


def of_ledger(ledger):
    return computed_metrics({"samples": {"ledger": ledger}}, TOOL)


def test_a_ledger_becomes_operations_and_bytes_per_client_write_summed_over_osds():
    found = of_ledger(LEDGER)
    assert found["osd_plain_writes_per_write"] == 1.0
    assert found["osd_writes_per_write"] == 1.04, "with those that read and write"
    assert found["copies_per_write"] == 2.0
    assert found["osd_bytes_per_byte"] == 1.0
    assert found["database_bytes_per_byte"] == pytest.approx(2 * 123 / 8192)
    assert found["media_bytes_per_byte"] == pytest.approx(4000 / 8192), "what the manager wrote is no part of it"
    assert found["osd_cpu_seconds_per_write"] == 0.04
    assert found["second_media_bytes_per_byte"] == pytest.approx(500 / 8192)


def test_if_an_osd_was_left_out_its_cluster_has_no_sum():
    found = of_ledger({**LEDGER, "left_out": ["primary osd.2"]})
    assert set(found) == {
        "second_osd_writes_per_write", "second_media_bytes_per_byte", "second_osd_cpu_seconds_per_write",
    }  # fmt: skip
    assert of_ledger({**LEDGER, "left_out": ["primary mgr"]}) == of_ledger(LEDGER)


def test_if_an_osd_lacks_a_counter_there_is_no_sum_of_it():
    ledger = copy.deepcopy(LEDGER)
    del ledger["primary"]["osd.1"]["media"]
    del ledger["primary"]["osd.0"]["replication"]["operations"]
    found = of_ledger(ledger)
    assert "media_bytes_per_byte" not in found
    assert "copies_per_write" not in found
    assert found["osd_writes_per_write"] == 1.04


def test_a_run_without_operations_is_divided_by_nothing():
    assert computed_metrics({"samples": {"ledger": LEDGER}}, {"operations": 0.0, "bytes": 0.0}) == {}


def test_a_steady_sample_becomes_the_mean_and_the_busiest_osd():
    machine = {"cpu_idle_fraction": 0.08, "disk_busy_fraction": 0.19, "load_1min": 3.0}
    found = computed_metrics({"samples": {"daemons": {**LEDGER, "machine": machine}}}, TOOL)
    assert found["osd_cores_mean"] == pytest.approx(0.4)
    assert found["osd_cores_worst"] == pytest.approx(0.6)
    assert found["osd_media_written_bytes_per_second_mean"] == 400
    assert found["osd_media_written_bytes_per_second_worst"] == 600
    assert found["monitor_and_manager_cores"] == pytest.approx(1.8)
    assert found["machine_cpu_fraction"] == pytest.approx(0.92)
    assert found["machine_disk_fraction"] == 0.19
    assert "copies_per_write" not in found, "a part of a run is not divided by the whole run's operations"


def test_daemons_on_other_machines_have_no_cpu_and_disk_figures():
    elsewhere = {"seconds": 5.0, "cost_seconds": 0.1, "primary": {"osd.0": osd(1, 2)}}
    assert computed_metrics({"samples": {"daemons": elsewhere}}, TOOL) == {}


def test_the_share_of_an_offered_rate_that_was_met():
    assert computed_metrics({}, {**TOOL, "offered_operations_per_second": 100.0}) == {"offered_share_met": 0.9}


def test_a_cell_names_its_slowest_osd_unless_several_are_as_slow():
    def found(**latencies):
        named = {f"osd.{name[1:]}": seconds for name, seconds in latencies.items()}
        return computed_metrics({"samples": {"osd_commit_latency_seconds": named}}, {})

    assert found(o0=0.002, o11=0.05, o2=0.003) == {"slowest_osd": 11, "slowest_osd_commit_latency_seconds": 0.05}
    assert found(o0=0.05, o11=0.05) == {"slowest_osd_commit_latency_seconds": 0.05}
    assert found() == {}


@pytest.mark.parametrize("sidecar", [{}, {"samples": {}}, {"samples": None}, {"samples": {"daemons": {}}}])
def test_cells_without_samples_have_no_further_metrics(sidecar):
    assert computed_metrics(sidecar, TOOL) == {}


def by_place(ledger, metrics=TOOL):
    """Return the ledger's values by (kind, id, metric); each covers the whole cell."""
    found = ledger_entities({"samples": {"ledger": ledger}}, metrics)
    assert {one.moment for one in found} <= {"cell"}
    assert len({one[:3] for one in found}) == len(found), "each stands there once"
    return {one[:3]: one.value for one in found}


def test_the_ledger_is_listed_by_daemon_and_stage():
    found = by_place(LEDGER)
    assert found["osd", "0", "client_write_operations"] == 60
    assert found["osd", "1", "replication_operations"] == 120
    assert found["osd", "1", "database_log_bytes"] == 100
    assert found["daemon", "mgr", "media_write_bytes"] == 10**9
    assert found["second_osd", "0", "cpu_seconds"] == 0.5
    assert {kind for kind, _, _ in found} == {"osd", "daemon", "second_osd"}


def test_parts_of_osds_add_up_to_the_value_of_the_cell():
    cell, found = of_ledger(LEDGER), by_place(LEDGER)
    for name, value in cell.items():
        kind = "second_osd" if name.startswith("second_") else "osd"
        parts = [part for (of_kind, _, metric), part in found.items() if (of_kind, metric) == (kind, name)]
        assert len(parts) == (1 if kind == "second_osd" else 2)
        assert sum(parts) == pytest.approx(value), name


def test_a_counter_that_a_daemon_lacks_has_no_row_and_the_others_keep_theirs():
    ledger = copy.deepcopy({**LEDGER, "left_out": ["primary osd.2"]})
    del ledger["primary"]["osd.1"]["media"]
    found = by_place(ledger)
    assert ("osd", "1", "media_bytes_per_byte") not in found
    assert found["osd", "0", "media_bytes_per_byte"] == pytest.approx(1000 / 8192)
    assert ("osd", "0", "media_bytes_per_byte") not in by_place(ledger, {"operations": 0.0, "bytes": 0.0})


@pytest.mark.parametrize("sidecar", [{}, {"samples": None}, {"samples": {"daemons": LEDGER}}])
def test_a_cell_without_a_ledger_lists_no_daemon(sidecar):
    assert ledger_entities(sidecar, TOOL) == []


REFERENCE = ROOT / "benchmarks" / "tentacle"
HERE = {"load": {"cpu_idle_fraction": 0.3, "disk_busy_fraction": 0.5}, "limiter": "none", "limiter_rule": "a rule"}
STEADY = {"daemons": {"machine": {"cpu_idle_fraction": 0.1, "disk_busy_fraction": 0.2}}}


def host(idle_cpu_seconds):
    return {"cpus": 2, "seconds": 10.0, "cpu_idle_seconds": idle_cpu_seconds}


def of(sidecar=None, metrics=None, outputs=None):
    sidecar = {**HERE, **(sidecar or {})}
    return facts_of(sidecar, outputs or {}, metrics or {}, bottleneck_of(sidecar))


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
    return rows_of(REFERENCE / experiment / "tidy.csv")


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
    assert [row[:2] for row in rows] == [[f"`{one.name}`", one.type.value] for one in FACTS.values()]
    for (_, _, meaning, origin), one in zip(rows, FACTS.values(), strict=True):
        assert meaning and origin
        assert meaning.endswith(f": {', '.join(one.words)}") or not one.words


def test_what_a_sidecar_records_beside_what_was_asked_is_a_fact():
    recorded = {"longest_gap_seconds": 0.8, "snapshot_distance_median_seconds": 61.0}
    assert recorded.items() <= of(metrics=recorded).items()
    assert "longest_gap_seconds" not in of()


# Round trips between the sites ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("latency", "below", "beyond"), [(0.0202, 1, 0), (0.0203, 0, 0), (0.03, 0, 0), (0.0505, 0, 0), (0.051, 0, 1)]
)
def test_a_write_takes_round_trips_of_the_line_as_it_was_measured(latency, below, beyond):
    line = {"link_rtt_seconds": 0.02, "measured_link_rtt_seconds": 0.02025}
    found = computed_metrics({}, {"latency_mean_seconds": latency, **line})
    assert found == {
        "round_trips_per_write": pytest.approx(latency / 0.02025),
        "below_one_round_trip": below,
        "beyond_two_and_a_half_round_trips": beyond,
    }


@pytest.mark.parametrize(
    "line", [{}, {"link_rtt_seconds": 0.0, "measured_link_rtt_seconds": 4e-5}, {"link_rtt_seconds": 0.02}]
)
def test_without_a_line_that_was_asked_for_and_measured_there_are_no_round_trips(line):
    assert computed_metrics({}, {"latency_mean_seconds": 0.003, **line}) == {}
