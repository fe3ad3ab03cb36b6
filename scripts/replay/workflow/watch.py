"""A long-lived process that derives again whenever raw output arrives. It yields to everything that is measured.

It holds what it has read (raw output never changes), so that a new attempt costs its own files only. The lowest
priority keeps it from the CPU that a benchmark wants.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from replay.base.errors import ReplayError
from replay.derive.cells import Cache
from replay.derive.part import Derived
from replay.raw.layout import experiments_in, recorded_in
from replay.workflow.dataset import finish
from replay.workflow.steps import derive_experiment

POLL_SECONDS = 0.1


def lower_priority() -> None:
    """Run at nice 19 and, where the system has it, only on CPU time that nobody else wants."""
    with contextlib.suppress(OSError):
        os.nice(19)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class Watcher:
    """Derives the experiments of a data set whose SHA256SUMS changed since the last look."""

    def __init__(self, data_set: Path, experiments: tuple[str, ...], complain: Callable[[str], None]) -> None:
        self.data_set = data_set
        self.experiments = experiments
        self.complain = complain
        self._caches: dict[str, Cache] = {}
        self._seen: dict[str, tuple[tuple[int, int, int], ...]] = {}

    def look(self) -> list[Derived]:
        """Derive what changed. An error is told once, and the experiment tried again at its next change."""
        derived = []
        for name in experiments_in(self.data_set):
            if self.experiments and name not in self.experiments:
                continue
            state = self._state(name)
            if self._seen.get(name) == state:
                continue
            self._seen[name] = state
            try:
                derived.append(derive_experiment(self.data_set / name, self._caches.setdefault(name, Cache())))
            except ReplayError as error:
                self.complain(str(error))
        if derived:
            try:
                finish(self.data_set)
            except ReplayError as error:
                self.complain(str(error))
        return derived

    def _state(self, name: str) -> tuple[tuple[int, int, int], ...]:
        """Return what changes whenever a record comes: SHA256SUMS of `raw/` and of its open blocks are replaced."""
        return tuple(_status(path) for path in recorded_in(self.data_set / name / "raw"))


def _status(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0, 0  # it was sealed meanwhile
    return status.st_mtime_ns, status.st_size, status.st_ino


def watch(data_set: Path, experiments: tuple[str, ...]) -> None:
    """Look every tenth of a second until standard input closes (then once more) or SIGTERM arrives."""
    lower_priority()
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True
        with contextlib.suppress(OSError):
            os.write(wake_write, b".")

    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGTERM, stop)
    watcher = Watcher(data_set, experiments, lambda text: print(text, file=sys.stderr, flush=True))
    open_input = True
    while not stopped:
        watcher.look()
        if not open_input:
            return
        readable, _, _ = select.select([sys.stdin, wake_read], [], [], POLL_SECONDS)
        if sys.stdin in readable and not os.read(sys.stdin.fileno(), 4096):
            open_input = False
