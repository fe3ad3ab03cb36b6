"""Runs far from the median of their point are flagged and listed, and stay in every figure."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.stats import modified_z
from replay.base.tables import csv_text
from replay.derive.outliers import LIMIT, flagged_in, outliers
from replay.derive.runs import RUNS_FILE, Run, runs_rows
from replay.workflow.command import main

numbers = st.floats(min_value=-1e9, max_value=1e9)


def runs(*values, series="a", x=1.0):
    return [Run(series, x, value, block, 1) for block, value in enumerate(values, start=1)]


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


def test_a_run_is_compared_only_with_the_runs_of_its_own_point():
    near, far = runs(10, 11, 12, 13, 30), runs(1000, 1010, 1020, 1030, 1015, series="b")
    [one] = outliers("chart", near + far)
    assert (one.run, one.median) == (near[-1], 12)
    assert one.sentence() == "chart: a, 1: 30 in block 5, attempt 1; the median is 12, z = 12.1"


def test_the_command_lists_them_and_changes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    folder = tmp_path / "mine" / "rbd-bench" / "aggregate"
    folder.mkdir(parents=True)
    (folder.parent / "raw").mkdir()
    (folder.parent / "raw" / "SHA256SUMS").touch()
    table = folder / RUNS_FILE
    table.write_text(csv_text(runs_rows({"throughput": runs(10, 11, 12, 13, 30), "iops": runs(1, 1.1, 1.2)})))
    before = table.read_bytes()
    assert main(["--data", "mine", "--outliers"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "rbd-bench/throughput: a, 1: 30 in block 5, attempt 1; the median is 12, z = 12.1",
        "mine: 1 of 8 runs in charts lie far from the median of their point (modified z above 3.5); all are kept",
    ]
    assert table.read_bytes() == before
    assert flagged_in(tmp_path / "mine", ["rbd-bench"]).runs == 8
