"""The CSVs that charts read: medians with their spread, paired ratios with their intervals, the runs behind both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from replay.base import stats as statistics
from replay.base.tables import csv_text, number_text
from replay.derive.cells import AttemptRecord, CellRow
from replay.derive.configured import ADDED
from replay.derive.designs import VARIANT_ON_TOP, Design
from replay.derive.runs import Run, runs_csv, runs_file

LONG_HEADER = ("series", "x", "y", "low", "high", "n")


@dataclass(frozen=True)
class Chart:
    """One aggregate: its files by name, and what the manifest says of it.

    `companions` names the files that go with `<name>.csv`: `min`, `max`, `n`, or `low`, `high`, `n`. `runs` tells
    whether `<name>.runs.csv` is among the files. `column` is the column of tidy.csv whose values it draws, or divides.
    `x` is the label and unit of an axis that is not the design's, and `level` the one level of the x factor that the
    chart is of. Of a ratio chart `estimates` holds what it draws, by variant and x; of trials `summary` holds each
    variant's, all blocks. `sparse` are the series that are measured at fewer levels of the axis by design, so that a
    gap in them is no failure.
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
    runs: bool = False
    column: str | None = None
    estimates: Mapping[tuple[str, Any], statistics.Estimate] = field(default_factory=dict)
    summary: Mapping[str, statistics.Point] = field(default_factory=dict)
    x: Mapping[str, str] | None = None
    level: Any = None
    sparse: tuple[str, ...] = ()

    def with_runs(self, runs: Sequence[Run]) -> Chart:
        """Return the chart with the file of its runs; without one where there is no run."""
        if not runs:
            return self
        return replace(self, files={**self.files, runs_file(self.name): runs_csv(runs)}, runs=True)


@dataclass(frozen=True)
class Workload:
    """What one workload's charts share: its levels, its axis, its variants and where cells are designed."""

    levels: tuple[Any, ...]
    xs: tuple[Any, ...]
    variants: tuple[tuple[str, str], ...]
    designed: frozenset[tuple[str, Any]]

    def sparse(self) -> tuple[str, ...]:
        """Return the labels of the variants that are measured at fewer levels of the axis by design."""
        return tuple(
            label for variant, label in self.variants if any((variant, x) not in self.designed for x in self.xs)
        )


@dataclass(frozen=True)
class _Values:
    """A metric's values, by (workload, variant, x) and block; and the attempt of a set, by (workload, x, block)."""

    by_place: Mapping[tuple[Any, ...], Mapping[int, float]]
    attempts: Mapping[tuple[Any, ...], int]

    def at(self, workload: Workload, variant: str, x: Any) -> Mapping[int, float]:
        return self.by_place.get((workload.levels, variant, x), {})

    def attempt(self, workload: Workload, x: Any, block: int) -> int:
        return self.attempts[workload.levels, x, block]


def used_frame(used: list[tuple[AttemptRecord, CellRow]], design: Design) -> pd.DataFrame:
    """Return a row per used cell: workload, x, variant, block, attempt, the design's metrics (NaN where not said)."""
    metrics = [metric["metric"] for metric in _scalars(design)]
    rows = []
    for record, row in used:
        cell = design.cells[row.cell_id]
        block, values = record.block, row.metrics
        x = block if design.x_factor is None else design.x(cell.levels)
        place = (design.workload(cell.levels), x, cell.variant, block, record.number)
        rows.append((*place, *(values.get(metric, math.nan) for metric in metrics)))
    return pd.DataFrame(rows, columns=["workload", "x", "variant", "block", "attempt", *dict.fromkeys(metrics)])


def charts(frame: pd.DataFrame, design: Design) -> list[Chart]:
    """Return every chart of an experiment: per workload and metric the medians, and the ratio where asked for.

    A metric that the recorded design does not list has none where no run says anything of it.
    """
    metrics = _scalars(design)
    names = list(dict.fromkeys(metric["metric"] for metric in metrics))
    keys = ["workload", "variant", "x"]
    drawable = bool(names) and len(frame) > 0
    points = frame.groupby(keys, sort=False)[names].agg(["median", "min", "max", "count"]) if drawable else None
    statistics_by_place = {} if points is None else dict(zip(points.index, points.to_numpy(), strict=True))
    values = _values(frame, names)
    result = []
    for workload in workloads_of(design, frame["block"].tolist()):
        for metric in metrics:
            column = 4 * names.index(metric["metric"])
            cells = {
                (variant, x): statistics_by_place[workload.levels, variant, x][column : column + 4]
                for variant, _ in workload.variants
                for x in workload.xs
                if (workload.levels, variant, x) in statistics_by_place
            }
            if metric.get(ADDED) and not any(point[3] for point in cells.values()):
                continue
            result.append(_median_chart(metric, workload, cells, values[metric["metric"]], design))
            if metric.get("ratio") and design.reference is not None and design.kind != "trials":
                chart = _ratio_chart(metric, workload, values[metric["metric"]], design)
                result += [chart] if chart else []
    return result


def _scalars(design: Design) -> list[Mapping[str, Any]]:
    """Return the metrics that are one number a cell; those over time and by entity are drawn elsewhere."""
    return [metric for metric in design.public["metrics"] if not metric.get("series") and not metric.get("entity")]


def workloads_of(design: Design, blocks: Iterable[int]) -> list[Workload]:
    """Return the workloads in the order of the factors' levels, from the design: also what is not measured yet."""
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


def _values(frame: pd.DataFrame, names: list[str]) -> dict[str, _Values]:
    """Return each metric's values; a missing value is left out."""
    places = list(zip(frame["workload"], frame["variant"], frame["x"], strict=True))
    blocks = frame["block"].tolist()
    attempts = {
        (workload, x, block): number
        for (workload, _, x), block, number in zip(places, blocks, frame["attempt"].tolist(), strict=True)
    }
    result = {}
    for name in names:
        by_place: dict[tuple, dict[int, float]] = {}
        for place, block, value in zip(places, blocks, frame[name].tolist(), strict=True):
            if not math.isnan(value):
                by_place.setdefault(place, {})[block] = value
        result[name] = _Values(by_place, attempts)
    return result


def chart_name(metric: Mapping[str, Any], levels: Iterable[Any]) -> str:
    """Return the name of a chart's file without its ending."""
    return "-".join(str(part) for part in (metric["name"], *levels))


def chart_title(metric: Mapping[str, Any], levels: Iterable[Any]) -> str:
    """Return what a chart shows, in words."""
    words = " ".join(str(level) for level in levels)
    return f"{metric['title']}, {words}" if words else metric["title"]


def _median_chart(
    metric: Mapping[str, Any], workload: Workload, cells: Mapping, values: _Values, design: Design
) -> Chart:
    name = chart_name(metric, workload.levels)
    counts = [int(point[3]) for point in cells.values() if point[3]]
    known = {place: point for place, point in cells.items() if point[3]}
    trials = design.kind == "trials"
    if design.kind == "wide":
        tables = {"": 0, "min": 1, "max": 2, "n": 3}
        files = {
            _file(name, part): _wide({place: point[i] for place, point in known.items()}, workload, design)
            for part, i in tables.items()
        }
        companions = {part: _file(name, part) for part in tables if part}
    else:
        rows = [
            (label, x, point[0], None if trials else point[1], None if trials else point[2], int(point[3]))
            for variant, label in workload.variants
            for x in workload.xs
            if (point := known.get((variant, x))) is not None
        ]
        files, companions = {_file(name, ""): long_csv(rows)}, {}
    summary = {}
    if trials:
        trials_of = {
            name: [point[0] for (one, _), point in known.items() if one == name] for name, _ in workload.variants
        }
        counts = [len(values) for values in trials_of.values()]
        summary = {name: statistics.summarise(values) for name, values in trials_of.items() if values}
    chart = Chart(
        name=name,
        metric=metric["name"],
        title=chart_title(metric, workload.levels),
        y_label=metric["title"],
        kind="wide" if design.kind == "wide" else "long",
        unit=metric["unit"],
        better=metric.get("better"),
        workload=workload.levels,
        series=tuple(label for _, label in workload.variants),
        n=(min(counts), max(counts)) if counts else (0, 0),
        files=files,
        companions=companions,
        column=metric["metric"],
        summary=summary,
        sparse=workload.sparse() if design.kind == "wide" else (),
    )
    # Of trials each point is a run already.
    return chart if trials else chart.with_runs(_runs_of_medians(workload, values))


def _runs_of_medians(workload: Workload, values: _Values) -> list[Run]:
    return [
        Run(label, x, value, block, values.attempt(workload, x, block))
        for variant, label in workload.variants
        for x in workload.xs
        for block, value in sorted(values.at(workload, variant, x).items())
    ]


def _ratio_chart(metric: Mapping[str, Any], workload: Workload, values: _Values, design: Design) -> Chart | None:
    compared = [(name, label) for name, label in workload.variants if name != design.reference]
    if not compared or design.reference not in dict(workload.variants):
        return None
    turned = design.ratio_direction == VARIANT_ON_TOP
    estimates, runs = {}, []
    for name, label in compared:
        for x in workload.xs:
            reference = values.at(workload, design.reference, x)
            variant = values.at(workload, name, x)
            blocks = sorted(
                block for block in reference.keys() & variant.keys() if reference[block] > 0 < variant[block]
            )
            if blocks:
                pairs = [[side[block] for block in blocks] for side in (reference, variant)]
                if turned:
                    pairs.reverse()
                estimates[name, x] = statistics.paired_log_ratio(*pairs)
                runs += [
                    Run(label, x, over / under, block, values.attempt(workload, x, block))
                    for block, over, under in zip(blocks, *pairs, strict=True)
                ]
    name = f"ratio-{chart_name(metric, workload.levels)}"
    shown = Workload(workload.levels, workload.xs, tuple(compared), workload.designed)
    if design.kind == "wide":
        tables = {"": 0, "low": 1, "high": 2, "n": 3}
        files = {
            _file(name, part): _wide({place: one[i] for place, one in estimates.items()}, shown, design)
            for part, i in tables.items()
        }
        companions = {part: _file(name, part) for part in tables if part}
    else:
        rows = [
            (label, x, *estimates[variant, x])
            for variant, label in compared
            for x in workload.xs
            if (variant, x) in estimates
        ]
        files, companions = {_file(name, ""): long_csv(rows)}, {}
    counts = [one.n for one in estimates.values()]
    return Chart(
        name=name,
        metric=f"ratio-{metric['name']}",
        title=f"{chart_title(metric, workload.levels)}: ratio",
        y_label=f"{metric['title']}: ratio",
        kind="wide" if design.kind == "wide" else "long",
        unit="ratio",
        better=None,
        workload=workload.levels,
        series=tuple(label for _, label in compared),
        n=(min(counts), max(counts)) if counts else (0, 0),
        files=files,
        companions=companions,
        column=metric["metric"],
        estimates=estimates,
        sparse=shown.sparse() if design.kind == "wide" else (),
    ).with_runs(runs)


def _file(name: str, part: str) -> str:
    return f"{name}.{part}.csv" if part else f"{name}.csv"


def _wide(cells: Mapping[tuple[str, Any], Any], workload: Workload, design: Design) -> str:
    header = [design.public.get("x_label") or design.x_factor, *(number_text(x) for x in workload.xs)]
    rows = [
        [label, *(number_text(cells.get((variant, x))) for x in workload.xs)] for variant, label in workload.variants
    ]
    return csv_text([header, *rows])


def long_csv(rows: Iterable[tuple]) -> str:
    """Return rows of (series, x, y, low, high, n) as a long CSV."""
    return csv_text([LONG_HEADER, *([series, *(number_text(value) for value in rest)] for series, *rest in rows)])
