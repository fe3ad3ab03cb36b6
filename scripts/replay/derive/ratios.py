"""`ratios.csv`: every paired ratio of an experiment with its interval, in one table for readers and reports. Pure.

Its numbers are those of the ratio charts, with one row per point.
"""

from __future__ import annotations

from collections.abc import Iterable

from replay.base.tables import csv_text, level_text, number_text
from replay.derive.chart import Chart
from replay.derive.designs import Design

HEADER = ("chart", "compared", "x", "ratio", "low", "high", "n")


def ratios_csv(charts: Iterable[Chart], design: Design) -> str:
    """Return the text of `ratios.csv`; just a header if the experiment compares nothing."""
    labels = {one["name"]: one["label"] for one in design.variants}
    rows = (
        [chart.name, labels[variant], level_text(x), *(number_text(value) for value in estimate)]
        for chart in charts
        for (variant, x), estimate in chart.estimates.items()
    )
    return csv_text([HEADER, *rows])
