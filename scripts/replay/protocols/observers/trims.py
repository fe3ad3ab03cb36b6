"""Snapshot trimming: what is left to trim while a client writes, and the wait until nothing is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from replay.base.errors import ReplayError
from replay.cluster.placement_groups import TRIMS, groups_at
from replay.cluster.session import MonitorSession
from replay.design.design import Cell
from replay.evidence.record import Measured, SampleTable, Wait
from replay.measure.bench import Bench, await_done
from replay.measure.protocol import Observer, WhileRunning
from replay.protocols.observers.mirror import FirstCopies

#: The monitors get reports on placement groups every few seconds (`mgr_stats_period`). Sampling more often is useless.
LOOK_EVERY_SECONDS = 2.0
CLUSTER = "cluster"


class TrimSampler:
    """Counts over time, into `table`, what is left to trim: `snapshots_to_trim` and `snaptrim_placement_groups`.

    Snapshots and placement groups are those of `pools`. `cost` returns the wall time that sampling took.
    """

    def __init__(
        self, session: MonitorSession, pools: Sequence[str], table: SampleTable, now: Callable[[], float]
    ) -> None:
        self.session = session
        self.pools = pools
        self.table = table
        self.now = now
        self.readings = 0
        self.reading_seconds = 0.0
        self._due = float("-inf")

    def read_when_due(self) -> None:
        """Take a sample if the last one is long enough ago."""
        if self.now() >= self._due:
            self._due = self.now() + LOOK_EVERY_SECONDS
            started, at = time.monotonic(), self.now()
            self.table.add(at, CLUSTER, "snapshots_to_trim", snapshots_to_trim(self.session, self.pools))
            self.table.add(at, CLUSTER, "snaptrim_placement_groups", trimming(self.session, self.pools))
            self.readings += 1
            self.reading_seconds += time.monotonic() - started

    def cost(self) -> dict[str, Any]:
        """Return the sampler's own cost, for the sidecar."""
        return {"readings": self.readings, "cost_seconds": round(self.reading_seconds, 4)}


def trimming(session: MonitorSession, pools: Iterable[str]) -> int:
    """Return how many placement groups of these pools trim or wait to trim."""
    return groups_at(session, TRIMS, pools).total()


def snapshots_to_trim(session: MonitorSession, pools: Iterable[str]) -> int:
    """Return how many removed snapshots of these pools are not trimmed from every placement group yet.

    The OSD map holds each until it is trimmed, so none is missed between two reports of placement groups.
    """
    dump = session.command({"prefix": "osd dump"})
    ids = {one["pool"] for one in dump["pools"] if one["pool_name"] in set(pools)}
    queued = [pool for pool in dump.get("removed_snaps_queue", ()) if pool["pool"] in ids]
    return sum(int(interval["length"]) for pool in queued for interval in pool["snaps"])


def wait_until_trimmed(
    sides: Sequence[tuple[MonitorSession, Sequence[str]]],
    *,
    timeout_seconds: float,
    every: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None],
) -> Wait:
    """Wait until no removed snapshot is left to trim, or being trimmed, on any side (session, names of pools).

    The outcome is `trimmed`, or `still_trimming` after the time limit: a neighbour may use a pool, too.
    """
    most = 0

    def are_trimmed() -> bool:
        nonlocal most
        left = sum(snapshots_to_trim(session, pools) for session, pools in sides)
        most = max(most, left)
        return left == 0 and not any(trimming(session, pools) for session, pools in sides)

    wait = await_done(
        are_trimmed,
        reason="snapshots_trimmed",
        outcomes=("trimmed", "still_trimming"),
        seconds=timeout_seconds,
        every=every,
        pause=pause,
        clock=clock,
    )
    wait.details["snapshots_to_trim"] = most
    return wait


TRIMMED_WITHIN_SECONDS = 300.0


class Trims(FirstCopies):
    """Records the trim queue in the driver's table. After a cell, waits until nothing is left to copy or to trim."""

    def open(self) -> None:
        """Wait for the images' first copies, and until nothing is left to trim."""
        super().open()
        with self.bench.costs.measure("wait"):
            await_trimmed(self.bench)

    def started(self, cell: Cell) -> None:
        """Set up the cell's sampler."""
        writer = self.protocol.driver
        self.trims = TrimSampler(self.bench.session, _pools(self.bench), writer.table, writer.log.now)

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that reads the queue when it is due."""
        return lambda elapsed_seconds: self.trims.read_when_due()

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Record the sampler's cost."""
        measured.samples["trims"] = self.trims.cost()

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until a last snapshot is copied and nothing is left to trim. Raises ReplayError if it is not copied."""
        [made] = self.protocol.target.of(cell)
        if made.image.mirroring is None:
            return []
        with self.bench.costs.measure("wait"):
            copied = self.copies.wait_for(made, self.copies.take_snapshot(made))
            if copied.outcome != "copied":
                raise ReplayError(
                    f"the mirror daemon did not copy the last snapshot within {copied.seconds:.0f} s",
                    where=made.spec,
                    next_step="look at the daemon's log; finished sets are kept",
                )
            trimmed = await_trimmed(self.bench)
        measured.facts["seconds_until_copied"] = round(copied.seconds, 3)
        measured.facts["seconds_until_trimmed"] = round(trimmed.seconds, 3)
        return [copied, trimmed]


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


def await_trimmed(bench: Bench) -> Wait:
    """Wait until nothing is left to trim in the pools that Replay writes to, on either cluster."""
    sides: list[tuple[MonitorSession, Sequence[str]]] = [(bench.session, _pools(bench))]
    if bench.secondary is not None:
        sides.append((bench.secondary, [bench.site.second_site.pool]))
    waiting = bench.waiting("snapshots to be trimmed", TRIMMED_WITHIN_SECONDS, mirrored=bench.secondary is not None)
    return wait_until_trimmed(sides, timeout_seconds=TRIMMED_WITHIN_SECONDS, pause=waiting.pause)


def _pools(bench: Bench) -> list[str]:
    return [pool.name for pool in bench.site.pools.all()]
