"""Data sets to compare, built from values: runs with rates, experiments, sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from replay.base.stats import Estimate
from replay.exchange.compare_text import SINGLE, WELCH, Comparison
from replay.exchange.sides import Experiment, Metric, Side, TidyRun

METRIC = Metric("iops", "operations_per_second", "IOPS", "operations_per_second", "higher")
_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def runs(values: Sequence[float], *, variant: str = "v", start: int | None = 0, **levels: str) -> list[TidyRun]:
    """Return a run of 5 s for each value, each in its own block: one every 100 s, the first at `start` seconds."""
    found = []
    for number, value in enumerate(values):
        began = None if start is None else _MOMENT + timedelta(seconds=start + 100 * number)
        moments = ["", ""] if began is None else [began.isoformat(), (began + timedelta(seconds=5)).isoformat()]
        found.append(TidyRun(variant, levels, number + 1, *moments, {METRIC.column: value}))
    return found


def experiment(
    rows: Iterable[TidyRun], *, name: str = "e", factors: Mapping[str, tuple[str, ...]] | None = None
) -> Experiment:
    """Return an experiment of these runs, measured on one host."""
    return Experiment(
        name,
        f"Title of {name}",
        False,
        {str(block): ["host"] for block in range(1, 20)},
        factors or {},
        {METRIC.name: METRIC},
        tuple(rows),
        "0",
    )


def side(name: str, *experiments: Experiment, **manifest: Any) -> Side:
    """Return a data set of these experiments."""
    return Side(name, {"data_set": name, "label": name, **manifest}, {one.name: one for one in experiments})


def comparison(low: float | None, high: float | None, **changes: Any) -> Comparison:
    """Return a comparison with this interval; with None, one of single runs."""
    estimate = Estimate(1.0, None, None, 1) if low is None or high is None else Estimate((low + high) / 2, low, high, 3)
    method = SINGLE if low is None else WELCH
    fields = {"first": "a", "second": "b", "experiment": "e", "metric": METRIC, "variants": ("v", "v"), "levels": (),
              "values": ({1: 1.0}, {1: 1.0}), "estimate": estimate, "method": method}  # fmt: skip
    return Comparison(**fields | changes)
