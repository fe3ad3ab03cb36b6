"""The manifest's summary of an experiment, and what a write costs above idle."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.derive.computed import computed_metrics, of_whole_run, write_costs
from replay.derive.entry import parameters
from replay.derive.experiment import derive_experiment
from replay.derive.facts import facts_of
from replay.evidence.record import bottleneck_of
from support.rawtree import TRIALS, VARIANTS, RawTree


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


def test_writes_a_second_with_a_size_are_also_bytes_a_second():
    factors = {"io_size_bytes": [65536], "writes_per_second": [30, 240], "io_type": ["randwrite"]}
    found = parameters(SimpleNamespace(public={}, factors=factors), [])
    assert (found["smallest_write_bytes_per_second"], found["largest_write_bytes_per_second"]) == (1966080, 15728640)
    alone = parameters(SimpleNamespace(public={}, factors={"io_size_bytes": [4096]}), [])
    assert alone == {"smallest_io_size_bytes": 4096, "largest_io_size_bytes": 4096}


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
    metric = {"metric": "seconds_to_first_write", "name": "first-write", "title": "To write", "unit": unit}
    tree = RawTree(directory, metrics=[metric], **TRIALS)
    for block, seconds in enumerate((3, 9.25, 4), start=1):
        facts = {"journal": {"seconds_to_first_write": seconds}, "snapshot": {"seconds_to_first_write": 2}}
        tree.attempt(block, "planned", facts=facts)
    summary = entry_of(tree)["charts"]["first-write-planned"]["summary"]
    assert summary["journal"] == {f"median{keys}": 4, f"min{keys}": 3, f"max{keys}": 9.25, "n": 3}
    assert summary["snapshot"]["n"] == 3


def test_a_trial_of_which_only_a_lower_bound_is_known_decides_no_figure(directory):
    metric = {"metric": "lag_seconds", "name": "lag", "title": "Lag", "unit": "seconds"}
    tree = RawTree(directory, metrics=[metric], **TRIALS)
    for block, known in enumerate(({"lag_seconds": 3}, {"lag_seconds": 4}, {"lag_at_least_seconds": 17}), start=1):
        facts = {"journal": known, "snapshot": {"lag_at_least_seconds": 17}}
        tree.attempt(block, "planned", facts=facts)
    summary = entry_of(tree)["charts"]["lag-planned"]["summary"]
    assert summary == {"journal": {"median_seconds": 4, "min_seconds": 3, "n": 3}, "snapshot": {"n": 3}}


def test_charts_over_an_axis_have_no_summary_of_trials(directory):
    charts = entry_of(RawTree(directory).measure())["charts"]
    assert [name for name, chart in charts.items() if "summary" in chart] == []


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
    assert facts_of({}, {}, metrics, bottleneck_of({}))["replayed_fraction_during_cell"] == pytest.approx(1)
