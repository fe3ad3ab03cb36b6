"""Flags runs that lie far from the other runs of their point. Nothing is dropped: a run is invalid only for a cause."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from replay.base.stats import median, modified_z
from replay.derive.part import LINES, RUNS_FILE

#: Iglewicz & Hoaglin 1993; see `stats.modified_z`.
LIMIT = 3.5


class DrawnRun(NamedTuple):
    """One run of a point, or one pair of a ratio: its value, its block, and the attempt from which it comes."""

    series: str
    x: float
    y: float
    block: int
    attempt: int


class Outlier(NamedTuple):
    """A run whose modified z-score exceeds the limit, with its chart, its point's median and its score."""

    chart: str
    run: DrawnRun
    median: float
    score: float

    def sentence(self) -> str:
        """Return the line to print."""
        run = self.run
        return (
            f"{self.chart}: {run.series}, {run.x:g}: {run.y:.4g} in block {run.block}, attempt {run.attempt}; "
            f"the median is {self.median:.4g}, z = {self.score:.1f}"
        )


def outliers(chart: str, runs: Iterable[DrawnRun]) -> list[Outlier]:
    """Return the runs of a chart whose modified z-score within their own point exceeds the limit."""
    points: dict[tuple[str, float], list[DrawnRun]] = defaultdict(list)
    for run in runs:
        points[run.series, run.x].append(run)
    flagged = []
    for several in points.values():
        values = [run.y for run in several]
        flagged += [
            Outlier(chart, run, median(values), score)
            for run, score in zip(several, modified_z(values), strict=True)
            if abs(score) > LIMIT
        ]
    return flagged


class Flagged(NamedTuple):
    """The outliers of a data set's derived charts, and the number of runs that were examined."""

    outliers: list[Outlier]
    runs: int

    def sentence(self) -> str:
        count = f"{len(self.outliers):,} of {self.runs:,} runs in charts"
        return f"{count} lie far from the median of their point (modified z above {LIMIT}); all are kept"


def flagged_in(data_set: Path, experiments: Iterable[str]) -> Flagged:
    """Return the outliers of every derived chart of these experiments. A chart is named `experiment/chart`.

    Charts over time are left out: what is far away there is a stretch of a run, and each of its bins would be listed.
    """
    flagged, count = [], 0
    described = _described(data_set / "manifest.json")
    for experiment in experiments:
        charts = described.get(experiment, {}).get("charts", {})
        for chart, runs in _runs_by_chart(data_set / experiment / "aggregate" / RUNS_FILE):
            if charts.get(chart, {}).get("runs") == LINES:
                continue
            count += len(runs)
            flagged += outliers(f"{experiment}/{chart}", runs)
    return Flagged(flagged, count)


def _described(manifest: Path) -> Mapping[str, Any]:
    """Return what the manifest says of each experiment; nothing if the data set has none yet."""
    return json.loads(manifest.read_bytes())["experiments"] if manifest.exists() else {}


def _runs_by_chart(path: Path) -> Iterator[tuple[str, list[DrawnRun]]]:
    """Yield each chart of a file of runs with its runs; nothing if there is no such file."""
    if not path.exists():
        return
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)
        for chart, several in groupby(rows, lambda row: row[0]):
            yield (
                chart,
                [
                    DrawnRun(series, float(x), float(y), int(block), int(attempt))
                    for _, series, x, y, block, attempt in several
                ],
            )
