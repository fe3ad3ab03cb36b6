"""What the runner asks of a protocol, and what a protocol hands back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from replay.design.design import Cell, CellSet, Design, Skip
from replay.design.media import Write
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND, writes
from replay.measure.bench import Bench
from replay.raw.record import Measured, Wait
from replay.tools import Adapter, OutputError, Result, judge

if TYPE_CHECKING:
    from replay.cluster.site import Site


def is_journaled(cell: Cell) -> bool:
    """Tell whether what a cell writes goes through its image's journal as well."""
    return "journaling" in cell.variant.image.features


def parse_and_judge(adapter: Adapter, cell: Cell, measured: Measured, minimum_seconds: float) -> Result | None:
    """Return what a cell's output says, None where it says nothing; `measured.invalid` tells whether it can stand."""
    outputs = {role: content.decode(errors="replace") for role, (_, content) in measured.results.items()}
    try:
        result = adapter.parse(outputs, measured.exit_status, cell.levels)
    except OutputError as error:
        measured.invalid = (error.reason, str(error).splitlines()[0])
        return None
    measured.invalid = judge(result, minimum_seconds)
    return result


class Protocol:
    """The procedure of an experiment's cells. One instance serves one block."""

    program = ""
    #: For estimates while nothing was measured, from blocks on a sandbox. What a cell takes on top of its target: tools
    #: that start, filling, settling, removal. And what sizing it takes, as a share of its target, once per data set and
    #: machine.
    overhead_seconds = 0.4
    pilot_share = 0.0
    #: Whether `expected_writes` is exact, so that what a cell wrote before is no better.
    writes_are_known = False

    def __init__(self, bench: Bench, design: Design) -> None:
        self.bench = bench
        self.design = design
        #: Variants that `open_block` found this cluster to refuse: they are left out of the block, and said to be.
        self.unavailable: list[Skip] = []

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need, and size them. `raw` takes evidence that belongs to no attempt."""

    def close_block(self) -> None:
        """Remove all that `open_block` created. Called after an interruption as well."""

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Return what the procedure lacks on a site beyond the experiment's `requires`: one of its words to the reason.

        Only words that the experiment or its variants require count: these are skipped with that reason.
        """
        return {}

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell, as far as that is known before: the site's ceiling is asked first.

        Of a tool that runs for a time nobody knows; what a cell wrote before is then taken in place of this.
        """
        if not writes(cell.levels):
            return []
        rate = float(ASSUMED_BYTES_PER_SECOND)
        if (limit := self.bench.site.ceilings.rate_bytes_per_second) is not None:
            rate = min(rate, limit * int(cell.levels.get("clients", 1)))
        return [Write(rate * self.design.sizing.target_seconds, journaled=is_journaled(cell))]

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state in which the cell is measured; return the waits for the record."""
        return []

    def run(self, cell: Cell, seed: int) -> Measured:
        """Measure the cell."""
        raise NotImplementedError

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Await or undo what the cell leaves behind; may set `measured.invalid`. Return the waits for the record."""
        return []

    def after_invalid(self, raw: Path, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again (a cell that was too short is sized anew)."""


def expected_bytes(protocol: Protocol, one: CellSet) -> tuple[dict[str, float], float]:
    """Return what each cell of a set will write to media, by its id, and what all of them add to what is stored."""
    spending = protocol.bench.spending
    expected, added = {}, 0.0
    for cell in one.cells:
        ahead = protocol.expected_writes(cell)
        before = None if protocol.writes_are_known else spending.most_written(cell.cell_id)
        expected[cell.cell_id] = sum(map(spending.media_bytes, ahead)) if before is None else before
        added += sum(spending.media_bytes(write) for write in ahead if write.adds)
    return expected, added
