"""fio as one client that writes to one image while samplers run: with its latency log, and a log of steps.

`PacedWriter` writes one block at a time, or at a rate that all mirroring can keep up with. That rate is found once in
each block for each write size, and holds for sets of the block that are measured later, too. It is a share of the
journaled image's peak in a closed loop, or of the rate at which the mirrored image's copy catches up, whichever is
lower, and is the same for all variants. Writes then arrive as a Poisson process, however slow the answers are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from replay.cluster.site import Site
from replay.design.design import Cell, CellSet
from replay.design.sizing import Write, seconds_of
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, SampleTable
from replay.measure.protocol import Driver, WhileRunning
from replay.protocols.drivers.fio import ENTITY, bytes_by_job, jobs_text, ramp_of, refuse_namespace, run_fio, timeout_of
from replay.protocols.drivers.sized_tool import pilots_before, run_for_peak
from replay.protocols.drivers.tool import StepLog, client_values, longest_gap


def lacking_flat_pool(site: Site) -> dict[str, str]:
    """Return why fio cannot write to mirrored images on a site; empty if it can."""
    if site.pools.data.namespace:
        return {"second_site": "fio's rbd engine, which writes here, does not support RADOS namespaces"}
    return {}


class LoggedWriter(Driver):
    """Runs one fio per cell on its image. `log` and `table` are further evidence; times count from `log.origin`."""

    def lacking(self, site: Site) -> dict[str, str]:
        return lacking_flat_pool(site)

    def check(self) -> None:
        """Refuse a site whose images fio cannot reach: variants that are not mirrored are not skipped there."""
        refuse_namespace(self.bench.site, self.design.name)

    def start(self, cell: Cell) -> None:
        """Begin the log of steps and the table of samples."""
        [self.made] = self.protocol.target.of(cell)
        values = {**client_values(self.bench), "image": self.made.spec, "image_name": self.made.name}
        self.log = StepLog(values, self.bench.slot, programs=self.bench.programs)
        self.table = SampleTable()
        self.written = 0

    def runtime_of(self, cell: Cell) -> float:
        """Return for how many seconds fio writes after its ramp."""
        return self.design.sizing.target_seconds

    def run(
        self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None, component: str = "tool"
    ) -> Measured:
        """Write for `runtime_of(cell)`, and log the step `write` with the origin of fio's times."""
        options: Mapping[str, Any] = self.protocol.job_options(cell)
        runtime, ramp = self.runtime_of(cell), ramp_of(options)
        every = options.get("log_every_seconds")
        # The log of completion latencies has a line for each operation, or the mean of each window.
        of_fio: dict[str, Any] = {"write_lat_log": "{logs}", "per_job_logs": 0, "log_unix_epoch": 1}
        of_fio |= {} if every is None else {"log_avg_msec": round(1000 * every)}
        of_fio |= options.get("fio_options", {})
        text = jobs_text(cell.levels, {**options, "fio_options": of_fio}, 1)
        started = self.log.now()
        measured = run_fio(
            self.bench,
            text,
            [self.made],
            cell.variant.client_options,
            seed=seed,
            runtime_seconds=runtime,
            timeout_seconds=timeout_of(ramp, runtime),
            component=component,
            while_running=while_running,
        )
        _, latencies = measured.results.get("latency", ("", b""))
        self.log.add(
            "write",
            started,
            self.log.now() - started,
            argv=measured.argv,
            exit_status=measured.exit_status,
            unix_seconds_at_origin=round(time.time() - self.log.now(), 6),
            log_lines=latencies.count(b"\n"),
        )
        alone = int(cell.levels.get("io_depth", options.get("io_depth", 16))) == 1 and "log_max_value" in of_fio
        if (gap := gap_in(latencies, every, one_at_a_time=alone)) is not None:
            measured.facts["longest_gap_seconds"] = gap
        self.written = bytes_by_job(measured).get(ENTITY.format(1), 0)
        self.bench.budget.commit(self.protocol.target.write_of(cell, self.written * (1 + ramp / runtime)))
        return measured

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add the steps and the samples to the cell's results, now that both are complete."""
        keep_log(measured, self.log, self.table)


def gap_in(log: bytes, window_seconds: float | None, *, one_at_a_time: bool) -> float | None:
    """Return the longest time between two acknowledged writes, in seconds; None if fio's log does not show it.

    A log of windows shows it as a time without a window, to the length of a window. Where each write waits for the one
    before, the slowest is the longest gap; the log then has the slowest write of each window.
    """
    lines = [line.split(b", ", 2) for line in log.splitlines()]
    if one_at_a_time:
        return max((int(line[1]) / 1e9 for line in lines), default=None)
    if window_seconds is not None and window_seconds > SHORT_WINDOW_SECONDS:
        return None
    return longest_gap(int(line[0]) / 1e3 for line in lines)


def keep_log(measured: Measured, log: StepLog, table: SampleTable) -> None:
    """Write the last line of a cell's log, and add the log and the samples to the cell's results."""
    log.add("end", log.now(), 0.0, steps=len(log.lines))
    measured.results["steps"] = ("steps.jsonl", log.content())
    measured.results["counters"] = ("counters.csv", table.content())


#: A log of longer windows does not show for how long the client stood still.
SHORT_WINDOW_SECONDS = 0.05
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
        if self.offered < LEAST_RANDOM_RATE:
            return {"rate": round(self.offered * io_size_bytes)}
        return {"rate_iops": int(self.offered), "rate_process": "poisson"}


def rate_of(peak: float, replay: float | None, share: float) -> Rate:
    """Return the rate to offer: a share of the peak, or of the rate of replay where that is lower."""
    offered = share * (peak if replay is None else min(peak, replay))
    return Rate(peak, replay, round(offered, 3) if offered < LEAST_RANDOM_RATE else int(offered))


def paced_by(cells: Mapping[str, Cell], wanted: str) -> Cell | None:
    """Return the cell, of a set's by variant, whose peak paces all: the wanted variant's, or the only one's."""
    return next(iter(cells.values())) if len(cells) == 1 else cells.get(wanted)


class PacedWriter(LoggedWriter):
    """Writes as the level `load` says. `closed_loop_seconds` is set while it looks for a rate, else it is None."""

    def begin(self) -> None:
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
        return [replace(write, bytes=write.bytes * seconds / target) for write in super().expected_writes(cell)]

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find the offered rate of each size, and keep the output as evidence.

        Raises ReplayError if a closed loop gives no rate, or if the daemon does not catch up.
        """
        offered = [cell_set for cell_set in sets if cell_set.levels["load"] == OFFERED]
        for number, cell_set in enumerate(offered, start=1):
            size = int(cell_set.levels["io_size_bytes"])
            if size in self.rates:
                continue
            if (rate := self._found_before(raw, size, cell_set.by_variant)) is None:
                self.bench.say(f"rate {number} of {len(offered)}: what mirroring keeps up with at {size} bytes a write")
                rate = self._find(raw, cell_set.by_variant)
            self.rates[size] = rate

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

    def _found_before(self, raw: BlockWriter, size: int, cells: Mapping[str, Cell]) -> Rate | None:
        """Return the rate at a size that this block already found; None if it has none, or only a part of it."""
        found = [
            (cell, note)
            for cell, note in pilots_before(self.design, raw)
            if (cell.levels["load"], cell.levels["io_size_bytes"]) == (OFFERED, size)
        ]
        share, mirrored = float(self.protocol.option("offered_share")), str(self.protocol.option("replay_of"))
        if mirrored not in cells:
            return rate_of(found[0][1]["peak_operations_per_second"], None, share) if found else None
        # A run that was interrupted between the two has only the first.
        return next(
            (
                rate_of(peak["peak_operations_per_second"], replay["level_operations_per_second"], share)
                for (_, peak), (cell, replay) in pairwise(found)
                if cell.variant.name == mirrored
            ),
            None,
        )

    def _find(self, raw: BlockWriter, cells: dict[str, Cell]) -> Rate:
        seconds = float(self.protocol.option("peak_seconds"))
        peak, _ = self._closed_loop(raw, paced_by(cells, str(self.protocol.option("peak_of"))), seconds)
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
            peak, measured, keep = run_for_peak(self.protocol, raw, cell)
        finally:
            self.closed_loop_seconds = None
        waits = self.protocol.restore(cell, measured)
        replaying = [wait.details["expected_after_seconds"] for wait in waits if wait.reason == "journal_replayed"]
        level = peak * seconds / (seconds + sum(replaying))
        keep(level_operations_per_second=level, waits=[wait.public() for wait in waits])
        return peak, level
