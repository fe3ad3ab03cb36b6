"""Aggregates of values over time, with a line per variant, and by entity, such as one dot per OSD. By pandas, pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from replay.base.paths import level_text
from replay.derive.aggregates import Aggregate, Workload, ends, identity_of, workloads_of
from replay.derive.cells import AttemptRecord, CellRow, middle_seconds
from replay.derive.designs import CombinedDesign

_ENTITIES = {"osd": "OSD"}
#: Used cells with their attempts; of one place, there is one per block.
Cells = list[tuple[AttemptRecord, CellRow]]


def _by_place(used: Cells, design: CombinedDesign) -> dict[tuple[Any, ...], Cells]:
    """Return the used cells by (workload, level of the x factor or None, variant)."""
    cells: dict[tuple[Any, ...], Cells] = {}
    for record, row in used:
        cell = design.cells[row.cell_id]
        cells.setdefault((design.workload(cell.levels), design.x(cell.levels), cell.variant), []).append((record, row))
    return cells


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
    although nothing happened, usually towards the slow ones. A run whose value after its end is known keeps that value,
    and does not end the line. A bin in between is drawn from the runs that have a sample in it.
    """
    name, width = metric["metric"], float(metric["bin_seconds"])
    runs = {
        (record.block, record.number): (bins, row.after_end.get(name))
        for record, row in cells
        if (bins := row.series.get((name, width)))
    }
    if not runs:
        return pd.DataFrame()
    line = pd.DataFrame({run: bins for run, (bins, _) in sorted(runs.items())}).sort_index()
    line.columns.names = ["block", "attempt"]
    for run, (bins, after_end) in runs.items():
        if after_end is not None:
            line.loc[line.index > max(bins), run] = after_end
    begin = max(min(bins) for bins, _ in runs.values())
    lasts = [max(bins) for bins, after_end in runs.values() if after_end is None]
    line = line.loc[begin : min(lasts) if lasts else line.index.max()]
    return line.set_index(line.index.map(lambda number: middle_seconds(number, width)).rename("x"))


def _of_lines(
    lines: Mapping[str, pd.DataFrame], metric: Mapping[str, Any], workload: Workload, level: Any
) -> Aggregate:
    points, runs = [], []
    for label, line in lines.items():
        drawn = {"y": line.median(axis=1), "low": line.min(axis=1), "high": line.max(axis=1), "n": line.count(axis=1)}
        points.append(pd.DataFrame(drawn).reset_index().assign(series=label))
        runs.append(line.melt(value_name="y", ignore_index=False).dropna().reset_index().assign(series=label))
    return Aggregate(
        **identity_of(metric, (*workload.levels, *(() if level is None else (level,))), workload.levels),
        unit=metric["unit"],
        better=metric.get("better"),
        series=tuple(lines),
        points=pd.concat(points),
        runs=pd.concat(runs),
        runs_are_lines=True,
        n=ends(pd.Series([line.columns.size for line in lines.values()])),
        x={"label": metric.get("x_label", "Time"), "unit": "seconds"},
        level=level,
    )


# Values by entity ----------------------------------------------------------------------------------------------------


def by_entity(used: Cells, design: CombinedDesign) -> Iterator[Aggregate]:
    """Yield an aggregate for each workload and each metric with `entity`; `x` is the entity's number.

    A series is a level of the x factor, taken from the cells of the reference variant (or of the first variant if there
    is no reference). Without an x factor, a series is a variant.
    """
    metrics = [metric for metric in design.public["metrics"] if metric.get("entity")]
    cells, axis = _by_place(used, design), design.public.get("x_label") or design.x_factor
    for workload in workloads_of(design, ()) if metrics else ():
        teller = design.reference if design.reference in workload.variants else workload.variants[0]
        series = (
            {design.labels[name]: (None, name) for name in workload.variants}
            if design.x_factor is None
            else {f"{axis} {_level(x, design)}": (x, teller) for x in workload.xs}
        )
        for metric in metrics:
            runs = {label: _of_entities(cells.get((workload.levels, *at), []), metric) for label, at in series.items()}
            if runs := {label: values for label, values in runs.items() if not values.empty}:
                yield _of_dots(runs, metric, workload)


def _of_entities(cells: Cells, metric: Mapping[str, Any]) -> pd.DataFrame:
    """Return a metric's values of each entity in each run, sorted by the entity's number, which is `x`."""
    rows = [
        (int(entity.id) if entity.kind == "osd" else 0, entity.value, record.block, record.number)
        for record, row in cells
        for entity in row.entities
        if (entity.kind, entity.metric) == (metric["entity"], metric["metric"])
    ]
    return pd.DataFrame(rows, columns=["x", "y", "block", "attempt"]).sort_values("x", kind="stable")


def _of_dots(runs: Mapping[str, pd.DataFrame], metric: Mapping[str, Any], workload: Workload) -> Aggregate:
    points = pd.concat(
        values.groupby("x")["y"].agg(y="median", low="min", high="max", n="count").reset_index().assign(series=label)
        for label, values in runs.items()
    )
    return Aggregate(
        **identity_of(metric, workload.levels),
        unit=metric["unit"],
        better=metric.get("better"),
        series=tuple(runs),
        points=points,
        runs=pd.concat(values.assign(series=label) for label, values in runs.items()),
        n=ends(points["n"]),
        x={"label": _ENTITIES[metric["entity"]], "unit": "count"},
    )


def _level(x: Any, design: CombinedDesign) -> str:
    """Return a level as a series names it. Sizes look the same as on the axes of charts: 4K, 4M."""
    if design.public.get("x_unit") == "bytes":
        for shift, letter in ((20, "M"), (10, "K")):
            if x >= 1 << shift and x % (1 << shift) == 0:
                return f"{x >> shift}{letter}"
    return level_text(x)
