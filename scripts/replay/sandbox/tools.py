"""What every step of a sandbox shares: its errors, its lock, waits that can be interrupted, and its tools."""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path

from replay.base.clock import poll
from replay.base.errors import handling
from replay.base.programs import Programs
from replay.cluster.cluster import Cluster
from replay.cluster.sandbox_record import Layout, SandboxCluster, SandboxError
from replay.cluster.session import MonitorSession
from replay.evidence.durable import remove_tree
from replay.sandbox.processes import daemon_environment

#: Gets lines for a person.
Say = Callable[[str], None]


class InterruptedStart(BaseException):
    """Raised in worker threads on an interruption; never shown."""


@contextlib.contextmanager
def locked(
    directory: Path,
    *,
    what: str = "this sandbox",
    timeout_seconds: float = 180.0,
    say: Say = lambda line: None,
) -> Iterator[None]:
    """Hold the lock of `what`, which is in `directory`; wait for another holder, and `say` so.

    The lock file is beside the directory, and its holder removes it before letting go. A waiter that gets the lock of a
    removed file takes it again on the new one, so there are never two holders. Children do not inherit the descriptor,
    so a daemon never holds the lock.
    """
    path = directory.with_name(f".{directory.name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    if (descriptor := _try_lock(path)) is None:
        say(f"another program is changing {what}; waiting for it")
        descriptor = poll(
            lambda: _try_lock(path),
            what=f"another program that is changing {what}",
            seconds=timeout_seconds,
            every=0.1,
            where=directory,
            next_step="wait for it, or end it, then run this again",
            error=SandboxError,
        )
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _try_lock(path: Path) -> int | None:
    """Return the descriptor of the locked file, None if somebody else holds the lock or has just removed the file."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    os.close(descriptor)
    return None


class Interrupt:
    """Set by the main thread on Ctrl-C; it ends every wait of a worker thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask all waits to end."""
        self._event.set()

    def pause(self, seconds: float) -> None:
        """Sleep. Raises InterruptedStart."""
        if self._event.wait(seconds):
            raise InterruptedStart

    def wait_until(
        self,
        ready: Callable[[], bool],
        *,
        what: str,
        where: Path | str,
        timeout_seconds: float = 120.0,
        every: float = 0.05,
        seen: Callable[[], str] | None = None,
    ) -> None:
        """Poll until `ready()`. Raises SandboxError: what was awaited, what was `seen` last, and its log (`where`)."""
        poll(
            lambda: True if ready() else None,
            what=what,
            seconds=timeout_seconds,
            every=every,
            seen=seen,
            where=where,
            next_step="read the logs named here",
            error=SandboxError,
            pause=self.pause,
        )


def remove_all_but(kept: str, folder: Path) -> None:
    """Remove everything in a folder, except the entry of this name."""
    for entry in folder.iterdir():
        if entry.name != kept:
            remove_tree(entry)


def columns(rows: Sequence[Sequence[str]], *, right: Container[int] = ()) -> list[str]:
    """Return the lines of a table, each column as wide as its longest cell; those named in `right` are set right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [f"{'>' if number in right else '<'}{width}" for number, width in enumerate(widths)]
    return ["  ".join(map(format, row, aligned)).rstrip() for row in rows]


def run(programs: Programs, argv: list[str], *, timeout_seconds: float = 60.0) -> str:
    """Run one of `programs` and return its stdout. Raises SandboxError with its last line of output."""
    shown = " ".join(argv)
    try:
        done = subprocess.run(
            programs.command(argv),
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            stdin=subprocess.DEVNULL,
            env=daemon_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"it did not end within {timeout_seconds:g} s", where=shown) from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise SandboxError(f"exit status {done.returncode}: {lines[-1] if lines else 'nothing printed'}", where=shown)
    return done.stdout


def rbd(layout: Layout, cluster: str, *args: str, timeout_seconds: float = 60.0) -> str:
    """Run `rbd` on a cluster as the sandbox's administrator."""
    argv = ["rbd", "--conf", str(layout.conf(cluster)), *args]
    return run(layout.programs_at(cluster), argv, timeout_seconds=timeout_seconds)


def monitors_of(cluster: SandboxCluster, layout: Layout) -> MonitorSession:
    """Return a connection to a cluster's monitors as its administrator, for dozens of commands."""
    administrator = Cluster(
        Path(cluster.conf),
        cluster.client,
        Path(cluster.keyring),
        cluster.name,
        programs=layout.programs_at(cluster.name),
    )
    return MonitorSession(administrator, connect_timeout_seconds=30.0)


def in_parallel(jobs: list[Callable[[], None]], interrupt: Interrupt) -> None:
    """Run the jobs at the same time. The first failure, or Ctrl-C, ends the others and is then raised."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(jobs)) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            for future in concurrent.futures.as_completed(futures):
                future.result()
        except BaseException:
            interrupt.set()
            raise


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let clean-up finish: a second Ctrl-C would leave daemons behind. Only the main thread handles signals."""
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    with handling(dict.fromkeys(numbers, signal.SIG_IGN)):
        yield
