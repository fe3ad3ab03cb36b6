"""Flags runs that lie far from the other runs of their point. Nothing is dropped: a run is invalid only for a cause."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from replay.base.stats import median, modified_z
from replay.base.tables import rows_in
from replay.derive.part import LINES, RUNS_FILE

#: Iglewicz & Hoaglin 1993; see `stats.modified_z`.
LIMIT = 3.5


class Flagged(NamedTuple):
    """A line for each run of a data set's charts that lies far from the others, and the number of runs examined."""

    outliers: list[str]
    runs: int

    def sentence(self) -> str:
        count = f"{len(self.outliers):,} of {self.runs:,} runs in charts"
        return f"{count} lie far from the median of their point (modified z above {LIMIT}); all are kept"


def flagged_in(data_set: Path, experiments: Iterable[str]) -> Flagged:
    """Return the outliers of every derived chart of these experiments. A chart is named `experiment/chart`.

    Charts over time are left out: what is far away there is a stretch of a run, and each of its bins would be listed.
    """
    flagged, count, manifest = [], 0, data_set / "manifest.json"
    described = json.loads(manifest.read_bytes())["experiments"] if manifest.exists() else {}
    for experiment in experiments:
        charts = described.get(experiment, {}).get("charts", {})
        points: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
        for run in rows_in(data_set / experiment / "aggregate" / RUNS_FILE):
            if charts.get(run["chart"], {}).get("runs") != LINES:
                points[run["chart"], run["series"], run["x"]].append(run)
        for (chart, series, x), runs in points.items():
            count += len(runs)
            values = [float(run["y"]) for run in runs]
            flagged += [
                f"{experiment}/{chart}: {series}, {float(x):g}: {value:.4g} in block {run['block']}, "
                f"attempt {run['attempt']}; the median is {median(values):.4g}, z = {score:.1f}"
                for run, value, score in zip(runs, values, modified_z(values), strict=True)
                if abs(score) > LIMIT
            ]
    return Flagged(flagged, count)
