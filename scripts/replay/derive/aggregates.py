"""Aggregates of an experiment's used runs, by pandas. Pure.

A metric is a number per run, drawn as medians over blocks and, if the design asks for them, as paired ratios; or values
over time, with a line per variant; or values by entity, such as one dot per OSD; or values along one factor of a sweep,
with a line for each level of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from replay.base import stats as statistics
from replay.derive.cells import AttemptRecord, CellRow, middle_seconds
from replay.derive.designs import (
    VARIANT_ON_TOP,
    Aggregate,
    CombinedDesign,
    Workload,
    ends,
    identity_of,
    level_name,
    workloads_of,
)
from replay.derive.facts import lower_bound_of

#: What tells the points of all aggregates of numbers apart. `workload` and `variant` are places in the design's order.
_PLACE = ["metric", "workload", "variant", "x"]
#: Used cells with their attempts; of one place, there is one per block.
Cells = list[tuple[AttemptRecord, CellRow]]

# A number per run ----------------------------------------------------------------------------------------------------


def of_numbers(tidy: pd.DataFrame, design: CombinedDesign) -> Iterator[Aggregate]:
    """Yield each workload's medians of each metric, and the ratios if the design asks for them.

    `tidy` is the table of `experiment.tidy_frame`. What no run states is left out.
    """
    used = tidy[tidy["used"]]
    workloads = workloads_of(design, used["block"])
    metrics = [each for each in design.public["metrics"] if not any(map(each.get, ("series", "entity", "rows")))]
    runs = _runs(used, {metric["metric"] for metric in metrics}, workloads, design)
    points = points_of(runs)
    pairs = _pairs(runs, design)
    runs = runs.dropna(subset="y")
    ratios = _ratios(pairs.dropna(subset="y"))
    runs, points, pairs, ratios = map(_by_metric_and_workload, (runs, points, pairs, ratios))
    for number, workload in enumerate(workloads):
        is_compared = design.kind != "trials" and design.reference in workload.variants and len(workload.variants) > 1
        for metric in metrics:
            key = (metric["metric"], number)
            if points(key).empty:
                continue
            yield _medians(metric, workload, points(key), runs(key), design)
            if is_compared and metric.get("ratio"):
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
    least = used.reindex(columns=[*map(lower_bound_of, names)]).astype(float)
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

    A rate of 0 is a failed run, and has no ratio, nor has a lower bound: `y` is missing.
    """
    reference = runs["variant"] == [*design.labels, None].index(design.reference)
    sides = ["metric", "workload", "x", "block"]
    pairs = runs[~reference].merge(runs[reference][[*sides, "y"]], on=sides, suffixes=("", "_of_reference"))
    has_ratio = (pairs["y"] > 0) & (pairs["y_of_reference"] > 0)
    turned = design.ratio_direction == VARIANT_ON_TOP
    over, under = ("y", "y_of_reference") if turned else ("y_of_reference", "y")
    pairs = pairs.assign(over=pairs[over], under=pairs[under])
    return pairs.assign(y=(pairs["over"] / pairs["under"]).where(has_ratio))


def _ratios(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the paired ratio of each place with its interval, and the number of pairs."""
    rows = [
        (*place, *statistics.paired_log_ratio(rows["over"].tolist(), rows["under"].tolist()))
        for place, rows in pairs.groupby(_PLACE)
    ]
    return pd.DataFrame(rows, columns=[*_PLACE, "y", "low", "high", "n"])


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
    known = pairs.dropna(subset="y")
    turned = {name: f"ratio-{identity[name]}" for name in ("name", "metric")}
    turned |= {name: f"{identity[name]}: ratio" for name in ("title", "y_label")}
    return Aggregate(
        **{**identity, **turned, "unit": "ratio", "better": None},
        is_ratio=True,
        column=metric["metric"],
        n=ends(ratios["n"]),
        zero_pairs=len(pairs) - len(known),
        **_drawn(workload, compared, ratios, known, design),
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


# Values over time ----------------------------------------------------------------------------------------------------


def over_time(used: Cells, design: CombinedDesign) -> Iterator[Aggregate]:
    """Yield an aggregate for each metric over time, each workload and, with an x factor, each of its levels.

    One without samples is left out.
    """
    metrics = [metric for metric in design.public["metrics"] if metric.get("series")]
    cells = _by_place(used, design)
    for workload in workloads_of(design, ()) if metrics else ():
        for level in workload.xs if design.x_factor is not None else (None,):
            for metric in metrics:
                lines = {
                    design.labels[name]: line
                    for name in workload.variants
                    if not (line := _line(cells.get((workload.levels, level, name), []), metric)).empty
                }
                if lines:
                    yield _of_lines(lines, metric, workload, level)


def _line(cells: Cells, metric: Mapping[str, Any]) -> pd.DataFrame:
    """Return what a line is drawn from: a row per bin, by its middle in seconds, and a column per run.

    A line is drawn only where all of its runs have values: from the latest of their first samples to the earliest of
    their last. Past the end of the shortest run, the median would cover only the remaining runs, and would jump
    although nothing happened, usually towards the slow ones. A bin in between is drawn from the runs that have a sample
    in it.
    """
    name, width = metric["metric"], float(metric["bin_seconds"])
    runs = {(record.block, record.number): bins for record, row in cells if (bins := row.series.get((name, width)))}
    if not runs:
        return pd.DataFrame()
    line = pd.DataFrame(dict(sorted(runs.items()))).sort_index()
    line.columns.names = ["block", "attempt"]
    line = line.loc[max(map(min, runs.values())) : min(map(max, runs.values()))]
    return line.set_index(line.index.map(lambda number: middle_seconds(number, width)).rename("x"))


def _of_lines(
    lines: Mapping[str, pd.DataFrame], metric: Mapping[str, Any], workload: Workload, level: Any
) -> Aggregate:
    values = {label: line.melt(value_name="y", ignore_index=False).dropna() for label, line in lines.items()}
    return Aggregate(
        **identity_of(metric, (*workload.levels, *(() if level is None else (level,))), workload.levels),
        **_by_series({label: rows.reset_index() for label, rows in values.items()}),
        runs_are_lines=True,
        n=ends(pd.Series([line.columns.size for line in lines.values()])),
        x={"label": metric.get("x_label", "Time"), "unit": "seconds"},
        level=level,
    )


def _by_series(values: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return what an aggregate draws of each series' values: their median and ends at each `x`, and the runs."""
    groups = {label: rows.groupby("x")["y"] for label, rows in values.items()}
    spreads = {label: ys.agg(y="median", low="min", high="max", n="count") for label, ys in groups.items()}
    return {
        "series": tuple(values),
        "points": pd.concat(spread.reset_index().assign(series=label) for label, spread in spreads.items()),
        "runs": pd.concat(rows.assign(series=label) for label, rows in values.items()),
    }


def _by_place(used: Cells, design: CombinedDesign) -> dict[tuple[Any, ...], Cells]:
    """Return the used cells by (workload, level of the x factor or None, variant)."""
    cells: dict[tuple[Any, ...], Cells] = {}
    for record, row in used:
        cell = design.cells[row.cell_id]
        cells.setdefault((design.workload(cell.levels), design.x(cell.levels), cell.variant), []).append((record, row))
    return cells


# Values by entity ----------------------------------------------------------------------------------------------------


def by_entity(used: Cells, design: CombinedDesign) -> Iterator[Aggregate]:
    """Yield an aggregate for each workload and each metric with `entity`, which is `osd`; `x` is the OSD's number.

    A series is a level of the x factor, taken from the cells of the reference variant (or of the first variant if there
    is no reference). Without an x factor, a series is a variant.
    """
    metrics = [metric for metric in design.public["metrics"] if metric.get("entity")]
    cells, axis = _by_place(used, design), design.public.get("x_label") or design.x_factor
    unit = design.public.get("x_unit")
    for workload in workloads_of(design, ()) if metrics else ():
        teller = design.reference if design.reference in workload.variants else workload.variants[0]
        series = (
            {design.labels[name]: (None, name) for name in workload.variants}
            if design.x_factor is None
            else {f"{axis} {level_name(x, unit)}": (x, teller) for x in workload.xs}
        )
        for metric in metrics:
            runs = {label: _of_entities(cells.get((workload.levels, *at), []), metric) for label, at in series.items()}
            if runs := {label: values for label, values in runs.items() if not values.empty}:
                drawn = _by_series(runs)
                yield Aggregate(
                    **identity_of(metric, workload.levels),
                    **drawn,
                    n=ends(drawn["points"]["n"]),
                    x={"label": "OSD", "unit": "count"},
                )


def _of_entities(cells: Cells, metric: Mapping[str, Any]) -> pd.DataFrame:
    """Return a metric's values of each OSD in each run, sorted by the OSD's number, which is `x`."""
    rows = [
        (int(entity.id), entity.value, record.block, record.number)
        for record, row in cells
        for entity in row.entities
        if (entity.kind, entity.metric) == (metric["entity"], metric["metric"])
    ]
    return pd.DataFrame(rows, columns=["x", "y", "block", "attempt"]).sort_values("x", kind="stable")


# Values along a factor, by another -----------------------------------------------------------------------------------

#: So many series, and places along one of them, make a chart.
_LEAST = 2


def by_two_factors(tidy: pd.DataFrame, design: CombinedDesign) -> Iterator[Aggregate]:
    """Yield a long aggregate for each metric with `rows` and each combination of the other factors.

    `tidy` is the table of `experiment.tidy_frame`. The runs are those of the reference variant, or of the first one
    that has some. What has no second series, or no second place along one, is left out.
    """
    metrics = [metric for metric in design.public["metrics"] if metric.get("rows")]
    used = tidy[tidy["used"]] if metrics else tidy.iloc[:0]
    for metric in metrics:
        axes = (metric["x_factor"], metric["rows"])
        factors = tuple(name for name in (*design.workload_factors, design.x_factor) if name not in (None, *axes))
        stated = used[used[metric["metric"]].notna()]
        groups = stated.groupby(list(factors), sort=False) if factors else [((), stated)]
        by_rank = {_rank_of(key, factors, design): rows for key, rows in groups}
        for rank in sorted(by_rank):
            runs = _of_one_variant(by_rank[rank], design)
            along = runs.groupby(metric["rows"])[metric["x_factor"]].nunique()
            if len(along) >= _LEAST and along.max() >= _LEAST:
                levels = tuple(design.factors[name][at] for name, at in zip(factors, rank, strict=True))
                yield _of_series(runs, metric, levels, factors, design)


def _rank_of(levels: tuple[Any, ...], factors: tuple[str, ...], design: CombinedDesign) -> tuple[int, ...]:
    return tuple(design.factors[name].index(level) for name, level in zip(factors, levels, strict=True))


def _of_one_variant(runs: pd.DataFrame, design: CombinedDesign) -> pd.DataFrame:
    here = {*runs["variant"]}
    return runs[runs["variant"] == next(name for name in (design.reference, *design.labels) if name in here)]


def _of_series(
    runs: pd.DataFrame,
    metric: Mapping[str, Any],
    levels: tuple[Any, ...],
    factors: tuple[str, ...],
    design: CombinedDesign,
) -> Aggregate:
    along, rows = metric["x_factor"], metric["rows"]
    values = {}
    for level in design.factors[rows]:
        of_level = runs[runs[rows] == level].rename(columns={along: "x", metric["metric"]: "y"})
        if not of_level.empty:
            name = f"{metric['row_label']} {level_name(level, metric['row_unit'])}"
            values[name] = of_level[["x", "y", "block", "attempt"]].astype({"y": float}).sort_values(["x", "block"])
    drawn = _by_series(values)
    return Aggregate(
        **identity_of(metric, levels),
        **drawn,
        n=ends(drawn["points"]["n"]),
        x={"label": metric["x_label"], "unit": metric["x_unit"], "factor": along},
        factors=factors,
        rows=rows,
    )
