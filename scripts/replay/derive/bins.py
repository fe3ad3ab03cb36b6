"""Puts samples over time into bins, so that memory grows with the bins and not with the samples that tools logged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

#: (metric, width of its bins in seconds) for each metric of a design with `series: true`.
Wanted = frozenset[tuple[str, float]]
#: For each (metric, width), the mean of the samples in each bin, by the bin's number.
Binned = Mapping[tuple[str, float], Mapping[int, float]]

#: A sample within this share of a bin below an edge counts as on it: 0.3 / 0.1 is a little less than 3 in binary.
_EDGE = 1e-9


def wanted_series(designs: Iterable[Mapping[str, Any]]) -> Wanted:
    """Return which series these designs (as `evidence/` holds them) draw, with the widths of their bins."""
    return frozenset(
        (metric["metric"], float(metric["bin_seconds"]))
        for design in designs
        for metric in design.get("metrics", ())
        if metric.get("series")
    )


def binned(series: Iterable[tuple[float, str, float]], wanted: Wanted) -> dict[tuple[str, float], dict[int, float]]:
    """Return the wanted part of a series of (elapsed_seconds, metric, value), each bin the mean of its samples.

    Bin `k` holds the samples from `k` up to, but not including, `k + 1` widths. `k` may be negative if time is counted
    from an event within the cell. A bin without samples is left out. The series itself is not kept.
    """
    widths: dict[str, list[float]] = {}
    for metric, width in wanted:
        widths.setdefault(metric, []).append(width)
    sums: dict[tuple[str, float], dict[int, list[float]]] = {}
    for elapsed, metric, value in series:
        for width in widths.get(metric, ()):
            bin_number = math.floor(elapsed / width + _EDGE)
            entry = sums.setdefault((metric, width), {}).setdefault(bin_number, [0.0, 0.0])
            entry[0] += value
            entry[1] += 1
    return {key: {number: total / count for number, (total, count) in bins.items()} for key, bins in sums.items()}


def middle_seconds(bin_number: int, width: float) -> float:
    """Return the middle of a bin in seconds."""
    return (bin_number + 0.5) * width
