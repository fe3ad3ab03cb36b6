"""Programs of this machine that tests need, and the processes that they become."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest

#: Set by the full `npm test`, which installs every program, so that a missing one is a failure.
WHOLE = "REPLAY_TEST_WHOLE"


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test, with the reason, if a program is missing that only the full `npm test` installs."""
    lacking = [name for name in names if shutil.which(name) is None]
    reason = f"{' and '.join(lacking)} not installed here: `npm test` installs all programs, and runs this test"
    return pytest.mark.skipif(bool(lacking) and WHOLE not in os.environ, reason=reason)


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processes(*words: str, environment: str = "") -> list[int]:
    """Return the pids of all processes with `words` in their command line, whose arguments end with a space each.

    `environment`, a `NAME=value`, distinguishes the processes of one test from those of others.
    """
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            # The environment last: the kernel copies all of it, and tests ask this many times a second.
            if all(word in line for word in words) and (
                not environment or environment.encode() in (entry / "environ").read_bytes().split(b"\0")
            ):
                found.append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    """Return the pid and those of all its descendants."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, queue = [], [pid]
    while queue:
        one = queue.pop()
        found.append(one)
        queue += children.get(one, [])
    return found


def kill_together(pids: Iterable[int]) -> None:
    """Kill processes as a loss of power does: none of them sees another one die, and cleans up."""
    pids = list(pids)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        _signal(pids, number)


def freeze(pid: int) -> set[int]:
    """Stop a process and all its descendants, also one that is being started at this moment; return their pids.

    A process that is stopped starts no other one, so that the next look finds those that the last one missed.
    """
    stopped: set[int] = set()
    while new := set(descendants(pid)) - stopped:
        _signal(new, signal.SIGSTOP)
        stopped |= new
    return stopped


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
