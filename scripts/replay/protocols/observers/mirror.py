"""Mirroring around cells: first copies, snapshots at an interval, and the wait until the copy has caught up."""

from __future__ import annotations

import time

from replay.base.errors import ReplayError
from replay.cluster.mirroring import (
    NOT_BEGUN,
    POLL_AGE,
    Position,
    ReplayCounters,
    read_positions,
    wait_until_level,
    wait_until_replayed,
)
from replay.design.design import Cell, Design
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Observer
from replay.ownership.daemon_settings import configured_poll_age
from replay.protocols.drivers.tool import StepLog, bytes_written, client_values, writes
from replay.protocols.observers.copies import STALL_SECONDS, Copies
from replay.protocols.observers.snapshots import Snapshots, SnapshotsTaken
from replay.tools import Result

#: The daemon's counters are at rest if they have not changed for this long.
QUIET_SECONDS = 1.0


def snapshot_interval(design: Design) -> float:
    """Return how many seconds apart an experiment takes mirror snapshots if no level says so."""
    return design.configuration.get("snapshot_interval_seconds") or 1.0


class FirstCopies(Observer):
    """Waits until the second cluster holds the block's images. Does nothing for images that are not mirrored."""

    def begin(self) -> None:
        self.copies = Copies(self.bench)

    def open(self) -> None:
        for made in self.protocol.target.all():
            self.copies.await_first(made)


class Level(FirstCopies):
    """Waits after each cell that wrote until the copy of its image has caught up.

    `has_ramp` means that the client wrote more than its report says. The daemon must then have looked at the journal
    once more and found nothing.
    """

    def __init__(self, *, has_ramp: bool = False) -> None:
        self.has_ramp = has_ramp

    def started(self, cell: Cell) -> None:
        """Read the daemon's counters."""
        [self.made] = self.protocol.target.of(cell)
        self.mode = self.made.image.mirroring
        daemon = self.copies.daemon
        self.before = daemon.counters(self.made.name) if self.mode and daemon else ReplayCounters()
        self.position: Position = NOT_BEGUN
        if self.mode == "journal" and daemon is None:
            _, peers = read_positions(self.bench.primary_cluster, self.made.spec)
            self.position = min(peers, default=NOT_BEGUN)

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Note how much the cell wrote. A journal holds no reads, so nobody may wait for them to be replayed."""
        self.written_bytes = int(bytes_written(cell, result.metrics)) if result is not None else 0

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until the copy holds what the cell wrote; return the wait. Raises ReplayError if the daemon stalls."""
        if self.mode is None or not writes(cell):
            return []
        with self.bench.costs.measure("wait"):
            wait = self._await_journal() if self.mode == "journal" else self.await_last_snapshot()
        if self.copies.daemon is None:
            # Nobody counts bytes here; a copied snapshot is exact by itself.
            replayed = wait.details.get("replayed_entries", 0)
            measured.facts |= {"replayed_entries": replayed} if self.mode == "journal" else {}
        else:
            advanced = self.copies.daemon.counters(self.made.name)
            replayed = measured.facts["replayed_bytes"] = advanced.entry_bytes - self.before.entry_bytes
            measured.facts["copied_snapshots"] = advanced.snapshots - self.before.snapshots
        if self.mode == "journal" and replayed <= 0 and measured.invalid is None:
            measured.invalid = ("replay_did_not_advance", "the mirror daemon replayed nothing of what the cell wrote")
        if wait.outcome == "stalled":
            done = "" if wait.reason == "snapshot_copied" else f", after {wait.details['replayed_entries']:,} entries"
            raise ReplayError(
                f"the mirror daemon stalled before it had caught up{done}",
                where=self.made.spec,
                next_step="look at the daemon's log, then run measure again; finished sets are kept",
            )
        return [wait]

    def await_last_snapshot(self) -> Wait:
        """Take a snapshot of everything that the cell wrote, and wait for its copy."""
        return self.copies.wait_for(self.made, self.copies.take_snapshot(self.made))

    def _await_journal(self) -> Wait:
        """Wait by the daemon's counters, or by the journal's own positions where the daemon cannot be asked."""
        daemon = self.copies.daemon
        waiting = self.bench.waiting(
            f"the replay of {self.made.name}, as long as it advances every {STALL_SECONDS:.0f} s", None, mirrored=True
        )
        if daemon is None:
            return wait_until_level(
                lambda: read_positions(self.bench.primary_cluster, self.made.spec), self.position, sleep=waiting.pause
            )
        quiet = QUIET_SECONDS + (daemon.option(POLL_AGE) if self.has_ramp else 0.0)
        return wait_until_replayed(
            lambda: daemon.counters(self.made.name),
            self.before,
            self.written_bytes,
            quiet_seconds=quiet,
            sleep=waiting.pause,
        )


class Mirror(SnapshotsTaken, Level):
    """Mirroring around each cell: snapshots while it runs, and afterwards the wait until its copy has caught up."""

    def started(self, cell: Cell) -> None:
        """Read the daemon's counters, and plan the cell's snapshots. The first is due after half an interval."""
        Level.started(self, cell)
        self.snapshots = None
        if self.mode == "snapshot":
            interval = snapshot_interval(self.design)
            values = {**client_values(self.bench), "image": self.made.spec}
            log = StepLog(values, self.bench.slot, programs=self.bench.programs)
            self.snapshots = Snapshots(log, interval, 0.5 * interval)

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Wait for a snapshot that is under way, and record how many were taken."""
        if self.snapshots is None:
            return
        if self.snapshots.is_under_way:
            started = time.monotonic()
            with self.bench.costs.measure("wait"):
                self.snapshots.finish()
            measured.waits.append(Wait("mirror_snapshot_taken", time.monotonic() - started, "ended"))
        super().ended(cell, measured)

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Mark a writing cell as invalid if no snapshot was taken during it, although some were due."""
        super().verify(cell, measured, result)
        if writes(cell) and measured.invalid is None and measured.facts.get("snapshots_taken") == 0:
            measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the cell ran")


class MirrorPosition(Observer):
    """Adds a journal's poll age, and the daemon's progress on the cell's image while the tool ran.

    Declare it before observers that wait when the tool has ended. It does nothing for images that are not mirrored, and
    for cells that only read. Where the daemon cannot be asked, its progress is unknown, and the poll age is that of the
    second cluster's configuration, if this user may read it.
    """

    def begin(self) -> None:
        self.daemon = Copies(self.bench).daemon

    def started(self, cell: Cell) -> None:
        [made] = self.protocol.target.of(cell)
        self.made = made if made.image.mirroring and writes(cell) else None
        self.before = self.daemon.counters(made.name) if self.made and self.daemon else None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Read the counters again, and record the progress since the cell began.

        A counter that fell means that the daemon was started again meanwhile; its progress is unknown and left out.
        """
        if self.made is None:
            return
        is_journal = self.made.image.mirroring == "journal"
        if is_journal and (poll_age := self._poll_age()) is not None:
            measured.facts["journal_poll_age_seconds"] = poll_age
        if self.before is None:
            return
        now = self.daemon.counters(self.made.name)
        if is_journal:
            fact, advanced = "replayed_bytes_in_cell", now.entry_bytes - self.before.entry_bytes
        else:
            fact, advanced = "snapshots_copied_in_cell", now.snapshots - self.before.snapshots
        if advanced >= 0:
            measured.facts[fact] = advanced

    def _poll_age(self) -> float | None:
        return configured_poll_age(self.bench.secondary) if self.daemon is None else self.daemon.option(POLL_AGE)
