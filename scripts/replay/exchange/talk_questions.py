"""Which questions a data set answers: one for each metric of an experiment, with a comparison for each chart. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.base.tables import level_text
from replay.exchange.sides import Experiment, Run

#: As many panels as are legible on one slide.
PANELS = 2
_NOT_PLAIN = re.compile(r"[^a-z0-9]+", re.ASCII)

Levels = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Comparison:
    """A ratio of cells that a chart shows: `over` divided by `under`, each a variant and levels.

    `variant` is the place of the numerator's variant in the manifest. If `across`, both sides are that variant, and the
    ratio compares the ends of the axis. `sentence` says that the ratio is above 1.
    """

    claim: str
    column: str
    over: tuple[str, Levels]
    under: tuple[str, Levels]
    says: str
    sentence: str
    variant: int
    across: bool


@dataclass(frozen=True)
class Chart:
    """A chart of a question: its name, its entry in the manifest, and the comparisons of its series."""

    name: str
    entry: Mapping[str, Any]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Question:
    """A metric of an experiment, and the charts of one slide. `part` counts the slides of the metric from 0."""

    experiment: str
    metric: str
    part: int
    charts: tuple[Chart, ...]
    reference: int | None

    @property
    def slide(self) -> str:
        """The id of its slide."""
        return slug(f"{self.experiment}-{self.metric}" + (f"-part-{self.part + 1}" if self.part else ""))


def slug(text: str) -> str:
    """Return a text as words in lower case with dashes between them."""
    return _NOT_PLAIN.sub("-", text.lower()).strip("-") or "x"


def metrics_in(entry: Mapping[str, Any]) -> list[str]:
    """Return the metrics that an experiment's charts draw, without ratios, in their order."""
    return [*dict.fromkeys(one["metric"] for one in entry["charts"].values() if not _is_ratio(one))]


def usual_metrics(entry: Mapping[str, Any]) -> list[str]:
    """Return the metrics that get a slide unless others are named.

    They are those that are drawn as ratios as well; without any, the first that should be high and the first that
    should be low; else the first.
    """
    ratios = {one["metric"].removeprefix("ratio-") for one in entry["charts"].values() if _is_ratio(one)}
    if found := [one for one in metrics_in(entry) if one in ratios]:
        return found
    first: dict[str | None, str] = {}
    for one in entry["charts"].values():
        first.setdefault(one["y"].get("better"), one["metric"])
    return [first[way] for way in ("higher", "lower") if way in first] or metrics_in(entry)[:1]


def questions_of(
    name: str, entry: Mapping[str, Any], measured: Experiment, metrics: Collection[str], taken: set[str]
) -> list[Question]:
    """Return the questions on these metrics, in the order of the manifest. `taken` are ids of claims; it grows."""
    found = []
    reference = next((at for at, one in enumerate(entry["variants"]) if one["reference"]), None)
    for metric in metrics_in(entry):
        if metric not in metrics:
            continue
        charts = [
            Chart(one, chart, tuple(_comparisons(name, one, chart, entry, measured, taken)))
            for one, chart in entry["charts"].items()
            if chart["metric"] == metric and chart["n"]["max"]
        ]
        found += [
            Question(name, metric, part, tuple(some), reference)
            for part, some in enumerate(charts[at : at + PANELS] for at in range(0, len(charts), PANELS))
        ]
    return found


def _is_ratio(chart: Mapping[str, Any]) -> bool:
    return chart["metric"].startswith("ratio-")


def _comparisons(
    experiment: str,
    name: str,
    chart: Mapping[str, Any],
    entry: Mapping[str, Any],
    measured: Experiment,
    taken: set[str],
) -> Iterable[Comparison]:
    column, factor = chart.get("column"), chart["x"].get("factor")
    if chart["kind"] != "wide" or not column:
        return
    workload = {one: level_text(level) for one, level in chart["workload"].items()}
    runs = [
        run
        for run in measured.runs
        if run.values.get(column, 0) > 0 and all(run.levels[one] == level for one, level in workload.items())
    ]
    if not (factors := entry["factors"]):
        return
    variants, label = entry["variants"], chart["y"]["label"]
    reference = next((one for one in variants if one["reference"]), None)
    words = ", ".join(map(str, chart["workload"].values()))
    where = f" ({words})" if words else ""
    if reference is not None:
        for at, one in enumerate(variants):
            shared = _shared(_points(runs, one["name"], factors), _points(runs, reference["name"], factors), factors)
            if one is reference or one.get("control") or shared is None:
                continue
            yield Comparison(
                _id(f"{experiment}-{name}-{one['name']}", taken),
                column,
                (one["name"], shared),
                (reference["name"], shared),
                f"{label}{where}: {one['label']} divided by {reference['label']}",
                f"{label}{where}: higher with {one['label']} than with {reference['label']}.",
                variant=at,
                across=False,
            )
        return
    numbers = [one for one in factors.get(factor, ()) if isinstance(one, int | float)]
    axis = chart["x"]["label"]
    for at, one in enumerate(variants):
        points = _points(runs, one["name"], factors)
        ends = [_only(points, factors, factor, end) for end in (max(numbers), min(numbers))] if numbers else []
        if len(numbers) > 1 and None not in ends:
            yield Comparison(
                _id(f"{experiment}-{name}-{one['name']}", taken),
                column,
                (one["name"], ends[0]),
                (one["name"], ends[1]),
                f"{label}{where}, {one['label']}: at the largest {axis} divided by at the smallest",
                f"{label}{where}, {one['label']}: higher at the largest {axis} than at the smallest.",
                variant=at,
                across=True,
            )


Point = tuple[Any, ...]


def _points(runs: Sequence[Run], variant: str, factors: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Return the levels of a variant's runs, as the manifest writes levels."""
    typed = {name: {level_text(level): level for level in levels} for name, levels in factors.items()}
    rows = (run for run in runs if run.variant == variant)
    return [*dict.fromkeys(tuple(typed[name][run.levels[name]] for name in factors) for run in rows)]


def _shared(one: Collection[Point], other: Collection[Point], factors: Mapping[str, Sequence[Any]]) -> Levels | None:
    """Return the levels that both variants have: all of them if they are a grid, else those of the first point."""
    common = [point for point in one if point in other]
    if not common:
        return None
    grid = {
        name: tuple(level for level in levels if any(point[at] == level for point in common))
        for at, (name, levels) in enumerate(factors.items())
    }
    if len(common) == len([*itertools.product(*grid.values())]):
        return grid
    return {name: (level,) for name, level in zip(factors, common[0], strict=True)}


def _only(points: Collection[Point], factors: Mapping[str, Sequence[Any]], factor: str, level: Any) -> Levels | None:
    """Return the one point at a level of the axis; None if there are several, or none."""
    at = [*factors].index(factor)
    there = [point for point in points if point[at] == level]
    return {name: (one,) for name, one in zip(factors, there[0], strict=True)} if len(there) == 1 else None


def _id(wanted: str, taken: set[str]) -> str:
    """Return an id for a claim that no other has."""
    base, number = slug(wanted), 1
    made = base
    while made in taken:
        number += 1
        made = f"{base}-{number}"
    taken.add(made)
    return made
