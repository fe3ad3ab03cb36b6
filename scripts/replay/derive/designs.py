"""What is drawn of an experiment: its designs, the newest first, combined; its workloads; and what one chart draws.

A metric says what is drawn about a cell, and changes nothing in how the cell is measured. So metrics are those that
`config/experiments/` lists today. Everything else in a design stays as it was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from replay.base.errors import EvidenceError
from replay.base.tables import csv_text, level_text, number_text, short_size_text
from replay.derive.part import LONG_HEADER, SPREAD_HEADER

if TYPE_CHECKING:  # importing it takes long, and not every user of this module needs it
    import pandas as pd

#: What a ratio divides: as usual, or for designs that ask how much a variant gains.
REFERENCE_ON_TOP, VARIANT_ON_TOP = "reference/variant", "variant/reference"


@dataclass(frozen=True)
class DesignCell:
    """A cell of the design: its point, its variant's name, its levels."""

    point: str
    variant: str
    levels: Mapping[str, Any]


@dataclass(frozen=True)
class CombinedDesign:
    """The newest design, with the cells that older designs add to it. `public` is the newest one as raw/ holds it."""

    public: Mapping[str, Any]
    cells: Mapping[str, DesignCell]
    variants: tuple[Mapping[str, Any], ...]
    factors: Mapping[str, tuple[Any, ...]]

    @property
    def labels(self) -> Mapping[str, str]:
        """Each variant's label by its name, in the order of the designs."""
        return {variant["name"]: variant["label"] for variant in self.variants}

    @property
    def reference(self) -> str | None:
        """The name of the variant with which the others are compared, or None."""
        return next((variant["name"] for variant in self.variants if variant.get("reference")), None)

    @property
    def ratio_direction(self) -> str:
        """What a ratio divides by what. Unless the design says otherwise, the reference is on top."""
        return self.public.get("ratio_direction") or REFERENCE_ON_TOP

    @property
    def workload_factors(self) -> tuple[str, ...]:
        """The factors that choose the chart."""
        return tuple(self.public["workload_factors"])

    @property
    def x_factor(self) -> str | None:
        """The factor along the chart's axis; None if each trial is a point of its own."""
        return self.public.get("x_factor")

    @property
    def kind(self) -> str:
        """`wide` (a shared axis of sizes), `long` (another measured axis) or `trials` (no axis, one dot per block)."""
        if self.x_factor is None:
            return "trials"
        return "wide" if self.public.get("x_unit") == "bytes" else "long"

    def workload(self, levels: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the levels that name the chart."""
        return tuple(levels[factor] for factor in self.workload_factors)

    def x(self, levels: Mapping[str, Any]) -> Any:
        return None if self.x_factor is None else levels[self.x_factor]

    def check(self, where: str) -> None:
        """Raise EvidenceError if two points would share a place in a chart."""
        places: dict[tuple, str] = {}
        for cell in self.cells.values():
            if places.setdefault((self.workload(cell.levels), self.x(cell.levels)), cell.point) != cell.point:
                raise EvidenceError(
                    f"two points would share a place in a chart: {cell.point!r}; "
                    f"x_factor and workload_factors do not tell them apart",
                    where=where,
                    next_step="add the missing factor to workload_factors and measure with that design",
                )


def combine(
    designs: Mapping[str, Mapping[str, Any]],
    receipts: Sequence[Mapping[str, Any]],
    last_attempt: tuple[str, frozenset[str]] | None,
) -> CombinedDesign:
    """Combine designs: the newest gives labels, axes and metrics; older ones add cells at points that it lacks.

    A design is as new as the last receipt that names it, or as the last attempt (its end, its cell ids) if that
    measured its cells. A cell of an older design is abandoned if a newer one has its point and variant as well.
    """
    newest: dict[str, str] = dict.fromkeys(designs, "")
    for receipt in receipts:
        if receipt.get("design") in newest:
            newest[receipt["design"]] = max(newest[receipt["design"]], str(receipt.get("ended_at") or ""))
    if last_attempt:
        ended_at, cells = last_attempt
        for digest, design in designs.items():
            if cells <= design["cells"].keys():
                newest[digest] = max(newest[digest], ended_at)
    order = sorted(designs, key=lambda digest: (newest[digest], len(designs[digest]["cells"]), digest), reverse=True)
    first = {**designs[order[0]]}
    # And the variants that the cluster refused to create, according to the newest receipt.
    last = max(receipts, key=lambda receipt: str(receipt.get("ended_at") or ""), default={})
    first["skipped"] = [*first.get("skipped", ()), *last.get("skipped", ())]
    cells: dict[str, DesignCell] = {}
    taken: set[tuple[str, str]] = set()
    variants = {variant["name"]: variant for variant in first["variants"]}
    factors = {name: list(levels) for name, levels in first["factors"].items()}
    for digest in order:
        design = designs[digest]
        if not _same_axes(design, first):
            continue
        for cell_id, raw in sorted(design["cells"].items()):
            if (raw["point"], raw["variant"]) not in taken:
                taken.add((raw["point"], raw["variant"]))
                cells[cell_id] = DesignCell(raw["point"], raw["variant"], raw["levels"])
        for variant in design["variants"]:
            # Only the newest design names the reference.
            variants.setdefault(variant["name"], {**variant, "reference": False})
        for name, levels in design["factors"].items():
            factors[name] += [level for level in levels if level not in factors[name]]
    # JSON with sorted keys loses the order of the factors. Charts are named in the order of the workload's factors.
    named = [*first["workload_factors"], *([first["x_factor"]] if first.get("x_factor") else [])]
    names = [*named, *sorted(factors.keys() - set(named))]
    return CombinedDesign(first, cells, tuple(variants.values()), {name: _ordered(factors[name]) for name in names})


def _same_axes(design: Mapping[str, Any], first: Mapping[str, Any]) -> bool:
    keys = ("workload_factors", "x_factor")
    return all(design.get(key) == first.get(key) for key in keys) and set(design["factors"]) == set(first["factors"])


def _ordered(levels: list[Any]) -> tuple[Any, ...]:
    """Return the levels: numbers sorted by size, words in the order of the designs."""
    return tuple(sorted(levels) if all(isinstance(level, int | float) for level in levels) else levels)


# What charts draw -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Workload:
    """What one workload's charts share: its levels, axis and variants, and where the design has cells."""

    levels: tuple[Any, ...]
    xs: tuple[Any, ...]
    variants: tuple[str, ...]
    designed: frozenset[tuple[str, Any]]


def workloads_of(design: CombinedDesign, blocks: Iterable[int]) -> list[Workload]:
    """Return the design's workloads in the order of the factors' levels, including those without measurements."""
    designed: dict[tuple, set[tuple[str, Any]]] = {}
    for cell in design.cells.values():
        designed.setdefault(design.workload(cell.levels), set()).add((cell.variant, design.x(cell.levels)))
    order = {factor: {level: i for i, level in enumerate(levels)} for factor, levels in design.factors.items()}

    def rank(levels: tuple) -> list[int]:
        pairs = zip(design.workload_factors, levels, strict=True)
        return [order[factor].get(level, len(order[factor])) for factor, level in pairs]

    trials = tuple(sorted(set(blocks)))
    workloads = []
    for levels in sorted(designed, key=rank):
        places = frozenset(designed[levels])
        variants = tuple(name for name in design.labels if any(name == variant for variant, _ in places))
        xs = trials if design.x_factor is None else tuple(sorted({x for _, x in places}))
        workloads.append(Workload(levels, xs, variants, places))
    return workloads


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """What one chart draws, and what the manifest says about it.

    - `points`: a row per point, with the columns `series, x, y, n` and those of `low, high, min, max` that exist.
    - `runs`: the runs behind the points (`series, x, y, block, attempt`); empty if each point is a run.
    - `runs_are_lines`: whether a run is a line, with a value at each of its points, as in charts over time.
    - `wide`: for a shared axis, the medians or ratios with a row per series and a column per level; else None.
    - `n`: the smallest and the largest number of runs at a point; over time and of trials, in a series.
    - `is_ratio`: whether the points are paired ratios.
    - `zero_pairs`: how many pairs have no ratio: a value is 0, or known only as a lower bound.
    - `column`: the column of tidy.csv whose values are drawn, or divided.
    - `x`: the label and unit of an axis that differs from the design's.
    - `level`: the level of the x factor, if the chart shows only one.
    - `sparse`: the series that the design measures at fewer levels of the axis. A gap in them is not a failure.
    - `factors`: those that name the chart, if they are others than the design's.
    - `rows`: the factor of which a series is a level, if series are not variants.
    """

    name: str
    title: str
    metric: str
    y_label: str
    unit: str
    better: str | None
    workload: tuple[Any, ...]
    series: tuple[str, ...]
    points: pd.DataFrame
    runs: pd.DataFrame
    n: tuple[int, int]
    runs_are_lines: bool = False
    wide: pd.DataFrame | None = None
    is_ratio: bool = False
    zero_pairs: int = 0
    column: str | None = None
    x: Mapping[str, str] | None = None
    level: Any = None
    sparse: tuple[str, ...] = ()
    factors: tuple[str, ...] | None = None
    rows: str | None = None

    @property
    def spread_file(self) -> str | None:
        """The name of the file beside the aggregate that has its intervals or ends; None if its own file has them."""
        return None if self.wide is None else f"{self.name}.spread.csv"

    def files(self) -> dict[str, str]:
        """Return the text of each file by its name."""
        if self.wide is None:
            return {f"{self.name}.csv": csv_text([LONG_HEADER, *text_rows(self.points, LONG_HEADER)])}
        header = [self.wide.columns.name, *map(number_text, self.wide.columns)]
        rows = zip(self.series, self.wide.to_numpy(), strict=True)
        return {
            f"{self.name}.csv": csv_text([header, *([label, *map(number_text, values)] for label, values in rows)]),
            self.spread_file: csv_text([SPREAD_HEADER, *text_rows(self.points, SPREAD_HEADER)]),
        }


def identity_of(
    metric: Mapping[str, Any], levels: tuple[Any, ...], workload: tuple[Any, ...] | None = None
) -> dict[str, Any]:
    """Return the name of an aggregate at some levels, which is that of its file, and what it shows."""
    words = " ".join(map(str, levels))
    return {
        "name": "-".join(map(str, (metric["name"], *levels))),
        "title": f"{metric['title']}, {words}" if words else metric["title"],
        "metric": metric["name"],
        "y_label": metric["title"],
        "unit": metric["unit"],
        "better": metric.get("better"),
        "workload": levels if workload is None else workload,
    }


def level_name(level: Any, unit: str | None) -> str:
    """Return a level as a series names it. Sizes look the same as on the axes of charts: 4K, 4M."""
    return short_size_text(level_text(level)) if unit == "bytes" else level_text(level)


def ends(counts: pd.Series) -> tuple[int, int]:
    """Return the smallest and the largest count; zeros if there are none."""
    return (0, 0) if counts.empty else (int(counts.min()), int(counts.max()))


def text_rows(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the rows of a table as the text of a CSV: these columns, empty where the table has none."""
    for values in frame.reindex(columns=list(columns)).itertuples(index=False, name=None):
        yield [level_text(value) for value in values]
