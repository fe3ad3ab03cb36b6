"""Sweeps of several numbers: a metric along one factor, with a series for each level of another."""

from __future__ import annotations

import pandas as pd

from replay.derive.aggregates import by_two_factors
from replay.derive.designs import CombinedDesign

METRIC = {
    "metric": "operations_per_second", "name": "iops-by-jobs", "title": "IOPS by jobs", "unit": "operations_per_second",
    "better": "higher", "x_factor": "io_depth", "x_label": "Queue depth", "x_unit": "count", "rows": "jobs",
    "row_label": "Jobs", "row_unit": "count",
}  # fmt: skip
VARIANTS = ({"name": "b", "label": "B"}, {"name": "a", "label": "A", "reference": True})


def design(**changes):
    factors = {"rw": ("write", "read"), "jobs": (1, 8), "io_depth": (1, 4, 16)}
    public = {"metrics": [METRIC | changes], "workload_factors": ["rw", "jobs"], "x_factor": "io_depth"}
    return CombinedDesign(public, {}, VARIANTS, factors)


def tidy(*runs):
    """Return a table of (variant, rw, jobs, depth, block, rate)."""
    columns = ["variant", "rw", "jobs", "io_depth", "block", "operations_per_second"]
    return pd.DataFrame(runs, columns=columns).assign(used=True, attempt=1)


SWEPT = [("a", "read", jobs, depth, block, 100 * jobs + depth + block)
         for jobs in (8, 1) for depth in (16, 1) for block in (1, 2, 3)]  # fmt: skip


def test_a_series_is_a_level_and_a_point_the_median_of_its_runs_with_their_ends():
    (chart,) = by_two_factors(tidy(*SWEPT), design())
    assert chart.files() == {
        "iops-by-jobs-read.csv": "series,x,y,low,high,n\n"
        "Jobs 1,1,103,102,104,3\nJobs 1,16,118,117,119,3\nJobs 8,1,803,802,804,3\nJobs 8,16,818,817,819,3\n"
    }
    assert (chart.factors, chart.workload, chart.rows) == (("rw",), ("read",), "jobs")
    assert chart.x == {"label": "Queue depth", "unit": "count", "factor": "io_depth"}
    assert len(chart.runs) == 12


def test_its_runs_are_those_of_the_reference():
    others = [("b", *run[1:5], 9_999) for run in SWEPT]
    (chart,) = by_two_factors(tidy(*others, *SWEPT), design())
    assert chart.points["high"].max() < 9_999


def test_charts_are_in_the_order_of_the_levels_that_name_them():
    writes = [("a", "write", *run[2:]) for run in SWEPT]
    assert [one.name for one in by_two_factors(tidy(*SWEPT, *writes), design())] == [
        "iops-by-jobs-write",
        "iops-by-jobs-read",
    ]


def test_a_single_series_and_series_without_a_line_are_no_chart():
    alone = [run for run in SWEPT if run[2] == 1]
    diagonal = [run for run in SWEPT if (run[2], run[3]) in ((1, 1), (8, 16))]
    assert [*by_two_factors(tidy(*alone), design())] == []
    assert [*by_two_factors(tidy(*diagonal), design())] == []


def test_sizes_name_series_as_axes_write_them():
    sizes = [(*run[:2], 4096 * run[2], *run[3:]) for run in SWEPT]
    one = CombinedDesign(design(row_unit="bytes", row_label="I/O size").public, {}, VARIANTS,
                         {"rw": ("read",), "jobs": (4096, 32768), "io_depth": (1, 16)})  # fmt: skip
    (chart,) = by_two_factors(tidy(*sizes), one)
    assert chart.series == ("I/O size 4K", "I/O size 32K")
