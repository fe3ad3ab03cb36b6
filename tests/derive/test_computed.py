"""Metrics that derive computes from samples and facts, only if they are known for every daemon."""

from __future__ import annotations

import copy

import pytest

from replay.derive.amplification import ledger_entities
from replay.derive.computed import computed_metrics


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
