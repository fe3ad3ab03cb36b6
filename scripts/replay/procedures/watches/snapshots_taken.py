"""Mirror snapshots that are taken at an interval while a cell's writer writes."""

from __future__ import annotations

from replay.design.design import Cell
from replay.measure.procedure import Look, Watch
from replay.procedures.watches.snapshots import Snapshots
from replay.raw.record import Measured


class SnapshotsTaken(Watch):
    """Takes them, and says in the cell's facts how many; `procedure.interval_of` and `first_seconds` say when."""

    def begin(self) -> None:
        """Take none yet."""
        self.snapshots: Snapshots | None = None

    def started(self, cell: Cell) -> None:
        """Set up the cell's snapshots."""
        writer, interval = self.procedure.driver, self.procedure.interval_of(cell)
        self.snapshots = Snapshots(writer.log, writer.rbd, interval, self.procedure.first_seconds(cell))

    def look_of(self, cell: Cell) -> Look:
        """Take one when it is due."""
        return self.snapshots.poll

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Wait for the one that is under way."""
        self.snapshots.finish()
        if (interval := self.snapshots.interval_seconds) is not None:
            measured.facts |= {"snapshots_taken": self.snapshots.taken, "snapshot_interval_seconds": interval}

    def stop(self) -> None:
        """End one that was cut off."""
        if self.snapshots is not None:
            self.snapshots.close()
