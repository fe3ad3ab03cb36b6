"""`rbd bench` over time: differences instead of printed averages; a collapse is a number, a cut-off log is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, reader
from support.samples import sample

OVER_TIME, PLAIN = reader("rbd-bench-over-time"), reader("rbd-bench")
EXTRA = {"early_operations_per_second", "late_operations_per_second", "late_share_of_early"}


def log(counts, seconds=None, size=4096):
    """Return the output of a run that had done `counts` operations after each second."""
    seconds = seconds or range(1, len(counts) + 1)
    total, end = counts[-1], float(max(seconds))
    rows = []
    for row, (second, count) in enumerate(zip(seconds, counts, strict=True)):
        # Over five rows; before there are as many, since the start, with the operations in flight.
        start, before = (seconds[row - 5], counts[row - 5]) if row >= 5 else (0, -16)
        over_five = (count - before) / (second - start)
        rows.append(f"{second:>5} {count:>9} {over_five:>9.6f} {over_five * size:>11.2f}")
    rate = total / end
    return "\n".join(
        [
            f"bench  type write io_size {size} io_threads 16 bytes {total * size} pattern sequential",
            "  SEC       OPS   OPS/SEC   BYTES/SEC",
            *rows,
            f"elapsed: {int(end)}   ops: {total}   ops/sec: {rate:.6f}   bytes/sec: {rate * size:.2f}",
            "",
        ]
    )


def parse(text, exit_status=0):
    return OVER_TIME.parse({"stdout": text}, exit_status, {})


def rates(result):
    return [(moment, value) for moment, metric, value in result.series if metric == "operations_per_second"]


def test_a_collapse_is_noticed_at_once_even_if_the_printed_column_is_a_mean_of_five_rows():
    result = parse(log([5000, 5100, 5200, 5250, 5300, 5350]))
    assert rates(result) == [(0.5, 5000), (1.5, 100), (2.5, 100), (3.5, 50), (4.5, 50), (5.5, 50)]
    assert result.metrics["early_operations_per_second"] == 5000
    assert result.metrics["late_operations_per_second"] == 50
    assert result.metrics["late_share_of_early"] == pytest.approx(0.01)


def test_a_second_without_a_row_is_part_of_the_next_rows_mean():
    result = parse(log([1000, 1500, 2500, 2600, 2700], seconds=[1, 2, 4, 5, 6]))
    assert rates(result)[2] == (3.0, 500)
    assert result.metrics["late_operations_per_second"] == pytest.approx((2700 - 2500) / 2)


def test_a_stall_over_the_whole_second_half_is_the_late_rate():
    result = parse(log([1000, 1900, 2800, 2850], seconds=[1, 2, 3, 8]))
    assert result.metrics["late_operations_per_second"] == pytest.approx(50 / 5)
    assert result.metrics["late_share_of_early"] == pytest.approx(0.01)


def test_a_run_too_short_for_a_second_half_has_only_the_tool_s_figures():
    text, status = sample("rbd-bench-read-rand-4k.txt")
    result = parse(text, status)
    assert dict(result.metrics) == dict(PLAIN.parse({"stdout": text}, status, {}).metrics)
    assert not EXTRA & set(result.metrics)


def test_a_first_second_without_any_operation_has_no_share():
    assert "late_share_of_early" not in parse(log([0, 10, 20, 30, 40])).metrics


@given(st.lists(st.integers(0, 10**6), min_size=4, max_size=40).filter(lambda steps: steps[0] > 0))
def test_the_series_adds_up_to_the_operations_and_the_late_rate_is_that_of_the_second_half(steps):
    counts = [sum(steps[: n + 1]) for n in range(len(steps))]
    result = parse(log(counts))
    assert sum(value for _, value in rates(result)) == pytest.approx(counts[-1])
    late = steps[(len(steps) + 1) // 2 :]
    assert result.metrics["late_operations_per_second"] == pytest.approx(sum(late) / len(late))


@given(st.integers(0, 400))
def test_a_log_that_is_cut_off_anywhere_is_an_error_or_incomplete_and_never_gives_a_figure(cut):
    whole = log([5000, 5100, 5200, 5250, 5300, 5350])
    try:
        result = parse(whole[: min(cut, len(whole) - 1)], None)
    except OutputError as error:
        assert error.where.startswith("stdout:")
    else:
        assert not result.complete
        assert dict(result.metrics) == {}
