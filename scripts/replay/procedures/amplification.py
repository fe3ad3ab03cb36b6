"""What becomes of one client write: a fixed number of operations, with every daemon's counters read before and after.

The closing reading is taken when everything that the cell caused is finished: replay and copies have ended, snapshots
are trimmed, and the OSDs have done their deferred writes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from replay.base.errors import ReplayError
from replay.design.design import Cell, CellSet
from replay.design.needs import WHOLE, Option
from replay.measure.guard import Guard
from replay.measure.parts import Look, Watch
from replay.procedures.drivers.one_tool import OneTool
from replay.procedures.single_tool import SingleTool
from replay.procedures.watches.mirror import Mirror
from replay.raw.evidence import BlockWriter
from replay.raw.record import Measured, Wait
from replay.samplers.daemons import PRIMARY, SECONDARY, DaemonSampler, Reading

#: OSDs are quiet if all of them together did fewer copies and writes of data than this between two readings.
#: Even unused daemons do some: heartbeats of watches, the mirror daemon's status.
QUIET_SECONDS = 1.0
QUIET_OPERATIONS = 10
QUIET_WITHIN_SECONDS = 120.0
_WRITES = (
    ("replication", "operations"),
    ("store", "big_writes"),
    ("store", "small_writes"),
    ("store", "deferred_writes"),
)


class Counted(OneTool):
    """A tool that does `options.operations`, or as many as `options.bytes_at_most` allows. A count needs no pilot."""

    def is_sized(self, raw: BlockWriter, cell: Cell) -> bool:
        """Compute the cell's size; every cell is sized in advance."""
        size, option = int(cell.levels["io_size_bytes"]), self.procedure.option
        operations = max(1, min(int(option("operations")), int(option("bytes_at_most")) // size))
        self.io_total_bytes[cell.cell_id] = operations * size
        return True

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Do nothing: the number of writes is given, and a pilot would not change it."""


class Ledger(Watch):
    """Every daemon's counters, from before a cell until everything that it set in motion has come to rest."""

    def begin(self) -> None:
        """Set up the sampler."""
        self.daemons = DaemonSampler(self.bench, self.bench.sampler)
        self.opening: Reading | None = None

    def open(self) -> None:
        """Wait, so that the first cell does not count what filling the images left behind."""
        self.await_quiet()

    def started(self, cell: Cell) -> None:
        """Take the opening reading."""
        self.opening = self.daemons.read()

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for everything that the cell set in motion; then take the closing reading."""
        waits: list[Wait] = []
        guard = Guard(self.bench)
        while True:
            quiet, closing = self.await_quiet()
            # A snapshot's trimming begins a moment after its removal, so look again until there is none.
            trimmed = list(guard.settle())
            waits += [quiet, *trimmed]
            if not trimmed:
                break
        measured.samples["ledger"] = self.daemons.between(self.opening, closing)
        if quiet.outcome != "quiet" and measured.invalid is None:
            what = f"the OSDs still wrote {QUIET_WITHIN_SECONDS:.0f} s after the cell, so that its counts have no end"
            measured.invalid = ("incomplete", what)
        return waits

    def await_quiet(self) -> tuple[Wait, Reading]:
        """Wait until the OSDs are quiet; return the wait and the last reading."""
        started = time.monotonic()
        with self.bench.costs.measure("wait"):
            last = self.daemons.read()
            while True:
                time.sleep(QUIET_SECONDS)
                previous, last = last, self.daemons.read()
                wrote = writes_in(self.daemons.between(previous, last))
                seconds = time.monotonic() - started
                if wrote < QUIET_OPERATIONS or seconds > QUIET_WITHIN_SECONDS:
                    outcome = "quiet" if wrote < QUIET_OPERATIONS else "still_writing"
                    return Wait("osds_quiet", seconds, outcome, {"writes_in_last_second": wrote}), last


def writes_in(sample: dict[str, Any]) -> int:
    """Return how many copies and writes of data all clusters' OSDs did, from `DaemonSampler.between`."""
    return sum(
        int(daemon.get(stage, {}).get(counter, 0))
        for cluster in (PRIMARY, SECONDARY)
        for daemon in sample.get(cluster, {}).values()
        for stage, counter in _WRITES
    )


class OneSnapshot(Mirror):
    """Mirroring around counted cells: a snapshot-mirrored image gets one snapshot when the writes are done.

    At an interval, their number would depend on how fast the cell was. The first write to an object after the previous
    cell's snapshot still pays for the copy that the snapshot keeps.
    """

    def look_of(self, cell: Cell) -> Look | None:
        """Take none while the cell runs."""
        return None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Take the snapshot; `settle` waits for its copy."""
        if self.mode != "snapshot":
            return
        started = time.monotonic()
        with self.bench.costs.measure("wait"):
            self.taken = self.copies.take_snapshot(self.made)
        measured.waits.append(Wait("mirror_snapshot_taken", time.monotonic() - started, "ended"))
        measured.facts["snapshots_taken"] = 1

    def await_last_snapshot(self) -> Wait:
        """Wait for the copy of the cell's one snapshot."""
        return self.copies.wait_for(self.made, self.taken)


class Amplification(SingleTool):
    """Writes `options.operations` times in each cell, or as often as `options.bytes_at_most` allows."""

    needs = replace(
        SingleTool.needs,
        factors=tuple(
            replace(one, words=("write",)) if one.name == "io_type" else one for one in SingleTool.needs.factors
        ),
        options=(
            SingleTool.needs.option("io_threads"),
            Option("operations", WHOLE, "operations", "how many writes a cell does"),
            Option("bytes_at_most", WHOLE, "bytes", "the most that a cell writes"),
        ),
    )
    driver = Counted()
    watches = (OneSnapshot(), Ledger())
    pilot_share = 0.0

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create the images, without pilots. Raises ReplayError if no OSD returns its counters."""
        _, ledger = self.watches
        if not (reading := ledger.daemons.read()).osds():
            why = "; ".join(reading.unanswered) or "there is none"
            raise ReplayError(
                f"no OSD tells its counters ({why})",
                where=f"{self.design.name} on site {self.bench.site.name}",
                next_step="allow its client `ceph tell osd.N perf dump`: the capability osd 'allow *'",
            )
        super().open_block(raw, sets)


PROTOCOL = Amplification
