"""Every daemon's counters: while a tool's load is steady, or until all that a cell set in motion has finished."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from replay.design.design import Cell
from replay.evidence.record import Measured, Wait
from replay.measure.bench import Bench, await_done
from replay.measure.daemons import PRIMARY, SECONDARY, ClusterReading, DaemonSampler
from replay.measure.guard import Guard
from replay.measure.protocol import Observer, Protocol, WhileRunning
from replay.tools import Result

#: The daemons are first read this long after the tool's start, and last this long before its ramp and runtime would be
#: over if it wrote at once. That leaves out fio's start and the opening and closing of images. The ramp counts as load.
AFTER_START_SECONDS = 1.0
BEFORE_END_SECONDS = 0.2


def moments(load_seconds: float) -> tuple[float, float, float]:
    """Return when the daemons are read, in seconds after the start of a tool whose load lasts this long."""
    last = load_seconds - BEFORE_END_SECONDS
    first = min(AFTER_START_SECONDS, last / 2)
    return first, (first + last) / 2, last


class SteadyDaemons(Observer):
    """Adds, as `samples.daemons`, what each daemon did in the steady part of a cell."""

    def begin(self) -> None:
        """Set up the sampler, without the second cluster, which takes no part in these cells and costs CPU to ask."""
        self.daemons = DaemonSampler(self.bench, secondary=False)

    def started(self, cell: Cell) -> None:
        """Plan the readings of a cell. Its tool may end before its load was to end."""
        self.load_seconds = float(self.protocol.option("ramp_seconds", cell)) + self.design.sizing.target_seconds
        #: Each reading, and how long after the tool's start it began.
        self.readings: list[tuple[float, ClusterReading]] = []

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that takes each reading when it is due."""
        due = moments(self.load_seconds)

        def read_when_due(elapsed_seconds: float) -> None:
            taken = len(self.readings)
            if taken < len(due) and elapsed_seconds >= due[taken]:
                self.readings.append((elapsed_seconds, self.daemons.read()))

        return read_when_due

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add what the daemons did, if two readings were under load."""
        if sample := self.sample(measured.tool_seconds):
            measured.samples["daemons"] = sample

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Tell the person about a valid cell without a sample."""
        if measured.invalid is None and "daemons" not in measured.samples:
            self.bench.say(
                f"what the daemons did under load is not known: of {len(self.readings)} readings, fewer than two were "
                f"certain to be under load, which lasts {self.load_seconds:.1f} of the {measured.tool_seconds:.1f} s "
                "that the tool ran for"
            )

    def sample(self, tool_seconds: float) -> dict[str, Any]:
        """Return what the daemons did between the first and the last reading that are certain to lie within the load.

        The tool ran for `tool_seconds`, and its load lasted for `load_seconds` of them. The rest is its start and its
        end, and only their sum is known. So the load began after `tool_seconds - load_seconds` at the latest, and it
        ended after `load_seconds` at the earliest. On a machine that stalls, a tool may still be starting when it is
        first read. Empty if fewer than two readings are within the load.
        """
        latest_start = tool_seconds - self.load_seconds
        within = [
            reading
            for began, reading in self.readings
            if latest_start <= began and began + reading.cost_seconds <= self.load_seconds
        ]
        if len(within) < 2:
            return {}
        sample = self.daemons.between(within[0], within[-1])
        return {**sample, "cost_seconds": round(sum(reading.cost_seconds for _, reading in self.readings), 4)}


T = TypeVar("T")


def await_quiet(
    bench: Bench,
    read: Callable[[], T],
    done_between: Callable[[T, T], int],
    *,
    fewer_than: int,
    detail: str,
    **how: Any,
) -> tuple[Wait, T]:
    """Read until fewer than so many operations were done between two readings; return the wait and the last reading.

    The wait has the last number of operations as its `detail`. `how` is for `await_done`.
    """
    readings: list[T] = []
    operations = fewer_than

    def is_quiet() -> bool:
        nonlocal operations
        readings.append(read())
        if len(readings) > 1:
            operations = done_between(*readings[-2:])
        return operations < fewer_than

    with bench.costs.measure("wait"):
        wait = await_done(bench, is_quiet, **how)
    wait.details[detail] = operations
    return wait, readings[-1]


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


class CellCounters(Observer):
    """Adds to a cell, as `samples.ledger`, what every daemon did because of it.

    Declare it after the observers that wait for what a cell sets in motion, because its closing reading must come last.
    """

    def begin(self) -> None:
        self.daemons = DaemonSampler(self.bench)
        self.opening: ClusterReading | None = None

    def open(self) -> None:
        """Wait until the OSDs are quiet, so that the first cell does not count what filling the images left to do."""
        self.await_quiet()

    def started(self, cell: Cell) -> None:
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
        return await_quiet(
            self.bench,
            self.daemons.read,
            lambda before, after: writes_in(self.daemons.between(before, after)),
            fewer_than=QUIET_OPERATIONS,
            detail="writes_in_last_second",
            what="the OSDs to be quiet",
            reason="osds_quiet",
            outcomes=("quiet", "still_writing"),
            seconds=QUIET_WITHIN_SECONDS,
            every=QUIET_SECONDS,
        )


class CellCountersAboveIdle(CellCounters):
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
        measured.samples["idle"] = self.idle
        return super().restore(cell, measured)


def without_counters(protocol: Protocol) -> str | None:
    """Return why no OSD returns its counters; None if one does. OSDs answer only users with `allow *`."""
    ledger = next(observer for observer in protocol.observers if isinstance(observer, CellCounters))
    if (reading := ledger.daemons.read()).osds():
        return None
    reasons = dict.fromkeys(answer.partition(": ")[2] for answer in reading.unanswered)
    return f"no OSD returns its counters ({'; '.join(reasons) or 'there is none'})"


def writes_in(sample: dict[str, Any]) -> int:
    """Return how many copies and writes of data the OSDs of both clusters did, from `DaemonSampler.between`."""
    return sum(
        int(daemon.get(stage, {}).get(counter, 0))
        for cluster in (PRIMARY, SECONDARY)
        for daemon in sample.get(cluster, {}).values()
        for stage, counter in _WRITES
    )
