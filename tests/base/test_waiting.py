"""Polling: it ends with the answer, at the limit, or with what the pause or the question raises."""

from __future__ import annotations

import itertools

import pytest

from replay.base.clock import NotInTimeError, poll
from replay.base.errors import RefusedError, ReplayError
from support.bench import Clock


def polled(ask, **more):
    clock = Clock()
    how = {"what": "the daemon to answer", "seconds": 3.0, "every": 1.0, "pause": clock.sleep, "clock": clock}
    return poll(ask, **{**how, **more})


def test_an_answer_ends_it_also_one_that_is_empty():
    answers = iter([None, None, 0])
    assert polled(lambda: next(answers)) == 0


def test_it_asks_at_once_and_when_the_time_is_over():
    asked = itertools.count()
    with pytest.raises(NotInTimeError):
        polled(lambda: None if next(asked) >= 0 else 1, seconds=0.0)
    assert next(asked) == 1
    asked = itertools.count()
    assert polled(lambda: True if next(asked) == 3 else None) is True


def test_the_error_says_what_was_awaited_and_last_seen_and_what_to_do():
    with pytest.raises(ReplayError) as error:
        polled(lambda: None, seen=lambda: "osd.1 is down", next_step="start osd.1")
    assert "for the daemon to answer; osd.1 is down" in error.value.what
    assert error.value.next_step == "start osd.1"


def test_what_the_pause_raises_ends_it():
    def refuse(_: float) -> None:
        raise RefusedError("the cluster is full")

    with pytest.raises(RefusedError):
        polled(lambda: None, pause=refuse)
