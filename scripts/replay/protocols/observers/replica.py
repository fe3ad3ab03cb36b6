"""Follows the copy of one mirrored image under a steady load, until it has caught up after the writer's end.

A process of its own samples the size of the journal, or which snapshots the copy holds.
"""

from __future__ import annotations

import json
import time
from typing import Any

from replay.base.errors import ReplayError
from replay.base.programs import SYSTEM_PYTHON
from replay.cluster.mirroring import wait_until_rested
from replay.cluster.running import Background
from replay.cluster.site import Site
from replay.design.design import Cell
from replay.design.needs import Factor
from replay.evidence.record import Measured, SampleTable, Wait
from replay.measure.bench import await_done
from replay.measure.protocol import Observer, Protocol, WhileRunning
from replay.ownership.images import BlockImage
from replay.ownership.open_site import OpenSite
from replay.protocols.drivers.fio import ENTITY
from replay.protocols.drivers.tool import StepLog, cluster_values
from replay.protocols.observers import replica_probe
from replay.protocols.observers.catch_up import REPLAYING, MirrorSampler, journal_level
from replay.protocols.observers.mirror import Copies


class ReplicaSampler:
    """Runs `replica_probe.py` from `start` until `finish`, which adds its samples to the table.

    Times count from `origin`, a reading of the monotonic clock.
    """

    def __init__(self, bench: OpenSite, made: BlockImage, entity: str, *, origin: float, every_seconds: float) -> None:
        self.bench = bench
        self.spec: dict[str, Any] = {"origin": origin, "every_seconds": every_seconds}
        if made.image.mirroring == "journal":
            cluster = {**cluster_values(bench.primary_cluster), "pool": made.pool}
            self.spec["journal"] = {"entity": entity, "image_id": made.rbd_id, "cluster": cluster}
        else:
            cluster = {**cluster_values(bench.site.secondary), "pool": bench.site.second_site.pool}
            self.spec["copy"] = {"entity": entity, "image": made.name, "cluster": cluster}
        self._child: Background | None = None

    def start(self) -> None:
        """Start it and wait for its first sample. Raises ReplayError if there is none."""
        argv = [SYSTEM_PYTHON, "-E", replica_probe.__file__, json.dumps(self.spec)]
        self._child = Background(argv, programs=self.bench.programs, slot=self.bench.slot)
        self._child.await_that(lambda: bool(self.lines()), "its first look")

    def lines(self) -> list[str]:
        """Return the complete rows that were printed so far."""
        if self._child is None:
            return []
        return self._child.stdout().decode(errors="replace").split("\n")[:-1]

    def latest(self, metric: str) -> int | None:
        """Return the latest value of a metric, a whole number; None if there is none yet."""
        values = [line.rsplit(",", 1)[1] for line in self.lines() if f",{metric}," in line]
        return int(values[-1]) if values else None

    def finish(self, table: SampleTable) -> None:
        """End it and add its samples to the table. Raises ReplayError if it failed."""
        if self._child is None:
            return
        status = self._child.end()
        table.add_lines(self.lines())
        complaint = self._child.complaint() if status != 0 else ""
        self.close()
        if complaint:
            raise ReplayError(f"the sampler of the replica failed: {complaint}", where="replica_probe.py")

    def close(self) -> None:
        """Kill it. May be called again."""
        if self._child is not None:
            self._child.kill()
            self._child = None


IMAGE = ENTITY.format(1)
#: How often the daemon's counters are read, and how often the journal or the copy is looked at.
READ_EVERY_SECONDS = 0.25
LOOK_EVERY_SECONDS = 0.5
COPY_WITHIN_SECONDS = 600.0


MODE_FACTOR = Factor("mode", "how the variant's image is mirrored", words=("journal", "snapshot"), required=True)


def lacking_mirror_daemon(site: Site) -> dict[str, str]:
    """Return why the mirror daemon cannot be asked on a site; empty if it can."""
    if site.second_site is not None and site.second_site.mirror_daemon_admin_socket is None:
        return {"second_site": "the site's file names no admin socket of the mirror daemon, whose counters this needs"}
    return {}


class Replica(Observer):
    """Follows the copy of the cell's image, and adds samples to the driver's table."""

    def begin(self) -> None:
        """Find the mirror daemon."""
        self.copies = Copies(self.bench)
        self.replica: ReplicaSampler | None = None

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what is missing if the replica's position cannot be read."""
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
        self.replica = ReplicaSampler(
            self.bench, made, IMAGE, origin=writer.log.origin, every_seconds=LOOK_EVERY_SECONDS
        )
        with self.bench.costs.measure("prepare"):
            self.replica.start()
        self.sampler.read()

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that reads the daemon's counters when it is due. A separate process reads the replica."""
        return lambda elapsed_seconds: self.sampler.read_when_due(READ_EVERY_SECONDS)

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
        """End the process that observes the replica."""
        if self.replica is not None:
            self.replica.close()

    def _await_journal(self) -> Wait:
        replay = wait_until_rested(
            self.sampler.read,
            journal_level({IMAGE: self.protocol.driver.written}),
            quiet_seconds=1.0,
            poll_seconds=READ_EVERY_SECONDS,
            sleep=self.bench.waiting("the replica to be level", None, mirrored=True).pause,
        )
        return Wait("replay_level", replay.seconds, replay.outcome)

    def _await_copy(self) -> Wait:
        """Take a last snapshot, so that nothing is left to copy, and wait for its copy."""
        started, writer = time.monotonic(), self.protocol.driver
        wanted = ordered_snapshot(writer.log, writer.rbd, "{image}")
        waiting = self.bench.waiting("the replica to be level", COPY_WITHIN_SECONDS, mirrored=True)

        def is_copied() -> bool:
            self.sampler.read_when_due(READ_EVERY_SECONDS)
            return (self.replica.latest("copied_snapshot_id") or 0) >= wanted

        wait = await_done(
            is_copied,
            reason="replay_level",
            outcomes=("replayed", "stalled"),
            seconds=COPY_WITHIN_SECONDS,
            every=0.1,
            pause=waiting.pause,
        )
        # Taking the snapshot is a part of it.
        wait.seconds = time.monotonic() - started
        return wait


def ordered_snapshot(log: StepLog, rbd: list[str], spec: str, **step: str) -> int:
    """Take a mirror snapshot as a step of a log; return its id. `step` holds further keys for the log's line.

    Raises ReplayError if no snapshot was taken.
    """
    run = log.command("snapshot", [*rbd, "mirror", "image", "snapshot", spec], **step)
    words = run.stdout.decode(errors="replace").split()
    if run.exit_status != 0 or not words or not words[-1].isdigit():
        raise ReplayError(f"no mirror snapshot was taken: {log.lines[-1]['said'][-200:]}", where=step.get("image"))
    return int(words[-1])


def check_modes(protocol: Protocol, unmirrored: str | None = None) -> None:
    """Raise ConfigurationError if a variant's level `mode` is not how its image is mirrored.

    `unmirrored` is the mode of an image that is not, None if there is none.
    """
    for variant in protocol.design.variants:
        mode, mirroring = variant.levels.get("mode"), variant.image.mirroring
        if mode != (mirroring or unmirrored):
            protocol.refuse(
                f"{variant.name}: levels.mode is {mode!r}, but mirroring is {mirroring!r}",
                next_step="give each variant the same word for `mirroring` and in `levels: { mode: … }`",
            )
