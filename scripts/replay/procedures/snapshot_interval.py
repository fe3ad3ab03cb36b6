"""What mirror snapshots cost a writing client, by their interval; and what it takes to trim them."""

from __future__ import annotations

from collections.abc import Mapping

from replay.design.design import Cell
from replay.design.needs import NUMBER, Factor, Needs, Option
from replay.measure.procedure import Procedure
from replay.procedures.drivers.logged_writer import LoggedWriter
from replay.procedures.drivers.options import FIO_FACTORS, FIO_OPTIONS
from replay.procedures.targets.images import Images
from replay.procedures.watches.mirror_position import MirrorPosition
from replay.procedures.watches.snapshots import SnapshotsTaken
from replay.procedures.watches.trims import Trims

LEVEL = "snapshot_interval_seconds"


class SnapshotInterval(Procedure):
    """Writes for `target_seconds`, with a mirror snapshot every `levels["snapshot_interval_seconds"]` if it has one."""

    needs = Needs(
        tools=("snapshot-interval",),
        factors=(Factor(LEVEL, "seconds between two mirror snapshots; without it, none are taken"), *FIO_FACTORS),
        options=(
            *FIO_OPTIONS,
            Option("log_every_seconds", NUMBER, "seconds", "the length of the windows in which latencies are logged"),
        ),
        programs=("fio", "rbd"),
        mirroring="may be",
    )
    target = Images()
    driver = LoggedWriter()
    watches = (MirrorPosition(), SnapshotsTaken(), Trims())
    overhead_seconds = 5.5

    def interval_of(self, cell: Cell) -> float | None:
        """Return how often mirror snapshots are taken in a cell."""
        return cell.levels.get(LEVEL)

    def first_seconds(self, cell: Cell) -> float | None:
        """Return when the first is due: half an interval after the ramp, so a cell of one interval has one."""
        interval = self.interval_of(cell)
        return None if interval is None else float(self.option("ramp_seconds")) + 0.5 * interval

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the rate and the tail latency."""
        operations, tail = metrics["operations_per_second"], metrics["latency_p99_seconds"]
        return f"{operations:,.0f} operations/s, 99 % within {1000 * tail:.1f} ms"

    def check(self) -> None:
        """Refuse variants that take snapshots but are not mirrored by them, and cells that are too short for one."""
        for variant in self.design.variants:
            mirrored, interval = variant.image.mirroring, variant.levels.get(LEVEL)
            if mirrored not in (None, "snapshot") or (mirrored is None) != (interval is None):
                self.refuse(
                    f"{variant.name}: mirroring is {mirrored!r}, levels.{LEVEL} is {interval!r}",
                    next_step=f"give `mirroring: snapshot` and `levels: {{ {LEVEL}: … }}` together, or neither",
                )
            if interval is not None and self.design.sizing.target_seconds < interval:
                self.refuse(
                    f"{variant.name}: a cell of {self.design.sizing.target_seconds:g} s is shorter than its interval",
                    next_step="raise target_seconds of this scale, or leave the variant out of it",
                )


PROTOCOL = SnapshotInterval
