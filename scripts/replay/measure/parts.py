"""The parts of a protocol: the target of the I/O, the driver that does it, and the watches that observe it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from replay.cluster.site import Site
from replay.design import sizing
from replay.design.design import Cell, CellSet, Design
from replay.design.media import Write
from replay.measure.bench import Bench
from replay.evidence.evidence import BlockWriter
from replay.evidence.record import Measured, Wait
from replay.tools import Result

if TYPE_CHECKING:
    from replay.measure.protocol import Protocol

WhileRunning = Callable[[float], None]
"""Called repeatedly while a tool runs, with the seconds since its start."""


def writes(cell: Cell) -> bool:
    """Return whether a cell's clients write."""
    return sizing.writes(cell.levels)


def bytes_written(cell: Cell, metrics: Mapping[str, float]) -> float:
    """Return how many bytes a cell's clients wrote, from a tool's metrics: of a mix with reads, only the writes."""
    return metrics.get("write_bytes", metrics.get("bytes", 0.0)) if writes(cell) else 0.0


def is_journaled(cell: Cell) -> bool:
    """Return whether a cell's writes also go through its image's journal."""
    return "journaling" in cell.variant.image.features


class Part:
    """A target, a driver or a watch. A protocol's class declares it; each block has its own copy."""

    protocol: Protocol
    bench: Bench
    design: Design

    def bound_to(self, protocol: Protocol) -> Self:
        """Return a copy that serves the block of that protocol."""
        made = copy.copy(self)
        made.protocol, made.bench, made.design = protocol, protocol.bench, protocol.design
        made.begin()
        return made

    def begin(self) -> None:
        """Prepare the block's state. Creates nothing on the cluster."""

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what the part lacks on a site; see `Protocol.lacking`. Called on the declaration, without a block."""
        return {}

    def check(self) -> None:
        """Raise ConfigurationError if the part cannot work on this site or with this design."""


class Target(Part):
    """The target of the I/O: created when a block opens, or before each cell; removed when the block closes."""

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need. Variants that cannot be created go to `protocol.unavailable`."""

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state for measuring the cell; return the waits for the record."""
        return []

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return `size_bytes` that a cell's clients write, with where they go, for the account of the run."""
        return Write(size_bytes)

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what the cell left behind; return the waits for the record."""
        return []

    def close(self) -> None:
        """Remove everything that was created. Also called after an interruption."""


class Driver(Part):
    """Does the I/O of a cell."""

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find out what cells need, such as their sizes. `raw` stores evidence that belongs to no attempt."""

    def start(self, cell: Cell) -> None:
        """Prepare a cell's logs before the watches start."""

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Do the cell's I/O, and return the result."""
        raise NotImplementedError

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add logs to the results, after the watches have ended."""

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell. For a tool that runs for a given time, a rate is assumed."""
        if not writes(cell):
            return []
        rate = float(sizing.ASSUMED_BYTES_PER_SECOND)
        if (limit := self.bench.site.ceilings.rate_bytes_per_second) is not None:
            rate = min(rate, limit * int(cell.levels.get("clients", 1)))
        return [self.protocol.target.write_of(cell, rate * self.design.sizing.target_seconds)]

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return how many bytes to charge for a cell that wrote; 0 if `run` has already charged them."""
        return 0.0

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again."""

    def close(self) -> None:
        """Undo what an interrupted cell has changed."""


class Observer(Part):
    """Observes cells, and waits for their after-effects. Watches are called in the order of their declaration."""

    def open(self) -> None:
        """Wait until the block's targets are ready to be measured."""

    def prepare(self, cell: Cell) -> None:
        """Wait until the cell's own target is ready to be measured."""

    def started(self, cell: Cell) -> None:
        """Take a first reading right before the tool runs."""

    def while_running(self, cell: Cell) -> WhileRunning | None:
        """Return a function to call repeatedly while the cell's tool runs, or None."""
        return None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Take the last reading right after the tool has ended, and add the observations to the cell."""

    def stop(self) -> None:
        """End everything that still runs. Called after every cell, even an interrupted one."""

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Judge the cell once its output has been read; may set `measured.invalid`. `result` may be None."""

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for the cell's after-effects; may set `measured.invalid`. Return the waits for the record."""
        return []
