"""What a person reads of a failure, its cause first, and of a wait, which ends with its cause if hopeless."""

from __future__ import annotations

import signal
import traceback

import pytest

from replay.base.clock import LOOK_EVERY_SECONDS, SAY_AFTER_SECONDS, Waiting
from replay.base.errors import ReplayError, cleaning_up, during, handling, visible
from support.bench import Clock


def failing(error):
    def step():
        raise error

    return step


def test_what_cleaning_up_met_comes_after_the_cause():
    left = ReplayError("2 image(s) could not be removed", where="replay/image", next_step="run clean")
    with pytest.raises(ReplayError) as raised, cleaning_up(failing(left)):
        raise ReplayError("the mirror daemon does not answer", where="replay/image", next_step="start it")
    assert str(raised.value).splitlines() == [
        "replay/image: the mirror daemon does not answer",
        "  next: start it",
        "  cleaning up then met: replay/image: 2 image(s) could not be removed",
        "    next: run clean",
    ]


def test_every_step_runs_and_the_first_failure_is_raised_where_the_work_succeeded():
    did = []
    with (
        pytest.raises(ReplayError, match="first") as raised,
        cleaning_up(failing(ReplayError("first")), failing(ValueError("second")), lambda: did.append("third")),
    ):
        did.append("work")
    assert did == ["work", "third"]
    assert str(raised.value) == "first\n  cleaning up then met: ValueError: second"


def test_an_interruption_stays_one_and_tells_what_cleaning_up_met():
    with pytest.raises(KeyboardInterrupt) as raised, cleaning_up(failing(ReplayError("an image is left"))):
        raise KeyboardInterrupt
    assert raised.value.__notes__ == ["  cleaning up then met: an image is left"]


def test_an_error_names_the_innermost_work_that_failed():
    with pytest.raises(ReplayError) as raised, during("block 1"), during("block 1, cell 4096"):
        raise ReplayError("refused", next_step="wait")
    assert str(raised.value) == "refused\n  in: block 1, cell 4096\n  next: wait"


def test_a_traceback_names_the_work_and_what_cleaning_up_met_once():
    with pytest.raises(ReplayError) as raised, cleaning_up(failing(ReplayError("left"))), during("block 1"):
        raise ReplayError("refused")
    text = "".join(traceback.format_exception(raised.value))
    assert (text.count("in: block 1"), text.count("cleaning up then met: left")) == (1, 1)


def test_a_cause_stands_between_what_happened_and_what_to_do():
    error = ReplayError("no answer", next_step="run sandbox up")
    error.because = "mon.left of left does not run"
    assert str(error) == "no answer\n  because: mon.left of left does not run\n  next: run sandbox up"


def test_a_name_of_others_cannot_command_the_terminal_that_shows_it():
    assert str(ReplayError("it is empty", where="raw/\x1b[2J\n\u202ecsv")) == r"raw/\x1b[2J\n\u202ecsv: it is empty"
    assert visible("Größe, 4 KiB · 日本\u3000語") == "Größe, 4 KiB · 日本\u3000語"


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


def test_signals_are_handled_as_before_once_the_work_has_ended_or_failed():
    before = signal.getsignal(signal.SIGUSR2)
    with pytest.raises(ReplayError), handling({signal.SIGUSR2: signal.SIG_IGN}):
        assert signal.getsignal(signal.SIGUSR2) is signal.SIG_IGN
        raise ReplayError("it failed")
    assert signal.getsignal(signal.SIGUSR2) is before
