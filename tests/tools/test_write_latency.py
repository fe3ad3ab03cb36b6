"""Latency below saturation: what few writes do not tell is left out, and the worst is told of equal spans."""

from __future__ import annotations

import pytest

from replay.evidence.record import SampleTable
from replay.tools import OutputError, reader
from replay.tools.writer import well_supported
from support.made_up_output import latency_log, report, steps_log

WRITE_LATENCY = reader("write-latency")
ORIGIN = 1_700_000_000.0
SIZE = 4096


def outputs(seconds=32, slow=(), orders=(), operations=4000):
    """A cell with a window each second, whose slowest write takes 3 ms, or 9 ms in the windows of `slow`."""
    lines = [(ORIGIN + 1 + number, 0.009 if number in slow else 0.003) for number in range(seconds)]
    write = {
        "step": "write", "started_seconds": 0.5, "seconds": 500.0, "unix_seconds_at_origin": ORIGIN,
        "log_lines": len(lines),
    }  # fmt: skip
    taken = [
        {"step": "snapshot", "started_seconds": at, "said": f"Snapshot ID: {number}"}
        for number, at in enumerate(orders, 4)
    ]
    return {
        "output": report(["image-1"], operations=operations, io_size_bytes=SIZE, seconds=float(seconds)),
        "latency": latency_log(lines),
        "steps": steps_log(write, *taken),
        "counters": SampleTable().content().decode(),
    }


def parse(files, interval=None):
    levels = {"load": "one-writer", "io_type": "randwrite", "io_size_bytes": SIZE}
    levels |= {} if interval is None else {"snapshot_interval_seconds": interval}
    return WRITE_LATENCY.parse(files, 0, levels).metrics


def test_the_report_gives_the_rate_and_the_latencies():
    found = parse(outputs(orders=[5.0, 20.0]), interval=15)
    assert found["operations_per_second"] == pytest.approx(125)
    assert (found["latency_p50_seconds"], found["latency_p99_seconds"]) == (0.002, 0.008)
    assert found["snapshots"] == 2


def test_the_worst_is_the_slowest_of_each_whole_half_minute_on_average():
    assert parse(outputs(seconds=32, slow=[3]))["latency_worst_seconds"] == pytest.approx(0.009)
    assert parse(outputs(seconds=32, slow=[30]))["latency_worst_seconds"] == pytest.approx(0.003), "beyond the span"
    four = parse(outputs(seconds=124, slow=[3, 4, 70]))["latency_worst_seconds"]
    assert four == pytest.approx((0.009 + 0.003 + 0.009 + 0.003) / 4)


def test_a_cell_shorter_than_half_a_minute_does_not_tell_the_worst():
    assert "latency_worst_seconds" not in parse(outputs(seconds=20))


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


@pytest.mark.parametrize("orders", [(), (0.6,), (100.0,)], ids=["none", "before the first window", "after the last"])
def test_a_cell_with_an_interval_and_no_snapshot_in_it_is_void(orders):
    with pytest.raises(OutputError) as error:
        parse(outputs(orders=orders), interval=15)
    assert error.value.reason == "no_snapshot"


def test_files_cut_off_anywhere_give_no_number():
    whole = outputs(orders=[5.0])
    for role in ("latency", "steps"):
        for end in range(len(whole[role])):
            with pytest.raises(OutputError):
                parse({**whole, role: whole[role][:end]}, interval=15)
