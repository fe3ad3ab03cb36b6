"""Pilots: runs before a block's cells that say how large these have to be. Each is kept as evidence, with a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from replay.design.design import Cell, digest_of
from replay.raw.evidence import pretty_json, read_json, record
from replay.raw.provenance import host
from replay.raw.record import Measured


class Pilots:
    """The pilots of one cell on this machine, round by round."""

    def __init__(self, raw: Path, cell: Cell) -> None:
        self.raw, self.cell = raw, cell
        self.folder = f"pilot/{host()['id']}/{cell.cell_id}"

    @property
    def done(self) -> int:
        """How many there have been. `round-1.json` is a note, `round-1.result.json` an output."""
        notes = (self.raw / self.folder).glob("round-*.json")
        return sum(path.stem.removeprefix("round-").isdigit() for path in notes)

    def last(self) -> dict[str, Any]:
        """Return the note of the last round; nothing where there was none."""
        return read_json(self.raw / self.folder / f"round-{self.done}.json") if self.done else {}

    def seed(self, kind: str, number: int) -> int:
        """Return the seed of a round."""
        return int(digest_of([self.cell.cell_id, kind, number], 8), 16)

    def keep(self, number: int, measured: Measured, **found: Any) -> None:
        """Record a round: its output, and a note of what it was and found."""
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
        for suffix, content in measured.results.values():
            record(self.raw, f"{self.folder}/round-{number}.{suffix}", content)
        record(self.raw, f"{self.folder}/round-{number}.json", pretty_json(note))
