"""Values by entity, such as one dot per OSD: the long CSVs that charts read, and entities.csv on request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replay.base import stats as statistics
from replay.base.tables import csv_text, level_text, number_text
from replay.derive.cells import AttemptRecord, CellRow
from replay.derive.chart import Chart, chart_name, chart_title, long_csv, workloads_of
from replay.derive.designs import Design
from replay.derive.runs import Run

COLUMNS = ("experiment", "block", "cell", "attempt", "kind", "id", "moment", "metric", "value")
_TITLES = {"osd": "OSD"}


def entity_charts(used: list[tuple[AttemptRecord, CellRow]], design: Design) -> list[Chart]:
    """Return a chart for each workload and each metric with `entity`. `x` is the entity's number.

    A series is a level of the x factor, taken from the cells of the reference variant (or of the first variant if there
    is no reference). Without an x factor, a series is a variant. `y` is the median over blocks, and `low` and `high`
    are the smallest and largest values.
    """
    metrics = [metric for metric in design.public["metrics"] if metric.get("entity")]
    if not metrics:
        return []
    wanted = {(metric["entity"], metric["metric"]) for metric in metrics}
    #: For each place and each number of an entity: (value, block, attempt).
    values: dict[tuple[Any, ...], dict[int, list[tuple[float, int, int]]]] = {}
    for record, row in used:
        cell = design.cells[row.cell_id]
        for kind, name, metric, value, _ in row.entities:
            if (kind, metric) not in wanted:
                continue
            place = (design.workload(cell.levels), design.x(cell.levels), cell.variant, kind, metric)
            number = int(name) if kind == "osd" else 0
            values.setdefault(place, {}).setdefault(number, []).append((value, record.block, record.number))
    found = []
    for workload in workloads_of(design, ()):
        names = [name for name, _ in workload.variants]
        teller = design.reference if design.reference in names else names[0]
        axis = design.public.get("x_label") or design.x_factor
        series = (
            [(label, None, name) for name, label in workload.variants]
            if design.x_factor is None
            else [(f"{axis} {_level(x, design)}", x, teller) for x in workload.xs]
        )
        for metric in metrics:
            rows, counts, runs = [], [], []
            for label, x, variant in series:
                here = values.get((workload.levels, x, variant, metric["entity"], metric["metric"]), {})
                for number, several in sorted(here.items()):
                    ys = [value for value, _, _ in several]
                    rows.append((label, number, statistics.median(ys), min(ys), max(ys), len(ys)))
                    counts.append(len(ys))
                    runs += [Run(label, number, value, block, attempt) for value, block, attempt in several]
            if rows:
                found.append(_chart(metric, workload.levels, rows, counts, runs))
    return found


def entities_csv(records: Iterable[AttemptRecord]) -> str:
    """Return the text of entities.csv, or "" if no output mentions entities."""
    rows = [
        (
            str(row.sidecar.get("experiment", "")),
            str(record.block),
            row.cell_id,
            str(record.number),
            kind,
            name,
            moment,
            metric,
            number_text(value),
        )
        for record in records
        for row in record.rows
        for kind, name, metric, value, moment in row.entities
    ]
    return csv_text([COLUMNS, *rows]) if rows else ""


def _level(x: Any, design: Design) -> str:
    """Return a level as a series names it. Sizes look the same as on the axes of charts: 4K, 4M."""
    if design.public.get("x_unit") == "bytes":
        for shift, letter in ((20, "M"), (10, "K")):
            if x >= 1 << shift and x % (1 << shift) == 0:
                return f"{x >> shift}{letter}"
    return level_text(x)


def _chart(
    metric: Mapping[str, Any], levels: tuple[Any, ...], rows: list[tuple], counts: list[int], runs: list[Run]
) -> Chart:
    name = chart_name(metric, levels)
    return Chart(
        name=name,
        metric=metric["name"],
        title=chart_title(metric, levels),
        y_label=metric["title"],
        kind="long",
        unit=metric["unit"],
        better=metric.get("better"),
        workload=levels,
        series=tuple(dict.fromkeys(row[0] for row in rows)),
        n=(min(counts), max(counts)),
        files={f"{name}.csv": long_csv(rows)},
        x={"label": _TITLES[metric["entity"]], "unit": "count"},
        runs=runs,
    )
