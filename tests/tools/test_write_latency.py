"""Latency of a writer: the worst of equal spans, around mirror snapshots, and what few writes do not tell."""

from __future__ import annotations

import pytest

from replay.tools import OutputError, reader
from replay.tools.writer import well_supported
from support.made_up_output import snapshot_step, writer_cell

WRITE_LATENCY, SNAPSHOT_INTERVAL = reader("write-latency"), reader("snapshot-interval")


def parse(tool, files, interval=None):
    levels = {"load": "one-writer", "io_type": "randwrite", "io_size_bytes": 4096}
    levels |= {} if interval is None else {"snapshot_interval_seconds": interval}
    return tool.parse(files, 0, levels)


# The slowest write of each window ------------------------------------------------------------------------------------


def slowest_writes(seconds=32, slow=(), orders=()):
    """A cell with a window each second, whose slowest write takes 3 ms, or 9 ms in the windows of `slow`."""
    windows = [(1 + number, 0.009 if number in slow else 0.003) for number in range(seconds)]
    taken = [snapshot_step(number, at) for number, at in enumerate(orders, 4)]
    return writer_cell(windows, taken, operations=4000, seconds=float(seconds))


def worst(**changes):
    return parse(WRITE_LATENCY, slowest_writes(**changes)).metrics.get("latency_worst_seconds")


def test_the_report_gives_the_rate_and_the_latencies():
    found = parse(WRITE_LATENCY, slowest_writes(orders=[5.0, 20.0]), interval=15).metrics
    assert found["operations_per_second"] == pytest.approx(125)
    assert (found["latency_p50_seconds"], found["latency_p99_seconds"]) == (0.002, 0.008)
    assert found["snapshots"] == 2


def test_the_worst_is_the_slowest_of_each_whole_half_minute_on_average():
    assert worst(slow=[3]) == pytest.approx(0.009)
    assert worst(slow=[30]) == pytest.approx(0.003), "beyond the span"
    assert worst(seconds=124, slow=[3, 4, 70]) == pytest.approx((0.009 + 0.003 + 0.009 + 0.003) / 4)


def test_a_cell_shorter_than_half_a_minute_does_not_tell_the_worst():
    assert worst(seconds=20) is None


@pytest.mark.parametrize(
    ("operations", "left"), [(2000, ["p50", "p99", "p99_9"]), (1999, ["p50", "p99"]), (199, ["p50"])]
)
def test_a_percentile_that_hardly_any_operation_exceeds_is_left_out(operations, left):
    names = [f"latency_{one}_seconds" for one in ("p50", "p99", "p99_9")]
    found = well_supported({"operations": float(operations), **dict.fromkeys(names, 0.1)})
    assert [name for name in names if name in found] == [f"latency_{one}_seconds" for one in left]


def test_the_lower_bound_of_a_percentile_is_left_out_with_it():
    bounds = {f"latency_{one}_at_least_seconds": 17.0 for one in ("p99", "p99_9")}
    found = well_supported({"operations": 1999.0, **bounds})
    assert list(found) == ["operations", "latency_p99_at_least_seconds"]


# Around mirror snapshots ---------------------------------------------------------------------------------------------

#: A window each half second from 1 to 20 s: 2 ms, and 10 ms for two seconds after a snapshot.
WINDOWS = [1 + 0.5 * number for number in range(39)]


def around_snapshots(orders=(), trims=(), **of_orders):
    slow = {at: any(0 <= at - order < 2 for order in orders) for at in WINDOWS}
    windows = [(at, 0.010 if slow[at] else 0.002) for at in WINDOWS]
    taken = [snapshot_step(number, at, **of_orders) for number, at in enumerate(orders, 4)]
    samples = [(at, "cluster", "snapshots_to_trim", left) for at, left in trims]
    return writer_cell(windows, taken, samples, operations=4000, seconds=20.0)


def series(result, wanted):
    return [(at, value) for at, metric, value in result.series if metric == wanted]


def test_windows_within_two_seconds_after_an_order_are_near_and_the_others_away():
    found = parse(SNAPSHOT_INTERVAL, around_snapshots([5.0, 15.0]), interval=10).metrics
    assert found["snapshots"] == 2
    assert found["latency_near_snapshot_seconds"] == pytest.approx(0.010)
    assert found["latency_away_seconds"] == pytest.approx(0.002)
    assert found["latency_worst_window_seconds"] == pytest.approx(0.010)
    assert found["operations_per_second"] == pytest.approx(200)


def test_latency_is_drawn_over_the_cell_and_around_the_nearest_snapshot():
    result = parse(SNAPSHOT_INTERVAL, around_snapshots([5.0, 15.0]), interval=10)
    assert len(series(result, "latency_seconds")) == len(WINDOWS)
    assert series(result, "latency_seconds")[0] == (0.0, pytest.approx(0.002))
    around = series(result, "latency_around_snapshot_seconds")
    assert min(at for at, _ in around) == pytest.approx(-2.0)
    assert max(at for at, _ in around) == pytest.approx(5.0), "half way to the next one the next one is nearer"
    assert {round(value, 6) for at, value in around if 0 <= at < 2} == {0.010}
    assert {round(value, 6) for at, value in around if not 0 <= at < 2} == {0.002}


def test_a_cell_without_snapshots_has_neither_latency_near_nor_around_them():
    result = parse(SNAPSHOT_INTERVAL, around_snapshots())
    assert result.metrics["snapshots"] == 0
    assert "latency_near_snapshot_seconds" not in result.metrics
    assert series(result, "latency_around_snapshot_seconds") == []


def test_trimming_lasts_from_a_reading_that_shows_it_to_the_next():
    trims = [(1.0, 0), (2.0, 3), (3.0, 1), (4.5, 0), (5.0, 0), (40.0, 9)]
    result = parse(SNAPSHOT_INTERVAL, around_snapshots([5.0], trims), interval=20)
    assert result.metrics["trimming_seconds"] == pytest.approx(2.5)
    assert max(value for _, value in series(result, "snapshots_to_trim")) == 3


@pytest.mark.parametrize(
    "files",
    [around_snapshots(), around_snapshots([5.0], exit_status=1, said="rbd: no"), around_snapshots([0.2]),
     around_snapshots([25.0])],
    ids=["none", "it failed", "before the first window", "after the last"],
)  # fmt: skip
@pytest.mark.parametrize("tool", [WRITE_LATENCY, SNAPSHOT_INTERVAL], ids=lambda tool: tool.name)
def test_a_cell_with_an_interval_and_no_snapshot_in_it_is_void(tool, files):
    with pytest.raises(OutputError) as error:
        parse(tool, files, interval=10)
    assert error.value.reason == "no_snapshot"


@pytest.mark.parametrize(("before", "after"), [('"exit_status": 0', '"exit_status": 7'), ("Snapshot ID: 5", "no")])
def test_an_order_that_both_failed_and_succeeded_is_refused(before, after):
    files = around_snapshots([5.0, 15.0])
    lines = files["steps"].splitlines(keepends=True)
    assert before in lines[2]
    lines[2] = lines[2].replace(before, after)
    with pytest.raises(OutputError, match="snapshot: exit status") as error:
        parse(SNAPSHOT_INTERVAL, {**files, "steps": "".join(lines)}, interval=10)
    assert error.value.line == 3
