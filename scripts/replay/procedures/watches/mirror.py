"""Mirroring around one cell: first copies, snapshots at a stated interval, and the wait until the copy is level."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from replay.base.errors import ReplayError
from replay.cluster.mirroring import (
    MirrorDaemon,
    ReplayCounters,
    copied_snapshots,
    take_mirror_snapshot,
    wait_until_copied,
    wait_until_replayed,
)
from replay.design.design import Cell
from replay.measure.bench import Bench
from replay.measure.procedure import Look, Watch, writes
from replay.owned.images import BlockImage
from replay.raw.record import Measured, Wait
from replay.tools import Result

FIRST_COPY_TIMEOUT_SECONDS = 300.0


class MirrorCells:
    """Makes a watch for each cell. For images that are not mirrored the watch does nothing."""

    def __init__(self, bench: Bench, snapshot_interval_seconds: float | None) -> None:
        self.bench = bench
        self.snapshot_interval_seconds = snapshot_interval_seconds or 1.0
        site = bench.site
        self.daemon: MirrorDaemon | None = None
        if site.second_site is not None and site.second_site.mirror_daemon_admin_socket is not None:
            self.daemon = MirrorDaemon(site.second_site.mirror_daemon_admin_socket, site.second_site.pool)

    def secondary_spec(self, made: BlockImage) -> str:
        """Return where the image's copy is on the second cluster."""
        return f"{self.bench.site.second_site.pool}/{made.name}"

    def await_first_copy(self, made: BlockImage) -> None:
        """Wait until the second cluster holds the image as it is now. Raises ReplayError when it never does."""
        if made.image.mirroring is None:
            return
        self.bench.say(f"wait for the first copy of {made.name}")
        with self.bench.costs.measure("prepare"):
            if made.image.mirroring == "snapshot":
                snapshot = take_mirror_snapshot(self.bench.primary_cluster, made.spec)
                wait = wait_until_copied(self._copied(made), snapshot, timeout_seconds=FIRST_COPY_TIMEOUT_SECONDS)
                arrived = wait.outcome == "copied"
            else:
                arrived = self._await_replaying(made)
        if not arrived:
            raise ReplayError(
                f"no copy on the second cluster after {FIRST_COPY_TIMEOUT_SECONDS:.0f} s",
                where=made.spec,
                next_step="look at `rbd mirror pool status --verbose` on the second cluster",
            )

    def watch(self, made: BlockImage, *, is_write: bool) -> MirrorWatch:
        """Return the watch of one cell on that image."""
        return MirrorWatch(self, made, is_write=is_write)

    def _copied(self, made: BlockImage) -> Callable[[], set[int]]:
        secondary = self.bench.site.secondary
        return lambda: copied_snapshots(secondary, self.secondary_spec(made))

    def _await_replaying(self, made: BlockImage) -> bool:
        deadline = time.monotonic() + FIRST_COPY_TIMEOUT_SECONDS
        daemon = self.require_daemon()
        while time.monotonic() < deadline:
            if daemon.state(made.name) == "Replaying":
                return True
            time.sleep(0.25)
        return False

    def require_daemon(self) -> MirrorDaemon:
        """Return the daemon. Raises ReplayError where the site does not name its admin socket."""
        if self.daemon is None:
            raise ReplayError(
                "the mirror daemon's admin socket is not named, so that nobody can tell when replay is finished",
                where=f"config/sites/{self.bench.site.name}.yaml",
                next_step="name second_cluster.mirror_daemon_admin_socket",
            )
        return self.daemon


class MirrorWatch:
    """What mirroring does during and after one cell."""

    def __init__(self, cells: MirrorCells, made: BlockImage, *, is_write: bool) -> None:
        self.cells = cells
        self.made = made
        self.is_write = is_write
        self.mode = made.image.mirroring
        self.transferred_bytes = 0
        self.snapshots: list[int] = []
        self._taking: subprocess.Popen[str] | None = None
        self._taken_at = 0.0
        self._before = self._counters() if self.mode else ReplayCounters()
        self.while_running = self._snapshot_when_due if self.mode == "snapshot" else None

    def _counters(self) -> ReplayCounters:
        if self.cells.daemon is None:
            return ReplayCounters()
        return self.cells.daemon.counters(self.made.name)

    def _snapshot_when_due(self, elapsed_seconds: float) -> None:
        """Take a mirror snapshot half an interval into the cell and then at each interval, without holding it up."""
        if self._taking is not None and self._taking.poll() is not None:
            self._collect()
        interval = self.cells.snapshot_interval_seconds
        due = 0.5 * interval if not self._taken_at else self._taken_at + interval
        if self._taking is None and elapsed_seconds >= due:
            cluster = self.cells.bench.primary_cluster
            self._taken_at = elapsed_seconds
            self._taking = subprocess.Popen(
                cluster.programs.command(["rbd", *cluster.arguments(), "mirror", "image", "snapshot", self.made.spec]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )

    def _collect(self) -> None:
        """Take up the id that a snapshot command printed, ending it when it hangs."""
        if self._taking is None:
            return
        try:
            said, _ = self._taking.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self._taking.kill()
            said, _ = self._taking.communicate()
        words = said.split()
        if self._taking.returncode == 0 and words and words[-1].isdigit():
            self.snapshots.append(int(words[-1]))
        self._taking = None

    def finish(self, measured: Measured) -> None:
        """Take up what is still under way when the tool has ended, and record the snapshots taken in the cell."""
        if self._taking is not None:
            started = time.monotonic()
            with self.cells.bench.costs.measure("wait"):
                self._collect()
            measured.waits.append(Wait("mirror_snapshot_taken", time.monotonic() - started, "ended"))
        if self.mode == "snapshot":
            measured.facts["snapshots_taken"] = len(self.snapshots)
            measured.facts["snapshot_interval_seconds"] = self.cells.snapshot_interval_seconds
            if not self.snapshots and measured.invalid is None and self.is_write:
                measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the cell ran")

    def restore(self, measured: Measured) -> list[Wait]:
        """Wait until the other side is level with what the cell wrote. Raises ReplayError when it never gets there."""
        if self.mode is None or not self.is_write:
            return []
        with self.cells.bench.costs.measure("wait"):
            wait = self._await_journal() if self.mode == "journal" else self._await_snapshot()
        advanced = self._counters()
        measured.facts["replayed_bytes"] = advanced.entry_bytes - self._before.entry_bytes
        measured.facts["copied_snapshots"] = advanced.snapshots - self._before.snapshots
        if self.mode == "journal" and measured.facts["replayed_bytes"] <= 0 and measured.invalid is None:
            measured.invalid = ("replay_did_not_advance", "the mirror daemon replayed nothing of what the cell wrote")
        if wait.outcome == "stalled":
            raise ReplayError(
                f"the mirror daemon stopped before it had caught up ({wait.details})",
                where=self.made.spec,
                next_step="look at the daemon's log; finished sets are kept, and `measure` goes on with the others",
            )
        return [wait]

    def _await_journal(self) -> Wait:
        daemon = self.cells.require_daemon()
        return wait_until_replayed(lambda: daemon.counters(self.made.name), self._before, self.transferred_bytes)

    def _await_snapshot(self) -> Wait:
        last = take_mirror_snapshot(self.cells.bench.primary_cluster, self.made.spec)
        return wait_until_copied(self.cells._copied(self.made), last)


class Mirror(Watch):
    """Mirroring around each cell on the target's images. Does nothing for images that are not mirrored."""

    def begin(self) -> None:
        """Know the mirror daemon."""
        self.cells = self.cells_of_block()

    def cells_of_block(self) -> MirrorCells:
        """Return what makes the watch of each cell."""
        return MirrorCells(self.bench, self.design.configuration.get("snapshot_interval_seconds"))

    def open(self) -> None:
        """Wait for the first copies."""
        for made in self.procedure.target.all():
            self.cells.await_first_copy(made)

    def started(self, cell: Cell) -> None:
        """Read the daemon's counters."""
        [made] = self.procedure.target.of(cell)
        self.watch = self.cells.watch(made, is_write=writes(cell))

    def look_of(self, cell: Cell) -> Look | None:
        """Take mirror snapshots when they are due."""
        return self.watch.while_running

    def judged(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Take up snapshots that are under way; void a cell that should have met one and did not."""
        self.watch.transferred_bytes = int(result.metrics.get("bytes", 0)) if result is not None else 0
        self.watch.finish(measured)

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until mirroring has caught up with the cell."""
        return self.watch.restore(measured)
