"""Every daemon's counters around a cell: read before it, and again when all that it set in motion has finished."""

from __future__ import annotations

import time
from typing import Any

from replay.design.design import Cell
from replay.evidence.record import Measured, Wait
from replay.measure.bench import await_done
from replay.measure.guard import Guard
from replay.measure.protocol import Observer, Protocol
from replay.measure.samplers.daemons import PRIMARY, SECONDARY, ClusterReading, DaemonSampler

#: OSDs are quiet if all of them together did fewer copies and writes of data than this between two readings. Even in
#: an idle cluster they do some, such as for heartbeats of watches and the mirror daemon's status.
QUIET_SECONDS = 1.0
QUIET_OPERATIONS = 10
QUIET_WITHIN_SECONDS = 120.0
_WRITES = (
    ("replication", "operations"),
    ("store", "big_writes"),
    ("store", "small_writes"),
    ("store", "deferred_writes"),
)


class Ledger(Observer):
    """Adds to a cell, as `samples.ledger`, what every daemon did because of it.

    Declare it after the observers that wait for what a cell sets in motion, because its closing reading must come last.
    """

    def begin(self) -> None:
        """Set up the sampler."""
        self.daemons = DaemonSampler(self.bench, self.bench.sampler)
        self.opening: ClusterReading | None = None

    def open(self) -> None:
        """Wait until the OSDs are quiet, so that the first cell does not count what filling the images left to do."""
        self.await_quiet()

    def started(self, cell: Cell) -> None:
        """Take the opening reading."""
        self.opening = self.daemons.read()

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for everything that the cell set in motion, then take the closing reading; return the waits."""
        waits: list[Wait] = []
        guard = Guard(self.bench)
        while True:
            quiet, closing = self.await_quiet()
            # Trimming begins a moment after a snapshot's removal, so look again until there is none.
            trimmed = list(guard.settle())
            waits += [quiet, *trimmed]
            if not trimmed:
                break
        measured.samples["ledger"] = self.daemons.between(self.opening, closing)
        if quiet.outcome != "quiet" and measured.invalid is None:
            what = f"the OSDs were still writing {QUIET_WITHIN_SECONDS:.0f} s after the cell, so its counts have no end"
            measured.invalid = ("incomplete", what)
        return waits

    def await_quiet(self) -> tuple[Wait, ClusterReading]:
        """Wait until the OSDs are quiet; return the wait and the last reading."""
        readings: list[ClusterReading] = []
        wrote = QUIET_OPERATIONS

        def are_quiet() -> bool:
            nonlocal wrote
            readings.append(self.daemons.read())
            if len(readings) > 1:
                wrote = writes_in(self.daemons.between(*readings[-2:]))
            return wrote < QUIET_OPERATIONS

        with self.bench.costs.measure("wait"):
            waiting = self.bench.waiting("the OSDs to be quiet", QUIET_WITHIN_SECONDS, sleep=time.sleep)
            wait = await_done(
                are_quiet,
                reason="osds_quiet",
                outcomes=("quiet", "still_writing"),
                seconds=QUIET_WITHIN_SECONDS,
                every=QUIET_SECONDS,
                pause=waiting.pause,
                clock=time.monotonic,
            )
        wait.details["writes_in_last_second"] = wrote
        return wait, readings[-1]


class LedgerAboveIdle(Ledger):
    """A ledger that also records, as `samples.idle`, what the daemons do while no client writes.

    That is observed for `options.idle_seconds` once a block, when the images exist and the OSDs are quiet.
    """

    def open(self) -> None:
        """Wait until the OSDs are quiet, and watch the idle daemons for a while."""
        super().open()
        seconds = float(self.protocol.option("idle_seconds"))
        self.bench.say(f"watching the idle daemons for {seconds:g} s")
        with self.bench.costs.measure("wait"):
            before = self.daemons.read()
            time.sleep(seconds)
            self.idle = self.daemons.between(before, self.daemons.read())

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Add the block's idle reading to the cell's ledger."""
        measured.samples["idle"] = self.idle
        return super().restore(cell, measured)


def without_counters(protocol: Protocol) -> str | None:
    """Return why no OSD returns its counters; None if one does. OSDs answer only users with `allow *`."""
    ledger = next(observer for observer in protocol.observers if isinstance(observer, Ledger))
    if (reading := ledger.daemons.read()).osds():
        return None
    reasons = dict.fromkeys(one.partition(": ")[2] for one in reading.unanswered)
    return f"no OSD returns its counters ({'; '.join(reasons) or 'there is none'})"


def writes_in(sample: dict[str, Any]) -> int:
    """Return how many copies and writes of data the OSDs of both clusters did, from `DaemonSampler.between`."""
    return sum(
        int(daemon.get(stage, {}).get(counter, 0))
        for cluster in (PRIMARY, SECONDARY)
        for daemon in sample.get(cluster, {}).values()
        for stage, counter in _WRITES
    )
