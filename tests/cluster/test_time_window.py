"""A site's time window, also over midnight and when clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.cluster.site import TimeWindow

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = TimeWindow(time(22), time(6), BERLIN)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-01-10T21:59:59", False),
        ("2026-01-10T22:00:00", True),
        ("2026-01-11T00:00:00", True),
        ("2026-01-11T05:59:59", True),
        ("2026-01-11T06:00:00", False),
        ("2026-01-11T12:00:00", False),
    ],
)
def test_a_window_spans_midnight(moment: str, is_open: bool) -> None:
    assert NIGHT.is_open(_at(moment)) is is_open


def test_the_time_zone_of_the_site_counts_and_not_that_of_the_caller() -> None:
    assert NIGHT.is_open(datetime(2026, 1, 10, 21, 30, tzinfo=UTC))
    assert not NIGHT.is_open(datetime(2026, 7, 10, 4, 30, tzinfo=UTC))


def test_seconds_until_open_and_close() -> None:
    assert NIGHT.seconds_until_open(_at("2026-01-10T21:00")) == 3600
    assert NIGHT.seconds_until_open(_at("2026-01-10T23:00")) == 0
    assert NIGHT.seconds_until_close(_at("2026-01-10T23:00")) == 7 * 3600
    assert NIGHT.seconds_until_close(_at("2026-01-10T12:00")) == 0


def test_the_night_of_the_clock_change_is_an_hour_shorter_or_longer() -> None:
    assert NIGHT.seconds_until_close(_at("2026-03-28T22:00")) == 7 * 3600
    assert NIGHT.seconds_until_close(_at("2026-10-24T22:00")) == 9 * 3600


def test_in_a_doubled_hour_the_window_is_the_shorter_one() -> None:
    ends = TimeWindow(time(22), time(2, 30), BERLIN)
    assert ends.is_open(datetime(2026, 10, 25, 0, 29, tzinfo=UTC))  # 02:29, the first time
    assert not ends.is_open(datetime(2026, 10, 25, 1, 0, tzinfo=UTC))  # 02:00, the second time
    starts = TimeWindow(time(2, 30), time(6), BERLIN)
    assert not starts.is_open(datetime(2026, 10, 25, 0, 45, tzinfo=UTC))  # 02:45, the first time
    assert starts.is_open(datetime(2026, 10, 25, 1, 45, tzinfo=UTC))  # 02:45, the second time


def test_an_hour_that_does_not_exist_opens_after_it() -> None:
    window = TimeWindow(time(2, 30), time(6), BERLIN)
    assert not window.is_open(datetime(2026, 3, 29, 1, 15, tzinfo=UTC))  # 03:15
    assert window.is_open(datetime(2026, 3, 29, 1, 30, tzinfo=UTC))  # 03:30


times = st.builds(time, st.integers(0, 23), st.integers(0, 59))


@given(times, times, st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)))
def test_waiting_as_long_as_it_says_finds_it_open(start: time, end: time, naive: datetime) -> None:
    if start == end:
        return
    window, now = TimeWindow(start, end, BERLIN), naive.replace(tzinfo=UTC)
    seconds = window.seconds_until_open(now)
    opened = datetime.fromtimestamp(now.timestamp() + seconds, UTC)
    assert window.is_open(opened) or window.is_open(opened.replace(microsecond=min(999999, opened.microsecond + 2)))
    assert (seconds == 0) == window.is_open(now)
    assert seconds < 3 * 86400
