"""What mirroring adds to the latency of writes: each of its modes below saturation, and snapshots by their interval.

Below saturation, a cell is one client on one image, and lasts long enough for replay, or for snapshots and their
copies, to happen meanwhile. Every daemon's counters are read right before it, and again once everything that it set in
motion has finished: what is replayed, copied or trimmed after the last write belongs to the writes that caused it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from replay.base.errors import ReplayError
from replay.design.design import Cell, CellSet
from replay.design.needs import NUMBER, TEXT, WHOLE, Factor, Needs, Option
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Protocol, WhileRunning
from replay.protocols.drivers.fio_writer import OFFERED, ONE_WRITER, LoggedWriter, PacedWriter, paced_by
from replay.protocols.drivers.tool import FIO_FACTORS, FIO_OPTIONS, RAMP, RATE_IO_DEPTH
from replay.protocols.observers.daemons import CellCountersAboveIdle, without_counters
from replay.protocols.observers.mirror import FirstCopies, Level, MirrorPosition
from replay.protocols.observers.snapshots import (
    INTERVAL,
    SnapshotsTaken,
    TrimmedAfterwards,
    TrimSampler,
    await_trimmed,
    check_intervals,
    own_pools,
)
from replay.protocols.targets.images import Images
from replay.protocols.targets.mirrored_pair import POLL_AGE_FACTOR, PolledImages

LOG_EVERY = Option("log_every_seconds", NUMBER, "seconds", "the length of the windows in which latencies are logged")


class Trims(FirstCopies):
    """Records the trim queue in the driver's table. After a cell, waits until nothing is left to copy or to trim."""

    def open(self) -> None:
        """Wait for the images' first copies, and until nothing is left to trim."""
        super().open()
        with self.bench.costs.measure("wait"):
            await_trimmed(self.bench)

    def started(self, cell: Cell) -> None:
        writer = self.protocol.driver
        self.trims = TrimSampler(self.bench.session, own_pools(self.bench), writer.table, writer.log.now)

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that reads the queue when it is due."""
        return lambda elapsed_seconds: self.trims.read_when_due()

    def ended(self, cell: Cell, measured: Measured) -> None:
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


class SnapshotsAfterRamp(Protocol):
    """For variants that name their interval, and whose cells begin with an unmeasured ramp."""

    def interval_of(self, cell: Cell) -> float | None:
        """Return how many seconds apart mirror snapshots are taken in a cell; None if none are taken."""
        return cell.levels.get(INTERVAL.name)

    def first_seconds(self, cell: Cell) -> float | None:
        """Return after how many seconds the first is due: half an interval after the ramp; None without snapshots."""
        interval = self.interval_of(cell)
        return None if interval is None else float(self.option("ramp_seconds")) + 0.5 * interval

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the rate, and how long writes took unless there were too few of them to say."""
        if "latency_p50_seconds" not in metrics:
            return super().headline(metrics)
        rate, median = metrics["operations_per_second"], metrics["latency_p50_seconds"]
        worst = metrics["latency_max_seconds"]
        return f"{rate:,.0f} operations/s, half within {1000 * median:.1f} ms, all within {1000 * worst:.0f} ms"


class SnapshotIntervalProtocol(SnapshotsAfterRamp):
    """Writes for `target_seconds`, with a mirror snapshot every `levels["snapshot_interval_seconds"]` if it has one."""

    needs = Needs(
        tools=("snapshot-interval",),
        factors=(INTERVAL, *FIO_FACTORS),
        options=(*FIO_OPTIONS, LOG_EVERY),
        programs=("fio", "rbd"),
        mirroring="may be",
    )
    target = Images()
    driver = LoggedWriter()
    observers = (MirrorPosition(), SnapshotsTaken(), Trims())
    overhead_seconds = 5.5

    def check(self) -> None:
        """Refuse variants that are mirrored by their journal, and cells that are too short for a snapshot."""
        if journaled := [variant.name for variant in self.design.variants if variant.image.mirroring == "journal"]:
            self.refuse(f"{', '.join(journaled)}: mirroring is 'journal'", next_step="leave it out or use snapshot")
        check_intervals(self)


class WriteLatencyProtocol(SnapshotsAfterRamp):
    """Writes as `levels["load"]` says, and counts what the writes cost until all that they caused has finished."""

    needs = Needs(
        tools=("write-latency",),
        factors=(
            Factor(
                "load",
                "how writes arrive: one after another, or at random moments at a rate that mirroring keeps up with",
                words=(ONE_WRITER, OFFERED),
                required=True,
            ),
            INTERVAL,
            POLL_AGE_FACTOR,
            Factor(
                "cell_seconds",
                "how long a variant's cells last, where the scale's target is too short for them",
                kind=NUMBER,
            ),
            *FIO_FACTORS,
        ),
        options=(
            RAMP,
            LOG_EVERY,
            Option("idle_seconds", NUMBER, "seconds", "how long the daemons are watched at rest, once a block"),
            Option("offered_share", NUMBER, "", "the offered rate as a share of what is kept up with", default=0.6),
            Option("peak_of", TEXT, "", "the variant whose peak is found, or else the only one", default="journal"),
            Option("replay_of", TEXT, "", "the variant whose replay rate is found as well", default="journal-mirrored"),
            Option("peak_seconds", NUMBER, "seconds", "how long a closed loop may run to find a rate", default=8),
            Option("peak_io_depth", WHOLE, "operations", "operations in flight of that closed loop", default=16),
            RATE_IO_DEPTH,
        ),
        programs=("fio", "rbd"),
        mirroring="may be",
        osd_counters="may",
    )
    target = PolledImages()
    driver = PacedWriter()
    observers = (MirrorPosition(), SnapshotsTaken(), Level(has_ramp=True), TrimmedAfterwards(), CellCountersAboveIdle())
    overhead_seconds = 12.0

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create the images and find the rates. If no OSD returns its counters, their costs stay unknown."""
        if (why := without_counters(self)) is not None:
            self.bench.say(f"{why}, so {self.design.name} does not tell what a write costs them")
        super().open_block(raw, sets)

    def run(self, cell: Cell, seed: int) -> Measured:
        """Write as the cell's load says; record the client's CPU time, and where the offered rate comes from."""
        measured = super().run(cell, seed)
        measured.facts["ramp_seconds"] = float(self.option("ramp_seconds"))
        if measured.tool_cpu_seconds is not None:
            measured.facts["client_cpu_seconds"] = round(measured.tool_cpu_seconds, 4)
        if cell.levels["load"] == OFFERED:
            measured.facts |= self.driver.rates[int(cell.levels["io_size_bytes"])].facts()
        return measured

    def job_options(self, cell: Cell) -> dict[str, Any]:
        return self.driver.job_options(cell)

    def check(self) -> None:
        """Refuse cells that are too short for a snapshot, and an offered rate of a variant that is missing."""
        check_intervals(self)
        if not any(cell_set.levels["load"] == OFFERED for cell_set in self.design.sets):
            return
        wanted = str(self.option("peak_of"))
        if lacking := [
            cell_set.point
            for cell_set in self.design.sets
            if cell_set.levels["load"] == OFFERED and paced_by(cell_set.by_variant, wanted) is None
        ]:
            self.refuse(
                f"options.peak_of: {wanted!r} is not measured at {', '.join(lacking)}",
                next_step="name a variant that every set with an offered rate has",
            )


PROTOCOL = WriteLatencyProtocol
