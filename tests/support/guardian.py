"""Ends everything that a run of tests has started, however the run ends, and removes its folder.

    guardian.py FOLDER

It waits until its standard input closes, which happens even if the run is killed. It recognises what belongs to the run
by its folder: a process that has it in its environment as REPLAY_TEST_RUN, and a Ceph daemon whose configuration lies
in it. It prints a line for each thing that it had to end, and its exit status is then 1; otherwise 0.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
sys.path[:0] = [str(SUPPORT.parent), str(SUPPORT.parents[1] / "scripts")]

from replay.cluster.sandbox_record import STATE_FILE  # noqa: E402
from replay.sandbox import down  # noqa: E402
from replay.sandbox.processes import of_sandbox, stop  # noqa: E402
from support.patience import patient  # noqa: E402

VARIABLE = "REPLAY_TEST_RUN"
# The time for processes that are about to end by themselves.
GRACE_SECONDS = 0.3
STOP_SECONDS = 10.0


def belongs(pid: int, folder: Path) -> bool:
    """Return whether a process was started with the run's folder in its environment."""
    try:
        return os.fsencode(f"{VARIABLE}={folder}") in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False  # gone, or another user's


def processes_of(folder: Path) -> Iterator[int]:
    """Yield the pids of the run's processes."""
    for entry in Path("/proc").glob("[0-9]*"):
        if belongs(int(entry.name), folder):
            yield int(entry.name)


def command_line(pid: int) -> str:
    """Return how a process was started; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def kill(pid: int, folder: Path) -> None:
    """Kill a process if the pid still belongs to the run."""
    try:
        held = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        # The pid is held, so that the kernel cannot reuse it between this check and the signal.
        if belongs(pid, folder):
            signal.pidfd_send_signal(held, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        os.close(held)


def end_processes(folder: Path) -> list[str]:
    """End the run's processes; return how each was started."""
    deadline = time.monotonic() + patient(GRACE_SECONDS)
    while any(processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.02)
    ended = []
    # Repeated, because one may have started another meanwhile.
    deadline = time.monotonic() + patient(STOP_SECONDS)
    while (found := list(processes_of(folder))) and time.monotonic() < deadline:
        for pid in found:
            line = f"process {pid}: {command_line(pid)}"
            kill(pid, folder)
            if line not in ended:
                ended.append(line)
        time.sleep(0.02)
    return ended + [f"process {pid} does not end: {command_line(pid)}" for pid in found]


def end_sandboxes(folder: Path) -> list[str]:
    """Take down sandboxes with running daemons, and end any other daemon; return what they were."""
    ended = []
    for record in sorted(folder.rglob(STATE_FILE)):
        daemons = [f"{name} {process.pid}" for name, process in of_sandbox(record.parent)]
        if not daemons:
            continue
        ended.append(f"sandbox {record.parent}: {', '.join(daemons)}")
        try:
            down(record.parent)
        except Exception as error:  # an error of one sandbox must not keep the others running
            ended.append(f"sandbox {record.parent} could not be taken down in order: {error}")
    if left := [process for _, process in of_sandbox(folder)]:
        ended.append(f"daemons {', '.join(str(process.pid) for process in left)}")
        stop(left, timeout_seconds=patient(STOP_SECONDS))
    return ended


def main(argv: list[str]) -> int:
    """Wait for the end of the run, then clean up. Return 1 if something still ran, else 0."""
    (name,) = argv
    folder = Path(name).resolve()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # whoever ends the run ends it: then standard input closes
    sys.stdin.buffer.read()
    ended = [*end_processes(folder), *end_sandboxes(folder)]
    for line in ended:
        print(line, flush=True)
    shutil.rmtree(folder)
    return 1 if ended else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
