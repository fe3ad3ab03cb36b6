"""A block that fails says why, in which cell, and where its log is, which holds everything."""

from __future__ import annotations

import io
from argparse import Namespace

import pytest

from replay.base.errors import RefusedError, cleaning_up, during
from replay.base.progress import Progress
from replay.measure import block


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a block whose measuring is `work`; return its exit status, what it says, and its log."""

    def run(work):
        monkeypatch.setattr(block, "_measure", lambda options, progress: work())
        screen, path = io.StringIO(), tmp_path / "block.log"
        with path.open("a") as log:
            status = block._run(Namespace(experiment="trial", block=2, log=path), Progress(screen, log=log))
        return status, screen.getvalue(), path.read_text()

    return run


def test_the_cause_its_cell_and_the_log_are_said_before_what_cleaning_up_met(run):
    def leave():
        raise RefusedError("3 image(s) could not be removed")

    def work():
        with cleaning_up(leave), during("trial, block 2, 4096 with journal, attempt 1"):
            raise RefusedError("rbd-mirror does not run", where="replay/image", next_step="start it")

    status, said, log = run(work)
    assert status == RefusedError.exit_status
    lines = said.splitlines()
    assert lines[0] == "replay/image: rbd-mirror does not run"
    assert lines[1:4] == [
        "  in: trial, block 2, 4096 with journal, attempt 1",
        "  next: start it",
        "  cleaning up then met: 3 image(s) could not be removed",
    ]
    assert lines[4].startswith("  log: ")
    assert lines[4].endswith("block.log")
    assert "Traceback" not in said
    assert "Traceback" in log
    assert "rbd-mirror does not run" in log


def test_a_fault_of_replays_is_a_sentence_too_and_the_log_has_the_traceback(run):
    status, said, log = run(lambda: {}["absent"])
    assert status == 1
    assert said.startswith("trial, block 2: KeyError: 'absent'\n  next: this is a fault of Replay's")
    assert "Traceback" not in said
    assert "test_block_failure.py" in log


def test_an_interrupted_block_says_what_cleaning_up_met(run):
    def leave():
        raise RefusedError("an image is left")

    def work():
        with cleaning_up(leave):
            raise KeyboardInterrupt

    status, said, _ = run(work)
    assert status == 130
    assert said == "stopped; every finished set is kept\n  cleaning up then met: an image is left\n"
