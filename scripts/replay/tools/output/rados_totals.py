"""The summary of a run of `rados bench`, and checks that its statements and those of its rows agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from replay.tools.base import agrees
from replay.tools.output.rados_rows import MIB, RefuseRow, Row, Series, check_rows, mean_bounds, rates

#: Rows count the seconds, but on a busy client each may come late.
LATE_ROWS = 1.25
#: Starting the first operations, one after the other, takes a while.
BUSY_SLACK = 0.02
#: Raises OutputError, given what is wrong and the statement at fault, whose place the output's reader knows.
Refuse = Callable[[str, str], NoReturn]


@dataclass(frozen=True)
class Totals:
    """The summary. `latency` has `average`, `max` and `min` in seconds; `threads` is None if the output has none.

    `refuse` knows the statements operations, seconds, operation size, object size, bandwidth, iops, latency, threads.
    """

    kind: str
    seconds: float
    operations: float
    operation_bytes: float
    object_bytes: float
    mib_per_second: float
    iops: float | None
    threads: float | None
    latency: Mapping[str, float]
    refuse: Refuse
    # How far printed figures may be rounded: text has six significant digits, or three decimals in old releases.
    relative_rounding: float = 1e-5
    absolute_rounding: float = 0.0006
    latency_rounding_seconds: float = 0.0

    def check(self, levels: Mapping[str, Any]) -> None:
        """Raise OutputError if statements contradict each other or the requested levels."""
        refuse = self.refuse
        if not (self.seconds > 0 and self.operations >= 1 and self.operation_bytes >= 1):
            refuse("no operation was done", "operations")
        if self.operations != int(self.operations) or self.operation_bytes != int(self.operation_bytes):
            refuse("operations and sizes are whole numbers", "operations")
        if not self.object_bytes or self.object_bytes % self.operation_bytes:
            refuse("an object is not a whole number of operations", "object size")
        rate = self.operations / self.seconds
        printed, computed = self.mib_per_second * MIB, rate * self.operation_bytes
        if not agrees(printed, computed, relative=self.relative_rounding, absolute=self.absolute_rounding * MIB):
            what = f"bandwidth {self.mib_per_second} MiB/s is not total divided by time ({computed / MIB:.6g} MiB/s)"
            refuse(what, "bandwidth")
        if self.iops is not None and not agrees(self.iops, rate, relative=self.relative_rounding, absolute=1.001):
            refuse(f"average IOPS {self.iops} is not total divided by time ({rate:.6g})", "iops")
        slack = 1 + 2 * self.relative_rounding
        low, mean, high = (self.latency[key] for key in ("min", "average", "max"))
        if not (low <= mean * slack and mean <= high * slack and high <= self.seconds * slack + 0.001):
            refuse("latencies are not min ≤ average ≤ max ≤ time", "latency")
        # Little's law: over the whole run, no more operations are in flight than were allowed.
        rounding = rate * self.latency_rounding_seconds + 0.01
        if self.threads is not None and rate * mean > self.threads * slack + rounding:
            refuse(f"{rate * mean:.3g} operations in flight on average, {self.threads:g} were allowed", "latency")
        self._check_busy(self.threads or levels.get("threads"))
        self._check_levels(levels)

    def _check_busy(self, threads: float | None) -> None:
        """Refuse a mean latency that is too short to have kept the threads busy.

        The tool starts the next operation as soon as it notices that one has finished, and prepares one at a time. So
        at any moment all but one of its slots wait for an operation, except at the start and at the end, which last no
        longer than the longest operation. In 1097 recorded runs, the slots waited for 96 % of the time.
        """
        if threads is None:
            return
        waited = self.operations * (self.latency["average"] + self.latency_rounding_seconds)
        least = threads * (self.seconds - self.latency["max"]) - self.seconds
        if waited < least * (1 - BUSY_SLACK):
            self.refuse(
                f"a mean latency of {self.latency['average']:g} s leaves {threads:g} threads idle: {self.operations:g} "
                f"operations took {waited:.4g} s together, and the threads had at least {least:.4g} s",
                "latency",
            )

    def _check_levels(self, levels: Mapping[str, Any]) -> None:
        mode, size, threads = levels.get("mode"), levels.get("object_size_bytes"), levels.get("threads")
        if mode is not None and self.kind != ("write" if mode == "write" else "read"):
            self.refuse(f"the run did {self.kind}s, expected {mode}", "operations")
        if size is not None and size != self.object_bytes:
            self.refuse(f"the object size is {self.object_bytes:g}, expected {size}", "object size")
        if threads is not None and self.threads is not None and threads != self.threads:
            self.refuse(f"{self.threads:g} threads, expected {threads}", "threads")

    def metrics(self) -> dict[str, float]:
        """Return the metrics, rates as total divided by time."""
        return {
            "operations": self.operations,
            "bytes": self.operations * self.operation_bytes,
            "duration_seconds": self.seconds,
            "operations_per_second": self.operations / self.seconds,
            "bytes_per_second": self.operations * self.operation_bytes / self.seconds,
            "latency_mean_seconds": self.latency["average"],
            "latency_max_seconds": self.latency["max"],
            "latency_min_seconds": self.latency["min"],
        }

    def series(self, rows: Sequence[Row], refuse_row: RefuseRow) -> Series:
        """Return rates over time. Raises OutputError if the rows contradict themselves or the summary."""
        last = len(rows) - 1
        if rows and (rows[-1].finished > self.operations or rows[-1].second > self.seconds + 1):
            refuse_row("a row is past the summary: output of two runs is mixed", last)
        # A row is printed about once a second until the last operation has ended.
        if rows and self.seconds > rows[-1].second * LATE_ROWS + 3:
            self.refuse(f"the run lasted {self.seconds:g} s, its last row is of second {rows[-1].second:g}", "seconds")
        series = rates(rows, self.operation_bytes, refuse_row)
        self.check_rows(rows, self.operation_bytes, refuse_row)
        low, high = (self.latency[key] for key in ("min", "max"))
        slack = self.latency_rounding_seconds + 2 * self.relative_rounding * high
        for index, row in enumerate(rows):
            if row.last_latency and not low - slack <= row.last_latency <= high + slack:
                refuse_row(f"an operation took {row.last_latency:g} s, the summary says {low:g} to {high:g} s", index)
        bounds = mean_bounds(rows, self.operations, low, high)
        mean = self.latency["average"]
        if bounds is not None and not bounds[0] - slack <= mean <= bounds[1] + slack:
            self.refuse(
                f"a mean latency of {mean:g} s contradicts the last row, by which it is {bounds[0]:.6g} to "
                f"{bounds[1]:.6g} s",
                "latency",
            )
        return series

    def check_rows(self, rows: Sequence[Row], operation_bytes: float, refuse_row: RefuseRow) -> None:
        """Refuse a row that contradicts itself."""
        # A rate is the difference of two exact rows, so only the printed rate is rounded.
        absolute = self.absolute_rounding if self.latency_rounding_seconds else 0.0
        check_rows(rows, operation_bytes, refuse_row, relative=2 * self.relative_rounding, absolute=absolute)
