"""The summary of a run of `rados bench`, checks that its statements agree, and the rates over time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from replay.tools.base import agrees

MIB = 2**20

#: Raises OutputError. Takes what is wrong and the statement at fault, whose place the output's reader knows.
Refuse = Callable[[str, str], NoReturn]
#: Raises OutputError. Takes what is wrong and the index of the row at fault.
RefuseRow = Callable[[str, int], NoReturn]


@dataclass(frozen=True)
class Totals:
    """The summary. `latency`: average, max and min in seconds; `threads` None where the output does not say.

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
        """Raise OutputError if two statements contradict each other or the levels that were asked for."""
        refuse = self.refuse
        if not (self.seconds > 0 and self.operations >= 1 and self.operation_bytes >= 1):
            refuse("no operation was done", "operations")
        if self.operations != int(self.operations) or self.operation_bytes != int(self.operation_bytes):
            refuse("operations and sizes are whole numbers", "operations")
        if not self.object_bytes or self.object_bytes % self.operation_bytes:
            refuse("objects are no whole number of operations", "object size")
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
        self._check_levels(levels)

    def _check_levels(self, levels: Mapping[str, Any]) -> None:
        mode, size, threads = levels.get("mode"), levels.get("object_size_bytes"), levels.get("threads")
        if mode is not None and self.kind != ("write" if mode == "write" else "read"):
            self.refuse(f"the run did {self.kind}s, asked for was {mode}", "operations")
        if size is not None and size != self.object_bytes:
            self.refuse(f"the object size is {self.object_bytes:g}, asked for was {size}", "object size")
        if threads is not None and self.threads is not None and threads != self.threads:
            self.refuse(f"{self.threads:g} threads, asked for were {threads}", "threads")

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

    def series(self, points: list[tuple[float, float]], refuse_row: RefuseRow) -> tuple[tuple[float, str, float], ...]:
        """Return rates between (second, finished) rows; raise OutputError when they contradict the summary."""
        if points and (points[-1][1] > self.operations or points[-1][0] > self.seconds + 1):
            refuse_row("a row is past the summary: output of two runs is mixed", len(points) - 1)
        return rates(points, self.operation_bytes, refuse_row)


def rates(
    points: list[tuple[float, float]], size: float, refuse_row: RefuseRow
) -> tuple[tuple[float, str, float], ...]:
    """Return operations/s and bytes/s from differences of `finished` over `sec` of consecutive rows."""
    series = []
    for index, ((start, before), (end, after)) in enumerate(itertools.pairwise(points), start=1):
        if end <= start or after < before:
            refuse_row("time or operations go backwards: output of two runs is mixed", index)
        rate = (after - before) / (end - start)
        series.append((end, "operations_per_second", rate))
        series.append((end, "bytes_per_second", rate * size))
    return tuple(series)
