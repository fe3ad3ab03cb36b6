"""Upper bounds: the most that a data set's baseline reached. Charts of other experiments draw them. Pure.

Experiments and the manifest list them under the key `ceilings`. A site's ceilings are something else: they limit what
Replay may do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from replay.base import stats as statistics
from replay.base.tables import number_text
from replay.derive.cells import AttemptRecord, CellRow
from replay.derive.designs import Design
from replay.derive.limits import limit_of


def upper_bounds(design: Design, used: Iterable[tuple[AttemptRecord, CellRow]]) -> dict[str, dict[str, Any]]:
    """Return the design's upper bounds by name: n, unit, point, variant, limiter, median, low and high.

    A bound is the largest median of the cells at its levels. `low` and `high` bound the 95 % interval of that cell's
    geometric mean, and are None for a single block. These keys end with the unit. What was not measured is left out.
    """
    used = list(used)
    found = {}
    for one in design.public.get("ceilings", ()):
        by_cell: dict[str, list[CellRow]] = {}
        for _, row in used:
            value = row.metrics.get(one["metric"])
            if value is not None and value > 0 and _is_among(design.cells[row.cell_id].levels, one["levels"]):
                by_cell.setdefault(row.cell_id, []).append(row)
        if by_cell:
            # The id decides between equal medians, so that the same raw output always gives the same bytes.
            metric = one["metric"]
            best = max(by_cell, key=lambda cell: (statistics.median(_values(by_cell[cell], metric)), cell))
            found[one["name"]] = _entry(design, best, by_cell[best], metric)
    return found


def _is_among(levels: Mapping[str, Any], wanted: Mapping[str, Iterable[Any]]) -> bool:
    return all(levels.get(name) in allowed for name, allowed in wanted.items())


def _values(rows: Iterable[CellRow], metric: str) -> list[float]:
    return [row.metrics[metric] for row in rows]


def _entry(design: Design, cell: str, rows: list[CellRow], metric: str) -> dict[str, Any]:
    unit = next(one["unit"] for one in design.public["metrics"] if one["metric"] == metric)
    values = _values(rows, metric)
    interval = statistics.exponentiate(statistics.mean_with_interval([math.log(value) for value in values]))
    figures = {"median": statistics.median(values), "low": interval.low, "high": interval.high}
    limiters = {limit_of(row.sidecar).resource for row in rows}
    return {
        "n": len(values),
        "unit": unit,
        "point": design.cells[cell].point,
        "variant": design.cells[cell].variant,
        "limiter": limiters.pop() if len(limiters) == 1 else "mixed",
        **{f"{name}_{unit}": None if value is None else float(number_text(value)) for name, value in figures.items()},
    }
