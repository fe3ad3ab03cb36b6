"""How far a copy is behind under a steady load: a writer at a fixed rate, and the replica's position all the while."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet, Design
from replay.design.media import Write
from replay.measure.bench import Bench
from replay.measure.procedure import Protocol, is_journaled, parse_and_judge
from replay.owned.images import BlockImage, create_image, remove_images
from replay.procedures.parts.catch_up import REPLAYING, await_state, journal_level, wait_until_level
from replay.procedures.parts.fio_run import ENTITY, written_bytes
from replay.procedures.parts.logged_writer import LoggedWriter
from replay.procedures.parts.mirror_cells import MirrorCells
from replay.procedures.parts.mirror_design import check_modes, lacking_mirror_daemon, positive_option
from replay.procedures.trial.snapshots import Snapshots
from replay.raw.record import Measured, Wait
from replay.samplers.mirror import MirrorSampler
from replay.samplers.replica import ReplicaSampler
from replay.tools import adapter

IMAGE = ENTITY.format(1)
#: Readings of the daemon's counters, and looks at the journal or the copy.
READ_EVERY_SECONDS = 0.25
LOOK_EVERY_SECONDS = 0.5
#: A replica that does not move at all for so long will not get level any more.
STALL_SECONDS = 60.0
COPY_WITHIN_SECONDS = 600.0


class MirrorLag(Protocol):
    """Writes to one mirrored image at `levels["writes_per_second"]` and follows its replica until that is level."""

    program = "fio"
    writes_are_known = True
    overhead_seconds = 5.5

    def __init__(self, bench: Bench, design: Design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.mirror = MirrorCells(bench, design.configuration.get("snapshot_interval_seconds"))
        self.images: list[BlockImage] = []
        check_modes(design)
        positive_option(design, "io_depth")
        if "writes_per_second" not in design.factors:
            where = f"config/experiments/{design.name}.yaml"
            raise ConfigurationError("mirror_lag needs the factor `writes_per_second`", where=where)

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Return what is missing where the replica's position cannot be seen."""
        return lacking_mirror_daemon(site)

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Create nothing: each cell has an image of its own, whose journal begins empty."""

    def close_block(self) -> None:
        """Remove what an interrupted cell left."""
        images, self.images = self.images, []
        remove_images(self.bench, images)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the fill of the cell's image, and its writes at the rate that is asked for."""
        size, rate = int(cell.levels["io_size_bytes"]), float(cell.levels["writes_per_second"])
        written = size * rate * self.design.sizing.target_seconds
        return [Write(cell.variant.image.size_bytes, adds=True), Write(written, journaled=is_journaled(cell))]

    def prepare(self, cell: Cell) -> list[Wait]:
        """Create, fill and mirror an image, and wait until the second cluster has it."""
        self.close_block()
        self.images.append(create_image(self.bench, cell.variant.name, cell.variant.image))
        self.mirror.await_first_copy(self.images[-1])
        await_state(self.mirror.require_daemon(), [self.images[-1].name], REPLAYING)
        return []

    def run(self, cell: Cell, seed: int) -> Measured:
        """Write at the rate; then go on looking until the replica is level."""
        made, mode = self.images[-1], str(cell.levels["mode"])
        writer = LoggedWriter(self.bench, made)
        interval = self.mirror.snapshot_interval_seconds if mode == "snapshot" else None
        snapshots = Snapshots(writer.log, writer.rbd, interval)
        sampler = MirrorSampler(self.mirror.require_daemon(), {IMAGE: made.name}, writer.table, writer.log.now)
        replica = ReplicaSampler(self.bench, made, IMAGE, origin=writer.log.origin, every_seconds=LOOK_EVERY_SECONDS)

        def look(elapsed_seconds: float) -> None:
            sampler.read_when_due(READ_EVERY_SECONDS)
            snapshots.poll(elapsed_seconds)

        with contextlib.ExitStack() as stack:
            stack.callback(replica.close)
            stack.callback(snapshots.close)
            with self.bench.costs.measure("prepare"):
                replica.start()
            sampler.read()
            measured = writer.run(
                cell,
                {**self.design.options, "ramp_seconds": 0},
                seed=seed,
                runtime_seconds=self.design.sizing.target_seconds,
                log_every_seconds=None,
                fio_options={"rate_iops": cell.levels["writes_per_second"]},
                while_running=look,
            )
            snapshots.finish()
            written = written_bytes(measured).get(IMAGE, 0)
            self.bench.account(Write(written, journaled=is_journaled(cell)))
            with self.bench.costs.measure("wait"):
                wait = (
                    self._await_journal(sampler, written)
                    if mode == "journal"
                    else self._await_copy(writer, sampler, replica)
                )
            replica.finish(writer.table)
        measured.waits.append(wait)
        measured.samples["mirror"] = sampler.cost()
        if interval is not None:
            measured.facts |= {"snapshots_taken": snapshots.taken, "snapshot_interval_seconds": interval}
        writer.keep(measured)
        self._judge(cell, measured, wait)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove the image and its copy."""
        self.close_block()
        return []

    def _await_journal(self, sampler: MirrorSampler, written: int) -> Wait:
        return wait_until_level(
            sampler.read,
            journal_level({IMAGE: written}),
            quiet_seconds=1.0,
            stall_seconds=STALL_SECONDS,
            poll_seconds=READ_EVERY_SECONDS,
        )

    def _await_copy(self, writer: LoggedWriter, sampler: MirrorSampler, replica: ReplicaSampler) -> Wait:
        """Take a last snapshot, so that nothing is left to copy, and wait for its copy."""
        started = time.monotonic()
        run = writer.log.command("snapshot", [*writer.rbd, "mirror", "image", "snapshot", "{image}"])
        words = run.stdout.decode(errors="replace").split()
        if run.exit_status != 0 or not words or not words[-1].isdigit():
            raise ReplayError(f"no mirror snapshot was taken: {writer.log.lines[-1]['said'][-200:]}")
        wanted, outcome = int(words[-1]), "replayed"
        while (replica.latest("copied_snapshot_id") or 0) < wanted:
            if time.monotonic() - started > COPY_WITHIN_SECONDS:
                outcome = "stalled"
                break
            sampler.read_when_due(READ_EVERY_SECONDS)
            time.sleep(0.1)
        return Wait("replay_level", time.monotonic() - started, outcome)

    def _judge(self, cell: Cell, measured: Measured, wait: Wait) -> None:
        if measured.invalid is None and wait.outcome == "stalled":
            measured.invalid = ("replay_did_not_advance", "the replica did not get level after the writer had ended")
        if measured.invalid is not None:
            return
        result = parse_and_judge(self.adapter, cell, measured, self.design.sizing.minimum_seconds)
        if result is None:
            return
        if measured.invalid is None and measured.facts.get("snapshots_taken") == 0:
            measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the writer wrote")
        lag, most = result.metrics["lag_median_seconds"], result.metrics["lag_max_seconds"]
        measured.headline = f"{lag:.1f} s behind, {most:.1f} s at the most"


PROTOCOL = MirrorLag
