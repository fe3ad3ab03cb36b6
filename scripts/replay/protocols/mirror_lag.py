"""How far a copy lags under a steady load: a writer at a fixed rate, and the replica's position over time.

The copy is followed until it has caught up after the writer's end. A process of its own samples the journal's size,
or which snapshots the copy holds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from replay.base.errors import ReplayError
from replay.base.programs import SYSTEM_PYTHON
from replay.cluster.mirroring import wait_until_rested
from replay.cluster.running import Background
from replay.cluster.site import Site
from replay.design.design import Cell, Design
from replay.design.needs import NUMBER, Factor, Needs
from replay.design.sizing import UNASKED, Terms, Write
from replay.evidence.record import Measured, SampleTable, Wait
from replay.measure.bench import await_done
from replay.measure.protocol import Observer, Protocol, WhileRunning
from replay.ownership.images import BlockImage
from replay.ownership.open_site import OpenSite
from replay.protocols.drivers.fio import ENTITY
from replay.protocols.drivers.fio_writer import LoggedWriter
from replay.protocols.drivers.tool import FIO_FACTORS, IO_DEPTH, cluster_values
from replay.protocols.observers import replica_probe
from replay.protocols.observers.copies import (
    MODE_FACTOR,
    REPLAYING,
    Copies,
    MirrorSampler,
    check_modes,
    journal_level,
    lacking_mirror_daemon,
)
from replay.protocols.observers.mirror import MirrorPosition, snapshot_interval
from replay.protocols.observers.snapshots import INTERVAL, SnapshotsTaken, ordered_snapshot
from replay.protocols.targets.mirrored_pair import POLL_AGE_FACTOR, PolledImage
from replay.tools import Result

IMAGE = ENTITY.format(1)
#: How often the journal or the copy is looked at.
LOOK_EVERY_SECONDS = 0.5
COPY_WITHIN_SECONDS = 600.0


class ReplicaSampler:
    """Runs `replica_probe.py` from `start` until `finish`, which adds its samples to the table.

    Times count from `origin`, a reading of the monotonic clock.
    """

    def __init__(self, bench: OpenSite, made: BlockImage, *, origin: float) -> None:
        self.bench = bench
        self.spec: dict[str, Any] = {"origin": origin, "every_seconds": LOOK_EVERY_SECONDS}
        if made.image.mirroring == "journal":
            cluster = {**cluster_values(bench.primary_cluster), "pool": made.pool}
            self.spec["journal"] = {"entity": IMAGE, "image_id": made.rbd_id, "cluster": cluster}
        else:
            cluster = {**cluster_values(bench.site.secondary), "pool": made.pool}
            self.spec["copy"] = {"entity": IMAGE, "image": made.name, "cluster": cluster}
        self._child: Background | None = None

    def start(self) -> None:
        """Start it and wait for its first sample. Raises ReplayError if there is none."""
        argv = [SYSTEM_PYTHON, "-E", replica_probe.__file__, json.dumps(self.spec)]
        self._child = Background(argv, programs=self.bench.programs, slot=self.bench.slot)
        self._child.await_that(lambda: bool(self.lines()), "its first look")

    def lines(self) -> list[str]:
        """Return the complete rows that were printed so far."""
        return self._child.stdout().decode(errors="replace").split("\n")[:-1]

    def latest(self, metric: str) -> int | None:
        """Return the latest value of a metric, a whole number; None if there is none yet. Raises as `check` does."""
        self.check()
        values = [line.rsplit(",", 1)[1] for line in self.lines() if f",{metric}," in line]
        return int(values[-1]) if values else None

    def check(self) -> None:
        """Raise ReplayError if it has ended by itself."""
        if self._child.exit_status is not None:
            raise self._failure()

    def finish(self, table: SampleTable) -> None:
        """End it and add its samples to the table. Raises ReplayError if it failed."""
        status = self._child.end()
        table.add_lines(self.lines())
        if status != 0:
            raise self._failure()

    def _failure(self) -> ReplayError:
        return ReplayError(f"the sampler of the replica failed: {self._child.complaint()}", where="replica_probe.py")

    def close(self) -> None:
        """Kill it. May be called again."""
        if self._child is not None:
            self._child.kill()
            self._child = None


class Replica(Observer):
    """Follows the copy of the cell's image, and adds samples to the driver's table."""

    def begin(self) -> None:
        self.copies = Copies(self.bench)
        self.replica: ReplicaSampler | None = None

    def lacking(self, site: Site) -> dict[str, str]:
        return lacking_mirror_daemon(site)

    def prepare(self, cell: Cell) -> None:
        """Wait until the second cluster has the cell's image and replays it."""
        [made] = self.protocol.target.of(cell)
        self.copies.await_first(made)
        self.copies.await_state([made.name], REPLAYING)

    def started(self, cell: Cell) -> None:
        """Take the first readings."""
        writer, daemon = self.protocol.driver, self.copies.require_daemon()
        [made] = self.protocol.target.of(cell)
        self.sampler = MirrorSampler(daemon, {IMAGE: made.name}, writer.table, writer.log.now)
        self.replica = ReplicaSampler(self.bench, made, origin=writer.log.origin)
        with self.bench.costs.measure("prepare"):
            self.replica.start()
        self.sampler.read()

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that reads the daemon's counters when it is due. A separate process reads the replica."""

        def look(elapsed_seconds: float) -> None:
            self.replica.check()
            self.sampler.read_when_due()

        return look

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Keep reading until the replica has caught up. The cell is invalid if it does not."""
        with self.bench.costs.measure("wait"):
            wait = self._await_journal() if cell.levels["mode"] == "journal" else self._await_copy()
        self.replica.finish(self.protocol.driver.table)
        measured.waits.append(wait)
        measured.samples["mirror"] = self.sampler.cost()
        if wait.outcome == "stalled" and measured.invalid is None:
            measured.invalid = ("replay_did_not_advance", "the replica did not catch up after the writer had ended")

    def stop(self) -> None:
        if self.replica is not None:
            self.replica.close()

    def _await_journal(self) -> Wait:
        replay = wait_until_rested(
            self.sampler.read,
            journal_level({IMAGE: self.protocol.driver.written}),
            quiet_seconds=1.0,
            poll_seconds=MirrorSampler.every_seconds,
            sleep=self.bench.waiting("the replica to be level", None, mirrored=True).pause,
        )
        return Wait("replay_level", replay.seconds, replay.outcome)

    def _await_copy(self) -> Wait:
        """Take a last snapshot, so that nothing is left to copy, and wait for its copy."""
        started, writer = time.monotonic(), self.protocol.driver
        wanted = ordered_snapshot(writer.log, "{image}")

        def is_copied() -> bool:
            self.sampler.read_when_due()
            return (self.replica.latest("copied_snapshot_id") or 0) >= wanted

        wait = await_done(
            self.bench,
            is_copied,
            what="the replica to be level",
            reason="replay_level",
            outcomes=("replayed", "stalled"),
            seconds=COPY_WITHIN_SECONDS,
            every=0.1,
            mirrored=True,
        )
        # Taking the snapshot is a part of it.
        wait.seconds = time.monotonic() - started
        return wait


class MirrorLagProtocol(Protocol):
    """Writes to one mirrored image at `levels["writes_per_second"]`, and follows its replica until it has caught up."""

    needs = Needs(
        tools=("mirror-lag",),
        factors=(
            Factor("writes_per_second", "how many writes the client requests each second", required=True, kind=NUMBER),
            MODE_FACTOR,
            INTERVAL,
            POLL_AGE_FACTOR,
            *FIO_FACTORS,
        ),
        options=(IO_DEPTH,),
        programs=("fio", "rbd"),
        mirroring="always",
        image_per_cell=True,
    )
    target = PolledImage()
    driver = LoggedWriter()
    observers = (MirrorPosition(), SnapshotsTaken(), Replica())
    overhead_seconds = 5.5
    writes_are_known = True

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return fio's options: at the cell's rate, with every operation logged, without a ramp."""
        return {
            **self.design.options,
            "ramp_seconds": 0,
            "fio_options": {"rate_iops": cell.levels["writes_per_second"]},
        }

    @classmethod
    def client_bytes(cls, cell: Cell, design: Design, terms: Terms = UNASKED) -> float:
        """Return the bytes of the writes at the requested rate."""
        size, rate = int(cell.levels["io_size_bytes"]), float(cell.levels["writes_per_second"])
        return size * rate * design.sizing.target_seconds

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the fill of the cell's image, and its writes at the requested rate."""
        written = self.target.write_of(cell, self.client_bytes(cell, self.design))
        return [Write(cell.variant.image.size_bytes, adds=True), written]

    def interval_of(self, cell: Cell) -> float | None:
        """Return how often mirror snapshots are taken in a cell."""
        if cell.levels["mode"] != "snapshot":
            return None
        return float(cell.levels.get(INTERVAL.name, snapshot_interval(self.design)))

    def first_seconds(self, cell: Cell) -> float | None:
        """Return None: the first snapshot is due after one interval."""
        return None

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Mark a cell as invalid if no mirror snapshot was taken during it, although some were due."""
        if measured.invalid is None and measured.facts.get("snapshots_taken") == 0:
            measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the writer wrote")

    def headline(self, metrics: Mapping[str, float]) -> str:
        return f"{metrics['lag_median_seconds']:.1f} s behind, {metrics['lag_max_seconds']:.1f} s at most"

    def check(self) -> None:
        """Refuse variants that are not mirrored as they say, and cells that are too short for a snapshot."""
        check_modes(self)
        seconds = self.design.sizing.target_seconds
        for cell in (cell for cell_set in self.design.sets for cell in cell_set.cells):
            interval = self.interval_of(cell)
            if interval is not None and interval >= seconds:
                self.refuse(
                    f"{cell.variant.name}: a cell of {seconds:g} s is too short for a snapshot every {interval:g} s",
                    next_step="raise target_seconds of this scale, or leave the variant out of it",
                )


PROTOCOL = MirrorLagProtocol
