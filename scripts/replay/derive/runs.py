"""`aggregate/runs.csv`: every run behind the points of an experiment's charts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from replay.base.tables import csv_text, number_text


class Run(NamedTuple):
    """One run of a point, or one pair of a ratio: its value, its block, and the attempt that it comes from."""

    series: str
    x: float
    y: float
    block: int
    attempt: int


RUNS_FILE = "runs.csv"
RUNS_HEADER = ("chart", *Run._fields)


def runs_csv(runs: Mapping[str, Iterable[Run]]) -> str:
    """Return the text of `runs.csv` from the runs of each chart: sorted by chart, each chart's in the order given."""
    rows = (
        [chart, one.series, *(number_text(value) for value in one[1:])] for chart in sorted(runs) for one in runs[chart]
    )
    return csv_text(chain([RUNS_HEADER], rows))
