"""Values over time: put into bins within a block, then compared over blocks, in a long CSV with seconds as its axis."""

from __future__ import annotations

import csv
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.claims.data_set import derive_data_set
from replay.derive.aggregates import over_time
from replay.derive.cells import AttemptRecord, CellRow, binned, middle_seconds, wanted_series
from replay.derive.designs import CombinedDesign, DesignCell
from replay.derive.experiment import derive_experiment
from support.datasets import rows_of
from support.rawtree import METRICS, RawTree, rbd_bench_output

OVER_TIME = {
    "metric": "operations_per_second", "name": "rate-over-time", "title": "Rate", "unit": "operations_per_second",
    "better": "higher", "series": True, "bin_seconds": 2,
}  # fmt: skip
LAG = frozenset({("lag_seconds", 1.0)})


def bins_of(*samples, wanted=LAG):
    return binned([(elapsed, "lag_seconds", value) for elapsed, value in samples], wanted)


# Bins ----------------------------------------------------------------------------------------------------------------


def test_a_bin_is_the_mean_of_its_samples_and_one_without_samples_is_absent():
    assert bins_of((0.1, 2.0), (0.9, 4.0), (2.5, 7.0)) == {("lag_seconds", 1.0): {0: 3.0, 2: 7.0}}


def test_time_before_its_reference_event_has_its_own_bins():
    assert bins_of((-0.5, 1.0), (0.5, 2.0)) == {("lag_seconds", 1.0): {-1: 1.0, 0: 2.0}}


def test_series_that_nobody_draws_are_not_kept():
    assert binned([(0.0, "other", 1.0)], LAG) == {}


def test_one_metric_can_be_drawn_in_two_widths():
    wanted = frozenset({("lag_seconds", 1.0), ("lag_seconds", 10.0)})
    assert bins_of((1.0, 2.0), (2.0, 4.0), wanted=wanted) == {
        ("lag_seconds", 1.0): {1: 2.0, 2: 4.0},
        ("lag_seconds", 10.0): {0: 3.0},
    }


@given(number=st.integers(-1000, 1000), width=st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 5.0]))
def test_a_sample_on_an_edge_belongs_to_the_bin_that_begins_there(number, width):
    [found] = binned([(number * width, "m", 1.0)], frozenset({("m", width)}))[("m", width)]
    assert found == number


@given(
    samples=st.lists(st.tuples(st.floats(-1e5, 1e5), st.floats(-1e9, 1e9)), max_size=200),
    width=st.floats(0.01, 100),
)
def test_every_sample_is_in_one_bin_near_it_and_every_bin_is_within_the_range_of_its_samples(samples, width):
    found = binned([(at, "m", value) for at, value in samples], frozenset({("m", width)})).get(("m", width), {})
    assert len(found) <= len(samples)
    assert bool(found) == bool(samples)
    for number, mean in found.items():
        near = [value for at, value in samples if abs(at - middle_seconds(number, width)) <= width * 0.500001 + 1e-9]
        slack = 1e-6 * max(1.0, *(abs(value) for value in near))
        assert min(near) - slack <= mean <= max(near) + slack
    assert all(
        min(abs(at - middle_seconds(number, width)) for number in found) <= width * 0.500001 + 1e-9 for at, _ in samples
    )


def test_only_metrics_over_time_are_wanted():
    designs = [{"metrics": [*METRICS, OVER_TIME]}, {"metrics": [{**OVER_TIME, "bin_seconds": 5}]}]
    assert wanted_series(designs) == {("operations_per_second", 2.0), ("operations_per_second", 5.0)}


# Charts --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path):
    return RawTree(tmp_path / "demo" / "over-time", metrics=[*METRICS, OVER_TIME])


def measured(tree, rates, seconds=5.0):
    """Measure a block for each rate, at which every variant at every point runs."""
    for block, rate in enumerate(rates, start=1):
        for point, levels in tree.points.items():
            text = rbd_bench_output(levels, rate, seconds=seconds)
            tree.attempt(block, point, outputs={one["name"]: {"stdout": text} for one in tree.variants})
        tree.receipt(block)
    return tree


def lines_of(tree, name):
    return rows_of(tree.directory / "aggregate" / f"{name}.csv")


def test_a_chart_is_drawn_for_each_workload_and_level_of_the_axis(tree):
    derive_experiment(measured(tree, [100]).directory)
    names = sorted(path.stem for path in (tree.directory / "aggregate").glob("rate-over-time*"))
    assert names == [f"rate-over-time-{kind}-seq-{size}" for kind in ("read", "write") for size in (4096, 65536)]


def test_a_line_is_the_median_over_blocks_with_least_greatest_and_how_many(tree):
    derive_experiment(measured(tree, [100, 300, 200]).directory)
    rows = [row for row in lines_of(tree, "rate-over-time-write-seq-4096") if row["series"] == "With journal"]
    # rbd bench prints a row for each of the seconds 1 to 4: bins of two seconds hold 1, then 2 and 3, then 4.
    assert [row["x"] for row in rows] == ["1", "3", "5"]
    assert {(row["y"], row["low"], row["high"], row["n"]) for row in rows} == {("200", "100", "300", "3")}


def test_a_line_ends_with_its_shortest_run(tree):
    measured(tree, [100])
    for point, levels in tree.points.items():
        text = rbd_bench_output(levels, 500, seconds=2.0)
        tree.attempt(2, point, outputs={one["name"]: {"stdout": text} for one in tree.variants})
    derive_experiment(tree.directory)
    rows = [row for row in lines_of(tree, "rate-over-time-read-seq-4096") if row["series"] == "With journal"]
    assert [(row["x"], row["n"], row["y"]) for row in rows] == [("1", "2", "300")]


def test_a_void_cell_is_not_drawn(tree):
    text = {one["name"]: {"stdout": rbd_bench_output(tree.points["write-seq-4096"], 100, 5.0)} for one in tree.variants}
    tree.attempt(1, "write-seq-4096", outputs=text, invalid={"control": "failed"})
    derive_experiment(tree.directory)
    assert not list((tree.directory / "aggregate").glob("rate-over-time*"))


def test_the_manifest_says_that_the_axis_is_time_and_which_level_it_shows(tree):
    measured(tree, [100, 200])
    derive_data_set(tree.directory.parent)
    manifest = json.loads((tree.directory.parent / "manifest.json").read_text())
    charts = manifest["experiments"]["over-time"]["charts"]
    drawn = charts["rate-over-time-write-seq-4096"]
    assert drawn["x"] == {"label": "Time", "unit": "seconds"}
    assert drawn["kind"] == "long"
    assert drawn["workload"] == {"io_type": "write", "io_pattern": "seq", "io_size_bytes": 4096}
    assert drawn["n"] == {"min": 2, "max": 2}
    assert charts["iops-write-seq"]["x"] == {"label": "I/O size", "unit": "bytes", "factor": "io_size_bytes"}


def test_a_metric_over_time_does_not_change_other_numbers_of_the_experiment(tree, tmp_path):
    plain = RawTree(tmp_path / "demo" / "plain").measure(blocks=2)
    derive_experiment(plain.directory)
    derive_experiment(tree.measure(blocks=2).directory)
    for path in sorted((plain.directory / "aggregate").iterdir()):
        found = (tree.directory / "aggregate" / path.name).read_text().splitlines()
        # The file of all charts' runs has those of the chart over time, too.
        assert [line for line in found if not line.startswith("rate-over-time")] == path.read_text().splitlines()


def test_a_series_that_a_new_design_requests_is_drawn(tmp_path):
    tree = RawTree(tmp_path / "demo" / "later")
    measured(tree, [100])
    derive_experiment(tree.directory)
    assert not list((tree.directory / "aggregate").glob("rate-over-time*"))
    tree.public["metrics"] = [*METRICS, OVER_TIME]
    tree.write_design()
    measured(tree, [100, 100])
    derive_experiment(tree.directory)
    rows = lines_of(tree, "rate-over-time-write-seq-4096")
    assert rows
    assert all(math.isfinite(float(row["y"])) for row in rows)


# Where a line ends ---------------------------------------------------------------------------------------------------

LAG_METRIC = {"metric": "lag_seconds", "name": "lag-over-time", "title": "Lag", "unit": "seconds", "better": "lower",
              "series": True, "bin_seconds": 1}  # fmt: skip


def drawn(*runs):
    """Return the rows (bin, y, low, high, n) of a variant's line of these runs, one a block; None without a chart.

    A run holds its bins by number.
    """
    public = {"metrics": [LAG_METRIC], "workload_factors": ["io_type"], "x_factor": None}
    levels = {"io_type": "randwrite"}
    variant = {"name": "journal", "label": "Journal", "reference": True}
    cells = {"a": DesignCell("randwrite", "journal", levels)}
    design = CombinedDesign(public, cells, (variant,), {"io_type": ("randwrite",)})
    used = []
    for block, bins in enumerate(runs, start=1):
        row = CellRow("a", "journal", "Journal", levels, True, "", {}, {}, series={("lag_seconds", 1.0): bins})
        used.append((AttemptRecord(block, "randwrite", 1, "", True, (row,)), row))
    charts = [*over_time(used, design)]
    if not charts:
        return None
    [chart] = charts
    assert chart.n == (len(runs), len(runs))
    rows = csv.DictReader(chart.files()["lag-over-time-randwrite.csv"].splitlines())
    return [(math.floor(float(row["x"])), *(float(row[key]) for key in ("y", "low", "high", "n"))) for row in rows]


SHORT, SHORT_TOO, LONG = {0: 8.0, 1: 3.0}, {0: 8.0, 1: 2.0}, {0: 8.0, 1: 7.0, 2: 6.0, 3: 5.0}


def test_a_quantity_that_some_runs_no_longer_observe_is_not_drawn_from_the_others():
    assert drawn(SHORT, LONG, SHORT_TOO) == [(0, 8, 8, 8, 3), (1, 3, 2, 7, 3)]


def test_a_line_begins_where_its_last_run_does():
    assert drawn({-2: 1.0, -1: 1.0, 0: 1.0}, {-1: 3.0, 0: 3.0}) == [(-1, 2, 1, 3, 2), (0, 2, 1, 3, 2)]


def test_a_bin_that_one_run_misses_is_drawn_from_the_others():
    runs = {0: 1.0, 2: 1.0}, {0: 3.0, 1: 3.0, 2: 3.0}
    assert drawn(*runs) == [(0, 2, 1, 3, 2), (1, 3, 3, 3, 1), (2, 2, 1, 3, 2)]


def test_runs_that_have_no_time_in_common_make_no_line():
    assert drawn({0: 1.0}, {1: 1.0}) is None


_FALLING = st.lists(st.floats(0.0, 1e9), min_size=1, max_size=20).map(
    lambda values: dict(enumerate(sorted(values, reverse=True)))
)


@given(runs=st.lists(_FALLING, min_size=1, max_size=6))
def test_a_median_of_falling_runs_never_rises_and_all_of_them_are_in_each_point(runs):
    rows = drawn(*runs)
    assert {row[-1] for row in rows} == {len(runs)}
    medians = [row[1] for row in rows]
    assert medians == sorted(medians, reverse=True)
    assert rows[-1][0] == min(max(run) for run in runs)
