"""What limited the cells, point by point, and the ceilings of an experiment, in the manifest."""

from __future__ import annotations

import pandas as pd
import pytest

from replay.claims.data_set import derive_data_set
from replay.derive.entry import OFFERED, offered
from replay.derive.experiment import derive_experiment
from replay.design.configuration import load_experiment
from replay.evidence.record import BOTTLENECK_RULE, STEADY, WHOLE, bottleneck_of
from support.datasets import manifest_of, measured, rows_of
from support.rawtree import TRIALS, RawTree

RECORDED = {"limiter": "none", "limiter_rule": "the runner's", "load": {"cpu_idle_fraction": 0.22}}


def steady(idle, disk=None):
    return {"daemons": {"machine": {"cpu_idle_fraction": idle, "disk_busy_fraction": disk, "load_1min": 9.0}}}


@pytest.mark.parametrize(
    ("idle", "disk", "expected"),
    [(0.15, 0.95, "cpu"), (0.1501, 0.8, "disk"), (0.1501, 0.7999, "none"), (0.5, None, "none")],
)
def test_the_steady_part_decides_if_it_was_sampled(idle, disk, expected):
    assert bottleneck_of({**RECORDED, "samples": steady(idle, disk)}) == (expected, BOTTLENECK_RULE, STEADY)


@pytest.mark.parametrize(
    "samples",
    [
        None,
        {},
        {"daemons": {"primary": {}}},  # daemons on other machines
        steady(None, 0.9),  # a machine that does not report its CPU
        {"ledger": steady(0.01)["daemons"]},  # over the whole cell, its waits included
        {**steady(0.01), "prometheus": {"hosts": {}}},  # other machines, as the runner judged them
    ],
)
def test_without_a_steady_sample_of_this_machine_the_recorded_limiter_stays(samples):
    assert bottleneck_of({**RECORDED, "samples": samples}) == ("none", "the runner's", WHOLE)


def test_a_sidecar_that_says_nothing_leaves_it_unknown():
    assert bottleneck_of({}) == ("unknown", None, WHOLE)


@pytest.fixture
def derived(benchmarks):
    """Three blocks, all recorded without a limit; in two, writes of 4 KiB had no CPU left in the steady part."""
    levels = {"io_type": ["write"], "io_size_bytes": [4096]}
    ceiling = {"name": "small_bytes_per_second", "metric": "bytes_per_second", "levels": levels}
    tree = measured(benchmarks / "demo", blocks=3, ceilings=[ceiling], sealed=False)

    def changed(told):
        busy = told["point"] == "write-seq-4096" and told["block"] != 3
        return {"limiter": "none", "samples": steady(0.05 if busy else 0.4)}

    tree.change_sidecars("block-*/*/attempt-*/*.json", changed)
    derive_data_set(benchmarks / "demo")
    return benchmarks / "demo"


def test_tables_charts_and_ceilings_say_the_same(derived):
    rows = rows_of(derived / "rbd-journaling" / "tidy.csv")
    assert {(row["point"], row["block"]) for row in rows if row["limiter"] == "cpu"} == {
        ("write-seq-4096", "1"), ("write-seq-4096", "2"),
    }  # fmt: skip
    assert {row["cpu_idle_fraction"] for row in rows} == {"0.08"}, "of the whole run, as recorded"
    entry = manifest_of(derived)["experiments"]["rbd-journaling"]
    assert entry["limiters"] == {"cpu": 6, "none": 30}
    assert entry["charts"]["throughput-write-seq"]["limiter"] == "mixed"
    assert entry["charts"]["throughput-read-seq"]["limiter"] == "none"
    assert entry["ceilings"]["small_bytes_per_second"]["limiter"] == "mixed"


def test_the_manifest_says_it_point_by_point(derived):
    limits = manifest_of(derived)["experiments"]["rbd-journaling"]["limits"]
    assert (limits["rule"], limits["over"]) == (BOTTLENECK_RULE, STEADY)
    assert list(limits["points"]) == ["read-seq", "write-seq"]
    assert limits["points"]["write-seq"] == {
        name: {"4096": "cpu 2, none 1", "65536": "none"} for name in ("without-journal", "with-journal", "control")
    }


def test_if_cells_were_judged_over_different_stretches_none_is_named(benchmarks):
    tree = measured(benchmarks / "demo", sealed=False)
    tree.change_sidecars("block-01/write-seq-4096/attempt-1/control.json", lambda told: {"samples": steady(0.05)})
    derive_data_set(benchmarks / "demo")
    limits = manifest_of(benchmarks / "demo")["experiments"]["rbd-journaling"]["limits"]
    assert (limits["rule"], limits["over"]) == (None, None)


def test_trials_and_a_single_workload_have_their_own_place(benchmarks):
    only_one = TRIALS | {"metrics": [], "workload_factors": [], "variants": TRIALS["variants"][:1]}
    measured(benchmarks / "demo", blocks=0, **only_one).attempt(1, "planned", limiter="disk")
    derive_data_set(benchmarks / "demo")
    assert manifest_of(benchmarks / "demo")["experiments"]["trials"]["limits"]["points"] == {"all": {"journal": "disk"}}


READS = {"name": "read_bytes_per_second", "metric": "bytes_per_second", "levels": {"io_type": ["read"]}}
NONE = {"name": "none_bytes_per_second", "metric": "bytes_per_second", "levels": {"io_type": ["neither"]}}


def rate(block, variant, levels):
    """Reads of 64 KiB are fastest in the second variant: 900, 1000 and 1100 in three blocks."""
    best = variant == "with-journal" and levels["io_type"] == "read"
    return (800 + 100 * block) if best else 500


@pytest.fixture
def entry_of(tmp_path):
    def of(blocks=3, **public):
        return derive_experiment(RawTree(tmp_path / "d" / "x", rate=rate, **public).measure(blocks).directory).entry

    return of


def test_a_ceiling_is_the_greatest_median_with_its_interval(entry_of):
    found = entry_of(ceilings=[READS])["ceilings"]["read_bytes_per_second"]
    assert (found["n"], found["unit"], found["variant"]) == (3, "bytes_per_second", "with-journal")
    assert found["point"] == "read-seq-65536"
    assert found["median_bytes_per_second"] == pytest.approx(1000 * 65536, rel=0.01)
    assert found["low_bytes_per_second"] < found["median_bytes_per_second"] < found["high_bytes_per_second"]
    assert found["limiter"]


def test_one_block_gives_a_ceiling_without_an_interval(entry_of):
    found = entry_of(1, ceilings=[READS])["ceilings"]["read_bytes_per_second"]
    assert (found["n"], found["low_bytes_per_second"], found["high_bytes_per_second"]) == (1, None, None)


def test_unmeasured_ceilings_are_left_out_and_so_is_the_key_of_a_design_without_any(entry_of):
    assert entry_of(ceilings=[READS, NONE])["ceilings"].keys() == {"read_bytes_per_second"}


def test_a_design_without_ceilings_has_no_such_key(entry_of):
    assert "ceilings" not in entry_of()


def test_the_manifest_gathers_them_over_experiments(tmp_path):
    data_set = tmp_path / "demo"
    measured(data_set, rate=rate, ceilings=[READS])
    derive_data_set(data_set)
    found = manifest_of(data_set)["ceilings"]["read_bytes_per_second"]
    assert found["experiment"] == "rbd-journaling"
    # The other experiment keeps its ceilings, although it is not derived again.
    measured(data_set, "other")
    derive_data_set(data_set, ["other"])
    assert manifest_of(data_set)["ceilings"]["read_bytes_per_second"] == found


def test_a_data_set_without_ceilings_has_no_such_key(tmp_path):
    measured(tmp_path / "demo")
    derive_data_set(tmp_path / "demo")
    assert "ceilings" not in manifest_of(tmp_path / "demo")


def test_the_shipped_ceilings_use_metrics_and_levels_of_their_experiment():
    configuration = load_experiment("baseline")
    units = {one["metric"]: one["unit"] for one in configuration["metrics"]}
    levels = {name: set(values) for name, values in configuration["factors"].items()}
    for one in configuration["variants"]:
        for name, level in one.get("levels", {}).items():
            levels.setdefault(name, set()).add(level)
    for one in configuration["ceilings"]:
        assert one["name"].endswith(units[one["metric"]])
        assert all(set(wanted) <= levels[name] for name, wanted in one["levels"].items())


def test_the_rates_at_which_writes_arrived_are_told_by_their_size():
    cells = pd.DataFrame({"io_size_bytes": [4096, 4096, 4096, 65536], OFFERED: [10.0, 30.0, 50.5, None]})
    rates = {"median_operations_per_second": 30, "min_operations_per_second": 10, "max_operations_per_second": 50.5}
    assert offered(cells) == {"4096": rates}
    assert offered(cells.drop(columns=OFFERED)) == {}, "one writer, or a closed loop"
