"""What a new talk tells of, in the words of slides: points, ratios between them, and walks. Pure.

A point is a combination of levels without the variant. A ratio is of variants at a point, or of points on a walk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from replay.base.tables import level_text, short_size_text
from replay.derive.designs import level_name
from replay.exchange.importing.arrange import KIND_FACTORS, SIZES
from replay.exchange.sides import NOT_STATED, Experiment, Metric, TidyRun, what_differs
from replay.tools.base import UNSTATED

#: The source of figures that are counted or computed from the talk's data, and of its claims.
SOURCE = "data"
#: Factors along which a load grows, besides what was in flight: who sent it.
CLIENTS = ("clients", "instances", "hosts")

_NUMBERS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_KINDS = ("reads", "writes", "reads and writes", "operations")
#: What slides say of a level, and what the set-up calls the factor.
FACTOR_WORDS = {
    "io_depth": ("{} in flight", "In flight"), "jobs": ("{} programs", "Programs at once"),
    "threads": ("{} threads", "Threads"), "io_threads": ("{} threads", "Threads"),
    "clients": ("{} clients", "Clients"), "instances": ("{} clients", "Clients"), "hosts": ("{} hosts", "Hosts"),
    "rw_mix_read": ("{} reads of a hundred", "Reads of a hundred"),
    "io_size_bytes": ("{}", "Size"), "object_size_bytes": ("objects of {}", "Size of objects"),
}  # fmt: skip
_NOT_PLAIN = re.compile(r"[^a-z0-9]+", re.ASCII)


@dataclass(frozen=True)
class Point:
    """A combination of levels. `label` names it in a chart and `phrase` in a sentence, as markup."""

    name: str
    levels: Mapping[str, Any]
    kind: str
    label: str
    phrase: str


@dataclass(frozen=True)
class MeasuredVariant:
    """A variant that has runs; `at` is its place in the manifest."""

    name: str
    label: str
    at: int


class Drawn(NamedTuple):
    """A chart, and its row that is meant if its series are no variants."""

    chart: str
    row: str | None


@dataclass(frozen=True)
class Told:
    """The experiment that the talk is about. `runs` are by variant and point, then by repetition."""

    data_set: str
    name: str
    entry: Mapping[str, Any]
    experiment: Experiment
    variants: tuple[MeasuredVariant, ...]
    points: tuple[Point, ...]
    runs: Mapping[tuple[str, str], Mapping[int, TidyRun]]

    @property
    def differing(self) -> dict[str, list[str]]:
        """The options, and facts of the runs, that differ between the variants: the value of each variant."""
        differences = what_differs(*(self.experiment.options.get(variant.name, {}) for variant in self.variants))
        return {name: [NOT_STATED if text is None else text for text in texts] for name, texts in differences}

    @property
    def runs_each(self) -> str:
        """How many runs each load of a variant has: `5`, or `3 to 5`."""
        counts = {len(runs) for runs in self.runs.values()}
        return " to ".join(map(str, sorted({min(counts), max(counts)})))

    def values(self, variant: str, point: Point, column: str) -> dict[int, float]:
        """Return a column of a point's runs, as far as it is above 0."""
        runs = self.runs.get((variant, point.name), {})
        return {block: run.values[column] for block, run in runs.items() if run.values.get(column, 0) > 0}

    def chart(self, metric: str, point: Point) -> str | None:
        """Return the name of the chart that draws a metric at a point; None if there is none over an axis."""
        return next(
            (name for name, described in self.entry["charts"].items()
             if described["metric"] == metric and described["x"].get("factor") in self.entry["factors"]
             and described["workload"].items() <= point.levels.items()),
            None,
        )  # fmt: skip

    def along(self, metric: str, point: Point, axis: str) -> Drawn | None:
        """Return where a metric is drawn along a factor at a point; None if it is not."""
        for name, chart in sorted(self.entry["charts"].items(), key=lambda pair: "rows" in pair[1]):
            rows, is_here = chart.get("rows"), chart["workload"].items() <= point.levels.items()
            if chart["x"].get("factor") != axis or not is_here:
                continue
            if rows is None and chart["metric"] == metric:
                return Drawn(name, None)
            if rows and chart["metric"].startswith(f"{metric}-by-"):
                level = level_name(point.levels[rows], "bytes" if rows in SIZES else None)
                if row := next((each for each in chart["series"] if each.rpartition(" ")[2] == level), None):
                    return Drawn(name, row)
        return None

    def bound(self, path: str) -> str:
        """Return the markup of a value of the experiment in the manifest."""
        return bound(f"manifest.experiments.{self.name}.{path}")

    def label(self, variant: MeasuredVariant) -> str:
        return self.bound(f"variants.{variant.at}.label")

    def level(self, factor: str, level: Any) -> str:
        """Return the markup of a level: a size as people say it, and anything else bound to the manifest."""
        if factor in SIZES and isinstance(level, int):
            return size_text(level)
        return self.bound(f"factors.{factor}.{[*self.entry['factors'][factor]].index(level)}")

    def words_of(self, factor: str, level: Any) -> str:
        """Return the markup of what slides say of a level: 4K, 16 in flight."""
        return said(factor, level, self.level(factor, level))


# Words ---------------------------------------------------------------------------------------------------------------


def bound(value: str) -> str:
    """Return the element that shows a value of the data."""
    return f'<data value="{value}">?</data>'


def sourced(text: str, source: str = "definition") -> str:
    """Return a text whose figures are no value of a chart: what was asked for, or what is computed from the data."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<span data-source="{source}">{safe}</span>'


def counted(number: int) -> str:
    """Return how many there are on a slide, in words up to twelve."""
    return sourced(_NUMBERS[number] if number < len(_NUMBERS) else str(number), "slide")


def first_upper(text: str) -> str:
    """Return a text with a capital letter, inside the markup that it may begin with."""
    return re.sub(r"^((?:<span[^>]*>)?)([a-z])", lambda match: match[1] + match[2].upper(), text)


def slug(text: str) -> str:
    return _NOT_PLAIN.sub("-", text.lower()).strip("-") or "x"


def plain_label(text: str) -> str:
    """Return a text without the signs that part the names of a chart."""
    return " ".join(re.sub(r"[|=\"<>&]", " ", text).split())


def size_text(size: int) -> str:
    """Return a size in the largest unit in which it is a whole number: 4K, 1M."""
    text = short_size_text(str(size))
    return f"{text}B" if text.isdecimal() else text


def kind_of(levels: Mapping[str, Any]) -> tuple[str, str]:
    """Return how the operations of a point follow each other, `random` or `sequential`, and what they are.

    How is "" if nothing states it.
    """
    name = next((name for name in KIND_FACTORS[:-1] if name in levels), "")
    text = str(levels.get(name, ""))
    if text in ("seq", "rand"):
        return {"seq": "sequential", "rand": "random"}[text], "reads"
    plain = text.removeprefix("rand")
    kind = {"read": "reads", "write": "writes", "": "operations", UNSTATED: "operations"}
    is_random = plain != text or levels.get("io_pattern") == "rand"
    # `rados bench` writes objects, and does not print in which order it read them.
    is_told = plain not in ("", UNSTATED) and name != "mode"
    pattern = "random" if is_random else "sequential" if is_told else ""
    return pattern, kind.get(plain, "reads and writes")


# Points --------------------------------------------------------------------------------------------------------------


def axis_of(entry: Mapping[str, Any]) -> str | None:
    """Return the factor along the axis of an experiment's charts; None if it has none."""
    factors = (chart["x"].get("factor") for chart in entry["charts"].values() if "rows" not in chart)
    return next((factor for factor in factors if factor in entry["factors"]), None)


def points_of(factors: Mapping[str, Sequence[Any]], runs: Iterable[TidyRun]) -> tuple[Point, ...]:
    """Return the points that have runs: reads, then writes, each in the order of the levels."""
    typed = {name: {level_text(level): level for level in levels} for name, levels in factors.items()}
    present = dict.fromkeys(tuple(run.levels[name] for name in factors) for run in runs)
    combinations = [{name: typed[name][text] for name, text in zip(factors, texts, strict=True)} for texts in present]
    varied = [name for name in factors if len({point[name] for point in combinations}) > 1]
    has_both = len({kind_of(point)[0] for point in combinations}) > 1

    def rank(levels: Mapping[str, Any]) -> tuple[Any, ...]:
        pattern, kind = kind_of(levels)
        return _KINDS.index(kind), pattern, *(factors[name].index(levels[name]) for name in factors)

    points: dict[str, Point] = {}
    for levels in sorted(combinations, key=rank):
        point = _point(levels, varied, has_both=has_both)
        name = point.name
        while name in points:  # levels that differ in capitals or signs alone
            name += "-2"
        points[name] = replace(point, name=name)
    return tuple(points.values())


def _point(levels: Mapping[str, Any], varied: Sequence[str], *, has_both: bool) -> Point:
    pattern, kind = kind_of(levels)
    kind = f"{pattern} {kind}".strip() if has_both else kind
    size = next((levels[name] for name in SIZES if isinstance(levels.get(name), int)), None)
    told = {*KIND_FACTORS, *SIZES, *(() if kind.endswith("reads and writes") else ("rw_mix_read",))}
    more = [said(name, levels[name], str(levels[name])) for name in varied if name not in told]
    of_size = "" if size is None else size_text(size)
    return Point(
        slug("-".join(level_text(levels[name]) for name in varied)) if varied else "only",
        levels,
        kind,
        plain_label(", ".join([f"{kind} {of_size}".strip(), *more])),
        ", ".join([f"{kind} of {of_size}" if of_size else kind, *map(sourced, more)]),
    )


def said(factor: str, level: Any, text: str) -> str:
    """Return what slides say of a level that is written so: 16 in flight, 1 program."""
    template = words(factor)
    return (template.removesuffix("s") if level == 1 else template).format(text)


def words(factor: str) -> str:
    """Return what slides say of a level of a factor, with `{}` for the level."""
    plain = factor.removeprefix("option_").replace("_", " ")
    return FACTOR_WORDS.get(factor, (plain + " {}", ""))[0]


# Ratios --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ratio:
    """A condition of a claim: `over` divided by `under`, each a variant and levels."""

    claim: str
    name: str
    metric: Metric
    point: Point
    label: str
    over: Mapping[str, Any]
    under: Mapping[str, Any]

    def bound(self, part: str = "estimate") -> str:
        return bound(f"{self.claim}.{self.name}.{part}")


def compared(told: Told, metrics: Iterable[Metric], shared: Sequence[tuple[MeasuredVariant, Point]]) -> Iterator[Ratio]:
    """Yield each metric of each other variant divided by that of the first one, at each point that both can share."""
    first, several = told.variants[0], len(told.variants) > 2
    for metric in metrics:
        for variant, point in shared:
            both = [told.values(side.name, point, metric.column) for side in (variant, first)]
            if both[0].keys() & both[1].keys():
                yield Ratio(
                    slug(metric.name), slug(f"{variant.name}-{point.name}"), metric, point,
                    plain_label(f"{variant.label}, {point.label}") if several else point.label,
                    {"variant": variant.name, **point.levels}, {"variant": first.name, **point.levels},
                )  # fmt: skip


# Walks: cells in an order, from light to heavy, from small to large, or from layer to layer ---------------------------

#: As many points as a walk along a factor needs.
LEAST_LEVELS = 3


class WalkedCell(NamedTuple):
    """A place on a walk: its markup, its name in an id, and what was measured there."""

    place: str
    tag: str
    variant: MeasuredVariant
    point: Point


@dataclass(frozen=True)
class Walk:
    """Cells in an order along the factor `axis`, which layers lack. `unit` is said behind a place.

    `steps` and `to_last` have, for each metric, the ratios of a cell to the next one, and of each to the last.
    """

    name: str
    claim: str
    axis: str
    unit: str
    cells: tuple[WalkedCell, ...]
    steps: Mapping[str, tuple[Ratio, ...]]
    to_last: Mapping[str, tuple[Ratio, ...]]

    @property
    def kind(self) -> str:
        return self.cells[0].point.kind

    @property
    def ratios(self) -> list[Ratio]:
        every = [*self.steps.values(), *self.to_last.values()]
        return [*{each.name: each for several in every for each in several}.values()]


def along(
    told: Told, name: str, factors: Sequence[str], metrics: Sequence[Metric], points: Iterable[Point]
) -> Iterator[Walk]:
    """Yield the walk of each kind of operations along the first of these factors that has enough levels.

    All else is the same along a walk: of sizes, the most that was in flight, otherwise the least. It has only points at
    which all metrics are stated and drawn along that factor.
    """
    variant = told.variants[0]
    axis = next((factor for factor in factors if len(told.entry["factors"].get(factor, ())) >= LEAST_LEVELS), None)
    rows: dict[str, dict[tuple[Any, ...], list[Point]]] = {}
    for point in points if axis else ():
        stated = all(told.values(variant.name, point, metric.column) for metric in metrics)
        if stated and all(told.along(metric.name, point, axis) for metric in metrics):
            others = tuple(level for factor, level in point.levels.items() if factor != axis)
            rows.setdefault(point.kind, {}).setdefault(others, []).append(point)
    is_first = True
    for kind, several in rows.items():
        enough = [row for row in several.values() if len(row) >= LEAST_LEVELS]
        if enough:
            row = enough[-1 if name == "sizes" else 0]
            cells = [
                WalkedCell(told.level(axis, point.levels[axis]), str(point.levels[axis]), variant, point)
                for point in row
            ]
            unit = "" if name == "sizes" else words(axis).format("").rstrip()
            yield _walk(name, name if is_first else f"{name}-{slug(kind)}", axis, unit, cells, metrics)
            is_first = False


def through_layers(told: Told, metrics: Sequence[Metric], layers: Sequence[MeasuredVariant], point: Point) -> Walk:
    """Return the walk through variants of which each lies on the one before, at one point."""
    cells = [WalkedCell(told.label(layer), layer.name, layer, point) for layer in layers]
    return _walk("layers", "layers", "", "", cells, metrics)


def _walk(name: str, claim: str, axis: str, unit: str, cells: Sequence[WalkedCell], metrics: Sequence[Metric]) -> Walk:
    def ratio(metric: Metric, start: WalkedCell, end: WalkedCell) -> Ratio:
        sides = [{"variant": cell.variant.name, **cell.point.levels} for cell in (end, start)]
        way = f"{start.tag} to {end.tag}"
        return Ratio(claim, slug(f"{metric.name}-{way}"), metric, end.point, way, *sides)

    return Walk(
        name, claim, axis, unit, tuple(cells),
        {metric.name: tuple(ratio(metric, *pair) for pair in pairwise(cells)) for metric in metrics},
        {metric.name: tuple(ratio(metric, start, cells[-1]) for start in cells[:-1]) for metric in metrics},
    )  # fmt: skip
