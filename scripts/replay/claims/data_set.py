"""Derives a data set in this process: its experiments, then verdicts, answer and descriptions.

The rules of the Snakefile call the same functions, each in a job of its own. `replay derive --watch` and
`replay import` call them here.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from replay.base.errors import ReplayError
from replay.claims.answer import write_answer
from replay.claims.documents import write_claims
from replay.claims.manifest import describe_data_set
from replay.derive.part import Derived, refuse_altered_tables
from replay.evidence.data_set import exclusive, experiments_in, named_experiments, recorded_in


def derive_data_set(data_set: Path, experiments: Sequence[str] = ()) -> list[Derived]:
    """Derive the named experiments, or all that have raw output, then judge the claims, answer and describe.

    Raises EvidenceError naming the missing or altered file; intact experiments are derived anyway.
    """
    from replay.derive.experiment import derive_experiments  # noqa: PLC0415 - judging does without pandas

    names = named_experiments(data_set, experiments)
    with ExitStack() as stack:
        stack.callback(judge_and_describe, data_set)
        return list(derive_experiments(data_set / name for name in names))


def judge_and_describe(data_set: Path) -> None:
    """Judge the claims, answer the question and describe the data set, even if claims or answer are invalid.

    Raises EvidenceError, and writes nothing, if a table is not what deriving wrote.
    """
    with exclusive(data_set):
        refuse_altered_tables(data_set)
    with ExitStack() as stack:
        stack.callback(describe_data_set, data_set)
        with exclusive(data_set), ExitStack() as judging:
            judging.callback(write_answer, data_set)
            write_claims(data_set)


# Again whenever raw output arrives, at the lowest priority: no benchmark loses CPU time to it -------------------------


POLL_SECONDS = 0.1


class Watcher:
    """Derives the experiments of a data set whose SHA256SUMS changed since the last check."""

    def __init__(self, data_set: Path, experiments: tuple[str, ...], complain: Callable[[str], None]) -> None:
        self.data_set = data_set
        self.experiments = experiments
        self.complain = complain
        self._seen: dict[str, tuple[tuple[int, int, int], ...]] = {}

    def look(self) -> list[Derived]:
        """Derive what changed. Reports an error once, and tries the experiment again at its next change."""
        from replay.derive.experiment import derive_experiment  # noqa: PLC0415 - judging does without pandas

        derived = []
        for name in experiments_in(self.data_set):
            if self.experiments and name not in self.experiments:
                continue
            # SHA256SUMS of the raw output and of its open blocks are replaced whenever something is recorded.
            state = tuple(_status(path) for path in recorded_in(self.data_set / name / "raw"))
            if self._seen.get(name) == state:
                continue
            self._seen[name] = state
            try:
                derived.append(derive_experiment(self.data_set / name))
            except ReplayError as error:
                self.complain(str(error))
        if derived:
            try:
                judge_and_describe(self.data_set)
            except ReplayError as error:
                self.complain(str(error))
        return derived


def _status(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0, 0  # it was sealed meanwhile
    return status.st_mtime_ns, status.st_size, status.st_ino


def watch(data_set: Path, experiments: tuple[str, ...]) -> None:
    """Check every tenth of a second until standard input closes (then once more) or SIGTERM arrives."""
    _lower_priority()
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


def _lower_priority() -> None:
    """Run at nice 19 and, if the system supports it, only on idle CPU time."""
    with contextlib.suppress(OSError):
        os.nice(19)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
