"""A data set for its report: read and verified, its experiments as tables of runs, and how their figures are said.

A figure is said with its unit, in two or three digits, and never more than was measured.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pandas as pd

from replay.base.stats import median
from replay.base.tables import level_text
from replay.derive.facts import lower_bound_of
from replay.derive.part import LINES
from replay.design.link import RTT
from replay.exchange.page import Column
from replay.exchange.sides import Experiment, Side, as_derived, read_side

#: Of what has no value: nobody measured it, or it has no meaning there.
NOTHING = "—"
#: What runs ran out of, where the word of the tables is not what people say.
RAN_OUT = {"none": "nothing", "unknown": "not known"}
#: The columns that hold texts, whatever these look like.
_TEXTS = dict.fromkeys(("experiment", "cell", "point", "variant", "label", "limiter", "host", "series"), str)


@dataclass(frozen=True)
class Runs:
    """Runs of an experiment: rows of tidy.csv that aggregates use, with levels as text."""

    table: pd.DataFrame

    def __len__(self) -> int:
        return len(self.table)

    def stating(self, column: str) -> Self:
        """Return the runs that have a value in a column."""
        table = self.table
        return replace(self, table=table.dropna(subset=column) if column in table else table.iloc[:0])

    def values(self, column: str) -> list[float]:
        """Return the values of a column that exist."""
        return self.table[column].dropna().astype(float).tolist() if column in self.table else []

    def middle(self, column: str) -> float | None:
        """Return the median of a column; None if it has no value, or only `middle_seconds` says what it is at least."""
        known, least = self.values(column), self.values(lower_bound_of(column))
        return median([*known, *least]) if len(known) > len(least) else None

    def middle_seconds(self, column: str) -> str:
        """Return the median of a time; with a sign if it is, or lies beside, a run of which only a bound is known."""
        if (known := self.middle(column)) is not None:
            return seconds(known)
        least = [*self.values(column), *self.values(lower_bound_of(column))]
        return f"≥ {seconds(median(least))}" if least else NOTHING

    def largest(self, column: str) -> float | None:
        """Return the largest value of a column; None if it has none."""
        return max(self.values(column), default=None)

    @property
    def ran_out(self) -> str:
        """What runs ran out of: `nothing`, or `cpu 4, nothing 2` with the most frequent first."""
        counts = Counter(RAN_OUT.get(word, word) for word in self.table["limiter"].fillna("unknown"))
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return ranked[0][0] if len(ranked) == 1 else ", ".join(f"{word} {count}" for word, count in ranked)


@dataclass(frozen=True)
class MeasuredMode(Runs):
    """The runs of one variant at a place."""

    place: MeasuredPlace
    name: str
    label: str

    def ratio(self, column: str) -> str:
        """Return its ratio of a column as its chart has it, with the interval: `3.00 (2.57 to 3.50)`.

        A single pair has no interval.
        """
        levels = self.place.levels
        for chart, table in self.place.experiment.ratios:
            factor, is_here = chart["x"].get("factor"), chart["workload"].items() <= levels.items()
            if chart.get("column") == column and factor in levels and is_here:
                at = (table["series"] == self.label) & (table["x"] == level_text(levels[factor]))
                row = next(table[at & table["ratio"].notna()].itertuples(), None)
                if row is None:
                    return NOTHING
                return f"{row.ratio:#.3g}" + ("" if pd.isna(row.low) else f" ({row.low:#.3g} to {row.high:#.3g})")
        return NOTHING


#: Charts as the manifest describes them, each with its table.
Charts = Sequence[tuple[Mapping[str, Any], pd.DataFrame]]


@dataclass(frozen=True)
class MeasuredExperiment(Runs):
    """All runs of an experiment; the experiment as `replay compare` reads it, its entry in the manifest, its charts.

    `ratios` are the charts of paired ratios, with the columns `series, x, ratio, low, high`; what does not exist is
    NaN. `lines` are the charts over time of imported results, with the columns `series, x, y, low, high, n`.
    """

    name: str
    experiment: Experiment
    entry: Mapping[str, Any]
    ratios: Charts
    lines: Charts

    def at(self, levels: Mapping[str, Any]) -> MeasuredPlace:
        """Return the runs at these levels."""
        table = self.table
        for factor, level in levels.items():
            table = table[table[factor] == level_text(level)]
        return MeasuredPlace(table, self, levels)

    @property
    def reference(self) -> str:
        """The label of the variant with which the others are compared; "" if there is none."""
        return next((str(variant["label"]) for variant in self.entry["variants"] if variant.get("reference")), "")


@dataclass(frozen=True)
class MeasuredPlace(Runs):
    """All runs of an experiment at a combination of its levels."""

    experiment: MeasuredExperiment
    levels: Mapping[str, Any]

    @property
    def modes(self) -> list[MeasuredMode]:
        """The runs of each variant that has some, in the design's order; no control."""
        modes = [
            MeasuredMode(self.table[self.table["variant"] == each["name"]], self, each["name"], str(each["label"]))
            for each in self.experiment.entry["variants"]
            if not each.get("control")
        ]
        return [mode for mode in modes if len(mode)]

    @property
    def distance(self) -> str:
        """How far apart the sites were where that is a level: `; 20 ms between the sites`; else nothing."""
        return f"; {seconds(float(self.levels[RTT]))} between the sites" if RTT in self.levels else ""


@dataclass(frozen=True)
class DataSet:
    """A data set: as `replay compare` reads it, and its experiments that have runs."""

    side: Side
    experiments: tuple[MeasuredExperiment, ...]

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.side.manifest

    def of(self, *protocols: str) -> list[MeasuredExperiment]:
        """Return the experiments of these protocols."""
        return [experiment for experiment in self.experiments if experiment.entry["protocol"] in protocols]

    def places(self, protocol: str) -> Iterator[MeasuredPlace]:
        """Yield each combination of levels that has runs, in the designs' order, of a protocol's experiments."""
        for experiment in self.of(protocol):
            factors = experiment.entry["factors"]
            for combination in itertools.product(*factors.values()):
                place = experiment.at(dict(zip(factors, combination, strict=True)))
                if len(place):
                    yield place

    def to_measure(self, experiment: str) -> str:
        """Return the command that adds an experiment to this data set."""
        site = self.manifest.get("site") or "NAME"
        return f"replay measure --site {site} --data {self.side.name} --experiment {experiment}"


def read_data_set(benchmarks: Path, name: str) -> DataSet:
    """Return a data set.

    Raises EvidenceError if it is missing, not derived, not readable, or if its evidence or a derived file is altered.
    """
    side = read_side(benchmarks, name)
    folder = benchmarks / name
    with as_derived(folder, folder, "cannot be reported"):
        entries = side.manifest["experiments"]
        return DataSet(side, tuple(_measured(folder, entries[name], each) for name, each in side.experiments.items()))


def _measured(folder: Path, entry: Mapping[str, Any], experiment: Experiment) -> MeasuredExperiment:
    tidy = _table(folder / experiment.name / "tidy.csv", {**_TEXTS, **dict.fromkeys(entry["factors"], str)})
    charts = entry["charts"].values()
    ratios = [
        (chart, _ratios(folder, chart)) for chart in charts if chart["y"]["unit"] == "ratio" and chart["kind"] == "wide"
    ]
    lines = [
        (chart, _table(folder / chart["path"]))
        for chart in charts
        if experiment.imported and chart.get("runs") == LINES
    ]
    return MeasuredExperiment(tidy[tidy["used"] == 1], experiment.name, experiment, entry, ratios, lines)


def _ratios(folder: Path, chart: Mapping[str, Any]) -> pd.DataFrame:
    """Return a wide chart of ratios as rows, each with its interval; `x` is text, as in the file."""
    wide = _table(folder / chart["path"], str)  # a series may be called `1`
    long = wide.rename(columns={wide.columns[0]: "series"}).melt("series", var_name="x", value_name="ratio")
    long["ratio"] = pd.to_numeric(long["ratio"])
    spread = _table(folder / chart["companions"]["spread"])[["series", "x", "low", "high"]]
    return long.merge(spread.assign(x=spread["x"].map(level_text)), on=["series", "x"], how="left")


def _table(path: Path, types: Any = _TEXTS) -> pd.DataFrame:
    """Return a CSV as a table. Only an empty field is missing: a variant may be called `None`."""
    return pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""], low_memory=False)


# Words ---------------------------------------------------------------------------------------------------------------

_UNITS_OF_TIME = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))


@dataclass(frozen=True)
class ReportPart:
    """What the report says about one question. What was not measured is empty, and a line of `missing`.

    `headline` is the sentence for the top of the page, `basis` what it rests on, `body` the section as HTML.
    """

    headline: str = ""
    basis: str = ""
    body: str = ""
    missing: tuple[str, ...] = ()


def seconds(value: float | None) -> str:
    """Return a time: `870 µs`, `9.8 ms`, `152 ms`, `4.8 s`, `60.7 s`, `124 s`."""
    if not value:
        return NOTHING if value is None else "0 s"
    unit, factor = next((unit for unit in _UNITS_OF_TIME if value * unit[1] >= 0.9995), _UNITS_OF_TIME[-1])
    scaled = value * factor
    return f"{scaled:.1f} s" if unit == "s" and scaled < 99.95 else f"{_digits(scaled)} {unit}"


def per_second(value: float | None) -> str:
    """Return how many a second, without a unit."""
    return NOTHING if value is None else _digits(value)


def bytes_per_second(value: float | None) -> str:
    """Return a rate: `17 MB/s`. The prefixes are decimal, as the network's."""
    if value is None:
        return NOTHING
    for unit, factor in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if value >= 0.9995 * factor:
            return f"{_digits(value / factor)} {unit}"
    return f"{_digits(value)} B/s"


def size(value: float) -> str:
    """Return a size of a write: `4 KiB`, `4 MiB`, `1,000 bytes`."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor and value % factor == 0:
            return f"{value / factor:,.0f} {unit}"
    return f"{value:,.0f} bytes"


def share(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.0f} %"


def _digits(value: float) -> str:
    """Return a number in two digits, or whole if it has more: `0.29`, `9.8`, `33`, `1,509`. No exponent."""
    if value >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.995 else f"{value:.2g}"


def between(figures: Sequence[float], written: Callable[[float], str]) -> str:
    """Return the ends of values: `248 to 397`; one text if both read the same, NOTHING if there are none."""
    if not figures:
        return NOTHING
    low, high = written(min(figures)), written(max(figures))
    return low if low == high else f"{low} to {high}"


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun: `1 run`, `6 runs`."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def n_of(modes: Iterable[MeasuredMode]) -> str:
    """Return how many runs each mode has: `6 runs each`; a single run has no spread, and that is said."""
    counts = [len(mode) for mode in modes]
    if max(counts) == 1:
        return "one run each, which cannot say how much runs differ"
    return f"{between(counts, str)} runs each"


def told(columns: Iterable[Column]) -> list[Column]:
    """Return the columns that say something: the first one, and those with a value in some row."""
    return [
        column for place, column in enumerate(columns) if not place or any(text != NOTHING for text in column.texts)
    ]
