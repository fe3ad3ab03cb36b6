"""A wait says what for, how long at most, and every ten seconds what it sees; a hopeless one ends with its cause."""

from __future__ import annotations

import pytest

from replay.base.errors import ReplayError
from replay.base.waiting import LOOK_EVERY_SECONDS, SAY_AFTER_SECONDS, Waiting
from support.bench import Clock


@pytest.fixture
def clock():
    return Clock()


def waiting(clock, said, look=lambda: "the daemon answers", at_most=300.0):
    return Waiting("the first copy", at_most, say=said.append, look=look, clock=clock, sleep=clock.sleep)


def pause(one, seconds):
    for _ in range(round(seconds / 0.5)):
        one.pause(0.5)


def test_a_short_wait_is_not_worth_a_line_or_a_look(clock):
    said, looks = [], []
    pause(waiting(clock, said, look=lambda: looks.append(1) or ""), LOOK_EVERY_SECONDS - 0.5)
    assert (said, looks) == ([], [])


def test_a_wait_says_what_for_how_long_at_most_and_every_ten_seconds_what_it_sees(clock):
    said = []
    pause(waiting(clock, said), 31)
    assert said == [
        f"waiting for the first copy: {seconds:.0f} s of at most 5 min 00 s; the daemon answers"
        for seconds in (SAY_AFTER_SECONDS, 15, 25)
    ]


def test_a_wait_without_a_limit_of_its_own_says_none(clock):
    said = []
    pause(waiting(clock, said, look=lambda: "", at_most=None), 6)
    assert said == ["waiting for the first copy: 5 s"]


def test_a_hopeless_wait_ends_with_its_cause_within_fifteen_seconds(clock):
    dies_at = 40.0

    def look():
        clock.sleep(10.0)  # as long as a monitor may take to be called lost
        if clock.now - 10.0 >= dies_at:
            raise ReplayError("rbd-mirror of right does not run")
        return ""

    with pytest.raises(ReplayError, match="does not run"):
        pause(waiting(clock, [], look=look), 300)
    assert clock.now - dies_at <= 10.0 + LOOK_EVERY_SECONDS + 10.0 + 0.5
