"""How far a copy lags under a steady load: a writer at a fixed rate, and the replica's position over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.design.design import Cell
from replay.design.needs import Factor, Needs
from replay.design.sizing import Write
from replay.evidence.record import Measured
from replay.measure.protocol import Protocol
from replay.protocols.drivers.fio_writer import LoggedWriter
from replay.protocols.drivers.tool import FIO_FACTORS, IO_DEPTH
from replay.protocols.observers.mirror import MirrorPosition, snapshot_interval
from replay.protocols.observers.replica import MODE_FACTOR, Replica, check_modes
from replay.protocols.observers.snapshots import INTERVAL, SnapshotsTaken
from replay.protocols.targets.mirrored_pair import POLL_AGE_FACTOR, PolledImage
from replay.tools import Result


class MirrorLagProtocol(Protocol):
    """Writes to one mirrored image at `levels["writes_per_second"]`, and follows its replica until it has caught up."""

    needs = Needs(
        tools=("mirror-lag",),
        factors=(
            Factor("writes_per_second", "how many writes the client requests each second", required=True),
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

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the fill of the cell's image, and its writes at the requested rate."""
        size, rate = int(cell.levels["io_size_bytes"]), float(cell.levels["writes_per_second"])
        written = self.target.write_of(cell, size * rate * self.design.sizing.target_seconds)
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
        """Return how far the replica was behind."""
        return f"{metrics['lag_median_seconds']:.1f} s behind, {metrics['lag_max_seconds']:.1f} s at most"

    def check(self) -> None:
        """Refuse variants whose level `mode` is not how their image is mirrored."""
        check_modes(self)


PROTOCOL = MirrorLagProtocol
