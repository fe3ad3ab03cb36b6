"""How runs were sampled, and which lie far from the others: both are listed, and stay in every figure."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.stats import modified_z
from replay.base.tables import csv_text
from replay.claims.data_set import derive_data_set
from replay.derive.computed import costliest, sampler_seconds, sampler_shares, sampling_entry, sampling_metrics
from replay.derive.outliers import LIMIT, flagged_in
from replay.derive.part import RUNS_FILE, RUNS_HEADER
from replay.evidence.record import SampleTable
from replay.tools.cell_logs import read_samples
from support.commands import run_derive
from support.datasets import manifest_of, measured, rows_of

SIDECAR = {
    "tool_seconds": 10.0,
    "load": {"cpu_idle_fraction": 0.5, "cost_seconds": 0.001},
    "waits": [{"for": "replay_level", "seconds": 30.0}, {"for": "snapshots_trimmed", "seconds": 50.0}],
    "samples": {
        "daemons": {"cost_seconds": 0.2, "primary": {}},
        "mirror": {"readings": 5, "cost_seconds": 0.4},
        "ledger": {"cost_seconds": 0.9},
        "trims": {"readings": 5},
    },
}


def counters():
    """A table of samples as mirror-lag keeps it, with the probe's rows."""
    table = SampleTable()
    table.add(0.5, "image-1", "journal_bytes", 4096)
    table.add_lines(["1.000000,probe,cost_seconds,0.5", "2.000000,image-1,journal_bytes,8192"])
    table.add_lines(["3.000000,probe,cost_seconds,0.8"])
    text = table.content().decode()
    assert read_samples(text, "counters")
    return text


def test_each_sampler_that_states_its_cost_is_found_and_the_others_are_left_out():
    assert sampler_seconds(SIDECAR, {"counters": counters()}) == {
        "daemons": 0.2, "ledger": 0.9, "machine": 0.001, "mirror": 0.4, "replica": 0.8,
    }  # fmt: skip


def test_a_share_is_that_of_the_sampled_time():
    shares = sampler_shares(sampler_seconds(SIDECAR, {"counters": counters()}), SIDECAR)
    assert shares["daemons"] == 0.02
    assert shares["mirror"] == 0.01, "it went on until replay was level"
    assert shares["replica"] == 0.02
    assert "ledger" not in shares, "it reads before and after what is measured"


def test_a_cell_has_the_cost_of_all_its_samplers():
    found = sampling_metrics(sampler_seconds(SIDECAR, {}), SIDECAR)
    assert found == pytest.approx({"sampler_cost_seconds": 0.601, "sampler_cost_share": 0.0301})


@pytest.mark.parametrize(
    "sidecar",
    [
        {},
        {"samples": None, "load": None, "waits": None},
        {"samples": {"ledger": {"cost_seconds": 0.9}}, "tool_seconds": 3},
    ],
)
def test_without_a_sampler_there_is_no_cost(sidecar):
    assert sampling_metrics(sampler_seconds(sidecar, {}), sidecar) == {}


@pytest.mark.parametrize("value", ["", "much", "nan", "inf"])
def test_a_cost_that_is_not_a_number_is_ignored(value):
    assert sampler_seconds({"load": {"cost_seconds": value}}, {"counters": f"1.0,probe,cost_seconds,{value}\n"}) == {}


def test_over_cells_the_median_and_the_largest_are_reported():
    cells = [({"daemons": cost, "ledger": 2 * cost}, {"tool_seconds": 10}) for cost in (0.1, 0.3, 0.2)]
    assert sampling_entry(cells) == {
        "daemons": {"cells": 3, "median_seconds": 0.2, "largest_seconds": 0.3, "share": 0.03},
        "ledger": {"cells": 3, "median_seconds": 0.4, "largest_seconds": 0.6},
    }


def test_the_largest_share_of_all_is_named():
    entries = {
        "a": {"samplers": {"daemons": {"share": 0.01}, "ledger": {}}},
        "b": {"samplers": {"mirror": {"share": 0.03}, "replica": {"share": 0.02}}},
        "of an older manifest": {},
    }
    assert costliest(entries) == {"share": 0.03, "experiment": "b", "sampler": "mirror"}
    assert costliest({"c": {"samplers": {}}}) == {}


def test_derive_puts_it_into_the_table_and_the_manifest(benchmarks):
    tree = measured(benchmarks / "demo", sealed=False)

    def sampled(told):
        cost = 0.042 if told["variant"] == "control" else 0.021
        return {"samples": {"trims": {"readings": 2, "cost_seconds": cost}}}

    tree.change_sidecars("block-*/*/attempt-*/*.json", sampled)
    derive_data_set(benchmarks / "demo")
    rows = rows_of(benchmarks / "demo" / "rbd-journaling" / "tidy.csv")
    assert {row["sampler_cost_share"] for row in rows} == {"0.01", "0.02"}
    manifest = manifest_of(benchmarks / "demo")
    assert manifest["experiments"]["rbd-journaling"]["samplers"]["trims"] == {
        "cells": 12, "median_seconds": 0.021, "largest_seconds": 0.042, "share": 0.02,
    }  # fmt: skip
    assert manifest["samplers"] == {"share": 0.02, "experiment": "rbd-journaling", "sampler": "trims"}


def test_a_data_set_without_samplers_reports_none(benchmarks):
    measured(benchmarks / "demo")
    derive_data_set(benchmarks / "demo")
    assert "samplers" not in manifest_of(benchmarks / "demo")


numbers = st.floats(min_value=-1e9, max_value=1e9)


def runs(*values, series="a", x=1.0):
    return [(series, x, value, block, 1) for block, value in enumerate(values, start=1)]


def write_runs(data_set, **charts):
    """Write the file of these charts' runs in a data set's only experiment, and return its path."""
    path = data_set / "rbd-bench" / "aggregate" / RUNS_FILE
    path.parent.mkdir(parents=True)
    path.write_text(csv_text([RUNS_HEADER, *([chart, *run] for chart in sorted(charts) for run in charts[chart])]))
    return path


def test_the_score_is_the_distance_from_the_median_in_median_absolute_deviations():
    # Median 4, median absolute deviation 2.
    assert modified_z([1, 2, 4, 6, 20]) == pytest.approx([0.6745 * d / 2 for d in (-3, -2, 0, 2, 16)])


def test_two_values_have_no_score_and_one_that_differs_from_equal_ones_is_infinitely_far():
    assert modified_z([1, 100]) == [0, 0]
    assert modified_z([5, 5, 5, 7]) == [0, 0, 0, math.inf]
    assert modified_z([5, 5, 5]) == [0, 0, 0]


@given(values=st.lists(numbers, max_size=30), shift=numbers)
def test_at_least_half_of_the_values_are_never_flagged(values, shift):
    scores = modified_z([value + shift for value in values])
    assert len(scores) == len(values)
    assert 2 * sum(abs(score) <= LIMIT for score in scores) >= len(values)


def test_a_run_is_compared_only_with_the_runs_of_its_own_point(tmp_path):
    near, far = runs(10, 11, 12, 13, 30), runs(1000, 1010, 1020, 1030, 1015, series="b")
    write_runs(tmp_path, chart=near + far)
    [one] = flagged_in(tmp_path, ["rbd-bench"]).outliers
    assert one == "rbd-bench/chart: a, 1: 30 in block 5, attempt 1; the median is 12, z = 12.1"


def test_the_command_lists_them_and_changes_nothing(benchmarks, capsys):
    table = write_runs(benchmarks / "mine", throughput=runs(10, 11, 12, 13, 30), iops=runs(1, 1.1, 1.2))
    (benchmarks / "mine" / "rbd-bench" / "raw").mkdir()
    (benchmarks / "mine" / "rbd-bench" / "raw" / "SHA256SUMS").touch()
    before = table.read_bytes()
    assert run_derive(["--data", "mine", "--outliers"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "rbd-bench/throughput: a, 1: 30 in block 5, attempt 1; the median is 12, z = 12.1",
        "mine: 1 of 8 runs in charts lie far from the median of their point (modified z above 3.5); all are kept",
    ]
    assert table.read_bytes() == before


def test_runs_that_are_lines_are_not_compared_bin_by_bin(tmp_path):
    far = runs(10, 11, 12, 13, 30)
    write_runs(tmp_path, lag=far, over_time=far)
    charts = {"lag": {"runs": True}, "over_time": {"runs": "lines"}}
    (tmp_path / "manifest.json").write_text(json.dumps({"experiments": {"rbd-bench": {"charts": charts}}}))
    flagged = flagged_in(tmp_path, ["rbd-bench"])
    assert ([one.partition(":")[0] for one in flagged.outliers], flagged.runs) == (["rbd-bench/lag"], 5)
