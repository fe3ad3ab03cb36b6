"""Watches a cluster while a block runs, and ends a cell that must not continue.

The sentry is a thread of the block's process, and uses the connection that is already open. Every two seconds it asks
for the cluster's status and the stop switch, and for the OSDs' latency if the site limits that. To end a cell, it
interrupts the main thread as Ctrl-C does: the tool is killed, and what the block made is removed.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from types import FrameType, TracebackType
from typing import Any

from replay.base.errors import RefusedError, cleaning_up
from replay.cluster import health
from replay.cluster.cluster import CephCommandError
from replay.cluster.site import Site, Stop, ceilings_reached
from replay.measure.bench import Bench
from replay.ownership.locks import go_command
from replay.sandbox.daemons import up_command
from replay.sandbox.link import lost_line

LOOK_EVERY_SECONDS = 2.0
#: Without Ceph's Python module, each question starts a program.
LOOK_EVERY_SECONDS_BY_PROGRAM = 8.0
#: A monitor that is being replaced answers again within this time.
SILENT_FOR_SECONDS = 20.0
#: If a cluster has not answered within this time, it is asked again at the next look.
ANSWER_WITHIN_SECONDS = 5
#: The ceilings that concern the site's other users. Exceeding one ends a cell; the others are checked between sets.
_OF_TENANTS = ("tenant_latency", "slow_operations")


class RunStoppedError(RefusedError):
    """The whole run ends, not just this block, because the next block would meet the same cluster."""


class Halted(KeyboardInterrupt):
    """Raised in the main thread, wherever that is. `reason` is a reason of invalidity; `error` is for people."""

    def __init__(self, reason: str, error: RunStoppedError) -> None:
        super().__init__(error.what)
        self.reason = reason
        self.error = error


class Sentry:
    """Watches while its context is open. The main thread must open it."""

    def __init__(self, bench: Bench, *, every_seconds: float | None = None) -> None:
        self.bench = bench
        by_program = getattr(bench.session, "transport", "rados") != "rados"
        self.every_seconds = every_seconds or (LOOK_EVERY_SECONDS_BY_PROGRAM if by_program else LOOK_EVERY_SECONDS)
        self.silent_for_seconds = SILENT_FOR_SECONDS
        #: The health when the block began. The block does not stop for trouble that was there already.
        self.start: health.Verdict | None = None
        self.looks = 0
        self.look_seconds = 0.0
        self._seen: dict[str, str] = {}
        self._halt: Halted | None = None
        self._has_ended_cell = False
        self._main = threading.main_thread().ident
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sentry", daemon=True)
        #: Further checks, each of which returns why the run must end, or None.
        self.also: list[Callable[[], Stop | None]] = []

    def __enter__(self) -> Sentry:
        self._previous = signal.signal(signal.SIGUSR1, self._raise)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        # A signal that arrives from now on must not end the process.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        self._thread.join()
        signal.signal(signal.SIGUSR1, self._previous)

    def take(self) -> dict[str, str]:
        """Return the codes, with messages, that appeared since the block began and were seen since the last call."""
        seen, self._seen = self._seen, {}
        return seen

    def forget(self, codes: Collection[str]) -> None:
        """Drop these codes from those that were seen since the last call of `take`."""
        self._seen = {code: text for code, text in self._seen.items() if code not in codes}

    def cost(self) -> dict[str, float]:
        """Return how often the sentry looked, and how many seconds of wall time that took, for the block's receipt."""
        return {"looks": self.looks, "cost_seconds": round(self.look_seconds, 4)}

    def look(self) -> Stop | None:
        """Look once; return why the cell must end, or None. Raises CephCommandError if the cluster does not answer."""
        # First, since a stretch cluster without its line does not answer.
        if (stop := lost_line(self.bench.site)) is not None:
            return stop
        limits, session = self.bench.site.ceilings, self.bench.session
        status = session.status(timeout_seconds=ANSWER_WITHIN_SECONDS)
        if self.start is not None:
            self._seen |= health.new_since(self.start, health.classify(status))
        # The clusters that Replay starts have no tenants, and experiments stop and throttle their daemons.
        if not self.bench.daemons_are_here:
            perf = None
            if limits.tenant_latency_seconds is not None:
                perf = session.command({"prefix": "osd perf"}, timeout_seconds=ANSWER_WITHIN_SECONDS)
            for stop in ceilings_reached(limits, status=status, osd_perf=perf):
                if stop.reason in _OF_TENANTS:
                    return stop
        if stops := [stop for each in self.also if (stop := each()) is not None]:
            return stops[0]
        return None

    def _watch(self) -> None:
        answered = time.monotonic()
        while not self._ended.wait(self.every_seconds):
            began, stop = time.monotonic(), None
            try:
                stop = self.look()
                answered = time.monotonic()
            except CephCommandError as error:
                if time.monotonic() - answered >= self.silent_for_seconds:
                    self._seen["NO_ANSWER"] = error.what
            self.looks += 1
            self.look_seconds += time.monotonic() - began
            if stop is not None and not self._has_ended_cell:
                # The sentry keeps looking, because cleaning up may take longer than the lock lasts.
                self._end_cell(stop)

    def _end_cell(self, stop: Stop) -> None:
        self._has_ended_cell = True
        self._halt = Halted(stop.reason, stopped(self.bench.site, stop))
        signal.pthread_kill(self._main, signal.SIGUSR1)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if self._halt is not None:
            halt, self._halt = self._halt, None
            raise halt


def stopped(site: Site, stop: Stop) -> RunStoppedError:
    """Return the error that ends a run."""
    then = {
        "stopped": f"when it may run again: {go_command(site)}; then run measure again",
        "lock_lost": "when the other run has ended, run measure again",
        "line_lost": f"run {up_command(site)}, then measure again",
    }.get(stop.reason, "run measure again at a quieter hour, or lower rate_bytes_per_second")
    return RunStoppedError(
        stop.detail, where=f"site {site.name}, {stop.reason}", next_step=f"finished sets are kept; {then}"
    )


@contextlib.contextmanager
def without_interruption(*steps: Callable[[], None]) -> Iterator[None]:
    """Run `steps` after the work inside, even if Ctrl-C is pressed again, because they remove what it created."""
    previous: dict[int, Any] = {}

    def ignore() -> None:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
        previous.update({number: signal.signal(number, signal.SIG_IGN) for number in numbers})

    def heed() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    with cleaning_up(ignore, *steps, heed):
        yield
