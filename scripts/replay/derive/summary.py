"""Figures about a whole experiment for the manifest: what its design fixes, its A/A control, its trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from replay.base import stats as statistics
from replay.base.tables import rounded
from replay.derive.chart import Chart
from replay.derive.designs import Design
from replay.derive.kept import RECORDED_FACTS

#: Units that are not part of a key, because the chart says what they measure.
_UNITLESS = {"ratio", "count"}


def parameters(design: Design, sidecars: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the measurement's parameters were, as they were recorded, never from today's configuration.

    These are the numbers of the recorded design itself, its options, the smallest and largest level of each numeric
    factor (`smallest_io_size_bytes`), and the facts on which all sidecars that state them agree. What was not recorded
    is left out.
    """
    found = {key: value for key, value in design.public.items() if _is_number(value) and key != "schema_version"}
    found |= design.public.get("options", {})
    for name, levels in design.factors.items():
        if levels and all(_is_number(level) for level in levels):
            found |= {f"smallest_{name}": min(levels), f"largest_{name}": max(levels)}
    stated: dict[str, set[Any]] = {}
    for sidecar in sidecars:
        for name in RECORDED_FACTS:
            if (value := (sidecar.get("facts") or {}).get(name)) is not None:
                stated.setdefault(name, set()).add(value)
    found |= {name: values.pop() for name, values in stated.items() if len(values) == 1}
    return {name: found[name] for name in sorted(found)}


def control(design: Design, charts: Iterable[Chart]) -> dict[str, Any] | None:
    """Return what the A/A control found: how many intervals its ratios have, and how many of these exclude 1.

    If nothing differs, about one in twenty 95 % intervals excludes 1. `geometric_mean` is that of all its ratios.
    Returns None if the experiment has no control, or if none of it is measured.
    """
    names = {one["name"] for one in design.variants if one.get("control")}
    estimates = [one for chart in charts for (variant, _), one in chart.estimates.items() if variant in names]
    if not estimates:
        return None
    intervals = [one for one in estimates if one.low is not None and one.high is not None]
    excluding = sum(not one.low <= 1 <= one.high for one in intervals)
    mean = math.exp(math.fsum(math.log(one.value) for one in estimates) / len(estimates))
    return {
        "intervals": len(intervals),
        "excluding_one": excluding,
        "share": rounded(excluding / len(intervals)) if intervals else None,
        "geometric_mean": rounded(mean),
    }


def trials_entry(chart: Chart) -> dict[str, dict[str, Any]]:
    """Return median, smallest value, largest value and n of each variant's trials. Keys end with the chart's unit."""
    unit = "" if chart.unit in _UNITLESS else f"_{chart.unit}"
    return {variant: _point(point, unit) for variant, point in chart.summary.items()}


def _point(point: statistics.Point, unit: str) -> dict[str, Any]:
    figures = {"median": point.median, "min": point.low, "max": point.high}
    return {**{f"{name}{unit}": rounded(value) for name, value in figures.items()}, "n": point.n}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
