"""Running a benchmark tool: bounded in time, in a group of its own, never outliving the runner, never overlapping.

A tool is ended in three ways: by its own end, by the bound (SIGKILL to its group: librbd's tools ignore SIGTERM while
an OSD does not answer), or by the runner's death (`setpriv --pdeathsig`). Should one survive all the same, it holds
the site's slot lock, whose descriptor it inherits, and keeps the next run from overlapping it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from replay.clock import utc_text
from replay.errors import RefusedError, ReplayError

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


class SlotLock:
    """The one place on a cluster where a benchmark may run. Tools inherit it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None

    def acquire(self, wait_seconds: float = 60.0, say: Callable[[str], None] | None = None) -> None:
        """Take the slot, waiting a little for a leftover to end. Raises RefusedError naming the holder."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("a+")
        deadline = time.monotonic() + wait_seconds
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                file.seek(0)
                holder = file.read().strip() or "unknown"
                if say and not told:
                    say(f"another measurement holds this cluster (process {holder}); waiting up to {wait_seconds:g} s")
                    told = True
                if time.monotonic() > deadline:
                    file.close()
                    raise RefusedError(
                        f"another measurement is running on this cluster (process {holder})",
                        where=self.path,
                        next_step="wait until it ends, or end it, then start again: nothing is lost",
                    ) from None
                time.sleep(0.2)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Give the slot back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that a tool inherits."""
        return (self._file.fileno(),) if self._file is not None else ()


def run_tool(
    argv: Sequence[str],
    *,
    timeout_seconds: float,
    slot: SlotLock | None = None,
    environment: Mapping[str, str] | None = None,
    while_running: Callable[[float], None] | None = None,
    poll_seconds: float = 0.02,
) -> ToolRun:
    """Run a tool to its end or its bound and return what it printed, verbatim.

    `while_running(elapsed_seconds)` is called about every `poll_seconds` from the calling thread. Raises ReplayError
    when the program is missing. An exception (Ctrl-C too) kills the tool before it goes on.
    """
    program = shutil.which(argv[0])
    if program is None:
        raise ReplayError(f"the program {argv[0]} is not installed", next_step="run scripts/setup")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started, clock = datetime.now(UTC), time.monotonic()
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", program, *argv[1:]],
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
