"""Aggregates: what charts draw of an experiment's used runs, by pandas, and the files that hold it. Pure.

A metric is a number per run, drawn here as medians over blocks and, if the design asks for them, as paired ratios; or
values over time or by entity (`series.py`). Every aggregate has its points, and the runs behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from replay.base import stats as statistics
from replay.base.paths import csv_text, level_text, number_text
from replay.derive.designs import ADDED, VARIANT_ON_TOP, CombinedDesign
from replay.derive.part import LONG_HEADER, RUNS_HEADER, SPREAD_HEADER

RATIOS_HEADER = ("chart", "compared", "x", "ratio", "low", "high", "n")
#: What tells the points of all aggregates of numbers apart. `workload` and `variant` are places in the design's order.
_PLACE = ["metric", "workload", "variant", "x"]


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """What one chart draws, and what the manifest says about it.

    - `points`: a row per point, with the columns `series, x, y, n` and those of `low, high, min, max` that exist.
    - `runs`: the runs behind the points (`series, x, y, block, attempt`); empty if each point is a run.
    - `runs_are_lines`: whether a run is a line, with a value at each of its points, as in charts over time.
    - `wide`: for a shared axis, the medians or ratios with a row per series and a column per level; else None.
    - `n`: the smallest and the largest number of runs at a point; over time and of trials, in a series.
    - `is_ratio`: whether the points are paired ratios.
    - `column`: the column of tidy.csv whose values are drawn, or divided.
    - `x`: the label and unit of an axis that differs from the design's.
    - `level`: the level of the x factor, if the chart shows only one.
    - `sparse`: the series that the design measures at fewer levels of the axis. A gap in them is not a failure.
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
    column: str | None = None
    x: Mapping[str, str] | None = None
    level: Any = None
    sparse: tuple[str, ...] = ()

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


def ratios_csv(drawn: Iterable[Aggregate]) -> str:
    """Return the text of `ratios.csv`, every paired ratio in one table; just a header if nothing is compared."""
    rows = (
        [aggregate.name, *fields]
        for aggregate in drawn
        if aggregate.is_ratio
        for fields in text_rows(aggregate.points, LONG_HEADER)
    )
    return csv_text([RATIOS_HEADER, *rows])


def runs_csv(drawn: Iterable[Aggregate]) -> str:
    """Return the text of `runs.csv`, the runs behind all charts, sorted by chart; "" if there are none."""
    rows = [
        [aggregate.name, *fields]
        for aggregate in sorted(drawn, key=lambda aggregate: aggregate.name)
        for fields in text_rows(aggregate.runs, RUNS_HEADER[1:])
    ]
    return csv_text([RUNS_HEADER, *rows]) if rows else ""


# A number per run ----------------------------------------------------------------------------------------------------


def of_numbers(tidy: pd.DataFrame, design: CombinedDesign) -> Iterator[Aggregate]:
    """Yield each workload's medians of each metric, and the ratios if the design asks for them.

    `tidy` is the table of `tables.tidy_frame`. A metric that was added after the design was recorded is drawn only if
    some run has a value for it.
    """
    used = tidy[tidy["used"]]
    workloads = workloads_of(design, used["block"])
    metrics = [metric for metric in design.public["metrics"] if not metric.get("series") and not metric.get("entity")]
    runs = _runs(used, {metric["metric"] for metric in metrics}, workloads, design)
    points = points_of(runs)
    runs = runs.dropna(subset="y")
    pairs = _pairs(runs, design)
    ratios = _ratios(pairs)
    runs, points, pairs, ratios = map(_by_metric_and_workload, (runs, points, pairs, ratios))
    for number, workload in enumerate(workloads):
        for metric in metrics:
            key = (metric["metric"], number)
            if metric.get(ADDED) and points(key).empty:
                continue
            yield _medians(metric, workload, points(key), runs(key), design)
            if metric.get("ratio") and design.kind != "trials" and _is_compared(workload, design):
                yield _paired(metric, workload, ratios(key), pairs(key), design)


def _by_metric_and_workload(rows: pd.DataFrame) -> Any:
    """Return a function from (metric, workload) to its rows, which may be none."""
    groups = dict(iter(rows.groupby(_PLACE[:2])))
    return lambda key: groups.get(key, rows.iloc[:0])


def _runs(used: pd.DataFrame, columns: set[str], workloads: list[Workload], design: CombinedDesign) -> pd.DataFrame:
    """Return each value of each used run: its place, block, attempt and `y`, sorted by place and block.

    Where only a lower bound of the value is known, `y` is missing and `least` has the bound.
    """
    numbers = {workload.levels: number for number, workload in enumerate(workloads)}
    variants = {name: number for number, name in enumerate(design.labels)}
    levels = used[[*design.factors]].to_dict("records")
    places = pd.DataFrame(
        {
            "workload": [numbers[design.workload(each)] for each in levels],
            "variant": [variants[name] for name in used["variant"]],
            "x": used["block"] if design.x_factor is None else [design.x(each) for each in levels],
            "block": used["block"],
            "attempt": used["attempt"],
        },
        index=used.index,
    )
    names = [column for column in used if column in columns]
    values = used[names].astype(float)
    least = used.reindex(columns=[name.removesuffix("_seconds") + "_at_least_seconds" for name in names]).astype(float)
    runs = pd.concat([places, values], axis=1).melt(id_vars=list(places), var_name="metric", value_name="y")
    runs = runs.assign(least=least.to_numpy().ravel(order="F")).astype({"y": float})
    return runs.dropna(subset=["y", "least"], how="all").sort_values([*_PLACE, "block"])


def points_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the median of each place with its smallest and largest run.

    A run of which only a lower bound is known lies above all others: tools give one for what is beyond their last bin.
    If the median is such a run, or lies between one and another, the place has no value, but a lower bound: `low` and
    `min`, without an upper one.
    """
    known = runs.assign(y=runs["y"].fillna(runs["least"]), bounded=runs["y"].isna())
    points = known.groupby(_PLACE).agg(
        y=("y", "median"), min=("y", "min"), max=("y", "max"), n=("y", "count"), bounded=("bounded", "sum")
    )
    bounded = points.pop("bounded")
    if bounded.any():
        points.loc[bounded > 0, "max"] = float("nan")
        at_least = points["y"].where(2 * bounded >= points["n"])
        points = points.assign(low=at_least, min=at_least.fillna(points["min"]), y=points["y"].mask(at_least.notna()))
    return points.reset_index()


def _pairs(runs: pd.DataFrame, design: CombinedDesign) -> pd.DataFrame:
    """Return each pair of a variant and the reference in one set: `over`, `under`, and `y`, the one by the other.

    A rate of 0 is a failed run, and has no ratio.
    """
    reference = runs["variant"] == [*design.labels, None].index(design.reference)
    sides = ["metric", "workload", "x", "block"]
    pairs = runs[~reference].merge(runs[reference][[*sides, "y"]], on=sides, suffixes=("", "_of_reference"))
    pairs = pairs[(pairs["y"] > 0) & (pairs["y_of_reference"] > 0)]
    turned = design.ratio_direction == VARIANT_ON_TOP
    over, under = ("y", "y_of_reference") if turned else ("y_of_reference", "y")
    pairs = pairs.assign(over=pairs[over], under=pairs[under])
    return pairs.assign(y=pairs["over"] / pairs["under"])


def _ratios(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the paired ratio of each place with its interval, and the number of pairs."""
    rows = [
        (*place, *statistics.paired_log_ratio(rows["over"].tolist(), rows["under"].tolist()))
        for place, rows in pairs.groupby(_PLACE)
    ]
    return pd.DataFrame(rows, columns=[*_PLACE, "y", "low", "high", "n"])


def _is_compared(workload: Workload, design: CombinedDesign) -> bool:
    return design.reference in workload.variants and len(workload.variants) > 1


def _medians(
    metric: Mapping[str, Any], workload: Workload, points: pd.DataFrame, runs: pd.DataFrame, design: CombinedDesign
) -> Aggregate:
    trials = design.kind == "trials"
    n = points["n"]
    if trials:
        counts = points["variant"].value_counts()
        n = counts.reindex([[*design.labels].index(name) for name in workload.variants], fill_value=0)
        points = points.drop(columns=["min", "max", "low"], errors="ignore")
    elif design.kind == "long":
        points = points.drop(columns="low", errors="ignore").rename(columns={"min": "low", "max": "high"})
    return Aggregate(
        **identity_of(metric, workload.levels),
        unit=metric["unit"],
        better=metric.get("better"),
        column=metric["metric"],
        n=ends(n),
        # Each point of a chart of trials is a run already.
        **_drawn(workload, workload.variants, points, runs.iloc[:0] if trials else runs, design),
    )


def _paired(
    metric: Mapping[str, Any], workload: Workload, ratios: pd.DataFrame, pairs: pd.DataFrame, design: CombinedDesign
) -> Aggregate:
    identity = identity_of(metric, workload.levels)
    compared = tuple(name for name in workload.variants if name != design.reference)
    return Aggregate(
        name=f"ratio-{identity['name']}",
        title=f"{identity['title']}: ratio",
        metric=f"ratio-{identity['metric']}",
        y_label=f"{identity['y_label']}: ratio",
        workload=workload.levels,
        unit="ratio",
        better=None,
        is_ratio=True,
        column=metric["metric"],
        n=ends(ratios["n"]),
        **_drawn(workload, compared, ratios, pairs, design),
    )


def _drawn(
    workload: Workload, variants: tuple[str, ...], points: pd.DataFrame, runs: pd.DataFrame, design: CombinedDesign
) -> dict[str, Any]:
    """Return what an aggregate draws of some variants: its series, points, runs and, for a shared axis, the wide table.

    `variant` in `points` and `runs` is the place in the design's order.
    """
    labels = dict(enumerate(design.labels.values()))
    series = tuple(design.labels[name] for name in variants)
    drawn = {
        "series": series,
        "points": points.assign(series=points["variant"].map(labels)),
        "runs": runs.assign(series=runs["variant"].map(labels)),
    }
    if design.kind != "wide":
        return drawn
    places = [number for number, name in enumerate(design.labels) if name in variants]
    wide = points.pivot(index="variant", columns="x", values="y").reindex(index=places, columns=list(workload.xs))
    wide.columns.name = design.public.get("x_label") or design.x_factor
    sparse = (name for name in variants if any((name, x) not in workload.designed for x in workload.xs))
    return {**drawn, "wide": wide, "sparse": tuple(design.labels[name] for name in sparse)}


def identity_of(
    metric: Mapping[str, Any], levels: tuple[Any, ...], workload: tuple[Any, ...] | None = None
) -> dict[str, Any]:
    """Return the name of an aggregate at some levels, which is that of its file, and what it shows in words."""
    words = " ".join(map(str, levels))
    return {
        "name": "-".join(map(str, (metric["name"], *levels))),
        "title": f"{metric['title']}, {words}" if words else metric["title"],
        "metric": metric["name"],
        "y_label": metric["title"],
        "workload": levels if workload is None else workload,
    }


def ends(counts: pd.Series) -> tuple[int, int]:
    """Return the smallest and the largest count; zeros if there are none."""
    return (0, 0) if counts.empty else (int(counts.min()), int(counts.max()))


def text_rows(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the rows of a table as the text of a CSV: these columns, empty where the table has none."""
    for values in frame.reindex(columns=list(columns)).itertuples(index=False, name=None):
        yield [level_text(value) for value in values]
