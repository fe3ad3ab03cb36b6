"""Tools have a time limit, leave nothing running, and never overlap."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from replay.base.errors import RefusedError, ReplayError
from replay.cluster.cluster import Cluster
from replay.cluster.running import run_together, run_tool
from replay.ownership.locks import SlotLock
from support.patience import patient, wait_until
from support.programs import descendants, is_running


def await_end(pid):
    wait_until(lambda: not is_running(pid), f"the end of process {pid}")


def test_the_output_of_a_tool_is_kept_verbatim():
    run = run_tool(["sh", "-c", "printf 'a\\n\\377'; printf warn >&2; exit 3"], timeout_seconds=patient(10))
    assert (run.stdout, run.stderr, run.exit_status) == (b"a\n\xff", b"warn", 3)


def test_the_cpu_time_of_a_tool_is_its_own_and_that_of_what_it_waited_for():
    count = "import os, time\nwhile time.process_time() < {}: pass\n"
    alone = [sys.executable, "-ISc", count.format(0.2)]
    parent = [sys.executable, "-ISc", f"import subprocess, sys\nsubprocess.run({alone!r})\n{count.format(0.1)}"]
    assert run_tool(alone, timeout_seconds=patient(30)).cpu_seconds >= 0.2
    assert run_tool(parent, timeout_seconds=patient(30)).cpu_seconds >= 0.3
    waits = run_tool(["sleep", "0.5"], timeout_seconds=patient(30))
    assert waits.cpu_seconds < 0.5 <= waits.seconds, "waiting is not counted"


def test_the_cpu_time_of_a_tool_that_was_killed_is_not_known():
    assert run_tool(["sleep", "3600"], timeout_seconds=0.1).cpu_seconds is None


def test_a_tool_that_hangs_and_ignores_sigterm_is_killed_at_its_bound_with_its_children(tmp_path):
    pids = tmp_path / "pids"
    script = f"trap '' TERM; echo $$ > {pids}; sleep 3600 & echo $! >> {pids}; sleep 3600"
    bound = patient(0.6)
    run = run_tool(["bash", "-c", script], timeout_seconds=bound)
    assert run.exit_status is None
    assert run.seconds >= bound
    tool, child = pids.read_text().split()
    await_end(int(tool))
    await_end(int(child))


def test_a_missing_program_is_named_with_the_next_step():
    with pytest.raises(ReplayError, match=r"no-such-tool is not installed(.|\n)*scripts/setup"):
        run_tool(["no-such-tool"], timeout_seconds=1)


def test_a_callback_runs_while_the_tool_does(tmp_path):
    moments, enough = [], tmp_path / "enough"

    def watch(moment):
        moments.append(moment)
        if len(moments) > 3:
            enough.touch()

    script = f"until [ -e {enough} ]; do sleep 0.02; done"
    assert run_tool(["bash", "-c", script], timeout_seconds=patient(20), while_running=watch).exit_status == 0
    assert moments == sorted(moments)


def test_two_measurements_cannot_hold_one_cluster(tmp_path):
    first, second = SlotLock(tmp_path / "slot"), SlotLock(tmp_path / "slot")
    first.acquire()
    with pytest.raises(RefusedError, match=str(os.getpid())):
        second.acquire(wait_seconds=0.3)
    first.release()
    second.acquire(wait_seconds=0.3)


def test_names_that_are_no_text_do_not_end_a_command_of_a_cluster(tmp_path, monkeypatch):
    program = tmp_path / "rbd"
    program.write_text("#!/bin/sh\nprintf '[\"b\\344r\"]'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert Cluster(tmp_path / "ceph.conf").json("rbd", "ls") == ["b\ufffdr"]


def start_runner(tmp_path, pids):
    """A process that holds the slot and runs a tool, as measure does."""
    code = f"""
        from pathlib import Path
        from replay.ownership.locks import SlotLock
        from replay.cluster.running import run_tool
        slot = SlotLock(Path({str(tmp_path / "slot")!r})); slot.acquire()
        run_tool(["bash", "-c", "echo $$ > {pids}; exec sleep 3600"], timeout_seconds=3600, slot=slot)
    """
    runner = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    wait_until(lambda: pids.exists() and pids.read_text().strip(), "the tool")
    return runner, int(pids.read_text())


def test_a_killed_runner_takes_its_tool_with_it(tmp_path):
    runner, tool = start_runner(tmp_path, tmp_path / "pids")
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    await_end(tool)
    SlotLock(tmp_path / "slot").acquire(wait_seconds=patient(2))


def test_a_killed_runner_takes_a_command_of_its_cluster_with_it(tmp_path):
    pids, program = tmp_path / "pids", tmp_path / "rbd"
    program.write_text(f"#!/bin/sh\necho $$ > {pids}\nexec sleep 3600\n")
    program.chmod(0o755)
    code = """
        from pathlib import Path
        from replay.cluster.cluster import Cluster
        Cluster(Path("ceph.conf")).run("rbd", "bench", timeout_seconds=3600)
    """
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    runner = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment)
    wait_until(lambda: pids.exists() and pids.read_text().strip(), "the command")
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    await_end(int(pids.read_text()))


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
    SlotLock(tmp_path / "slot").acquire(wait_seconds=patient(2))


# Tools that start together: each leaves its output, a failure ends no other, an interruption ends all -----------------


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
