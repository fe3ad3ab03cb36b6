"""How far mirroring got while a cell's tool ran: what the copy does later costs the client nothing in the cell."""

from __future__ import annotations

from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.design.design import Cell
from replay.evidence.record import Measured
from replay.measure.protocol import Observer, writes
from replay.ownership.images import BlockImage
from replay.ownership.poll_age import POLL_AGE
from replay.protocols.observers.mirror import Copies


class MirrorPosition(Observer):
    """Adds the daemon's progress on the cell's image, from right before the tool ran until right after it.

    Declare it before observers that wait when the tool has ended. It does nothing for images that are not mirrored, for
    cells that only read, and on sites whose daemon cannot be asked.
    """

    def begin(self) -> None:
        """Find the mirror daemon."""
        self.daemon = Copies(self.bench).daemon

    def started(self, cell: Cell) -> None:
        """Read the daemon's counters."""
        [made] = self.protocol.target.of(cell)
        self.made = made if made.image.mirroring and writes(cell) else None
        self.before = self.daemon.counters(made.name) if self.made and self.daemon else None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Read the counters again, and record the progress."""
        if self.before is not None:
            measured.facts |= progress_of(self.daemon, self.made, self.before)


def progress_of(daemon: MirrorDaemon, made: BlockImage, before: ReplayCounters) -> dict[str, float]:
    """Return how far the daemon got with an image since `before`, as facts for a sidecar.

    These are `replayed_bytes_in_cell` and `journal_poll_age_seconds` for a journal, else `snapshots_copied_in_cell`. A
    counter that fell means that the daemon was started again meanwhile; its progress is then unknown and left out.
    """
    now = daemon.counters(made.name)
    if made.image.mirroring == "journal":
        found, advanced = "replayed_bytes_in_cell", now.entry_bytes - before.entry_bytes
        settings = {"journal_poll_age_seconds": daemon.option(POLL_AGE)}
    else:
        found, advanced, settings = "snapshots_copied_in_cell", now.snapshots - before.snapshots, {}
    return settings | ({found: advanced} if advanced >= 0 else {})
