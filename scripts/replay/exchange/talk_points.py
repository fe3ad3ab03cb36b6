"""What a new talk tells of, in the words of slides: points, and the ratios between them that it claims. Pure.

A point is a combination of levels without the variant. A ratio is of variants at a point, or of points along an axis.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from replay.base.tables import level_text
from replay.claims import brief
from replay.exchange.sides import Experiment, Metric, Run

#: The source of figures that are counted or computed from the talk's data, and of its claims.
SOURCE = "data"
SIZES = ("io_size_bytes", "object_size_bytes")
#: Factors along which a load grows: what was in flight, and who sent it.
LOADS, CLIENTS = ("io_depth", "jobs", "threads", "io_threads"), ("clients", "instances", "hosts")
MEAN_LATENCY = "latency_mean_seconds"

_NUMBERS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
#: What says whether operations read or write, and how they follow each other.
KIND_FACTORS = ("rw", "io_type", "mode", "io_pattern")
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
class Variant:
    """A variant that has runs; `at` is its place in the manifest."""

    name: str
    label: str
    at: int


@dataclass(frozen=True)
class Told:
    """The experiment that the talk is about. `runs` are by variant and point, then by repetition."""

    data_set: str
    name: str
    entry: Mapping[str, Any]
    experiment: Experiment
    variants: tuple[Variant, ...]
    points: tuple[Point, ...]
    runs: Mapping[tuple[str, str], Mapping[int, Run]]

    @property
    def axis(self) -> str | None:
        """The factor along the x axis of its charts."""
        factors = (one["x"].get("factor") for one in self.entry["charts"].values())
        return next((one for one in factors if one in self.entry["factors"]), None)

    def values(self, variant: str, point: Point, column: str) -> dict[int, float]:
        """Return a column of a point's runs, as far as it is above 0."""
        runs = self.runs.get((variant, point.name), {})
        return {block: run.values[column] for block, run in runs.items() if run.values.get(column, 0) > 0}

    def chart(self, metric: str, point: Point) -> str | None:
        """Return the name of the chart that draws a metric at a point; None if there is none over an axis."""
        return next(
            (name for name, one in self.entry["charts"].items()
             if one["metric"] == metric and one["x"].get("factor") in self.entry["factors"]
             and one["workload"].items() <= point.levels.items()),
            None,
        )  # fmt: skip

    def bound(self, path: str) -> str:
        """Return the markup of a value of the experiment in the manifest."""
        return bound(f"manifest.experiments.{self.name}.{path}")

    def label(self, variant: Variant) -> str:
        """Return the markup of a variant's label."""
        return self.bound(f"variants.{variant.at}.label")

    def level(self, factor: str, level: Any) -> str:
        """Return the markup of a level: a size as people say it, and anything else bound to the manifest."""
        if factor in SIZES and isinstance(level, int):
            return size_text(level)
        return self.bound(f"factors.{factor}.{[*self.entry['factors'][factor]].index(level)}")

    def words_of(self, factor: str, level: Any) -> str:
        """Return the markup of what slides say of a level: 4K, 16 in flight."""
        return words(factor).format(self.level(factor, level))


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
    return re.sub(r"^((?:<span[^>]*>)?)([a-z])", lambda found: found[1] + found[2].upper(), text)


def slug(text: str) -> str:
    """Return a text as words in lower case with dashes between them."""
    return _NOT_PLAIN.sub("-", text.lower()).strip("-") or "x"


def plain_label(text: str) -> str:
    """Return a text without the signs that part the names of a chart."""
    return " ".join(re.sub(r"[|=\"<>&]", " ", text).split())


def size_text(size: int) -> str:
    """Return a size in the largest unit in which it is a whole number: 4K, 1M."""
    text = brief.size_text(str(size))
    return f"{text}B" if text.isdecimal() else text


def kind_of(levels: Mapping[str, Any]) -> tuple[str, str]:
    """Return how the operations of a point follow each other, `random` or `sequential`, and what they are."""
    text = next((str(levels[name]) for name in KIND_FACTORS[:-1] if name in levels), "")
    if text in ("seq", "rand"):
        return {"seq": "sequential", "rand": "random"}[text], "reads"
    plain = text.removeprefix("rand")
    kind = {"read": "reads", "write": "writes", "": "operations", "unstated": "operations"}
    is_random = plain != text or levels.get("io_pattern") == "rand"
    return "random" if is_random else "sequential", kind.get(plain, "reads and writes")


# Points --------------------------------------------------------------------------------------------------------------


def points_of(factors: Mapping[str, Sequence[Any]], runs: Iterable[Run]) -> tuple[Point, ...]:
    """Return the points that have runs: reads, then writes, each in the order of the levels."""
    typed = {name: {level_text(one): one for one in levels} for name, levels in factors.items()}
    present = dict.fromkeys(tuple(run.levels[name] for name in factors) for run in runs)
    found = [{name: typed[name][text] for name, text in zip(factors, texts, strict=True)} for texts in present]
    varied = [name for name in factors if len({one[name] for one in found}) > 1]
    has_both = len({kind_of(one)[0] for one in found}) > 1

    def rank(levels: Mapping[str, Any]) -> tuple[Any, ...]:
        pattern, kind = kind_of(levels)
        return _KINDS.index(kind), pattern, *(factors[name].index(levels[name]) for name in factors)

    return tuple(_point(levels, varied, has_both=has_both) for levels in sorted(found, key=rank))


def _point(levels: Mapping[str, Any], varied: Sequence[str], *, has_both: bool) -> Point:
    pattern, kind = kind_of(levels)
    kind = f"{pattern} {kind}" if has_both else kind
    size = next((levels[name] for name in SIZES if isinstance(levels.get(name), int)), None)
    told = {*KIND_FACTORS, *SIZES, *(() if kind.endswith("reads and writes") else ("rw_mix_read",))}
    more = [words(name).format(levels[name]) for name in varied if name not in told]
    of_size = "" if size is None else size_text(size)
    return Point(
        slug("-".join(level_text(levels[name]) for name in varied)) if varied else "only",
        levels,
        kind,
        plain_label(", ".join([f"{kind} {of_size}".strip(), *more])),
        ", ".join([f"{kind} of {of_size}" if of_size else kind, *map(sourced, more)]),
    )


def words(factor: str) -> str:
    """Return what slides say of a level of a factor, with `{}` for the level."""
    plain = factor.removeprefix("option_").replace("_", " ")
    return FACTOR_WORDS.get(factor, (plain + " {}", ""))[0]


# Ratios --------------------------------------------------------------------------------------------------------------

#: As many points as a walk along an axis needs.
LEAST_LEVELS = 3


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
        """Return the markup of a part of its estimate."""
        return bound(f"{self.claim}.{self.name}.{part}")


def compared(told: Told, metrics: Iterable[Metric], shared: Sequence[tuple[Variant, Point]]) -> Iterator[Ratio]:
    """Yield each metric of each other variant divided by that of the first one, at each point that both can share."""
    first, several = told.variants[0], len(told.variants) > 2
    for metric in metrics:
        for variant, point in shared:
            both = [told.values(one.name, point, metric.column) for one in (variant, first)]
            if both[0].keys() & both[1].keys():
                yield Ratio(
                    slug(metric.name), slug(f"{variant.name}-{point.name}"), metric, point,
                    plain_label(f"{variant.label}, {point.label}") if several else point.label,
                    {"variant": variant.name, **point.levels}, {"variant": first.name, **point.levels},
                )  # fmt: skip


class Cell(NamedTuple):
    """A place on a walk: its markup, its name in an id, and what was measured there."""

    place: str
    tag: str
    variant: Variant
    point: Point


@dataclass(frozen=True)
class Walk:
    """Cells in an order. `unit` is said behind a place.

    `steps` and `to_last` have, for each metric, the ratios of a cell to the next one, and of each to the last.
    """

    name: str
    unit: str
    cells: tuple[Cell, ...]
    steps: Mapping[str, tuple[Ratio, ...]]
    to_last: Mapping[str, tuple[Ratio, ...]]

    @property
    def ratios(self) -> list[Ratio]:
        """All of its ratios, each once."""
        every = [*self.steps.values(), *self.to_last.values()]
        return [*{one.name: one for several in every for one in several}.values()]


def along_axis(told: Told, metrics: Sequence[Metric], points: Iterable[Point]) -> Walk | None:
    """Return the first walk along the axis of the charts; None if it has too few points, or if it is none that is told.

    The walk of a load is named `curve`, the others `sizes` and `clients`.
    """
    names = {"sizes": SIZES, "curve": LOADS, "clients": CLIENTS}
    axis, variant = told.axis, told.variants[0]
    name = next((name for name, factors in names.items() if axis in factors), None)
    rows: dict[tuple[Any, ...], list[Point]] = {}
    for point in points if name else ():
        if all(told.values(variant.name, point, metric.column) for metric in metrics):
            rows.setdefault(tuple(level for at, level in point.levels.items() if at != axis), []).append(point)
    row = next((row for row in rows.values() if len(row) >= LEAST_LEVELS), None)
    if row is None:
        return None
    unit = "" if name == "sizes" else words(axis).format("").rstrip()
    cells = [Cell(told.level(axis, one.levels[axis]), str(one.levels[axis]), variant, one) for one in row]
    return _walk(name, unit, cells, metrics)


def through_layers(told: Told, metrics: Sequence[Metric], layers: Sequence[Variant], point: Point) -> Walk:
    """Return the walk through variants of which each lies on the one before, at one point."""
    return _walk("layers", "", [Cell(told.label(one), one.name, one, point) for one in layers], metrics)


def _walk(name: str, unit: str, cells: Sequence[Cell], metrics: Sequence[Metric]) -> Walk:
    def ratio(metric: Metric, start: Cell, end: Cell) -> Ratio:
        sides = [{"variant": one.variant.name, **one.point.levels} for one in (end, start)]
        way = f"{start.tag} to {end.tag}"
        return Ratio(name, slug(f"{metric.name}-{way}"), metric, end.point, way, *sides)

    return Walk(
        name, unit, tuple(cells),
        {metric.name: tuple(ratio(metric, *pair) for pair in pairwise(cells)) for metric in metrics},
        {metric.name: tuple(ratio(metric, start, cells[-1]) for start in cells[:-1]) for metric in metrics},
    )  # fmt: skip


def claims_document(told: Told, ratios: Iterable[Ratio], *, paired: bool) -> dict[str, Any]:
    """Return config/claims.yaml: a claim for each metric or walk, with a condition for each ratio: it is exactly 1.

    A condition that is refuted, after Holm's correction over its claim, is a difference that is settled. `paired`:
    whether the runs of variants at a point were neighbours in time.
    """
    by_claim: dict[str, list[Ratio]] = {}
    for one in ratios:
        by_claim.setdefault(one.claim, []).append(one)
    return {
        "sources": {SOURCE: "The data of this talk"},
        "claims": [
            {
                "id": claim,
                "sentence": f"{several[0].metric.title}: the same on both sides of each of these ratios.",
                "source": SOURCE,
                "ours": "made from the data set, to say where a difference is settled",
                "experiment": told.name,
                "metric": several[0].metric.column,
                "presupposes_nothing": "it says only what these runs show, whatever limited them",
                "conditions": [
                    {
                        "name": one.name,
                        "says": re.sub(r"[{}]", " ", f"{one.metric.title}, {one.label}"),
                        **({} if one.metric == several[0].metric else {"metric": one.metric.column}),
                        **({} if paired or one.over["variant"] == one.under["variant"] else {"independent": True}),
                        "over": dict(one.over),
                        "under": dict(one.under),
                        "between": [1, 1],
                    }
                    for one in several
                ],
            }
            for claim, several in by_claim.items()
        ],
    }
