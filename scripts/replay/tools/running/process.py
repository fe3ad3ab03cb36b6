"""Running a benchmark tool: bounded in time, in a group of its own, never outliving the runner, never overlapping.

A tool is ended in three ways: by its own end, by the bound (SIGKILL to its group: librbd's tools ignore SIGTERM while
an OSD does not answer), or by the runner's death (`setpriv --pdeathsig`). Should one survive all the same, it holds
the site's slot lock, whose descriptor it inherits, and keeps the next run from overlapping it.
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
    """What a tool did. `exit_status` is None when it was killed at its bound; `seconds` is wall time.

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
    """Whatever holds descriptors that a tool keeps open, such as a cluster's slot."""

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
    """Run a tool to its end or its bound and return what it printed, verbatim.

    `programs` say whose program it is. `while_running(elapsed_seconds)` is called about every `poll_seconds` from the
    calling thread. Raises ReplayError when the program is missing. An exception (Ctrl-C too) kills the tool before it
    goes on.
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
            # A client that ends by itself takes its watch along; a killed one blocks its image for half a minute more.
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
    """Return whether a process has ended, without reaping it: what it used is known when it is reaped."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _await_end(process: subprocess.Popen, seconds: float) -> None:
    """Wait until a process has ended, but no longer than this."""
    deadline, pause = time.monotonic() + seconds, 0.0005
    while not _has_ended(process) and (left := deadline - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        pause = min(2 * pause, 0.05)


def _reap(process: subprocess.Popen) -> float:
    """Take the exit status of a process that has ended; return its CPU time, with that of those it had waited for."""
    _, status, used = os.wait4(process.pid, 0)
    # Popen can reap too, but does not tell what the process used.
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def kill_group(process: subprocess.Popen, *, grace_seconds: float = 0.0) -> None:
    """End a process that was started in a session of its own, with all it started, and reap it.

    It is asked first where there is grace, and killed after.
    """
    for number, patience in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, None)):
        if number == signal.SIGTERM and not grace_seconds:
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
