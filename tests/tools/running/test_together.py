"""Tools that start together: each leaves what it printed, one that fails ends no other, an interruption ends all."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from replay.base.errors import ReplayError
from replay.tools.running.together import run_together
from support.processes import descendants


def shell(*lines):
    return ["sh", "-c", "; ".join(lines)]


def test_they_run_at_once_and_answer_in_the_order_asked():
    started = time.monotonic()
    runs = run_together([shell(f"sleep 0.5; echo {n}; exit {n}") for n in range(3)], timeout_seconds=20)
    assert time.monotonic() - started < 1.2
    assert [(run.stdout, run.exit_status) for run in runs] == [(b"0\n", 0), (b"1\n", 1), (b"2\n", 2)]


def test_one_that_hangs_is_killed_at_the_bound_and_the_others_keep_what_they_printed():
    quick, hung = run_together([shell("echo done"), shell("echo begun", "exec sleep 60")], timeout_seconds=0.5)
    assert (quick.exit_status, quick.stdout) == (0, b"done\n")
    assert (hung.exit_status, hung.stdout) == (None, b"begun\n")


def test_a_missing_program_ends_the_others():
    started = time.monotonic()
    with pytest.raises(ReplayError, match="not installed"):
        run_together([["no-such-program-of-replay"], shell("exec sleep 60")], timeout_seconds=60)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("count", [1, 3])
def test_ctrl_c_ends_all_of_them(count):
    def press():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        run_together([shell("exec sleep 60")] * count, timeout_seconds=60)
    assert descendants(os.getpid()) == [os.getpid()]


@pytest.mark.parametrize("count", [1, 2])
def test_somebody_may_watch_the_first_of_them(count):
    seen = []
    run_together([shell("sleep 0.3")] * count, timeout_seconds=20, while_running=seen.append)
    assert len(seen) > 3
    assert seen == sorted(seen), "one clock"
