"""The charts of a metric's values: medians with their spread, and paired ratios with their intervals. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from replay.base import stats as statistics
from replay.derive.chart import Chart, Workload, chart_file, chart_name, chart_title, long_csv, wide_csv
from replay.derive.designs import VARIANT_ON_TOP, Design
from replay.derive.runs import Run, Runs


@dataclass(frozen=True)
class Values:
    """A metric's values by (workload, variant, x) and block, and each set's attempt by (workload, x, block)."""

    by_place: Mapping[tuple[Any, ...], Mapping[int, float]]
    attempts: Mapping[tuple[Any, ...], int]

    def at(self, workload: Workload, variant: str, x: Any) -> Mapping[int, float]:
        """Return the values at a place, by block."""
        return self.by_place.get((workload.levels, variant, x), {})

    def attempt(self, workload: Workload, x: Any, block: int) -> int:
        """Return the number of the attempt that counts in a block."""
        return self.attempts[workload.levels, x, block]


def median_chart(
    metric: Mapping[str, Any], workload: Workload, cells: Mapping, values: Values, design: Design
) -> Chart:
    """Return the chart of a metric's medians. `cells` holds (median, smallest, largest, n) by (variant, x)."""
    name = chart_name(metric, workload.levels)
    counts = [int(point[3]) for point in cells.values() if point[3]]
    known = {place: point for place, point in cells.items() if point[3]}
    trials = design.kind == "trials"
    if design.kind == "wide":
        tables = {"": 0, "min": 1, "max": 2, "n": 3}
        files = {
            chart_file(name, part): wide_csv({place: point[i] for place, point in known.items()}, workload, design)
            for part, i in tables.items()
        }
        companions = {part: chart_file(name, part) for part in tables if part}
    else:
        rows = [
            (label, x, point[0], None if trials else point[1], None if trials else point[2], int(point[3]))
            for variant, label in workload.variants
            for x in workload.xs
            if (point := known.get((variant, x))) is not None
        ]
        files, companions = {chart_file(name, ""): long_csv(rows)}, {}
    summary = {}
    if trials:
        trials_of = {
            name: [point[0] for (one, _), point in known.items() if one == name] for name, _ in workload.variants
        }
        counts = [len(values) for values in trials_of.values()]
        summary = {name: statistics.summarise(values) for name, values in trials_of.items() if values}
    return Chart(
        name=name,
        metric=metric["name"],
        title=chart_title(metric, workload.levels),
        y_label=metric["title"],
        kind="wide" if design.kind == "wide" else "long",
        unit=metric["unit"],
        better=metric.get("better"),
        workload=workload.levels,
        series=tuple(label for _, label in workload.variants),
        n=(min(counts), max(counts)) if counts else (0, 0),
        files=files,
        companions=companions,
        column=metric["metric"],
        summary=summary,
        sparse=workload.sparse() if design.kind == "wide" else (),
        # Each point of a chart of trials is a run already.
        runs=() if trials else Runs(partial(_runs_of_medians, workload, values)),
    )


def _runs_of_medians(workload: Workload, values: Values) -> Iterator[Run]:
    for variant, label in workload.variants:
        for x in workload.xs:
            for block, value in sorted(values.at(workload, variant, x).items()):
                yield Run(label, x, value, block, values.attempt(workload, x, block))


def ratio_chart(metric: Mapping[str, Any], workload: Workload, values: Values, design: Design) -> Chart | None:
    """Return the chart of a metric's paired ratios; None if the workload has no reference, or nothing to compare."""
    compared = [(name, label) for name, label in workload.variants if name != design.reference]
    if not compared or design.reference not in dict(workload.variants):
        return None
    turned = design.ratio_direction == VARIANT_ON_TOP

    def pairs_at(name: str, x: Any) -> list[tuple[int, float, float]]:
        """Return (block, numerator, denominator) of every set that has both."""
        reference, variant = (values.at(workload, one, x) for one in (design.reference, name))
        over, under = (variant, reference) if turned else (reference, variant)
        blocks = sorted(over.keys() & under.keys())
        return [(block, over[block], under[block]) for block in blocks if over[block] > 0 < under[block]]

    def runs() -> Iterator[Run]:
        for name, x in estimates:
            for block, over, under in pairs_at(name, x):
                yield Run(labels[name], x, over / under, block, values.attempt(workload, x, block))

    estimates, labels = {}, dict(compared)
    for variant in labels:
        for x in workload.xs:
            if pairs := pairs_at(variant, x):
                _, over, under = zip(*pairs, strict=True)
                # A ratio too large or small for a number is not drawn.
                with suppress(ValueError):
                    estimates[variant, x] = statistics.paired_log_ratio(over, under)
    name = f"ratio-{chart_name(metric, workload.levels)}"
    shown = Workload(workload.levels, workload.xs, tuple(compared), workload.designed)
    if design.kind == "wide":
        tables = {"": 0, "low": 1, "high": 2, "n": 3}
        files = {
            chart_file(name, part): wide_csv({place: one[i] for place, one in estimates.items()}, shown, design)
            for part, i in tables.items()
        }
        companions = {part: chart_file(name, part) for part in tables if part}
    else:
        rows = [
            (label, x, *estimates[variant, x])
            for variant, label in compared
            for x in workload.xs
            if (variant, x) in estimates
        ]
        files, companions = {chart_file(name, ""): long_csv(rows)}, {}
    counts = [one.n for one in estimates.values()]
    return Chart(
        name=name,
        metric=f"ratio-{metric['name']}",
        title=f"{chart_title(metric, workload.levels)}: ratio",
        y_label=f"{metric['title']}: ratio",
        kind="wide" if design.kind == "wide" else "long",
        unit="ratio",
        better=None,
        workload=workload.levels,
        series=tuple(label for _, label in compared),
        n=(min(counts), max(counts)) if counts else (0, 0),
        files=files,
        companions=companions,
        column=metric["metric"],
        estimates=estimates,
        sparse=shown.sparse() if design.kind == "wide" else (),
        runs=Runs(runs),
    )
