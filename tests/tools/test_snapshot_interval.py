"""Latency around mirror snapshots: from fio's windows and the moments at which snapshots were ordered."""

from __future__ import annotations

import pytest

from replay.evidence.record import SampleTable
from replay.tools import OutputError, reader
from support.made_up_output import latency_log, report, steps_log

SNAPSHOT_INTERVAL = reader("snapshot-interval")
SIZE = 4096
ORIGIN = 1_700_000_000.0
#: A window each half second from 1 to 20 s: 2 ms, and 10 ms for two seconds after a snapshot.
WINDOWS = [1 + 0.5 * number for number in range(39)]


def outputs(orders=(), windows=WINDOWS, trims=(), status=0):
    table = SampleTable()
    for at, left in trims:
        table.add(at, "cluster", "snapshots_to_trim", left)
    slow = {at: any(0 <= at - order < 2 for order in orders) for at in windows}
    lines = [(ORIGIN + at, 0.010 if slow[at] else 0.002) for at in windows]
    write = {
        "step": "write", "started_seconds": 0.5, "unix_seconds_at_origin": ORIGIN, "log_lines": len(lines),
    }  # fmt: skip
    taken = [
        {
            "step": "snapshot",
            "started_seconds": at,
            "exit_status": status,
            "said": f"Snapshot ID: {number}" if status == 0 else "rbd: no",
        }
        for number, at in enumerate(orders, 4)
    ]
    return {
        "output": report(["image-1"], operations=4000, io_size_bytes=SIZE, seconds=20.0),
        "latency": latency_log(lines),
        "steps": steps_log(write, *taken),
        "counters": table.content().decode(),
    }


def parse(files, interval=None):
    levels = {"io_type": "randwrite", "io_size_bytes": SIZE}
    levels |= {} if interval is None else {"snapshot_interval_seconds": interval}
    return SNAPSHOT_INTERVAL.parse(files, 0, levels)


def series(result, wanted):
    return [(at, value) for at, metric, value in result.series if metric == wanted]


def test_windows_within_two_seconds_after_an_order_are_near_and_the_others_away():
    found = parse(outputs([5.0, 15.0]), interval=10).metrics
    assert found["snapshots"] == 2
    assert found["latency_near_snapshot_seconds"] == pytest.approx(0.010)
    assert found["latency_away_seconds"] == pytest.approx(0.002)
    assert found["latency_worst_window_seconds"] == pytest.approx(0.010)
    assert found["operations_per_second"] == pytest.approx(200)


def test_latency_is_drawn_over_the_cell_and_around_the_nearest_snapshot():
    result = parse(outputs([5.0, 15.0]), interval=10)
    assert len(series(result, "latency_seconds")) == len(WINDOWS)
    assert series(result, "latency_seconds")[0] == (0.0, pytest.approx(0.002))
    around = series(result, "latency_around_snapshot_seconds")
    assert min(at for at, _ in around) == pytest.approx(-2.0)
    assert max(at for at, _ in around) == pytest.approx(5.0), "half way to the next one the next one is nearer"
    assert {round(value, 6) for at, value in around if 0 <= at < 2} == {0.010}
    assert {round(value, 6) for at, value in around if not 0 <= at < 2} == {0.002}


def test_a_cell_without_snapshots_has_neither_latency_near_nor_around_them():
    result = parse(outputs())
    assert result.metrics["snapshots"] == 0
    assert "latency_near_snapshot_seconds" not in result.metrics
    assert series(result, "latency_around_snapshot_seconds") == []


def test_trimming_lasts_from_a_reading_that_shows_it_to_the_next():
    trims = [(1.0, 0), (2.0, 3), (3.0, 1), (4.5, 0), (5.0, 0), (40.0, 9)]
    result = parse(outputs([5.0], trims=trims), interval=20)
    assert result.metrics["trimming_seconds"] == pytest.approx(2.5)
    assert max(value for _, value in series(result, "snapshots_to_trim")) == 3


@pytest.mark.parametrize(
    "files",
    [outputs(), outputs([5.0], status=1), outputs([0.2]), outputs([25.0])],
    ids=["none", "it failed", "before the first window", "after the last"],
)
def test_a_cell_with_an_interval_and_no_snapshot_in_it_is_void(files):
    with pytest.raises(OutputError) as error:
        parse(files, interval=10)
    assert error.value.reason == "no_snapshot"


@pytest.mark.parametrize(("before", "after"), [('"exit_status": 0', '"exit_status": 7'), ("Snapshot ID: 5", "no")])
def test_an_order_that_both_failed_and_succeeded_is_refused(before, after):
    files = outputs([5.0, 15.0])
    lines = files["steps"].splitlines(keepends=True)
    assert before in lines[2]
    lines[2] = lines[2].replace(before, after)
    with pytest.raises(OutputError, match="snapshot: exit status") as error:
        parse({**files, "steps": "".join(lines)}, interval=10)
    assert error.value.line == 3
