"""recording.json: when each run of each chart arrived, with pauses shortened and nothing invented."""

from __future__ import annotations

import gzip
import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base import stats as statistics
from replay.base.clock import utc_text
from replay.base.paths import ROOT
from replay.claims.data_set import derive_data_set
from replay.claims.descriptions import LONGEST_PAUSE_SECONDS, attempts_of, played_seconds, recording
from replay.derive.part import RUNS_FILE
from support.datasets import rows_of
from support.rawtree import METRICS, RawTree

REFERENCE = ROOT / "benchmarks" / "tentacle"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def recorded(directory):
    derive_data_set(directory.parent)
    return json.loads((directory.parent / "recording.json").read_text())


def group_of(document, chart, experiment="rbd-journaling"):
    [group] = [one for one in document["experiments"][experiment]["groups"] if chart in one["charts"]]
    return group


def row(seconds, lasts=1, block=1, point="write-seq-4096", attempt=1, used=1, size=4096):
    """Return a row of tidy.csv: a cell that started `seconds` after the beginning."""
    start, end = BEGIN + timedelta(seconds=seconds), BEGIN + timedelta(seconds=seconds + lasts)
    return {
        "block": str(block), "point": point, "attempt": str(attempt), "used": str(used), "io_type": "write",
        "io_size_bytes": str(size), "started_at": utc_text(start), "ended_at": utc_text(end),
    }  # fmt: skip


def manifest(**charts):
    """Return what a manifest says of one experiment."""
    usual = {"runs": True, "metric": "iops", "workload": {"io_type": "write"}, "n": {"max": 2},
             "x": {"label": "I/O size", "unit": "bytes", "factor": "io_size_bytes"}}  # fmt: skip
    return {
        "data_set": "demo",
        "altered": False,
        "experiments": {"a": {"charts": {name: {**usual, **said} for name, said in charts.items()}}},
    }


# Time ----------------------------------------------------------------------------------------------------------------


def test_time_counts_in_full_and_a_long_pause_counts_as_a_short_one():
    assert played_seconds([(0, 10), (15, 20), (5000, 5001)], longest_pause=60) == [10, 20, 81]


def test_attempts_that_overlap_share_their_time():
    assert played_seconds([(0, 100), (10, 20), (50, 130)]) == [100, 20, 130]


def test_without_attempts_there_is_no_time():
    assert played_seconds([]) == []


SPANS = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 5000)).map(lambda one: (one[0], one[0] + one[1])), min_size=1
)


@given(spans=SPANS, longest=st.integers(0, 600))
def test_later_ends_are_played_later_and_no_gap_grows(spans, longest):
    played = played_seconds(spans, longest)
    order = sorted(range(len(spans)), key=lambda index: spans[index][1])
    first = min(start for start, _ in spans)
    for one, other in itertools.pairwise(order):
        assert 0 <= played[other] - played[one] <= spans[other][1] - spans[one][1]
    assert all(0 <= at <= end - first for at, (_, end) in zip(played, spans, strict=True))


@given(spans=SPANS)
def test_without_a_limit_on_pauses_time_is_unchanged(spans):
    first = min(start for start, _ in spans)
    assert played_seconds(spans, 10**9) == [end - first for _, end in spans]


@given(spans=SPANS, longest=st.integers(0, 600))
def test_the_order_in_which_attempts_are_listed_does_not_matter(spans, longest):
    turned = played_seconds(spans[::-1], longest)[::-1]
    assert turned == played_seconds(spans, longest)


# Attempts ------------------------------------------------------------------------------------------------------------


def test_an_attempt_lasts_from_its_first_cell_to_its_last():
    [attempt] = attempts_of([row(5, lasts=2), row(1, lasts=3), row(3, lasts=9)])
    assert ((attempt.started - BEGIN).total_seconds(), (attempt.ended - BEGIN).total_seconds()) == (1, 12)


def test_an_attempt_without_a_cell_has_no_time():
    assert attempts_of([{**row(0), "started_at": "", "ended_at": ""}]) == []


# The document --------------------------------------------------------------------------------------------------------


def test_a_void_attempt_takes_its_time_and_nothing_arrives():
    rows = [row(0, lasts=10, used=0), row(10, lasts=10, attempt=2)]
    found = recording(manifest(iops={}), {"a": rows})["experiments"]["a"]
    assert found["attempts"] == 2
    assert found["groups"] == [{"arrives": "run", "charts": ["iops"], "seconds": [20.0], "x": [4096], "block": [1]}]


def test_charts_of_the_same_runs_share_their_moments():
    document = recording(manifest(iops={}, throughput={}, other={"workload": {"io_type": "read"}}), {"a": [row(0)]})
    assert [group["charts"] for group in document["experiments"]["a"]["groups"]] == [["iops", "throughput"]]


def test_what_arrives_depends_on_the_chart():
    charts = manifest(
        runs={},
        osds={"x": {"label": "OSD", "unit": "count"}},
        trials={"runs": False, "x": {"label": "Trial", "unit": "count", "factor": "block"}},
        over_time={"runs": "lines", "x": {"label": "Time", "unit": "seconds"}},
        without_runs={"runs": False, "x": {"label": "Time", "unit": "seconds"}},
    )
    rows = [row(0, block=1), row(10, block=1, point="write-seq-8192", size=8192), row(20, block=2)]
    groups = recording(charts, {"a": rows})["experiments"]["a"]["groups"]
    assert groups[1]["charts"] == ["osds", "over_time"]
    assert {group["charts"][0]: {key: group[key] for key in group if key != "charts"} for group in groups} == {
        "runs": {"arrives": "run", "seconds": [1, 11, 21], "x": [4096, 8192, 4096], "block": [1, 1, 2]},
        "osds": {"arrives": "block", "seconds": [11, 21], "block": [1, 2]},
        "trials": {"arrives": "row", "seconds": [11, 21], "x": [1, 2]},
        "without_runs": {"arrives": "whole", "seconds": [21]},
    }


def test_a_chart_of_one_level_arrives_with_the_sets_of_that_level():
    charts = manifest(
        small={"runs": False, "workload": {"io_type": "write", "io_size_bytes": 4096}, "x": {"unit": "seconds"}}
    )
    rows = [row(0), row(10, point="write-seq-8192", size=8192)]
    [group] = recording(charts, {"a": rows})["experiments"]["a"]["groups"]
    assert group["seconds"] == [1]


def test_an_experiment_without_a_table_or_without_a_run_is_left_out():
    assert recording(manifest(iops={}), {})["experiments"] == {}
    assert recording(manifest(iops={}), {"a": []})["experiments"] == {}


def test_intervals_come_with_the_quantiles_for_as_many_pairs_as_there_are():
    document = recording(manifest(ratio={"metric": "ratio-iops", "n": {"max": 4}}), {"a": [row(0)]})
    assert document["t_quantiles"] == {str(n): pytest.approx(statistics.t_quantile(n), rel=1e-8) for n in (2, 3, 4)}
    assert recording(manifest(iops={}), {"a": [row(0)]})["t_quantiles"] == {}


# Derived -------------------------------------------------------------------------------------------------------------


def test_derive_writes_it_with_every_run_of_every_chart_at_one_moment(directory):
    RawTree(directory).measure(blocks=2)
    document = recorded(directory)
    assert (document["data_set"], document["altered"]) == ("demo", False)
    assert document["longest_pause_seconds"] == LONGEST_PAUSE_SECONDS
    for chart in ("iops-write-seq", "ratio-throughput-write-seq"):
        group = group_of(document, chart)
        known = set(zip(group["x"], group["block"], strict=True))
        runs = [row for row in rows_of(directory / "aggregate" / RUNS_FILE) if row["chart"] == chart]
        assert {(int(one["x"]), int(one["block"])) for one in runs} == known
        assert group["seconds"] == sorted(group["seconds"])


def test_a_longer_measurement_lasts_longer_but_not_by_the_night_between(directory):
    tree = RawTree(directory).measure(blocks=1)
    short = recorded(directory)["experiments"]["rbd-journaling"]
    tree.moments += 12 * 3600
    tree.measure(blocks=1, first=2)
    both = recorded(directory)["experiments"]["rbd-journaling"]
    assert both["started_at"] == short["started_at"]
    assert 2 * short["seconds"] < both["seconds"] < 2 * short["seconds"] + LONGEST_PAUSE_SECONDS + 10


def test_a_series_over_time_arrives_block_by_block(directory):
    over_time = {"metric": "operations_per_second", "name": "rate-over-time", "title": "Rate", "better": "higher",
                 "unit": "operations_per_second", "series": True, "bin_seconds": 1}  # fmt: skip
    RawTree(directory, experiment="rates", metrics=[*METRICS, over_time]).measure(blocks=2)
    group = group_of(recorded(directory), "rate-over-time-write-seq-4096")
    assert (group["arrives"], group["block"]) == ("block", [1, 2])


def test_the_shipped_recording_is_small_and_knows_every_chart_that_has_a_run():
    text = (REFERENCE / "recording.json").read_bytes()
    assert len(gzip.compress(text)) < 60_000
    document = json.loads(text)
    said = json.loads((REFERENCE / "manifest.json").read_text())
    for name, entry in said["experiments"].items():
        charts = {chart for chart, facts in entry["charts"].items() if facts["n"]["max"] > 0}
        played = {
            chart for group in document["experiments"].get(name, {"groups": []})["groups"] for chart in group["charts"]
        }
        assert charts <= played, name
