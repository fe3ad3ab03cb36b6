"""Tells from an experiment's configuration alone which charts derive makes of it. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def charts_of(experiment: Mapping[str, Any], scale: str | None = None) -> list[str]:
    """Return `<experiment>/<aggregate>` for each chart of an experiment, at a scale or for all levels.

    A metric over time has one chart for each level of the x factor, and its name ends in that level; see
    docs/data-formats.md.
    """
    factors = dict(experiment["factors"])
    if scale is not None:
        factors |= experiment["scales"][scale].get("factors", {})
    workloads = itertools.product(*(factors[factor] for factor in experiment["workload_factors"]))
    return [
        f"{experiment['name']}/{'-'.join(str(part) for part in (name, *workload, *level))}"
        for workload in workloads
        for metric in experiment["metrics"]
        for name, level in _names(metric, experiment.get("x_factor"), factors)
    ]


def _names(
    metric: Mapping[str, Any], x_factor: str | None, factors: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, tuple]]:
    """Yield the start of each chart's name, and the level at its end, if any."""
    if metric.get("series") and x_factor is not None:
        yield from ((metric["name"], (level,)) for level in factors[x_factor])
        return
    yield metric["name"], ()
    drawn_as_ratio = metric.get("ratio") and not metric.get("series") and not metric.get("entity")
    if drawn_as_ratio and x_factor is not None:
        yield f"ratio-{metric['name']}", ()
