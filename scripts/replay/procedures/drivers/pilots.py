"""Pilots: runs before a block's cells that find out their sizes. Each is kept as evidence, with a note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.design.design import Cell, digest_of
from replay.raw.evidence import BlockWriter
from replay.raw.provenance import host
from replay.raw.record import Measured


class Pilots:
    """The pilots of one cell on this machine, round by round."""

    def __init__(self, raw: BlockWriter, cell: Cell) -> None:
        self.raw, self.cell = raw, cell
        self._earlier = raw.history.pilots(host()["id"], cell.cell_id)

    @property
    def done(self) -> int:
        """The number of the last round on this machine, in this block or an earlier one; 0 if there was none."""
        return max(self._earlier, default=0)

    def last(self) -> Mapping[str, Any]:
        """Return the note of the last round; nothing if there was none."""
        return self._earlier[self.done] if self._earlier else {}

    def seed(self, kind: str, number: int) -> int:
        """Return the seed of a round."""
        return int(digest_of([self.cell.cell_id, kind, number], 8), 16)

    def keep(self, number: int, measured: Measured, **found: Any) -> None:
        """Record a round: its output, and a note about what it ran and found."""
        note = {
            "schema_version": 1,
            "cell_id": self.cell.cell_id,
            "point": self.cell.point,
            "variant": self.cell.variant.name,
            "levels": dict(self.cell.levels),
            "argv": measured.argv,
            "exit_status": measured.exit_status,
            "started_at": measured.started_at,
            "ended_at": measured.ended_at,
            **found,
            "host": host(),
        }
        self.raw.record_pilot(host()["id"], self.cell.cell_id, number, measured.results, note)
