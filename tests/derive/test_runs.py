"""`aggregate/runs.csv`: charts draw what these runs give, and the manifest says where they come from."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from statistics import median

import pandas as pd
import pytest

from replay.base.paths import ROOT
from replay.base.stats import paired_log_ratio
from replay.claims.data_set import derive_data_set
from replay.derive.aggregates import points_of
from replay.derive.experiment import derive_experiment
from replay.derive.part import RUNS_FILE, RUNS_HEADER
from support.datasets import rows_of, spread_of
from support.rawtree import TRIALS, RawTree, rbd_bench_output

REFERENCE = ROOT / "benchmarks" / "tentacle"


def rows_behind(directory, name):
    """Return the rows of a chart in its experiment's file of runs."""
    return [row for row in rows_of(directory / "aggregate" / RUNS_FILE) if row["chart"] == name]


def runs_of(directory, name):
    """Return the runs behind each point of a chart: (series, x) to block to value."""
    found = defaultdict(dict)
    for row in rows_behind(directory, name):
        place = (row["series"], float(row["x"]))
        assert row["block"] not in found[place], "a block gives a point one run"
        found[place][row["block"]] = float(row["y"])
    return dict(found)


def wide(path):
    """Return the fields of a wide table that are not empty, by (series, x)."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return {
        (row[0], float(x)): float(value)
        for row in rows
        for x, value in zip(header[1:], row[1:], strict=True)
        if value != ""
    }


def test_a_chart_of_medians_has_every_valid_run_with_its_block_and_attempt(directory):
    tree = RawTree(directory)
    for point in tree.points:
        tree.attempt(1, point, invalid={"with-journal": "too_short"} if point == "write-seq-4096" else None)
    tree.attempt(1, "write-seq-4096")
    tree.attempt(2, "write-seq-4096")
    derive_experiment(directory)
    rows = rows_behind(directory, "iops-write-seq")
    assert tuple(rows[0]) == RUNS_HEADER
    small = [(row["block"], row["attempt"]) for row in rows if (row["series"], row["x"]) == ("With journal", "4096")]
    assert small == [("1", "2"), ("2", "1")]
    tidy = {
        (row["label"], row["block"], row["attempt"]): row["operations_per_second"]
        for row in rows_of(directory / "tidy.csv")
        if row["point"] == "write-seq-4096" and row["used"] == "1"
    }
    assert {(row["series"], row["block"], row["attempt"]): row["y"] for row in rows if row["x"] == "4096"} == tidy


@pytest.mark.parametrize(
    ("known", "bounds", "y", "low", "greatest"),
    [
        ([1.0, 2.0, 3.0], [], 2.0, None, 3.0),
        ([1.0, 2.0], [17.0], 2.0, None, None),
        ([1.0], [17.0, 17.0], None, 17.0, None),
        ([1.0, 2.0], [17.0, 17.0], None, 9.5, None),
        ([], [17.0], None, 17.0, None),
    ],
)
def test_a_median_is_a_lower_bound_where_it_is_a_run_beyond_the_tools_last_bin(known, bounds, y, low, greatest):
    values = [(value, None) for value in known] + [(None, bound) for bound in bounds]
    place = {"metric": "latency_p99_seconds", "workload": 0, "variant": 0, "x": 4096}
    runs = pd.DataFrame([{**place, "y": value, "least": least} for value, least in values])
    runs = runs.astype({"y": float, "least": float})
    (point,) = points_of(runs).astype(object).where(lambda frame: frame.notna(), None).to_dict("records")
    assert (point["y"], point.get("low"), point["max"], point["n"]) == (y, low, greatest, len(values))


@pytest.mark.parametrize("direction", ["reference/variant", "variant/reference"])
def test_a_ratio_is_the_paired_estimate_of_its_runs(directory, direction):
    derive_experiment(RawTree(directory, ratio_direction=direction).measure(blocks=4).directory)
    runs = runs_of(directory, "ratio-throughput-write-seq")
    path = directory / "aggregate" / "ratio-throughput-write-seq.csv"
    drawn, spread = wide(path), spread_of(path)
    assert drawn.keys() == runs.keys()
    assert (drawn["With journal", 4096] < 1) == (direction == "variant/reference")
    for (series, x), ys in runs.items():
        expected = paired_log_ratio(list(ys.values()), [1.0] * len(ys))
        assert drawn[series, x] == pytest.approx(expected.value, rel=1e-7)
        assert float(spread[series, f"{x:.0f}"]["low"]) == pytest.approx(expected.low, rel=1e-6)


def test_the_runs_of_all_charts_are_in_one_file_sorted_by_chart(directory):
    RawTree(directory).measure(blocks=2)
    charts = derive_experiment(directory).entry["charts"]
    named = [row["chart"] for row in rows_of(directory / "aggregate" / RUNS_FILE)]
    assert named == sorted(named)
    assert set(named) == set(charts)


def test_a_chart_over_time_has_each_run_as_a_line_of_its_own(directory):
    over_time = {"metric": "operations_per_second", "name": "rate-over-time", "title": "Rate", "better": "higher",
                 "unit": "operations_per_second", "series": True, "bin_seconds": 1}  # fmt: skip
    # Not rbd-journaling: that has further metrics in its configuration, which its raw output would give.
    directory = directory.with_name("over-time")
    RawTree(directory, metrics=[over_time]).measure(blocks=2)
    charts = derive_experiment(directory).entry["charts"]
    assert charts
    assert {chart["runs"] for chart in charts.values()} == {"lines"}
    for name in charts:
        rows = rows_behind(directory, name)
        places = [(row["series"], int(row["block"]), int(row["attempt"]), float(row["x"])) for row in rows]
        assert {block for _, block, *_ in places} == {1, 2}
        in_the_file = list(dict.fromkeys(place[:3] for place in places))
        assert len(in_the_file) == sum(
            1 for at, place in enumerate(places) if at == 0 or places[at - 1][:3] != place[:3]
        )
        for line in in_the_file:
            xs = [place[3] for place in places if place[:3] == line]
            assert xs == sorted(set(xs)), "a line goes forward"
        assert_lines_give_the_chart(directory, name)


def assert_lines_give_the_chart(directory, name):
    """Assert that a chart over time has the median, the ends and the number of its runs at each place."""
    runs = runs_of(directory, name)
    drawn = rows_of(directory / "aggregate" / f"{name}.csv")
    assert {(row["series"], float(row["x"])) for row in drawn} == runs.keys()
    for row in drawn:
        values = list(runs[row["series"], float(row["x"])].values())
        assert float(row["y"]) == pytest.approx(median(values), rel=1e-7)
        ends = (float(row["low"]), float(row["high"]), int(row["n"]))
        assert ends == (pytest.approx(min(values)), pytest.approx(max(values)), len(values))


def test_an_experiment_drawn_trial_by_trial_has_no_file_of_runs(directory):
    trials = directory.parent / "trials"
    metric = {"metric": "rto_seconds", "name": "rto", "title": "RTO", "unit": "seconds", "better": "lower"}
    tree = RawTree(trials, metrics=[metric], **TRIALS)
    tree.attempt(1, "planned", facts={one["name"]: {"rto_seconds": 3} for one in tree.variants})
    [chart] = derive_experiment(trials).entry["charts"].values()
    assert (chart["runs"], chart["x"]["factor"], chart["column"]) == (False, "block", "rto_seconds")
    assert [path.name for path in (trials / "aggregate").iterdir()] == ["rto-planned.csv"]


def test_the_manifest_says_which_attempts_are_behind_a_chart(directory):
    tree = RawTree(directory)
    tree.attempt(1, "write-seq-4096", invalid={"with-journal": "failed"})
    tree.attempt(1, "write-seq-4096")
    tree.attempt(3, "write-seq-65536")
    tree.attempt(3, "read-seq-4096")
    entry = derive_experiment(directory).entry
    assert entry["raw"] == {"path": "rbd-journaling/raw", "blocks": [1, 3]}
    assert entry["charts"]["iops-write-seq"]["attempts"] == {"all": 3, "used": 2, "invalid": 1}
    assert entry["charts"]["iops-read-seq"]["attempts"] == {"all": 1, "used": 1, "invalid": 0}
    assert entry["ratio_direction"] == "reference/variant"
    ratio = entry["charts"]["ratio-throughput-write-seq"]
    assert (ratio["column"], ratio["x"]["factor"]) == ("bytes_per_second", "io_size_bytes")


def test_a_variant_that_did_not_run_at_a_size_has_no_run_there(directory):
    tree = RawTree(directory)
    outputs = {one["name"]: {"stdout": rbd_bench_output(tree.points["write-seq-4096"], 500)} for one in tree.variants}
    tree.attempt(1, "write-seq-4096", outputs=outputs)
    derive_experiment(directory)
    assert {x for _, x in runs_of(directory, "iops-write-seq")} == {4096.0}


def test_the_shipped_charts_are_made_of_the_runs_beside_them():
    manifest = json.loads((REFERENCE / "manifest.json").read_text())
    compared = 0
    for name, entry in manifest["experiments"].items():
        path = REFERENCE / name / "aggregate" / RUNS_FILE
        behind = {row["chart"] for row in rows_of(path)} if path.exists() else set()
        for chart, said in entry["charts"].items():
            assert (chart in behind) == bool(said["runs"]), (name, chart)
            if said["runs"] == "lines":
                assert_lines_give_the_chart(REFERENCE / name, chart)
            if not said["runs"] or said["kind"] != "wide":
                continue
            runs = runs_of(REFERENCE / name, chart)
            is_ratio = said["metric"].startswith("ratio-")
            drawn = wide(REFERENCE / said["path"])
            assert drawn.keys() == runs.keys()
            for place, ys in runs.items():
                values = list(ys.values())
                expected = paired_log_ratio(values, [1.0] * len(values)).value if is_ratio else median(values)
                assert drawn[place] == pytest.approx(expected, rel=1e-7)
                compared += 1
    assert compared > 500


def test_deriving_the_data_set_describes_runs_as_numbers_with_block_and_attempt(directory):
    RawTree(directory).measure()
    derive_data_set(directory.parent)
    package = json.loads((directory.parent / "datapackage.json").read_text())
    [described] = [one for one in package["resources"] if one["path"].endswith("/aggregate/runs.csv")]
    assert [(field["name"], field["type"]) for field in described["schema"]["fields"]] == [
        ("chart", "string"), ("series", "string"), ("x", "number"), ("y", "number"), ("block", "integer"),
        ("attempt", "integer"),
    ]  # fmt: skip
