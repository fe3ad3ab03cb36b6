"""What deriving leaves: its files' names and headers, `experiment.json`, and runs that lie far from the others.

`experiment.json` is the result of deriving an experiment, from which the manifest is made. Git ignores it. It also
holds the digests of the tables. Whatever reads the tables of a whole data set first compares them with these: a table
that somebody edited must not be described as one that was derived.

Nothing here imports pandas.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.paths import write_if_changed
from replay.base.stats import median, modified_z
from replay.evidence.data_set import experiments_in
from replay.evidence.durable import sha256

PART = "experiment.json"
RATIOS = "ratios.csv"
REGISTERED_FILE = "registered.csv"
RUNS_FILE = "runs.csv"
#: The columns of tidy.csv that name a cell.
KEYS = ("experiment", "block", "cell", "attempt", "point", "variant", "label")
#: The header of an aggregate with a measured axis.
LONG_HEADER = ("series", "x", "y", "low", "high", "n")
#: The header of the spread beside an aggregate with a shared axis: of medians the ends, of ratios the interval.
SPREAD_HEADER = ("series", "x", "low", "high", "min", "max", "n")
RUNS_HEADER = ("chart", "series", "x", "y", "block", "attempt")
#: What the manifest says of a chart's runs if each is a line.
LINES = "lines"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Derived:
    """The result of deriving an experiment.

    `entry` is its part of the manifest, and `provenance` what the manifest also collects over all experiments. `notes`
    are for the person who derives. `outputs` has the SHA-256 of each table, by its path in the experiment; `program` is
    the digest of the code that derives and judges. `written` lists the files that changed.
    """

    name: str
    entry: Mapping[str, Any]
    provenance: Mapping[str, Any]
    cells: int
    notes: tuple[str, ...]
    outputs: Mapping[str, str]
    program: str
    written: tuple[Path, ...] = ()

    def lines(self) -> list[str]:
        """Return the notes and the result, as a person reads them."""
        void = [f"{self.name}: void, its output cannot stand: {note}" for note in self.notes]
        return [*void, f"{self.name}: {self.cells} cells, {len(self.written)} files changed"]


def write_part(directory: Path, derived: Derived) -> None:
    """Write `experiment.json` if it changes; which files were written is not part of it."""
    part = {key: value for key, value in asdict(derived).items() if key not in ("name", "written")}
    text = json.dumps({"schema_version": SCHEMA_VERSION, **part}, ensure_ascii=False, allow_nan=False)
    write_if_changed(directory / PART, f"{text}\n")


def read_part(directory: Path) -> Derived | None:
    """Return the last result, or None if there is no `experiment.json` of this version."""
    try:
        part = json.loads((directory / PART).read_bytes())
    except FileNotFoundError:
        return None
    if part.pop("schema_version") != SCHEMA_VERSION:
        return None
    return Derived(directory.name, **part | {"notes": tuple(part["notes"])})


def refuse_altered_tables(data_set: Path) -> None:
    """Raise EvidenceError that names the first table that is not what deriving wrote. Call it under `exclusive`."""
    for name in experiments_in(data_set):
        part = read_part(data_set / name)
        for file, digest in part.outputs.items() if part else ():
            path = data_set / name / file
            if not path.exists() or sha256(path.read_bytes()) != digest:
                raise EvidenceError(
                    f"this table is {'altered' if path.exists() else 'missing'}: it is not as it was derived",
                    where=path,
                    next_step=f"derive it again: {replay_command('derive', '--data', data_set.name, '--force')}",
                )


# Runs that lie far from the other runs of their point. None is dropped: a run is invalid only for a cause -------------

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
        """Return a summary to print."""
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
