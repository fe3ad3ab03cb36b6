"""Mirror snapshots: taken at an interval while a client writes, without holding up the caller, and trimmed later.

What is left to trim is observed while a client writes, and awaited afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from replay.base.errors import ReplayError
from replay.cluster.placement_groups import TRIMS, groups_at
from replay.cluster.running import Background
from replay.cluster.session import MonitorSession
from replay.design.design import Cell
from replay.design.needs import NUMBER, Factor
from replay.design.sizing import seconds_of
from replay.evidence.record import Measured, SampleTable, Wait
from replay.measure.bench import Bench, await_done
from replay.measure.protocol import Observer, Protocol, WhileRunning
from replay.protocols.drivers.tool import StepLog
from replay.protocols.observers.copies import TableSampler
from replay.tools import render

#: The level of variants that take mirror snapshots.
INTERVAL = Factor(
    "snapshot_interval_seconds", "seconds between two mirror snapshots; without it, none are taken", kind=NUMBER
)


class Snapshots:
    """Takes one snapshot after another and logs each as a step. Does nothing without an interval.

    The first is due after `first_seconds`, or after one interval if that is None.
    """

    def __init__(self, log: StepLog, interval_seconds: float | None, first_seconds: float | None = None) -> None:
        self.log = log
        self.interval_seconds = interval_seconds
        #: When each snapshot that was taken had been ordered, in seconds of the log.
        self._ordered: list[float] = []
        self._template = [*log.rbd(), "mirror", "image", "snapshot", "{image}"]
        self._due = (interval_seconds or 0.0) if first_seconds is None else first_seconds
        self._running: Background | None = None
        self._started = 0.0

    @property
    def is_under_way(self) -> bool:
        return self._running is not None

    def facts(self) -> dict[str, Any]:
        """Return what a cell's record says about its snapshots: what was asked, and what happened. Empty without any.

        A snapshot takes its time, so short intervals are not kept.
        """
        if self.interval_seconds is None:
            return {}
        asked = {"snapshots_taken": len(self._ordered), "snapshot_interval_seconds": self.interval_seconds}
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


def ordered_snapshot(log: StepLog, spec: str, **step: str) -> int:
    """Take a mirror snapshot as a step of a log; return its id. `step` holds further keys for the log's line.

    Raises ReplayError if no snapshot was taken.
    """
    run = log.command("snapshot", [*log.rbd(), "mirror", "image", "snapshot", spec], **step)
    words = run.stdout.decode(errors="replace").split()
    if run.exit_status != 0 or not words or not words[-1].isdigit():
        raise ReplayError(f"no mirror snapshot was taken: {log.lines[-1]['said'][-200:]}", where=step.get("image"))
    return int(words[-1])


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


class SnapshotsTaken(Observer):
    """Takes snapshots when the protocol's `interval_of` and `first_seconds` say so, and counts them in the facts."""

    snapshots: Snapshots | None = None

    def started(self, cell: Cell) -> None:
        writer, interval = self.protocol.driver, self.protocol.interval_of(cell)
        self.snapshots = Snapshots(writer.log, interval, self.protocol.first_seconds(cell))

    def while_running(self, cell: Cell) -> WhileRunning | None:
        """Return a function that takes a snapshot when it is due."""
        return None if self.snapshots is None else self.snapshots.poll

    def ended(self, cell: Cell, measured: Measured) -> None:
        self.snapshots.finish()
        measured.facts |= self.snapshots.facts()

    def stop(self) -> None:
        """End a snapshot that was cut off."""
        if self.snapshots is not None:
            self.snapshots.close()


# What is left to trim -------------------------------------------------------------------------------------------------


CLUSTER = "cluster"


class TrimSampler(TableSampler):
    """Counts over time what is left to trim in `pools`: `snapshots_to_trim` and `snaptrim_placement_groups`."""

    #: The monitors get reports on placement groups every few seconds (`mgr_stats_period`). More often is useless.
    every_seconds = 2.0

    def __init__(
        self, session: MonitorSession, pools: Sequence[str], table: SampleTable, now: Callable[[], float]
    ) -> None:
        super().__init__(table, now)
        self.session = session
        self.pools = pools

    def read_at(self, seconds: float) -> None:
        self.table.add(seconds, CLUSTER, "snapshots_to_trim", snapshots_to_trim(self.session, self.pools))
        self.table.add(seconds, CLUSTER, "snaptrim_placement_groups", trimming(self.session, self.pools))


def trimming(session: MonitorSession, pools: Iterable[str]) -> int:
    """Return how many placement groups of these pools trim or wait to trim."""
    return groups_at(session, TRIMS, pools).total()


def snapshots_to_trim(session: MonitorSession, pools: Iterable[str]) -> int:
    """Return how many removed snapshots of these pools are not trimmed from every placement group yet.

    The OSD map holds each until it is trimmed, so none is missed between two reports of placement groups.
    """
    dump = session.command({"prefix": "osd dump"})
    ids = {pool["pool"] for pool in dump["pools"] if pool["pool_name"] in set(pools)}
    queued = [pool for pool in dump.get("removed_snaps_queue", ()) if pool["pool"] in ids]
    return sum(int(interval["length"]) for pool in queued for interval in pool["snaps"])


TRIMMED_WITHIN_SECONDS = 300.0


def await_trimmed(bench: Bench) -> Wait:
    """Wait until no removed snapshot is left to trim in the pools that Replay writes to, on either cluster.

    The outcome is `trimmed`, or `still_trimming` after the time limit: a neighbour may use a pool, too.
    """
    sides: list[tuple[MonitorSession, Sequence[str]]] = [(bench.session, own_pools(bench))]
    if bench.secondary is not None:
        sides.append((bench.secondary, [bench.site.pools.data.name]))
    most = 0

    def are_trimmed() -> bool:
        nonlocal most
        left = sum(snapshots_to_trim(session, pools) for session, pools in sides)
        most = max(most, left)
        return left == 0 and not any(trimming(session, pools) for session, pools in sides)

    wait = await_done(
        bench,
        are_trimmed,
        what="snapshots to be trimmed",
        reason="snapshots_trimmed",
        outcomes=("trimmed", "still_trimming"),
        seconds=TRIMMED_WITHIN_SECONDS,
        every=0.5,
        mirrored=bench.secondary is not None,
    )
    wait.details["snapshots_to_trim"] = most
    return wait


class TrimmedAfterwards(Observer):
    """Waits after a cell that took mirror snapshots until nothing is left to trim on either cluster.

    Declare it after the observer that waits for the copy: snapshots are removed once they are copied.
    """

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until nothing is left to trim."""
        if cell.variant.image.mirroring != "snapshot":
            return []
        with self.bench.costs.measure("wait"):
            return [await_trimmed(self.bench)]


def own_pools(bench: Bench) -> list[str]:
    return [pool.name for pool in bench.site.pools.all()]
