"""What mirror snapshots cost the client while it writes, by how often they are taken; and what trimming them takes."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.mirroring import copied_snapshots, take_mirror_snapshot, wait_until_copied
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet, Design
from replay.design.media import Write
from replay.measure.bench import Bench
from replay.measure.procedure import Protocol, parse_and_judge
from replay.owned.images import BlockImage, create_image, remove_images
from replay.procedures.parts.fio_run import ENTITY, written_bytes
from replay.procedures.parts.logged_writer import LoggedWriter
from replay.procedures.parts.mirror_cells import MirrorCells
from replay.procedures.parts.mirror_design import lacking_flat_pool, positive_option
from replay.procedures.trial.snapshots import Snapshots
from replay.raw.record import Measured, Wait
from replay.samplers.trims import TrimSampler, wait_until_trimmed
from replay.tools import adapter

LEVEL = "snapshot_interval_seconds"


class SnapshotInterval(Protocol):
    """Writes for `target_seconds`, with a mirror snapshot every `levels["snapshot_interval_seconds"]` if it has one."""

    program = "fio"
    overhead_seconds = 5.5

    def __init__(self, bench: Bench, design: Design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.mirror = MirrorCells(bench, None)
        self.images: dict[str, BlockImage] = {}
        self._check()

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Return what is missing where fio cannot write to the images."""
        return lacking_flat_pool(site)

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Create and fill one image per variant, and wait for the first copies; nothing is left to trim then."""
        for cell in (cell for one in sets for cell in one.cells):
            name = cell.variant.image_name
            if name not in self.images:
                self.bench.say(f"image for {name}: create and fill")
                self.images[name] = create_image(self.bench, name, cell.variant.image)
        for made in self.images.values():
            self.mirror.await_first_copy(made)
        with self.bench.costs.measure("wait"):
            self._await_trimmed()

    def close_block(self) -> None:
        """Remove this block's images."""
        images = list(self.images.values())
        self.images.clear()
        remove_images(self.bench, images)

    def run(self, cell: Cell, seed: int) -> Measured:
        """Write, take snapshots meanwhile, and note what is left to trim."""
        made, interval = self.images[cell.variant.image_name], cell.levels.get(LEVEL)
        ramp = float(self.design.options.get("ramp_seconds", 1))
        writer = LoggedWriter(self.bench, made)
        # The first one half an interval into what is measured, so that a cell of one interval holds one.
        first = None if interval is None else ramp + 0.5 * interval
        snapshots = Snapshots(writer.log, writer.rbd, interval, first)
        trims = TrimSampler(self.bench.session, self._pools(), writer.table, writer.log.now)

        def look(elapsed_seconds: float) -> None:
            snapshots.poll(elapsed_seconds)
            trims.read_when_due()

        with contextlib.ExitStack() as stack:
            stack.callback(snapshots.close)
            measured = writer.run(
                cell,
                self.design.options,
                seed=seed,
                runtime_seconds=self.design.sizing.target_seconds,
                log_every_seconds=positive_option(self.design, "log_every_seconds"),
                fio_options={},
                while_running=look,
            )
            snapshots.finish()
        measured.samples["trims"] = trims.cost()
        writer.keep(measured)
        written = written_bytes(measured).get(ENTITY.format(1), 0)
        self.bench.account(Write(written * (1 + ramp / self.design.sizing.target_seconds)))
        if interval is not None:
            measured.facts |= {"snapshots_taken": snapshots.taken, LEVEL: interval}
        self._judge(cell, measured)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until the copy is level and nothing is left to trim: both are the next cell's otherwise."""
        made = self.images[cell.variant.image_name]
        waits = []
        with self.bench.costs.measure("wait"):
            if made.image.mirroring is not None:
                secondary, spec = self.bench.site.secondary, self.mirror.secondary_spec(made)
                last = take_mirror_snapshot(self.bench.primary_cluster, made.spec)
                waits.append(wait_until_copied(lambda: copied_snapshots(secondary, spec), last))
                if waits[-1].outcome != "copied":
                    raise ReplayError(
                        f"the mirror daemon did not copy the last snapshot within {waits[-1].seconds:.0f} s",
                        where=made.spec,
                        next_step="look at the daemon's log; finished sets are kept",
                    )
                waits.append(self._await_trimmed())
                measured.facts["seconds_until_copied"] = round(waits[0].seconds, 3)
                measured.facts["seconds_until_trimmed"] = round(waits[1].seconds, 3)
        return waits

    def _pools(self) -> list[str]:
        return [pool.name for pool in self.bench.site.pools.all()]

    def _await_trimmed(self) -> Wait:
        sides: list[tuple[Any, Sequence[str]]] = [(self.bench.session, self._pools())]
        if self.bench.secondary is not None:
            sides.append((self.bench.secondary, [self.bench.site.second_site.pool]))
        return wait_until_trimmed(sides)

    def _judge(self, cell: Cell, measured: Measured) -> None:
        if measured.invalid is not None:
            return
        result = parse_and_judge(self.adapter, cell, measured, self.design.sizing.minimum_seconds)
        if result is None:
            return
        rate, tail = result.metrics["operations_per_second"], result.metrics["latency_p99_seconds"]
        measured.headline = f"{rate:,.0f} operations/s, 99 % within {1000 * tail:.1f} ms"

    def _check(self) -> None:
        where = f"config/experiments/{self.design.name}.yaml"
        positive_option(self.design, "log_every_seconds")
        for variant in self.design.variants:
            mirrored, interval = variant.image.mirroring, variant.levels.get(LEVEL)
            if mirrored not in (None, "snapshot") or (mirrored is None) != (interval is None):
                raise ConfigurationError(
                    f"{variant.name}: mirroring is {mirrored!r}, levels.{LEVEL} is {interval!r}",
                    where=where,
                    next_step=f"give `mirroring: snapshot` and `levels: {{ {LEVEL}: … }}` together, or neither",
                )
            if interval is not None and self.design.sizing.target_seconds < interval:
                raise ConfigurationError(
                    f"{variant.name}: a cell of {self.design.sizing.target_seconds:g} s is shorter than its interval",
                    where=where,
                    next_step="raise target_seconds of this scale, or leave the variant out of it",
                )


PROTOCOL = SnapshotInterval
