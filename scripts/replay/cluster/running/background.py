"""Processes that run beside a cell's tool, such as a benchmark's servers or a writer. They end with the runner."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, sleep

from replay.base.errors import ReplayError
from replay.base.programs import HOST_PROGRAMS, Programs
from replay.cluster.running.process import Inherited, kill_group


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
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=self._out,
            stderr=self._err,
            env={**os.environ, **(environment or {})},
            pass_fds=slot.descriptors if slot else (),
            start_new_session=True,
        )

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

    def say(self, line: str) -> None:
        """Send it a line. Raises ReplayError if it has ended."""
        self.send(f"{line}\n".encode())

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
        poll_seconds: float = 0.01,
        while_waiting: Callable[[], None] = lambda: None,
    ) -> None:
        """Wait until `condition` holds. Raises ReplayError if the process ends first, or takes too long.

        `while_waiting` is called at each look, and may raise ReplayError to end the wait.
        """
        deadline = monotonic() + self.ready_within_seconds
        while not condition():
            if self.exit_status is not None:
                raise ReplayError(f"{self.name} ended before {what}: {self.complaint()}")
            if monotonic() > deadline:
                raise ReplayError(f"{self.name}: {what} did not come within {self.ready_within_seconds:g} s")
            sleep(poll_seconds)
            while_waiting()

    def complaint(self) -> str:
        """Return the last line of its stderr, for messages."""
        lines = self.stderr().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else f"exit status {self.exit_status}, silent"

    def freeze(self) -> None:
        """Stop it at once, without letting it finish anything. `thaw`, `end` and `kill` work on a frozen process."""
        self._signal(signal.SIGSTOP)
        self._frozen = True

    def thaw(self) -> None:
        """Let a frozen process continue."""
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
