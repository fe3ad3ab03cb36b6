"""A long-lived process that derives again whenever raw output arrives, without disturbing measurements.

It remembers what it has read (raw output never changes), so a new attempt only costs reading its own files. It runs at
the lowest priority, so that it never takes CPU time from a benchmark.
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
from replay.claims.workflow.dataset import finish
from replay.claims.workflow.steps import derive_experiment
from replay.derive.cells import Cache
from replay.derive.part import Derived
from replay.evidence.layout import experiments_in, recorded_in

POLL_SECONDS = 0.1


def lower_priority() -> None:
    """Run at nice 19 and, if the system supports it, only on idle CPU time."""
    with contextlib.suppress(OSError):
        os.nice(19)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class Watcher:
    """Derives the experiments of a data set whose SHA256SUMS changed since the last check."""

    def __init__(self, data_set: Path, experiments: tuple[str, ...], complain: Callable[[str], None]) -> None:
        self.data_set = data_set
        self.experiments = experiments
        self.complain = complain
        self._caches: dict[str, Cache] = {}
        self._seen: dict[str, tuple[tuple[int, int, int], ...]] = {}

    def look(self) -> list[Derived]:
        """Derive what changed. Reports an error once, and tries the experiment again at its next change."""
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
        """Return what changes whenever a record comes: SHA256SUMS of `evidence/` and of its open blocks are replaced."""
        return tuple(_status(path) for path in recorded_in(self.data_set / name / "raw"))


def _status(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0, 0  # it was sealed meanwhile
    return status.st_mtime_ns, status.st_size, status.st_ino


def watch(data_set: Path, experiments: tuple[str, ...]) -> None:
    """Check every tenth of a second until standard input closes (then once more) or SIGTERM arrives."""
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
