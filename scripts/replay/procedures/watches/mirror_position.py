"""How far mirroring came while a cell's tool ran: what the copy does later costs the client nothing in the cell."""

from __future__ import annotations

from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.design.design import Cell
from replay.measure.parts import Watch, writes
from replay.owned.images import BlockImage
from replay.owned.poll_age import POLL_AGE
from replay.procedures.watches.mirror import Copies
from replay.raw.record import Measured


class MirrorPosition(Watch):
    """Adds the daemon's progress on the cell's image, from right before its tool ran until right after it.

    Put it in front of watches that wait when the tool has ended. Does nothing for images that are not mirrored, for
    cells that only read, and on sites whose daemon cannot be asked.
    """

    def begin(self) -> None:
        """Know the mirror daemon."""
        self.daemon = Copies(self.bench).daemon

    def started(self, cell: Cell) -> None:
        """Read the daemon's counters."""
        [made] = self.procedure.target.of(cell)
        self.made = made if made.image.mirroring and writes(cell) else None
        self.before = self.daemon.counters(made.name) if self.made and self.daemon else None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Read them again."""
        if self.before is not None:
            measured.facts |= progress_of(self.daemon, self.made, self.before)


def progress_of(daemon: MirrorDaemon, made: BlockImage, before: ReplayCounters) -> dict[str, float]:
    """Return what the daemon has done of an image since `before`, as facts of a sidecar.

    `replayed_bytes_in_cell` and `journal_poll_age_seconds` of a journal, else `snapshots_copied_in_cell`. A counter
    that fell belongs to a daemon that started again meanwhile: how far it came is not known then.
    """
    now = daemon.counters(made.name)
    if made.image.mirroring == "journal":
        found, advanced = "replayed_bytes_in_cell", now.entry_bytes - before.entry_bytes
        settings = {"journal_poll_age_seconds": daemon.option(POLL_AGE)}
    else:
        found, advanced, settings = "snapshots_copied_in_cell", now.snapshots - before.snapshots, {}
    return settings | ({found: advanced} if advanced >= 0 else {})
