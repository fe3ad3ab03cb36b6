"""What a write costs above idle: by role, per write of the whole run, and left out where a daemon was not seen."""

from __future__ import annotations

import pytest

from replay.derive.computed import computed_metrics
from replay.derive.facts import facts_of
from replay.derive.write_costs import of_whole_run, write_costs


def daemon(cpu_seconds, writes=0):
    store = {"big_writes": writes, "small_writes": 2 * writes, "deferred_writes": 3 * writes}
    return {"cpu": {"seconds": cpu_seconds}, "store": store}


def ledger(seconds, osds, second, mirror, writes=0, **more):
    return {
        "seconds": seconds,
        "primary": {"osd.0": daemon(osds / 2, writes), "osd.1": daemon(osds / 2, writes), "mon": daemon(50.0)},
        "secondary": {"osd.0": daemon(second, writes), "rbd-mirror": {"cpu": {"seconds": mirror}}},
        **more,
    }


IDLE = ledger(10.0, osds=0.4, second=0.1, mirror=0.05)
CELL = ledger(40.0, osds=11.6, second=2.4, mirror=1.2, writes=500)
WRITES = {"operations": 1000.0, "client_cpu_seconds": 3.0}


def test_each_role_costs_what_it_used_beyond_four_times_ten_seconds_of_rest():
    found = write_costs(CELL, IDLE, WRITES)
    assert found["client_cpu_seconds_per_write"] == pytest.approx(0.003)
    assert found["osd_cpu_seconds_above_idle_per_write"] == pytest.approx((11.6 - 4 * 0.4) / 1000)
    assert found["second_osd_cpu_seconds_above_idle_per_write"] == pytest.approx((2.4 - 4 * 0.1) / 1000)
    assert found["mirror_daemon_cpu_seconds_above_idle_per_write"] == pytest.approx((1.2 - 4 * 0.05) / 1000)
    assert found["cpu_seconds_above_idle_per_write"] == pytest.approx((3.0 + 10.0 + 2.0 + 1.0) / 1000)


def test_a_cell_that_was_watched_for_longer_costs_no_more_for_it():
    longer = ledger(140.0, osds=11.6 + 4.0, second=2.4 + 1.0, mirror=1.2 + 0.5, writes=500)
    assert write_costs(longer, IDLE, WRITES) == pytest.approx(write_costs(CELL, IDLE, WRITES))


def test_data_writes_count_those_that_are_deferred_twice():
    found = write_costs(CELL, IDLE, WRITES)
    assert found["stored_writes_per_write"] == pytest.approx(2 * 500 * 6 / 1000)
    assert found["second_stored_writes_per_write"] == pytest.approx(500 * 6 / 1000)


@pytest.mark.parametrize("where", [{"left_out": ["primary osd.1"]}, {"unanswered": ["primary osd.1: no"]}])
def test_without_one_osd_there_is_no_sum(where):
    found = write_costs({**CELL, **where}, IDLE, WRITES)
    assert "osd_cpu_seconds_above_idle_per_write" not in found
    assert "stored_writes_per_write" not in found
    assert "cpu_seconds_above_idle_per_write" not in found
    assert "second_osd_cpu_seconds_above_idle_per_write" in found


def test_if_daemons_are_on_other_machines_only_the_client_is_known():
    far = {"seconds": 40.0, "primary": {"osd.0": {"client": {"operations": 9}}}}
    assert set(write_costs(far, {**far, "seconds": 10.0}, WRITES)) == {"client_cpu_seconds_per_write"}


def test_without_operations_or_a_reading_at_rest_there_is_no_figure():
    assert write_costs(CELL, IDLE, {"client_cpu_seconds": 3.0}) == {}
    assert write_costs(CELL, {}, WRITES) == {}
    assert "osd_cpu_seconds_above_idle_per_write" not in computed_metrics({"samples": {"ledger": CELL}}, WRITES)


def test_the_writes_of_the_ramp_are_among_those_that_the_ledger_counts():
    metrics = {"operations": 300.0, "bytes": 1200.0, "duration_seconds": 30.0, "ramp_seconds": 2.0}
    assert of_whole_run(metrics) == pytest.approx({"operations": 320, "bytes": 1280})
    assert of_whole_run({"operations": 300.0, "duration_seconds": 30.0}) == {"operations": 300}
    assert of_whole_run({}) == {}
    sidecar = {"samples": {"ledger": CELL, "idle": IDLE}}
    found = computed_metrics(sidecar, {**metrics, "client_cpu_seconds": 3.2})
    assert found["client_cpu_seconds_per_write"] == pytest.approx(0.01)


def test_what_is_replayed_of_the_ramp_is_no_more_than_all_of_it():
    metrics = {"bytes": 1200.0, "duration_seconds": 30.0, "ramp_seconds": 2.0, "replayed_bytes_in_cell": 1280.0}
    assert facts_of({}, {}, metrics)["replayed_fraction_during_cell"] == pytest.approx(1)
