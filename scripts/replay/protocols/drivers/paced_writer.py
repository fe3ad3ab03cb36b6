"""One fio process that writes to one image: one write at a time, or at a rate that all mirroring can keep up with.

The rate is found in the same block for each write size. It is a share of the journaled image's peak in a closed loop,
or of the rate at which the mirrored image's copy catches up, whichever is lower, and is the same for all variants.
Writes then arrive as a Poisson process, however slow the answers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from replay.design.design import Cell, CellSet
from replay.design.media import Write
from replay.design.sizing import seconds_of
from replay.evidence.evidence import BlockWriter
from replay.protocols.drivers.logged_writer import LoggedWriter
from replay.protocols.drivers.sized_tool import run_for_peak

ONE_WRITER, OFFERED = "one-writer", "offered"
#: fio's random distances need a whole number of operations a second. At a lower rate than this, rounding would be
#: worse than equal distances.
LEAST_RANDOM_RATE = 10.0
#: About how much is written to the mirrored image to find out how fast its copy catches up.
REPLAYED_BYTES = 128 << 20
LEAST_SECONDS = 2.0


@dataclass(frozen=True)
class Rate:
    """The offered rate at one size and where it comes from, in writes a second. `replay` is None without a mirror."""

    peak: float
    replay: float | None
    offered: float

    def facts(self) -> dict[str, float]:
        """Return what the sidecar of a cell says."""
        replay = {} if self.replay is None else {"replay_operations_per_second": round(self.replay, 3)}
        return {
            "peak_operations_per_second": round(self.peak, 3),
            **replay,
            "offered_operations_per_second": self.offered,
        }

    def fio_options(self, io_size_bytes: int) -> dict[str, Any]:
        """Return fio's options for the rate."""
        if self.offered < LEAST_RANDOM_RATE:
            return {"rate": round(self.offered * io_size_bytes)}
        return {"rate_iops": int(self.offered), "rate_process": "poisson"}


def rate_of(peak: float, replay: float | None, share: float) -> Rate:
    """Return the rate to offer: a share of the peak, or of the rate of replay where that is lower."""
    offered = share * (peak if replay is None else min(peak, replay))
    return Rate(peak, replay, round(offered, 3) if offered < LEAST_RANDOM_RATE else int(offered))


class PacedWriter(LoggedWriter):
    """Writes as the level `load` says. `closed_loop_seconds` is set while it looks for a rate, else it is None."""

    def begin(self) -> None:
        """Start without rates."""
        super().begin()
        self.rates: dict[int, Rate] = {}
        self.closed_loop_seconds: float | None = None

    def runtime_of(self, cell: Cell) -> float:
        """Return how many seconds fio writes after its ramp: those of the cell, or fewer while it looks for a rate."""
        if self.closed_loop_seconds is not None:
            return self.closed_loop_seconds
        return seconds_of(cell.levels, self.design.sizing)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what the client will write at the rate that is assumed before one is known."""
        target, seconds = self.design.sizing.target_seconds, self.runtime_of(cell)
        return [replace(one, bytes=one.bytes * seconds / target) for one in super().expected_writes(cell)]

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find the offered rate of each size, and keep the output as evidence.

        Raises ReplayError if a closed loop gives no rate, or if the daemon does not catch up.
        """
        offered = [one for one in sets if one.levels["load"] == OFFERED]
        for number, one in enumerate(offered, start=1):
            size = int(one.levels["io_size_bytes"])
            if size not in self.rates:
                self.bench.say(f"rate {number} of {len(offered)}: what mirroring keeps up with at {size} bytes a write")
                cells = {cell.variant.name: cell for cell in one.cells}
                self.rates[size] = self._find(raw, cells)

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return fio's options for a cell's load."""
        # The log then has the slowest write of each window; fio's report has only the slowest of the whole cell.
        options, of_fio = dict(self.design.options), {"log_max_value": 1}
        if self.closed_loop_seconds is not None:
            depth = self.protocol.option("peak_io_depth")
            return {**options, "ramp_seconds": 0, "io_depth": depth, "fio_options": of_fio}
        if cell.levels["load"] == ONE_WRITER:
            return {**options, "io_depth": 1, "fio_options": of_fio}
        size, depth = int(cell.levels["io_size_bytes"]), self.protocol.option("rate_io_depth")
        return {**options, "io_depth": depth, "fio_options": {**of_fio, **self.rates[size].fio_options(size)}}

    def _find(self, raw: BlockWriter, cells: dict[str, Cell]) -> Rate:
        seconds = float(self.protocol.option("peak_seconds"))
        peak, _ = self._closed_loop(raw, cells[str(self.protocol.option("peak_of"))], seconds)
        replay, mirrored = None, cells.get(str(self.protocol.option("replay_of")))
        if mirrored is not None:
            # Replay of large writes takes many times as long as the writes.
            enough = REPLAYED_BYTES / (peak * int(mirrored.levels["io_size_bytes"]))
            _, replay = self._closed_loop(raw, mirrored, min(seconds, max(LEAST_SECONDS, enough)))
        return rate_of(peak, replay, float(self.protocol.option("offered_share")))

    def _closed_loop(self, raw: BlockWriter, cell: Cell, seconds: float) -> tuple[float, float]:
        """Return the image's peak, and the rate that remains if the time until its bytes are replayed counts as well.

        Both are in writes a second.
        """
        self.closed_loop_seconds = seconds
        try:
            found = run_for_peak(self.protocol, raw, cell)
        finally:
            self.closed_loop_seconds = None
        waits = self.protocol.restore(cell, found.measured)
        replaying = [one.details["expected_after_seconds"] for one in waits if one.reason == "journal_replayed"]
        level = found.peak * seconds / (seconds + sum(replaying))
        found.keep(level_operations_per_second=level, waits=[wait.public() for wait in waits])
        return found.peak, level
