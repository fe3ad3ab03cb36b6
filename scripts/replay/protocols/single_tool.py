"""One benchmark tool, sized by pilots: on an image, on a file, or for a fixed number of writes that are followed.

What becomes of a client's write is counted: every daemon's counters are read before a fixed number of operations, and
again once everything that these caused has finished. Replay and copies have then ended, snapshots are trimmed, and the
OSDs have done their deferred writes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from replay.design.design import Cell, CellSet, Design, Skip
from replay.design.needs import FLAG, WHOLE, Factor, Needs, Option
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND, ASSUMED_OPERATIONS_PER_SECOND, UNASKED, Terms
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Protocol
from replay.protocols.drivers.sized_tool import OneTool
from replay.protocols.drivers.tool import FIO_FILE_OPTION, IO_SIZE, RW_MIX
from replay.protocols.observers.daemons import CellCounters, without_counters
from replay.protocols.observers.mirror import Level, Mirror, MirrorPosition
from replay.protocols.targets.images import Images, OsdFile

IO_THREADS = Option("io_threads", WHOLE, "operations", "operations in flight", default=16, varies=True)


class SingleTool(Protocol):
    """Runs a tool that takes the number of bytes to transfer (`{io_total_bytes}`) on the variant's image."""

    needs = Needs(
        factors=(
            Factor("io_type", "what operations do", words=("read", "write", "readwrite", "rw"), required=True),
            Factor("io_pattern", "where operations go", words=("rand", "seq", "full-seq"), required=True),
            IO_SIZE,
            RW_MIX,
        ),
        options=(
            IO_THREADS,
            Option("one_pass", FLAG, "", "whether a sequential cell goes through its image only once", default=False),
        ),
        programs=("rbd",),
        mirroring="may be",
    )
    target = Images()
    driver = OneTool()
    observers = (MirrorPosition(), Mirror())
    overhead_seconds = 0.3
    pilot_share = 0.6
    writes_are_known = True


class ToolOnFile(Protocol):
    """Runs a tool that takes `{file}`, and `{io_total_bytes}` or `{operations}`, on a file of the OSDs' file system."""

    needs = Needs(
        factors=SingleTool.needs.factors,
        options=(
            replace(IO_THREADS, default=1),
            replace(FIO_FILE_OPTION, meaning="the size of the file; a sequential cell goes through it at most once"),
        ),
        programs=("fio",),  # fills the file
    )
    target = OsdFile()
    driver = OneTool()
    pilot_share = 0.6
    writes_are_known = True


# What becomes of one client write ------------------------------------------------------------------------------------


class Counted(OneTool):
    """Runs the tool for `options.operations`, or as many as `options.bytes_at_most` allows. A count needs no pilot."""

    def is_sized(self, raw: BlockWriter, cell: Cell) -> bool:
        """Compute the cell's size; every cell is sized in advance."""
        self.io_total_bytes[cell.cell_id] = self.protocol.client_bytes(cell, self.design)
        return True

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Do nothing: the number of writes is fixed, so a pilot would change nothing."""


class OneSnapshot(Level):
    """Mirroring around counted cells: a snapshot-mirrored image gets one snapshot when the writes are done.

    Taken at an interval, the number of snapshots would depend on how fast the cell ran. The first write to an object
    after the previous cell's snapshot still pays for the copy that the snapshot keeps.
    """

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
        return self.copies.wait_for(self.made, self.taken)


class Amplification(SingleTool):
    """Writes `options.operations` times in each cell, or as often as `options.bytes_at_most` allows."""

    needs = replace(
        SingleTool.needs,
        osd_counters="must",
        factors=tuple(
            replace(factor, words=("write",)) if factor.name == "io_type" else factor
            for factor in SingleTool.needs.factors
        ),
        options=(
            IO_THREADS,
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
        written = cls.client_bytes(cell, design)
        operations = written / int(cell.levels["io_size_bytes"])
        expected = max(written / ASSUMED_BYTES_PER_SECOND, operations / ASSUMED_OPERATIONS_PER_SECOND)
        return min(super().cell_seconds(cell, design), expected)

    @classmethod
    def client_bytes(cls, cell: Cell, design: Design, terms: Terms = UNASKED) -> int:
        """Return the bytes of all writes."""
        size = int(cell.levels["io_size_bytes"])
        return size * max(1, min(design.options["operations"], design.options["bytes_at_most"] // size))

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create the images, without pilots. If no OSD returns its counters, all variants are unavailable."""
        if (why := without_counters(self)) is not None:
            self.unavailable += [Skip(variant.name, "osd_counters", why) for variant in self.design.variants]
            self.bench.say(f"{self.design.name} is skipped: {why}; OSDs return them to a user with osd 'allow *'")
            return
        super().open_block(raw, sets)


PROTOCOL = SingleTool
