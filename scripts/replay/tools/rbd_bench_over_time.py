"""`rbd bench` over time: its rate at the start and in the second half of the run.

Both are differences of OPS over SEC, like the series. The printed OPS/SEC is an average, since the start in old
releases and over a few seconds in new ones, which would hide a collapse.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import NamedTuple

from replay.tools.base import Result, Run
from replay.tools.rbd_bench import RbdBench

#: A run with fewer spans is too short to tell its start from its second half.
FEWEST_SPANS = 4


class RbdBenchOverTime(RbdBench):
    """`rbd bench` with the further metrics `early_`, `late_operations_per_second` and `late_share_of_early`."""

    name = "rbd_bench_over_time"

    def read(self, run: Run) -> Result:
        """Parse stdout as `RbdBench.read` does. A run with too few rows lacks the further metrics.

        Each value of the series is a mean, and is placed in the middle of its time span.
        """
        result = super().read(run)
        spans = _spans(result)
        return replace(
            result,
            metrics={**result.metrics, **_course(spans)} if result.complete else {},
            series=tuple(
                ((span.start + span.end) / 2, metric, value) for span in spans for metric, value in span.rates
            ),
        )


class _Span(NamedTuple):
    """The time between two rows, in seconds since the start, and the mean rates in it by metric."""

    start: float
    end: float
    rates: tuple[tuple[str, float], ...]

    @property
    def operations_per_second(self) -> float:
        return dict(self.rates)["operations_per_second"]


def _spans(result: Result) -> list[_Span]:
    ends = sorted({end for end, _, _ in result.series})
    return [
        _Span(start, end, tuple((metric, value) for moment, metric, value in result.series if moment == end))
        for start, end in itertools.pairwise([0.0, *ends])
    ]


def _course(spans: list[_Span]) -> dict[str, float]:
    """Return the rate of the first span, that of the spans that begin in the second half, and their ratio."""
    if len(spans) < FEWEST_SPANS or not spans[0].operations_per_second:
        return {}
    late = [span for span in spans if span.start >= spans[-1].end / 2]
    operations = math.fsum((span.end - span.start) * span.operations_per_second for span in late)
    early, mean = spans[0].operations_per_second, operations / math.fsum(span.end - span.start for span in late)
    return {
        "early_operations_per_second": early,
        "late_operations_per_second": mean,
        "late_share_of_early": mean / early,
    }


TOOL = RbdBenchOverTime()
