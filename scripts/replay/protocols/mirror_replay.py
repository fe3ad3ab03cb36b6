"""How fast the mirror daemon catches up: stop replay, write to images, start replay and time it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from replay.base.clock import utc_now
from replay.cluster.mirroring import ReplayCounters, wait_until_rested
from replay.cluster.site import Site
from replay.design.design import Cell, Design
from replay.design.needs import Factor, Needs
from replay.design.sizing import UNASKED, Terms, Write
from replay.evidence.record import Measured, SampleTable, Wait
from replay.measure.protocol import Driver, Protocol, WhileRunning
from replay.ownership.images import BlockImage
from replay.protocols.drivers.fio import ENTITY, bytes_by_job, jobs_text, run_fio
from replay.protocols.drivers.fio_writer import keep_log, lacking_flat_pool
from replay.protocols.drivers.tool import FIO_FACTORS, IO_DEPTH, StepLog, client_values
from replay.protocols.observers.copies import (
    MODE_FACTOR,
    REPLAYING,
    STOPPED,
    Copies,
    MirrorSampler,
    check_modes,
    journal_level,
    lacking_mirror_daemon,
)
from replay.protocols.observers.mirror import FirstCopies
from replay.protocols.observers.snapshots import ordered_snapshot
from replay.protocols.targets.images import Images

#: A client that is slower than this runs into its time limit.
SLOWEST_WRITE_BYTES_PER_SECOND = 1 << 20
#: A journal's counters change with each entry, a snapshot's only when it is complete on the other side.
STALL_SECONDS = {"journal": 60.0, "snapshot": 600.0}
#: More of a journal may follow, so an image counts as level only when its counters have not changed for this long.
QUIET_SECONDS = 1.0
READ_EVERY_SECONDS = {"journal": 0.25, "snapshot": 0.1}
#: The copy's header says that it is complete a moment before or after the daemon counts it.
COMPLETE_WITHIN_SECONDS = 30.0


class CatchUp(Driver):
    """Stops replay of a cell's images, overwrites each once, starts replay, and watches until it has caught up."""

    def begin(self) -> None:
        self.copies = Copies(self.bench)
        self.stopped: list[str] = []

    def lacking(self, site: Site) -> dict[str, str]:
        return lacking_flat_pool(site) | lacking_mirror_daemon(site)

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Stop, write, take a snapshot if snapshots are mirrored, start, and watch until everything is replayed."""
        mode, images = str(cell.levels["mode"]), self.protocol.target.of(cell)
        specs = {f"image_{number}": made.spec for number, made in enumerate(images, start=1)}
        log = StepLog({**client_values(self.bench), **specs}, self.bench.slot, programs=self.bench.programs)
        with self.bench.costs.measure("prepare"):
            self._stop(log, images)
            measured = self._write(cell, images, seed, log)
        written = bytes_by_job(measured)
        if measured.invalid is None and sorted(written) != [ENTITY.format(n) for n in range(1, len(images) + 1)]:
            measured.invalid = ("client_lost", f"fio wrote to {len(written)} of {len(images)} images")
        if measured.invalid is not None:
            keep_log(measured, log, SampleTable())
            return measured
        with self.bench.costs.measure("prepare"):
            snapshots = self._snapshots(log, images) if mode == "snapshot" else {}
        self._catch_up(measured, mode, images, written, snapshots, log)
        return measured

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return one full write of each of the cell's images."""
        return [self._once(cell)]

    def rest(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Start replay that an invalid cell left stopped, and wait until the daemon is at rest."""
        waited = self._start_stopped()
        if measured.invalid is None and not waited:
            return []
        daemon, images = self.copies.require_daemon(), self.protocol.target.of(cell)
        with self.bench.costs.measure("wait"):
            self.copies.await_state([made.name for made in images], REPLAYING)
            rest = wait_until_rested(
                lambda: {made.name: daemon.counters(made.name) for made in images},
                lambda _: True,
                quiet_seconds=6.0,
                sleep=self.bench.waiting("the mirror daemon to rest", None, mirrored=True).pause,
            )
        return [Wait("replay_resumed", rest.seconds, "rests")]

    def close(self) -> None:
        """Let the daemon replay again every image that it was told to stop."""
        self._start_stopped()

    # Steps of a cell ----------------------------------------------------------------------------------------------

    def _once(self, cell: Cell) -> Write:
        return self.protocol.target.write_of(cell, self.protocol.client_bytes(cell, self.design))

    def _stop(self, log: StepLog, images: Sequence[BlockImage]) -> None:
        daemon = self.copies.require_daemon()
        self.copies.await_state([made.name for made in images], REPLAYING)
        for number, made in enumerate(images, start=1):
            started = log.now()
            # Recorded before the daemon is told, so that replay starts again after an interruption.
            self.stopped.append(made.name)
            daemon.stop(made.name)
            log.add("stop", started, log.now() - started, image=ENTITY.format(number))
        self.copies.await_state([made.name for made in images], STOPPED)

    def _write(self, cell: Cell, images: Sequence[BlockImage], seed: int, log: StepLog) -> Measured:
        """Overwrite each image once, in random order, all at the same time."""
        size = cell.variant.image.size_bytes
        # fio keeps a map of finished blocks, so a random job over a whole image writes each block once.
        once = {"time_based": 0, "runtime": 0}
        text = jobs_text(cell.levels, {**self.design.options, "ramp_seconds": 0, "fio_options": once}, len(images))
        started = log.now()
        measured = run_fio(
            self.bench,
            text,
            images,
            cell.variant.client_options,
            seed=seed,
            runtime_seconds=0,
            timeout_seconds=60 + size * len(images) / SLOWEST_WRITE_BYTES_PER_SECOND,
            component="prepare",
        )
        log.add("write", started, log.now() - started, argv=measured.argv, exit_status=measured.exit_status)
        self.bench.budget.commit(self._once(cell))
        return measured

    def _snapshots(self, log: StepLog, images: Sequence[BlockImage]) -> dict[str, int]:
        """Take one mirror snapshot of each image; return their ids by entity."""
        return {
            ENTITY.format(number): ordered_snapshot(log, f"{{image_{number}}}", image=ENTITY.format(number))
            for number in range(1, len(images) + 1)
        }

    def _catch_up(
        self,
        measured: Measured,
        mode: str,
        images: Sequence[BlockImage],
        written: Mapping[str, int],
        snapshots: Mapping[str, int],
        log: StepLog,
    ) -> None:
        """Start replay of all images and read the daemon's counters until it has caught up. This is the measurement."""
        daemon, table = self.copies.require_daemon(), SampleTable()
        names = {ENTITY.format(number): made.name for number, made in enumerate(images, start=1)}
        sampler = MirrorSampler(daemon, names, table, log.now)
        # A daemon that was restarted meanwhile knows of no stop: what it replayed before the start is no catch-up.
        at_rest = sampler.read()

        def are_copied(counters: Mapping[str, ReplayCounters]) -> bool:
            return all(counters[entity].snapshots for entity in snapshots)

        measured.started_at = utc_now()
        with self.bench.costs.measure("tool"):
            before, began = self.bench.sampler.read(), log.now()
            for entity, name in names.items():
                started = log.now()
                daemon.start(name)
                self.stopped.remove(name)
                log.add("start", started, log.now() - started, image=entity)
            replay = wait_until_rested(
                lambda: _since(at_rest, sampler.read()),
                are_copied if mode == "snapshot" else journal_level(written),
                quiet_seconds=QUIET_SECONDS,
                stall_seconds=STALL_SECONDS[mode],
                poll_seconds=READ_EVERY_SECONDS[mode],
                sleep=self.bench.waiting("the replay of what was written", None, mirrored=True).pause,
            )
            measured.load = self.bench.sampler.load(before, self.bench.sampler.read())
            measured.tool_seconds = log.now() - began
        measured.ended_at = utc_now()
        keep_log(measured, log, table)
        measured.samples["mirror"] = sampler.cost()
        if replay.outcome == "stalled":
            what = f"the mirror daemon made no progress for {STALL_SECONDS[mode]:.0f} s before it had caught up"
            measured.invalid = ("replay_did_not_advance", what)
        elif snapshots:
            measured.waits += self._await_complete(measured, images, snapshots)

    def _await_complete(
        self, measured: Measured, images: Sequence[BlockImage], snapshots: Mapping[str, int]
    ) -> list[Wait]:
        """Ask the second cluster whether it holds the snapshots that the daemon has counted."""
        with self.bench.costs.measure("wait"):
            waits = [
                self.copies.wait_for(made, wanted, timeout_seconds=COMPLETE_WITHIN_SECONDS)
                for made, wanted in zip(images, snapshots.values(), strict=True)
            ]
        if any(wait.outcome != "copied" for wait in waits):
            what = "the daemon has counted a snapshot that is not complete on the second cluster"
            measured.invalid = ("replay_did_not_advance", what)
        return waits

    def _start_stopped(self) -> bool:
        """Start the replay that this process has stopped; return whether there was any."""
        names = list(self.stopped)
        for name in names:
            self.copies.resume(name)
            self.stopped.remove(name)
        return bool(names)


class MirrorReplayProtocol(Protocol):
    """Overwrites `levels["images"]` images once while the daemon does not replay them, and times its catch-up."""

    needs = Needs(
        tools=("mirror-replay",),
        factors=(Factor("images", "how many images catch up at once", required=True), MODE_FACTOR, *FIO_FACTORS),
        options=(IO_DEPTH,),
        programs=("fio", "rbd"),
        mirroring="always",
    )
    target = Images(count="images")
    driver = CatchUp()
    observers = (FirstCopies(),)
    writes_are_known = True
    # The cell itself lasts until the second cluster has caught up.
    mirrored_wait_seconds = 0.0

    @classmethod
    def client_bytes(cls, cell: Cell, design: Design, terms: Terms = UNASKED) -> float:
        """Return the size of all images: each is overwritten once."""
        return cell.variant.image.size_bytes * int(cell.levels["images"])

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Let the driver bring the daemon to rest, which an invalid cell may have left stopped."""
        return super().restore(cell, measured) + self.driver.rest(cell, measured)

    def headline(self, metrics: Mapping[str, float]) -> str:
        rate = metrics["bytes_per_second"] / 1e6
        return f"{rate:,.1f} MB/s, level after {metrics['seconds_to_catch_up']:.1f} s"

    def check(self) -> None:
        check_modes(self)


def _since(at_rest: Mapping[str, ReplayCounters], now: Mapping[str, ReplayCounters]) -> dict[str, ReplayCounters]:
    """Return what was counted since replay was at rest. A daemon that was started again counts from 0."""
    return {
        entity: ReplayCounters(
            *(new - old if new >= old else new for new, old in zip(counters, at_rest[entity], strict=True))
        )
        for entity, counters in now.items()
    }


PROTOCOL = MirrorReplayProtocol
