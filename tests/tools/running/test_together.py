"""Tools that start together: each leaves its output, a failure ends no other, an interruption ends all."""

from __future__ import annotations

import os
import signal

import pytest

from replay.base.errors import ReplayError
from replay.tools.running.together import run_together
from support.patience import patient
from support.programs import descendants


def shell(*lines):
    return ["sh", "-c", "; ".join(lines)]


def test_they_run_at_once_and_their_results_keep_the_order(tmp_path):
    # Each waits for all others to be running, which never happens if they run one after another.
    met = f'until [ "$(ls {tmp_path} | wc -l)" = 3 ]; do sleep 0.02; done'
    commands = [shell(f"touch {tmp_path}/{n}", met, f"echo {n}", f"exit {n}") for n in range(3)]
    runs = run_together(commands, timeout_seconds=patient(20))
    assert [(run.stdout, run.exit_status) for run in runs] == [(b"0\n", 0), (b"1\n", 1), (b"2\n", 2)]


def test_one_that_hangs_is_killed_at_the_bound_and_the_others_keep_what_they_printed():
    quick, hung = run_together(
        [shell("echo done"), shell("echo begun", "exec sleep 3600")], timeout_seconds=patient(0.6)
    )
    assert (quick.exit_status, quick.stdout) == (0, b"done\n")
    assert (hung.exit_status, hung.stdout) == (None, b"begun\n")


def test_a_missing_program_ends_the_others():
    before = descendants(os.getpid())
    with pytest.raises(ReplayError, match="not installed"):
        run_together([["no-such-program-of-replay"], shell("exec sleep 3600")], timeout_seconds=3600)
    assert descendants(os.getpid()) == before


@pytest.mark.parametrize("count", [1, 3])
def test_ctrl_c_ends_all_of_them(count):
    before = descendants(os.getpid())

    def press(_):
        if len(descendants(os.getpid())) == len(before) + count:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_together([shell("exec sleep 3600")] * count, timeout_seconds=3600, while_running=press)
    assert descendants(os.getpid()) == before


@pytest.mark.parametrize("count", [1, 2])
def test_a_callback_may_watch_the_first_of_them(count, tmp_path):
    seen, enough = [], tmp_path / "enough"

    def watch(moment):
        seen.append(moment)
        if len(seen) > 3:
            enough.touch()

    command = shell(f"until [ -e {enough} ]; do sleep 0.02; done")
    runs = run_together([command] * count, timeout_seconds=patient(20), while_running=watch)
    assert [run.exit_status for run in runs] == [0] * count
    assert seen == sorted(seen), "one clock"
