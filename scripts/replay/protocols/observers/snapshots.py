"""Takes mirror snapshots at an interval while a client writes, without holding up the caller."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from replay.cluster.running import Background
from replay.design.design import Cell
from replay.design.needs import Factor
from replay.design.sizing import seconds_of
from replay.evidence.record import Measured
from replay.measure.protocol import Observer, Protocol, WhileRunning
from replay.protocols.drivers.tool import StepLog
from replay.tools import render

#: The level of variants that take mirror snapshots.
INTERVAL = Factor("snapshot_interval_seconds", "seconds between two mirror snapshots; without it, none are taken")


class Snapshots:
    """Takes one snapshot after another and logs each as a step. Does nothing without an interval.

    The first is due after `first_seconds`, or after one interval if that is None.
    """

    def __init__(
        self,
        log: StepLog,
        connection: Sequence[str],
        interval_seconds: float | None,
        first_seconds: float | None = None,
    ) -> None:
        self.log = log
        self.interval_seconds = interval_seconds
        #: When each snapshot that was taken had been ordered, in seconds of the log.
        self._ordered: list[float] = []
        self._template = [*connection, "mirror", "image", "snapshot", "{image}"]
        self._due = (interval_seconds or 0.0) if first_seconds is None else first_seconds
        self._running: Background | None = None
        self._started = 0.0

    @property
    def taken(self) -> int:
        """The number of snapshots that were taken."""
        return len(self._ordered)

    @property
    def is_under_way(self) -> bool:
        """Whether a snapshot is being taken."""
        return self._running is not None

    def facts(self) -> dict[str, Any]:
        """Return what a cell's record says about its snapshots: what was asked, and what happened. Empty without any.

        A snapshot takes its time, so short intervals are not kept.
        """
        if self.interval_seconds is None:
            return {}
        asked = {"snapshots_taken": self.taken, "snapshot_interval_seconds": self.interval_seconds}
        if distances := [later - earlier for earlier, later in pairwise(self._ordered)]:
            asked["snapshot_distance_median_seconds"] = round(median(distances), 3)
            asked["snapshot_distance_longest_seconds"] = round(max(distances), 3)
        return asked

    def poll(self, elapsed_seconds: float) -> None:
        """Log a finished snapshot, and start the next one when it is due. A late snapshot is not made up for."""
        if self.interval_seconds is None:
            return
        if self._running is not None and self._running.exit_status is not None:
            self.finish()
        if self._running is None and elapsed_seconds >= self._due:
            self._due = elapsed_seconds + self.interval_seconds
            self._started = self.log.now()
            argv = render(self._template, self.log.values)
            self._running = Background(argv, programs=self.log.programs, slot=self.log.slot)

    def finish(self) -> None:
        """Wait for the running snapshot and log it."""
        if self._running is not None:
            status = self._running.end(60.0)
            said = (self._running.stdout() + self._running.stderr()).decode(errors="replace")
            self._write_down(status, said)
            if status == 0:
                self._ordered.append(self._started)
            self._running.kill()
            self._running = None

    def freeze(self) -> None:
        """Freeze the running snapshot, because its site is lost."""
        if self._running is not None:
            if self._running.exit_status is not None:
                self.finish()
            else:
                self._running.freeze()
                self._write_down(None, "frozen")

    def close(self) -> None:
        """End the running snapshot, so that it leaves no watch on the image."""
        if self._running is not None:
            self._running.end(30.0)
            self._running.kill()
            self._running = None

    def _write_down(self, status: int | None, said: str) -> None:
        seconds = self.log.now() - self._started
        self.log.add("snapshot", self._started, seconds, argv=self._template, exit_status=status, said=said)


def check_intervals(protocol: Protocol) -> None:
    """Refuse variants that take snapshots but are not mirrored by them, and cells that are too short for one.

    Raises ConfigurationError. Variants that are not mirrored, or are mirrored by their journal, have no interval.
    """
    for variant in protocol.design.variants:
        mirrored, interval = variant.image.mirroring, variant.levels.get(INTERVAL.name)
        if (mirrored == "snapshot") != (interval is not None):
            protocol.refuse(
                f"{variant.name}: mirroring is {mirrored!r}, but levels.{INTERVAL.name} is {interval!r}",
                next_step=f"give `mirroring: snapshot` and `levels: {{ {INTERVAL.name}: … }}` together, or neither",
            )
        seconds = seconds_of(variant.levels, protocol.design.sizing)
        if interval is not None and seconds < interval:
            protocol.refuse(
                f"{variant.name}: a cell of {seconds:g} s is shorter than its interval",
                next_step="raise target_seconds of this scale, or leave the variant out of it",
            )


class SnapshotsAfterRamp:
    """For protocols whose variants name their interval, and whose cells begin with an unmeasured ramp."""

    def interval_of(self, cell: Cell) -> float | None:
        """Return how many seconds apart mirror snapshots are taken in a cell; None if none are taken."""
        return cell.levels.get(INTERVAL.name)

    def first_seconds(self, cell: Cell) -> float | None:
        """Return after how many seconds the first is due: half an interval after the ramp; None without snapshots."""
        interval = self.interval_of(cell)
        return None if interval is None else float(self.option("ramp_seconds")) + 0.5 * interval


class SnapshotsTaken(Observer):
    """Takes snapshots when the protocol's `interval_of` and `first_seconds` say so, and counts them in the facts."""

    snapshots: Snapshots | None = None

    def started(self, cell: Cell) -> None:
        """Plan the cell's snapshots."""
        writer, interval = self.protocol.driver, self.protocol.interval_of(cell)
        self.snapshots = Snapshots(writer.log, writer.rbd, interval, self.protocol.first_seconds(cell))

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that takes a snapshot when it is due."""
        return self.snapshots.poll

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Wait for the running snapshot."""
        self.snapshots.finish()
        measured.facts |= self.snapshots.facts()

    def stop(self) -> None:
        """End a snapshot that was cut off."""
        if self.snapshots is not None:
            self.snapshots.close()
