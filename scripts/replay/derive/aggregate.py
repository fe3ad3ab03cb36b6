"""Makes charts from the used cells of an experiment: one for each workload and metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from replay.derive.cells import AttemptRecord, CellRow
from replay.derive.chart import Chart, workloads_of
from replay.derive.designs import ADDED, Design
from replay.derive.point_charts import Values, median_chart, ratio_chart


def used_frame(used: list[tuple[AttemptRecord, CellRow]], design: Design) -> pd.DataFrame:
    """Return a row per used cell: workload, x, variant, block, attempt, and the design's metrics (NaN if unknown)."""
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
    """Return the charts of an experiment: the medians of each workload and metric, and the ratios if it asks for them.

    A metric that was added after the design was recorded has a chart only if some run has a value for it.
    """
    metrics = _scalars(design)
    names = list(dict.fromkeys(metric["metric"] for metric in metrics))
    keys = ["workload", "variant", "x"]
    drawable = bool(names) and len(frame) > 0
    statistics_by_place = _statistics(frame.groupby(keys, sort=False)[names]) if drawable else {}
    values = _values(frame, names)
    result = []
    for workload in workloads_of(design, frame["block"].tolist()):
        for metric in metrics:
            column = names.index(metric["metric"])
            cells = {
                (variant, x): tuple(one[column] for one in statistics_by_place[workload.levels, variant, x])
                for variant, _ in workload.variants
                for x in workload.xs
                if (workload.levels, variant, x) in statistics_by_place
            }
            if metric.get(ADDED) and not any(point[3] for point in cells.values()):
                continue
            result.append(median_chart(metric, workload, cells, values[metric["metric"]], design))
            if metric.get("ratio") and design.reference is not None and design.kind != "trials":
                chart = ratio_chart(metric, workload, values[metric["metric"]], design)
                result += [chart] if chart else []
    return result


def _statistics(places: DataFrameGroupBy) -> dict[tuple, tuple[Sequence[float], ...]]:
    """Return the medians, smallest values, largest values and counts at each place, with one value per metric."""
    # One after another: pandas takes twice as long to aggregate by a list of functions.
    tables = [places.median(), places.min(), places.max(), places.count()]
    return dict(zip(tables[0].index, zip(*(table.to_numpy() for table in tables), strict=True), strict=True))


def _scalars(design: Design) -> list[Mapping[str, Any]]:
    """Return the metrics with one number per cell. Other modules draw metrics over time and by entity."""
    return [metric for metric in design.public["metrics"] if not metric.get("series") and not metric.get("entity")]


def _values(frame: pd.DataFrame, names: list[str]) -> dict[str, Values]:
    """Return each metric's values, without the missing ones."""
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
        result[name] = Values(by_place, attempts)
    return result
