"""The parts of a chart: its name, its files, what the manifest says about it; and a design's workloads. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from replay.base import stats as statistics
from replay.base.tables import csv_text, number_text
from replay.derive.designs import Design
from replay.derive.runs import Run, Runs

LONG_HEADER = ("series", "x", "y", "low", "high", "n")


@dataclass(frozen=True)
class Chart:
    """One aggregate: its files by name, and what the manifest says about it.

    - `companions`: the files that accompany `<name>.csv`: `min`, `max`, `n`, or `low`, `high`, `n`.
    - `runs`: the runs behind its points, for `runs.csv`; empty if each point is a run.
    - `runs_are_lines`: whether a run is a line, with a value at each of its points, as in charts over time.
    - `column`: the column of tidy.csv whose values the chart draws, or divides.
    - `estimates`: what a ratio chart draws, by variant and x. Empty for other charts.
    - `summary`: what a chart of trials says about each variant over all blocks. Empty for other charts.
    - `x`: the label and unit of an axis that differs from the design's.
    - `level`: the level of the x factor, if the chart shows only one.
    - `sparse`: the series that the design measures at fewer levels of the axis. A gap in them is not a failure.
    """

    name: str
    metric: str
    title: str
    y_label: str
    kind: str
    unit: str
    better: str | None
    workload: tuple[Any, ...]
    series: tuple[str, ...]
    n: tuple[int, int]
    files: Mapping[str, str]
    companions: Mapping[str, str] = field(default_factory=dict)
    runs: Runs | Sequence[Run] = ()
    runs_are_lines: bool = False
    column: str | None = None
    estimates: Mapping[tuple[str, Any], statistics.Estimate] = field(default_factory=dict)
    summary: Mapping[str, statistics.Point] = field(default_factory=dict)
    x: Mapping[str, str] | None = None
    level: Any = None
    sparse: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workload:
    """What one workload's charts share: its levels, axis and variants, and where the design has cells."""

    levels: tuple[Any, ...]
    xs: tuple[Any, ...]
    variants: tuple[tuple[str, str], ...]
    designed: frozenset[tuple[str, Any]]

    def sparse(self) -> tuple[str, ...]:
        """Return the labels of the variants that the design measures at fewer levels of the axis."""
        return tuple(
            label for variant, label in self.variants if any((variant, x) not in self.designed for x in self.xs)
        )


def workloads_of(design: Design, blocks: Iterable[int]) -> list[Workload]:
    """Return the design's workloads in the order of the factors' levels, including those without measurements."""
    labels = {one["name"]: one["label"] for one in design.variants}
    designed: dict[tuple, set[tuple[str, Any]]] = {}
    for cell in design.cells.values():
        designed.setdefault(design.workload(cell.levels), set()).add((cell.variant, design.x(cell.levels)))
    order = {factor: {level: i for i, level in enumerate(levels)} for factor, levels in design.factors.items()}

    def rank(levels: tuple) -> list:
        pairs = zip(design.workload_factors, levels, strict=True)
        return [order[factor].get(level, len(order[factor])) for factor, level in pairs]

    trials = tuple(sorted(set(blocks)))
    result = []
    for levels in sorted(designed, key=rank):
        here = frozenset(designed[levels])
        variants = tuple((name, label) for name, label in labels.items() if any(name == one for one, _ in here))
        xs = trials if design.x_factor is None else tuple(sorted({x for _, x in here}))
        result.append(Workload(levels, xs, variants, here))
    return result


def chart_name(metric: Mapping[str, Any], levels: Iterable[Any]) -> str:
    """Return the name of a chart's file, without its suffix."""
    return "-".join(str(part) for part in (metric["name"], *levels))


def chart_title(metric: Mapping[str, Any], levels: Iterable[Any]) -> str:
    """Return what a chart shows, in words."""
    words = " ".join(str(level) for level in levels)
    return f"{metric['title']}, {words}" if words else metric["title"]


def chart_file(name: str, part: str) -> str:
    """Return the name of one of a chart's files: the main one if `part` is empty, else that companion."""
    return f"{name}.{part}.csv" if part else f"{name}.csv"


def wide_csv(cells: Mapping[tuple[str, Any], Any], workload: Workload, design: Design) -> str:
    """Return values by (variant, x) as a wide CSV: a row per variant, a column per level of the axis."""
    header = [design.public.get("x_label") or design.x_factor, *(number_text(x) for x in workload.xs)]
    rows = [
        [label, *(number_text(cells.get((variant, x))) for x in workload.xs)] for variant, label in workload.variants
    ]
    return csv_text([header, *rows])


def long_csv(rows: Iterable[tuple]) -> str:
    """Return rows of (series, x, y, low, high, n) as a long CSV."""
    return csv_text([LONG_HEADER, *([series, *(number_text(value) for value in rest)] for series, *rest in rows)])
