"""Runs Ceph's tools: with a timeout, interruptible, and with only the sandbox's settings in the environment."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from replay.base.programs import Programs
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.sandbox_record import Layout, SandboxCluster, SandboxError
from replay.cluster.session import MonitorSession
from replay.sandbox.errors import InterruptedStart
from replay.sandbox.processes import daemon_environment


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

    def wait_until(self, ready: Callable[[], bool], *, what: str, where: Path | str, timeout_seconds: float) -> None:
        """Poll until `ready()`. Raises SandboxError that names what was awaited (`what`) and its log (`where`)."""
        deadline = time.monotonic() + timeout_seconds
        while not ready():
            if time.monotonic() > deadline:
                raise SandboxError(
                    f"{what}: timed out after {timeout_seconds:g} s", where=where, next_step="read the logs named here"
                )
            self.pause(0.05)


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
    return run(layout.programs, argv, timeout_seconds=timeout_seconds)


@contextlib.contextmanager
def monitors_of(cluster: SandboxCluster, layout: Layout) -> Iterator[MonitorSession]:
    """Open a connection to a cluster's monitors as its administrator, and close it at the end.

    Starting two clusters needs dozens of commands. A command that fails is a SandboxError.
    """
    administrator = Cluster(
        Path(cluster.conf), cluster.client, Path(cluster.keyring), cluster.name, programs=layout.programs
    )
    with MonitorSession(administrator, connect_timeout_seconds=30.0) as session:
        try:
            yield session
        except CephCommandError as error:
            raise SandboxError(error.what, where=error.where, next_step=error.next_step) from error
