"""Runs a benchmark tool: with a time limit, in a process group of its own. It never outlives the runner or overlaps.

A tool ends by itself, at its time limit (SIGKILL to its group: librbd's tools ignore SIGTERM while an OSD does not
answer), or when the runner dies (`setpriv --pdeathsig`). If one survives all the same, it still holds the site's slot
lock, whose descriptor it inherited, and so keeps the next run from overlapping it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from replay.base.clock import utc_text
from replay.base.programs import HOST_PROGRAMS, Programs

#: How long an interrupted tool may take to end by itself.
GRACE_SECONDS = 3.0


@dataclass(frozen=True)
class ToolRun:
    """What a tool did. `exit_status` is None if it was killed at its time limit; `seconds` is wall time.

    `cpu_seconds` is the CPU time of the tool and of the processes that it waited for; None if it was killed.
    """

    stdout: bytes
    stderr: bytes
    exit_status: int | None
    started_at: str
    ended_at: str
    seconds: float
    cpu_seconds: float | None = None


class Inherited(Protocol):
    """Something with descriptors that a tool keeps open, such as a cluster's slot."""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that a tool inherits."""


def run_tool(
    argv: Sequence[str],
    *,
    timeout_seconds: float,
    programs: Programs = HOST_PROGRAMS,
    slot: Inherited | None = None,
    environment: Mapping[str, str] | None = None,
    while_running: Callable[[float], None] | None = None,
    poll_seconds: float = 0.02,
) -> ToolRun:
    """Run a tool to its end or its time limit, and return what it printed, verbatim.

    `programs` finds the program. `while_running(elapsed_seconds)` is called about every `poll_seconds`, in the calling
    thread. Raises MissingProgramError if the program is not installed. Any exception, including Ctrl-C, kills the tool
    before it propagates.
    """
    command = programs.command(argv, dies_with_parent=True)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started, clock = datetime.now(UTC), time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(environment or {})},
            pass_fds=slot.descriptors if slot else (),
            start_new_session=True,
        )
        killed = interrupted = False
        try:
            while not _has_ended(process) and (elapsed := time.monotonic() - clock) < timeout_seconds:
                if while_running is not None:
                    while_running(elapsed)
                _await_end(process, min(poll_seconds, timeout_seconds))
            killed = not _has_ended(process)
        except BaseException:
            interrupted = True
            raise
        finally:
            # A client that ends by itself removes its watch; a killed one blocks its image for another half a minute.
            cpu_seconds = _reap(process) if _has_ended(process) else None
            kill_group(process, grace_seconds=GRACE_SECONDS if interrupted else 0.0)
        seconds, ended = time.monotonic() - clock, datetime.now(UTC)
        out.seek(0)
        err.seek(0)
        return ToolRun(
            stdout=out.read(),
            stderr=err.read(),
            exit_status=None if killed else process.returncode,
            started_at=utc_text(started),
            ended_at=utc_text(ended),
            seconds=seconds,
            cpu_seconds=cpu_seconds,
        )


def _has_ended(process: subprocess.Popen) -> bool:
    """Return whether a process has ended, without reaping it: only reaping tells what it used."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _await_end(process: subprocess.Popen, seconds: float) -> None:
    """Wait until a process has ended, but no longer than this."""
    deadline, pause = time.monotonic() + seconds, 0.0005
    while not _has_ended(process) and (left := deadline - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        pause = min(2 * pause, 0.05)


def _reap(process: subprocess.Popen) -> float:
    """Reap a process that has ended; return the CPU seconds of it and of the processes that it waited for."""
    _, status, used = os.wait4(process.pid, 0)
    # Popen can reap too, but does not tell what the process used.
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def kill_group(process: subprocess.Popen, *, grace_seconds: float = 0.0) -> None:
    """End a process that leads a session, with everything it started, and reap it.

    With a grace period it gets SIGTERM first, and SIGKILL when the period is over.
    """
    for number, patience in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, None)):
        if number == signal.SIGTERM and not grace_seconds:
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
