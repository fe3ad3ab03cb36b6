"""The ratios between points that a talk claims: of variants at a point, and of points along an axis. Pure.

A claim has a condition for each ratio: that it is exactly 1. A condition that is refuted, after Holm's correction over
its claim, is a difference that is settled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from replay.exchange.sides import Metric
from replay.exchange.talk_points import (
    CLIENTS,
    LOADS,
    SIZES,
    SOURCE,
    Point,
    Told,
    Variant,
    bound,
    plain_label,
    slug,
    words,
)

#: As many points as a walk along an axis needs.
LEAST_LEVELS = 3


@dataclass(frozen=True)
class Ratio:
    """A condition of a claim: `over` divided by `under`, each a variant and levels. `variant` is that of `over`."""

    claim: str
    name: str
    metric: Metric
    point: Point
    label: str
    variant: Variant
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
                    plain_label(f"{variant.label}, {point.label}") if several else point.label, variant,
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
        return Ratio(name, slug(f"{metric.name}-{way}"), metric, end.point, way, end.variant, *sides)

    return Walk(
        name, unit, tuple(cells),
        {metric.name: tuple(ratio(metric, *pair) for pair in pairwise(cells)) for metric in metrics},
        {metric.name: tuple(ratio(metric, start, cells[-1]) for start in cells[:-1]) for metric in metrics},
    )  # fmt: skip


def claims_document(told: Told, ratios: Iterable[Ratio], *, paired: bool) -> dict[str, Any]:
    """Return config/claims.yaml: a claim for each metric or walk, with a condition for each ratio.

    `paired`: whether the runs of variants at a point were neighbours in time.
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
