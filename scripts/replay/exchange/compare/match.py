"""From two sides to comparisons: which points they share, and the ratio at each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from replay.base.stats import independent_log_ratio, paired_log_ratio
from replay.exchange.compare.model import (
    NONE,
    PAIRED,
    SINGLE,
    WELCH,
    Comparison,
    Experiment,
    Metric,
    NotCompared,
    Outcome,
    Run,
    Side,
)
from replay.exchange.compare.pairing import why_hosts_differ, why_not_paired

#: The runs of one variant at the points of an experiment, by block.
Points = dict[tuple[tuple[str, str], ...], dict[int, Run]]


def compare_sides(sides: tuple[Side, ...]) -> Outcome:
    """Compare every side with the first one."""
    found: list[Comparison] = []
    missing: list[NotCompared] = []
    first = sides[0]
    for second in sides[1:]:
        for name in dict.fromkeys([*first.experiments, *second.experiments]):
            absent = [side.name for side in (first, second) if name not in side.experiments]
            if absent:
                missing.append(NotCompared(first.name, second.name, name, f"not in {absent[0]}"))
                continue
            compared, why = _experiment(first, second, name)
            found += compared
            missing += [NotCompared(first.name, second.name, name, text) for text in why]
    return Outcome(sides, tuple(found), tuple(missing))


def _experiment(first: Side, second: Side, name: str) -> tuple[list[Comparison], list[str]]:
    """Return the comparisons of an experiment that both sides have, and what cannot be compared."""
    experiments = first.experiments[name], second.experiments[name]
    names = first.name, second.name
    if why := why_points_differ(names, experiments):
        return [], [why]
    factors = [factor for factor in experiments[0].factors if factor in experiments[1].factors]
    apart = why_hosts_differ(*experiments)
    found: list[Comparison] = []
    missing: list[str] = []
    for variants in _variants(experiments):
        points = tuple(_points(one, variant, factors) for one, variant in zip(experiments, variants, strict=True))
        shared = sorted(points[0].keys() & points[1].keys(), key=lambda point: _rank(point, experiments[0]))
        for side, here, there in zip(names, points, reversed(points), strict=True):
            if only := len(here.keys() - there.keys()):
                missing.append(f"{variants[0]}: {only} {'points are' if only > 1 else 'point is'} only in {side}")
        for metric in _metrics(experiments):
            for point in shared:
                runs = points[0][point], points[1][point]
                values = tuple(_values(one, metric.column) for one in runs)
                if all(values):
                    estimated = estimate(*runs, metric.column, apart)
                    found.append(Comparison(*names, name, metric, variants, point, values, *estimated))
    for side, one, other in zip(names, experiments, reversed(experiments), strict=True):
        if len(one.variants) > 1 or len(other.variants) > 1:
            missing += [f"the variant {variant} is only in {side}" for variant in one.variants
                        if variant not in other.variants]  # fmt: skip
    if not found and not missing:
        missing.append("both state no metric in common")
    return found, missing


def why_points_differ(names: tuple[str, str], experiments: tuple[Experiment, Experiment]) -> str:
    """Return why no point of an experiment can be the same on both sides; empty if some can."""
    for side, one, other in zip(names, experiments, reversed(experiments), strict=True):
        for factor in one.factors:
            levels = one.levels(factor)
            if factor not in other.factors and len(levels) > 1:
                return f"{factor} varies in {side}, and the other data set does not state it"
            if factor in other.factors and not set(levels) & set(other.levels(factor)):
                theirs = ", ".join(other.levels(factor))
                return f"{factor} is {', '.join(levels)} in {side}, but {theirs} in the other data set"
    return ""


def _variants(experiments: tuple[Experiment, Experiment]) -> list[tuple[str, str]]:
    """Return the pairs of variants to compare: those of the same name, or the only ones, whatever their names."""
    first, second = (one.variants for one in experiments)
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    return [(variant, variant) for variant in first if variant in second]


def _metrics(experiments: tuple[Experiment, Experiment]) -> Iterator[Metric]:
    """Yield the metrics that have the same meaning on both sides."""
    first, second = (one.metrics for one in experiments)
    for name, metric in first.items():
        if name in second and (second[name].column, second[name].unit) == (metric.column, metric.unit):
            yield metric


def _points(experiment: Experiment, variant: str, factors: Iterable[str]) -> Points:
    points: Points = {}
    for run in experiment.runs:
        if run.variant == variant:
            points.setdefault(tuple((name, run.levels[name]) for name in factors), {})[run.block] = run
    return points


def _rank(point: tuple[tuple[str, str], ...], experiment: Experiment) -> list[tuple[int, str]]:
    """Return a point's rank: by the order of its levels, or by their names if the experiment does not list them."""
    orders = [(experiment.factors[factor], level) for factor, level in point]
    return [(order.index(level) if level in order else len(order), level) for order, level in orders]


def _values(runs: Mapping[int, Run], column: str) -> dict[int, float]:
    return {block: run.values[column] for block, run in sorted(runs.items()) if column in run.values}


def estimate(first: Mapping[int, Run], second: Mapping[int, Run], column: str, apart: str) -> tuple[Any, str, str]:
    """Return the ratio second ÷ first of a point's runs by block, the method, and why it is not the stronger one.

    `apart` says why runs of these sides cannot be pairs, or is empty. Both sides state `column` in one run or more.
    """
    stating = [{block: run for block, run in runs.items() if column in run.values} for runs in (first, second)]
    under, over = ([run.values[column] for _, run in sorted(runs.items())] for runs in stating)
    if min(*under, *over) <= 0:
        return None, NONE, "a value of 0 has no ratio"
    if len(under) == len(over) == 1:
        method, why = SINGLE, "one run on each side: no interval"
    elif min(len(under), len(over)) == 1:
        method, why = SINGLE, "one run on one side: no interval"
    else:
        why = apart or why_not_paired(*stating)
        method = WELCH if why else PAIRED
    try:
        found = (paired_log_ratio if method == PAIRED else independent_log_ratio)(over, under)
    except ValueError as error:
        return None, NONE, str(error)
    if found.low is None and method != SINGLE:
        why = "the runs differ so much that no number holds the end of the interval"
    return found, method, why
