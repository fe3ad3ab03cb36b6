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
    """What a tool did. `exit_status` is None when it was killed at its bound; `seconds` is wall time."""

    stdout: bytes
    stderr: bytes
    exit_status: int | None
    started_at: str
    ended_at: str
    seconds: float


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
            if while_running is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout_seconds)
            else:
                while process.poll() is None and (elapsed := time.monotonic() - clock) < timeout_seconds:
                    while_running(elapsed)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(poll_seconds)
            killed = process.poll() is None
        except BaseException:
            interrupted = True
            raise
        finally:
            # A client that ends by itself takes its watch along; a killed one blocks its image for half a minute more.
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
        )


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
