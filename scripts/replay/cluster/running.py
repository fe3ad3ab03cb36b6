"""Runs programs: one with a time limit, several together, some beside a cell. None outlives the runner or overlaps.

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
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from replay.base.clock import poll, utc_text
from replay.base.errors import ReplayError
from replay.base.programs import HOST_PROGRAMS, Programs

#: How long an interrupted tool may take to end by itself.
GRACE_SECONDS = 3.0
#: How often what runs beside a tool is called.
LOOK_SECONDS = 0.02


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
) -> ToolRun:
    """Run a tool to its end or its time limit, and return what it printed, verbatim.

    `programs` finds the program. `while_running(elapsed_seconds)` is called about every LOOK_SECONDS, in the calling
    thread. Raises MissingProgramError if the program is not installed. Any exception, including Ctrl-C, kills the tool
    before it propagates.
    """
    command = programs.command(argv, dies_with_parent=True)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started, clock = datetime.now(UTC), time.monotonic()
        process = _start(command, slot, environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        killed = interrupted = False
        try:
            while not _has_ended(process) and (elapsed := time.monotonic() - clock) < timeout_seconds:
                if while_running is not None:
                    while_running(elapsed)
                _await_end(process, min(LOOK_SECONDS, timeout_seconds))
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


def _start(
    command: Sequence[str], slot: Inherited | None, environment: Mapping[str, str] | None, **streams: Any
) -> subprocess.Popen:
    """Start a program in a session of its own; it keeps the site's slot open."""
    return subprocess.Popen(
        command,
        **streams,
        env={**os.environ, **(environment or {})},
        pass_fds=slot.descriptors if slot else (),
        start_new_session=True,
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


def last_line(said: bytes | str) -> str:
    """Return the last line that a program printed, which says why it failed; empty if it said nothing."""
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return next(reversed(text.strip().splitlines()), "")


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


class _StoppedError(Exception):
    """The others ended in an error, or the person pressed Ctrl-C."""


def run_together(
    commands: Sequence[Sequence[str]],
    *,
    timeout_seconds: float,
    programs: Programs = HOST_PROGRAMS,
    slot: Inherited | None = None,
    while_running: Callable[[float], None] | None = None,
) -> list[ToolRun]:
    """Start all commands within milliseconds of each other; return what each did, in the order of the commands.

    A tool that fails or exceeds its time limit does not end the others, whose output is evidence too. An exception,
    including Ctrl-C, ends all of them before it propagates. While the first command runs, `while_running` is called as
    by `run_tool`. Raises MissingProgramError if a program is not installed.
    """
    how = {"timeout_seconds": timeout_seconds, "programs": programs, "slot": slot}
    if len(commands) == 1:
        return [run_tool(commands[0], **how, while_running=while_running)]
    stop = threading.Event()

    def run(number: int) -> ToolRun:
        def watch(elapsed: float) -> None:
            if stop.is_set():
                raise _StoppedError
            if number == 0 and while_running is not None:
                while_running(elapsed)

        return run_tool(commands[number], **how, while_running=watch)

    # Leaving the pool waits for its threads, and so for every tool to be reaped.
    with ThreadPoolExecutor(max_workers=len(commands)) as pool:
        running = [pool.submit(run, number) for number, _ in enumerate(commands)]
        try:
            return [future.result() for future in running]
        except BaseException:
            stop.set()
            raise


class Background:
    """A process in a session of its own that dies with the runner and holds the site's slot.

    Its output goes to unnamed files, so it never blocks on a pipe that nobody reads.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        programs: Programs = HOST_PROGRAMS,
        slot: Inherited | None = None,
        environment: Mapping[str, str] | None = None,
        ready_within_seconds: float = 30.0,
    ) -> None:
        """Start it. `programs` finds the program. Raises MissingProgramError if it is not installed."""
        command = programs.command(argv, dies_with_parent=True)
        self.name = os.path.basename(argv[0])  # noqa: PTH119 (a word for messages, not a path)
        self.ready_within_seconds = ready_within_seconds
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `kill`)
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self._frozen = False
        streams = {"stdin": subprocess.PIPE, "stdout": self._out, "stderr": self._err}
        self._process = _start(command, slot, environment, **streams)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """Its exit status, negative if a signal ended it, None while it runs."""
        return self._process.poll()

    def stdout(self) -> bytes:
        """Return what it has printed so far."""
        return os.pread(self._out.fileno(), os.fstat(self._out.fileno()).st_size, 0)

    def stderr(self) -> bytes:
        """Return what it has printed to stderr so far."""
        return os.pread(self._err.fileno(), os.fstat(self._err.fileno()).st_size, 0)

    def send(self, data: bytes) -> None:
        """Send it bytes, fewer than a pipe can hold. Raises ReplayError if it has ended."""
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise ReplayError(f"{self.name} has ended: {self.complaint()}") from error

    def await_that(
        self,
        condition: Callable[[], bool],
        what: str,
        while_waiting: Callable[[], None] = lambda: None,
    ) -> None:
        """Wait until `condition` holds. Raises ReplayError if the process ends first, or takes too long.

        `while_waiting` is called at each look, and may raise ReplayError to end the wait.
        """

        def ask() -> bool | None:
            if condition():
                return True
            if self.exit_status is not None:
                raise ReplayError(f"{self.name} ended before {what}: {self.complaint()}")
            return None

        def pause(seconds: float) -> None:
            time.sleep(seconds)
            while_waiting()

        poll(ask, what=f"{what} of {self.name}", seconds=self.ready_within_seconds, every=0.01, pause=pause)

    def complaint(self) -> str:
        """Return the last line of its stderr, for messages."""
        return last_line(self.stderr())[:200] or f"exit status {self.exit_status}, silent"

    def freeze(self) -> None:
        """Stop it at once, without letting it finish anything. `thaw`, `end` and `kill` work on a frozen process."""
        self._signal(signal.SIGSTOP)
        self._frozen = True

    def thaw(self) -> None:
        if self._frozen:
            self._signal(signal.SIGCONT)
            self._frozen = False

    def end(self, patience_seconds: float = 10.0) -> int | None:
        """Close its stdin, which tells it to stop, and wait. Kill it if it does not stop.

        Return its exit status, None if it had to be killed.
        """
        self.thaw()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            return self._process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            kill_group(self._process)
            return None

    def kill(self) -> None:
        """Kill it and everything it started, reap it, and close its files. May be called again."""
        kill_group(self._process)
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._out.close()
        self._err.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
