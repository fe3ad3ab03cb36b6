"""What becomes of one client write: a fixed number of operations, with every daemon's counters read before and after.

The counters are read again once everything that the cell caused has finished: replay and copies have ended, snapshots
are trimmed, and the OSDs have done their deferred writes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from replay.design.design import Cell, CellSet, Design, Skip
from replay.design.needs import WHOLE, Option
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND, ASSUMED_OPERATIONS_PER_SECOND
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import WhileRunning
from replay.protocols.drivers.sized_tool import OneTool
from replay.protocols.observers.daemons import CellCounters, without_counters
from replay.protocols.observers.mirror import Mirror
from replay.protocols.single_tool import SingleTool


class Counted(OneTool):
    """Runs the tool for `options.operations`, or as many as `options.bytes_at_most` allows. A count needs no pilot."""

    def is_sized(self, raw: BlockWriter, cell: Cell) -> bool:
        """Compute the cell's size; every cell is sized in advance."""
        size, option = int(cell.levels["io_size_bytes"]), self.protocol.option
        operations = max(1, min(int(option("operations")), int(option("bytes_at_most")) // size))
        self.io_total_bytes[cell.cell_id] = operations * size
        return True

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Do nothing: the number of writes is fixed, so a pilot would change nothing."""


class OneSnapshot(Mirror):
    """Mirroring around counted cells: a snapshot-mirrored image gets one snapshot when the writes are done.

    Taken at an interval, the number of snapshots would depend on how fast the cell ran. The first write to an object
    after the previous cell's snapshot still pays for the copy that the snapshot keeps.
    """

    def while_running(self, cell: Cell) -> WhileRunning | None:
        """Return None: no snapshot is taken while the cell runs."""
        return None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Take the snapshot; `restore` waits for its copy."""
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
        osd_counters="must",
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
    observers = (OneSnapshot(), CellCounters())
    pilot_share = 0.0

    @classmethod
    def cell_seconds(cls, cell: Cell, design: Design) -> float:
        """Return how long the writes of a cell take at the assumed rates; at most the target."""
        operations, most = design.options["operations"], design.options["bytes_at_most"]
        size = int(cell.levels["io_size_bytes"])
        written = min(operations, most / size)
        expected = max(written * size / ASSUMED_BYTES_PER_SECOND, written / ASSUMED_OPERATIONS_PER_SECOND)
        return min(super().cell_seconds(cell, design), expected)

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create the images, without pilots. If no OSD returns its counters, all variants are unavailable."""
        if (why := without_counters(self)) is not None:
            self.unavailable += [Skip(variant.name, "osd_counters", why) for variant in self.design.variants]
            self.bench.say(f"{self.design.name} is skipped: {why}; OSDs return them to a user with osd 'allow *'")
            return
        super().open_block(raw, sets)


PROTOCOL = Amplification
