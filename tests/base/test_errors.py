"""What a person reads of a failure: the cause first, and after it what cleaning up met."""

from __future__ import annotations

import pytest

from replay.base.errors import ReplayError, cleaning_up, during


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
    assert raised.value.afterwards == ["ValueError: second"]


def test_an_interruption_stays_one_and_tells_what_cleaning_up_met():
    with pytest.raises(KeyboardInterrupt) as raised, cleaning_up(failing(ReplayError("an image is left"))):
        raise KeyboardInterrupt
    assert raised.value.__notes__ == ["  cleaning up then met: an image is left"]


def test_an_error_names_the_innermost_work_that_failed():
    with pytest.raises(ReplayError) as raised, during("block 1"), during("block 1, cell 4096"):
        raise ReplayError("refused", next_step="wait")
    assert str(raised.value) == "refused\n  in: block 1, cell 4096\n  next: wait"


def test_a_cause_stands_between_what_happened_and_what_to_do():
    error = ReplayError("no answer", next_step="run sandbox up")
    error.because = "mon.left of left does not run"
    assert str(error) == "no answer\n  because: mon.left of left does not run\n  next: run sandbox up"
