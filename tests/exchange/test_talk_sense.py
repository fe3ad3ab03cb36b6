"""What is true of the runs behind a new talk: what was in flight, the page cache, what was full."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.exchange.sides import TidyRun, read_side
from replay.exchange.talk import _told
from replay.exchange.talk_points import MeasuredVariant, Point, Told
from replay.exchange.talk_sense import _in_flight, sense_of
from support.compared import experiment
from support.foreign_results import job, report, write

VARIANTS = (MeasuredVariant("a", "a", 0), MeasuredVariant("b", "b", 1))


def told(*options: dict[str, str], **levels: int) -> Told:
    """Return two variants with a run each at the same levels: 32,000 operations a second that take 1 ms."""
    values = {"operations_per_second": 32_000.0, "latency_mean_seconds": 0.001}
    stated = {variant.name: of_variant for variant, of_variant in zip(VARIANTS, options, strict=False)}
    rows = [TidyRun(variant.name, {name: str(level) for name, level in levels.items()}, 1, "", "", values)
            for variant in VARIANTS]  # fmt: skip
    entry = {"factors": {name: [level] for name, level in levels.items()}, "tool": "elbencho_row", "charts": {}}
    measured = replace(experiment(rows), options=stated)
    runs = {(row.variant, "p"): {1: row} for row in rows}
    return Told("mine", "e", entry, measured, VARIANTS, (Point("p", levels, "reads", "reads", "reads"),), runs)


@pytest.mark.parametrize(
    "levels",
    [
        {"io_depth": 4, "threads": 2, "hosts": 4},
        {"threads": 16, "instances": 2},
        # fio's jobs are summed up over the clients.
        {"io_depth": 8, "jobs": 4, "instances": 2},
    ],
)
def test_what_was_in_flight_is_a_share_of_what_all_clients_asked_for(levels):
    assert dict(_in_flight(told(**levels))) == {(name, "p"): pytest.approx(1) for name in "ab"}


def test_more_in_flight_than_is_known_to_be_asked_for_is_no_empty_queue():
    of_runs = told(io_depth=8)
    sense = sense_of(of_runs, Path(), None)
    assert sense.in_flight["a", "p"] == pytest.approx(4)
    assert sense.is_full(VARIANTS[0], of_runs.points[0])


@pytest.mark.parametrize(
    ("options", "cached"),
    [
        (({"direct": "0"}, {"direct": "0"}), True),
        (({"direct": "0"}, {"direct": "1"}), False),
        (({"direct": "0"}, {}), False),
        (({}, {}), False),
    ],
)
def test_figures_are_of_the_page_cache_only_if_all_are(options, cached):
    assert sense_of(told(*options, io_depth=32), Path(), None).cached == cached


@pytest.mark.parametrize(
    ("jobs", "full"),
    [
        ([job("a", rw="randread")], {("mine", "only"): ("the disk", 99.0)}),
        ([job("a", rw="randread"), job("b", rw="randwrite", group=1, stonewall="1")], {}),
    ],
)
def test_how_busy_the_disk_was_is_not_known_of_each_job_in_a_row(tmp_path, benchmarks, jobs, full):
    content = json.loads(report(*jobs)) | {"disk_util": [{"name": "sda", "util": 99.0}]}
    write(tmp_path / "mine", {"1.json": json.dumps(content)})
    assert main(["import", str(tmp_path / "mine"), "--data", "mine"]) == 0
    of_runs = _told(read_side(benchmarks, "mine"), ())
    assert sense_of(of_runs, benchmarks / "mine" / "imported-fio" / "raw", None).busy == full
