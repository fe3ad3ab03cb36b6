"""Pilots: runs before a block's cells that find their sizes or rates. Each is kept as evidence, with a note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replay.base.errors import ReplayError
from replay.design.design import Cell, digest_of
from replay.evidence.evidence import BlockWriter
from replay.evidence.provenance import host
from replay.evidence.record import Measured
from replay.measure.protocol import Protocol
from replay.tools import Result

#: Stands in for a cell's id in the account.
PEAK = "peak"


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
        """Return the note of the last round, or an empty one if there was none."""
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


@dataclass(frozen=True)
class PeakRun:
    """A closed loop that ran to find a peak: its number and seed among the cell's pilots, and what it gave."""

    pilots: Pilots
    number: int
    seed: int
    measured: Measured
    result: Result

    @property
    def peak(self) -> float:
        """The peak in operations per second."""
        return self.result.metrics["operations_per_second"]

    def keep(self, **found: Any) -> None:
        """Record the run with its peak, and what else it found."""
        self.pilots.keep(self.number, self.measured, seed=self.seed, peak_operations_per_second=self.peak, **found)


def run_for_peak(protocol: Protocol, raw: BlockWriter, cell: Cell) -> PeakRun:
    """Run a cell as a pilot, with the protocol's driver and job options as they are now, and return the result.

    What it writes is charged to the run's account. Raises ReplayError if it gives no rate, because an unknown peak has
    no share.
    """
    pilots = Pilots(raw, cell)
    number = pilots.done + 1
    seed = pilots.seed(PEAK, number) & 0x7FFFFFFF
    spending = protocol.bench.spending
    expected = sum(map(spending.media_bytes, protocol.expected_writes(cell)))
    with spending.reserve(f"finding the peak of {cell.variant.name}", {PEAK: expected}) as reservation:
        reservation.begin(PEAK)
        measured = protocol.observe(cell, seed, component="pilot")
        result = protocol.verify(cell, measured)
        reservation.end(void=measured.invalid is not None)
    if measured.invalid or result is None:
        reason, detail = measured.invalid or ("unparsable", "fio said nothing")
        raise ReplayError(
            f"the peak could not be found: {reason}: {detail}",
            where=f"{protocol.design.name}, {cell.point} {cell.variant.label}",
            next_step="fix the cause, then run measure again",
        )
    return PeakRun(pilots, number, seed, measured, result)
