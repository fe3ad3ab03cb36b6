"""Tools are bounded, leave nothing running, and never overlap."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from replay.base.errors import RefusedError, ReplayError
from replay.owned.slot import SlotLock
from replay.tools.running.process import run_tool


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def gone(pid, seconds=5.0):
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def test_what_a_tool_printed_is_kept_verbatim():
    run = run_tool(["sh", "-c", "printf 'a\\n\\377'; printf warn >&2; exit 3"], timeout_seconds=10)
    assert (run.stdout, run.stderr, run.exit_status) == (b"a\n\xff", b"warn", 3)


def test_a_tool_that_hangs_and_ignores_sigterm_is_killed_at_its_bound_with_its_children(tmp_path):
    pids = tmp_path / "pids"
    script = f"trap '' TERM; echo $$ > {pids}; sleep 60 & echo $! >> {pids}; sleep 60"
    run = run_tool(["bash", "-c", script], timeout_seconds=0.7)
    assert run.exit_status is None
    assert 0.6 < run.seconds < 5
    assert all(gone(int(pid)) for pid in pids.read_text().split())


def test_a_missing_program_is_named_with_the_way_out():
    with pytest.raises(ReplayError, match=r"no-such-tool is not installed(.|\n)*scripts/setup"):
        run_tool(["no-such-tool"], timeout_seconds=1)


def test_a_callback_runs_while_the_tool_does():
    moments = []
    run_tool(["sleep", "0.4"], timeout_seconds=5, while_running=moments.append)
    assert len(moments) > 3
    assert moments == sorted(moments)


def test_two_measurements_cannot_hold_one_cluster(tmp_path):
    first, second = SlotLock(tmp_path / "slot"), SlotLock(tmp_path / "slot")
    first.acquire()
    with pytest.raises(RefusedError, match=str(os.getpid())):
        second.acquire(wait_seconds=0.3)
    first.release()
    second.acquire(wait_seconds=0.3)


def start_runner(tmp_path, pids):
    """A process that holds the slot and runs a tool, as measure does."""
    code = f"""
        from pathlib import Path
        from replay.owned.slot import SlotLock
        from replay.tools.running.process import run_tool
        slot = SlotLock(Path({str(tmp_path / "slot")!r})); slot.acquire()
        run_tool(["bash", "-c", "echo $$ > {pids}; exec sleep 60"], timeout_seconds=90, slot=slot)
    """
    runner = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    deadline = time.monotonic() + 10
    while not (pids.exists() and pids.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return runner, int(pids.read_text())


def test_a_killed_runner_takes_its_tool_with_it(tmp_path):
    runner, tool = start_runner(tmp_path, tmp_path / "pids")
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    assert gone(tool)
    SlotLock(tmp_path / "slot").acquire(wait_seconds=2)


def test_a_tool_that_outlives_its_runner_keeps_the_next_from_overlapping(tmp_path):
    slot = SlotLock(tmp_path / "slot")
    slot.acquire()
    orphan = subprocess.Popen(["sleep", "60"], pass_fds=slot.descriptors)
    try:
        slot.release()  # the runner is gone; the tool still holds the inherited descriptor
        with pytest.raises(RefusedError):
            SlotLock(tmp_path / "slot").acquire(wait_seconds=0.3)
    finally:
        orphan.kill()
        orphan.wait()
    SlotLock(tmp_path / "slot").acquire(wait_seconds=2)
