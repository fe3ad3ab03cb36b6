"""What mirror snapshots cost a writing client, by their interval, and how long it takes to trim them."""

from __future__ import annotations

from collections.abc import Mapping

from replay.design.needs import NUMBER, Needs, Option
from replay.measure.protocol import Protocol
from replay.protocols.drivers.fio_writer import LoggedWriter
from replay.protocols.drivers.tool import FIO_FACTORS, FIO_OPTIONS
from replay.protocols.observers.mirror import MirrorPosition
from replay.protocols.observers.snapshots import INTERVAL, SnapshotsAfterRamp, SnapshotsTaken, check_intervals
from replay.protocols.observers.trims import Trims
from replay.protocols.targets.images import Images


class SnapshotIntervalProtocol(SnapshotsAfterRamp, Protocol):
    """Writes for `target_seconds`, with a mirror snapshot every `levels["snapshot_interval_seconds"]` if it has one."""

    needs = Needs(
        tools=("snapshot-interval",),
        factors=(INTERVAL, *FIO_FACTORS),
        options=(
            *FIO_OPTIONS,
            Option("log_every_seconds", NUMBER, "seconds", "the length of the windows in which latencies are logged"),
        ),
        programs=("fio", "rbd"),
        mirroring="may be",
    )
    target = Images()
    driver = LoggedWriter()
    observers = (MirrorPosition(), SnapshotsTaken(), Trims())
    overhead_seconds = 5.5

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the rate and the tail latency."""
        operations, tail = metrics["operations_per_second"], metrics["latency_p99_seconds"]
        return f"{operations:,.0f} operations/s, 99 % within {1000 * tail:.1f} ms"

    def check(self) -> None:
        """Refuse variants that are mirrored by their journal, and cells that are too short for a snapshot."""
        if journaled := [variant.name for variant in self.design.variants if variant.image.mirroring == "journal"]:
            self.refuse(f"{', '.join(journaled)}: mirroring is 'journal'", next_step="leave it out or use snapshot")
        check_intervals(self)


PROTOCOL = SnapshotIntervalProtocol
