"""`X.runs.csv`: every run behind the points of chart X."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from replay.base.tables import csv_text, number_text


class Run(NamedTuple):
    """One run of a point, or one pair of a ratio: its value, its block, and the attempt that it comes from."""

    series: str
    x: float
    y: float
    block: int
    attempt: int


RUNS_HEADER = Run._fields


def runs_file(chart: str) -> str:
    """Return the name of the file of a chart's runs."""
    return f"{chart}.runs.csv"


def runs_csv(runs: Iterable[Run]) -> str:
    """Return the text of `X.runs.csv`, a row per run in the order given."""
    return csv_text([RUNS_HEADER, *([one.series, *(number_text(value) for value in one[1:])] for one in runs)])
