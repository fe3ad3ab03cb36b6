"""What limited a cell: the rule uses the steady part if it was sampled, and everything else uses the result."""

from __future__ import annotations

import csv
import json

import pytest

from replay.derive.limits import STEADY, WHOLE, limit_of
from replay.samplers.limiter import LIMITER_RULE
from replay.workflow.dataset import derive_data_set
from support.datasets import manifest_of, measured

RECORDED = {"limiter": "none", "limiter_rule": "the runner's", "load": {"cpu_idle_fraction": 0.22}}


def steady(idle, disk=None):
    return {"daemons": {"machine": {"cpu_idle_fraction": idle, "disk_busy_fraction": disk, "load_1min": 9.0}}}


@pytest.mark.parametrize(
    ("idle", "disk", "expected"),
    [(0.15, 0.95, "cpu"), (0.1501, 0.8, "disk"), (0.1501, 0.7999, "none"), (0.5, None, "none")],
)
def test_the_steady_part_decides_if_it_was_sampled(idle, disk, expected):
    assert limit_of({**RECORDED, "samples": steady(idle, disk)}) == (expected, LIMITER_RULE, STEADY)


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
    assert limit_of({**RECORDED, "samples": samples}) == ("none", "the runner's", WHOLE)


def test_a_sidecar_that_says_nothing_leaves_it_unknown():
    assert limit_of({}) == ("unknown", None, WHOLE)


@pytest.fixture
def derived(benchmarks):
    """Three blocks, all recorded without a limit; in two, writes of 4 KiB had no CPU left in the steady part."""
    levels = {"io_type": ["write"], "io_size_bytes": [4096]}
    ceiling = {"name": "small_bytes_per_second", "metric": "bytes_per_second", "levels": levels}
    tree = measured(benchmarks / "demo", blocks=3, ceilings=[ceiling], sealed=False)
    for path in tree.files("block-*/*/attempt-*/*.json"):
        sidecar = json.loads(path.read_text())
        if "levels" in sidecar:
            busy = sidecar["point"] == "write-seq-4096" and sidecar["block"] != 3
            changed = {"limiter": "none", "samples": steady(0.05 if busy else 0.4)}
            path.write_text(json.dumps({**sidecar, **changed}))
    tree.reseal()
    derive_data_set(benchmarks / "demo")
    return benchmarks / "demo"


def test_tables_charts_and_ceilings_say_the_same(derived):
    with (derived / "rbd-journaling" / "tidy.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
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
    assert (limits["rule"], limits["over"]) == (LIMITER_RULE, STEADY)
    assert list(limits["points"]) == ["read-seq", "write-seq"]
    assert limits["points"]["write-seq"] == {
        name: {"4096": "cpu 2, none 1", "65536": "none"} for name in ("without-journal", "with-journal", "control")
    }


def test_if_cells_were_judged_over_different_stretches_none_is_named(benchmarks):
    tree = measured(benchmarks / "demo", sealed=False)
    path = tree.path("block-01/write-seq-4096/attempt-1/control.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "samples": steady(0.05)}))
    tree.reseal()
    derive_data_set(benchmarks / "demo")
    limits = manifest_of(benchmarks / "demo")["experiments"]["rbd-journaling"]["limits"]
    assert (limits["rule"], limits["over"]) == (None, None)


def test_trials_and_a_single_workload_have_their_own_place(benchmarks):
    variants = [{"name": "journal", "label": "Journal"}]
    tree = measured(
        benchmarks / "demo", "trials", blocks=0, factors={"kind": ["planned"]}, variants=variants, metrics=[],
        tool="no-tool", x_factor=None, x_label=None, x_unit=None, workload_factors=[],
    )  # fmt: skip
    tree.attempt(1, "planned", outputs={"journal": {"stdout": "steps"}}, limiter="disk")
    derive_data_set(benchmarks / "demo")
    assert manifest_of(benchmarks / "demo")["experiments"]["trials"]["limits"]["points"] == {"all": {"journal": "disk"}}
