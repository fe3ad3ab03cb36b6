"""What the runner asks of a protocol, and what a protocol hands back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from replay.design.design import Cell, CellSet, Design, Skip
from replay.measure.bench import Bench
from replay.raw.record import Measured, Wait
from replay.tools import Adapter, OutputError, Result, judge

if TYPE_CHECKING:
    from replay.cluster.site import Site
    from replay.raw.evidence import BlockWriter


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

    def __init__(self, bench: Bench, design: Design) -> None:
        self.bench = bench
        self.design = design
        #: Variants that `open_block` found this cluster to refuse: they are left out of the block, and said to be.
        self.unavailable: list[Skip] = []

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need, and size them. `raw` takes pilots, and knows earlier ones."""

    def close_block(self) -> None:
        """Remove all that `open_block` created. Called after an interruption as well."""

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Return what the procedure lacks on a site beyond the experiment's `requires`: one of its words to the reason.

        Only words that the experiment or its variants require count: these are skipped with that reason.
        """
        return {}

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state in which the cell is measured; return the waits for the record."""
        return []

    def run(self, cell: Cell, seed: int) -> Measured:
        """Measure the cell."""
        raise NotImplementedError

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Await or undo what the cell leaves behind; may set `measured.invalid`. Return the waits for the record."""
        return []

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again (a cell that was too short is sized anew)."""
