"""`replay compare`: reads data sets, pairs up the points that they share, and estimates the ratio at each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from replay.base.clock import why_not_in_turns
from replay.base.errors import ConfigurationError, visible
from replay.base.paths import benchmarks_directory, suggestion
from replay.base.stats import independent_log_ratio, paired_log_ratio
from replay.base.tables import json_text
from replay.base.terminal import waiting
from replay.claims.evaluate import by_one_host
from replay.derive.facts import lower_bound_of
from replay.exchange.compare_page import page
from replay.exchange.compare_text import (
    NONE,
    PAIRED,
    SINGLE,
    WELCH,
    Checked,
    Comparison,
    NotCompared,
    Outcome,
    StatedDifference,
    check,
    document,
    ratio_text,
    summary_lines,
)
from replay.exchange.page import write_page
from replay.exchange.sides import Experiment, Metric, Side, TidyRun, only_runs, read_side, what_differs


def run(options: argparse.Namespace) -> int:
    """Compare; return 1 if a condition is met, else 0. Raises ReplayError if something cannot be read or written."""
    names = [options.first, *options.others]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{name} is named twice", next_step="compare different data sets, or variants")
    pairs = options.experiment
    with waiting(f"comparing {', '.join(names)}"):
        sides = [
            read_side(benchmarks_directory(), name, [pair[1 if number else 0] for pair in pairs])
            for number, name in enumerate(names)
        ]
        outcome = compare_sides(at_levels(paired_up(sides, pairs), options.only))
    checked = [check(condition, outcome.comparisons) for condition in options.fail_if]
    if options.out:
        write_page(options.out, page(outcome, checked))
    if options.json:
        print(json_text(document(outcome, checked)), end="")
    else:
        print("\n".join(map(visible, summary_lines(outcome))))
        if options.out:
            print(f"wrote {options.out}: one page that opens anywhere")
    return _said(checked)


def _said(checked: Sequence[Checked]) -> int:
    """Say which conditions are met, and where; return the exit status."""
    for condition in checked:
        for hit in condition.met:
            line = f"--fail-if '{condition.text}' is met by {hit.second}: {hit.place}: {ratio_text(hit)}"
            print(line, file=sys.stderr)
        if condition.undecided:
            points = "1 point has" if condition.undecided == 1 else f"{condition.undecided} points have"
            print(f"--fail-if '{condition.text}': {points} no interval, and could not be decided", file=sys.stderr)
    return 1 if any(condition.met for condition in checked) else 0


# What of the sides is compared, and the ratio at each point that they share. Pure ------------------------------------

#: The runs of one variant at the points of an experiment, by block.
Points = dict[tuple[tuple[str, str], ...], dict[int, TidyRun]]


def compare_sides(sides: tuple[Side, ...]) -> Outcome:
    """Compare every side with the first one."""
    comparisons: list[Comparison] = []
    missing: list[NotCompared] = []
    differences: list[StatedDifference] = []
    first, *others = sides
    for second in others:
        compared: list[Comparison] = []
        for name in dict.fromkeys([*first.experiments, *second.experiments]):
            absent = [side.name for side in (first, second) if name not in side.experiments]
            found, why = ([], [f"not in {absent[0]}"]) if absent else _experiment(first, second, name)
            compared += found
            missing += [NotCompared(first.name, second.name, name, text) for text in why]
        comparisons += compared
        differences += differences_of(first, second, compared)
    return Outcome(sides, tuple(comparisons), tuple(missing), tuple(differences))


def differences_of(first: Side, second: Side, comparisons: Iterable[Comparison]) -> list[StatedDifference]:
    """Return what differs between two sides besides what is compared: the set-up, and options of what is compared."""
    names = first.name, second.name
    told = [side.manifest.get("setup") or {} for side in (first, second)]
    differences = [StatedDifference(*names, "", name, values) for name, values in what_differs(*told)]
    for experiment, variants in dict.fromkeys((each.experiment, each.variants) for each in comparisons):
        both = first.experiments[experiment], second.experiments[experiment]
        options = [
            {**_only_here(mine, other), **mine.options.get(variant, {})}
            for mine, other, variant in zip(both, reversed(both), variants, strict=True)
        ]
        differences += [StatedDifference(*names, experiment, name, values) for name, values in what_differs(*options)]
    return list(dict.fromkeys(differences))


def _only_here(experiment: Experiment, other: Experiment) -> dict[str, str]:
    return {name: ", ".join(experiment.levels(name)) for name in experiment.factors if name not in other.factors}


def _experiment(first: Side, second: Side, name: str) -> tuple[list[Comparison], list[str]]:
    """Return the comparisons of an experiment that both sides have, and what cannot be compared."""
    experiments = first.experiments[name], second.experiments[name]
    names = first.name, second.name
    if why := why_points_differ(names, experiments):
        return [], [why]
    factors = [factor for factor in experiments[0].factors if factor in experiments[1].factors]
    apart = why_hosts_differ(*experiments)
    comparisons: list[Comparison] = []
    missing: list[str] = []
    for variants in _variants(experiments):
        points = tuple(
            _points(experiment, variant, factors) for experiment, variant in zip(experiments, variants, strict=True)
        )
        shared = sorted(points[0].keys() & points[1].keys(), key=lambda point: _rank(point, experiments[0]))
        for side, here, there in zip(names, points, reversed(points), strict=True):
            if only := len(here.keys() - there.keys()):
                missing.append(f"{variants[0]}: {only} {'points are' if only > 1 else 'point is'} only in {side}")
        for metric in _metrics(experiments):
            # Without these runs, the others would look faster than all of them are.
            bounded = {point for point in shared if any(_is_bounded(side[point], metric.column) for side in points)}
            if bounded:
                places = "1 point has" if len(bounded) == 1 else f"{len(bounded)} points have"
                missing.append(f"{variants[0]}: {places} a run of which only a lower bound of {metric.name} is known")
            for point in shared:
                runs = points[0][point], points[1][point]
                values = tuple(_values(by_block, metric.column) for by_block in runs)
                if point not in bounded and all(values):
                    estimated = _estimate(runs, values, apart)
                    comparisons.append(Comparison(*names, name, metric, variants, point, values, *estimated))
    for side, experiment, other in zip(names, experiments, reversed(experiments), strict=True):
        if len(experiment.variants) > 1 or len(other.variants) > 1:
            missing += [f"the variant {variant} is only in {side}" for variant in experiment.variants
                        if variant not in other.variants]  # fmt: skip
    if not comparisons and not missing:
        missing.append("both state no metric in common")
    return comparisons, missing


def why_points_differ(names: tuple[str, str], experiments: tuple[Experiment, Experiment]) -> str:
    """Return why no point of an experiment can be the same on both sides; empty if some can."""
    for side, experiment, other in zip(names, experiments, reversed(experiments), strict=True):
        for factor in experiment.factors:
            levels = experiment.levels(factor)
            if factor not in other.factors and len(levels) > 1:
                return f"{factor} varies in {side}, and the other data set does not state it"
            if factor in other.factors and not set(levels) & set(other.levels(factor)):
                theirs = ", ".join(other.levels(factor))
                return f"{factor} is {', '.join(levels)} in {side}, but {theirs} in the other data set"
    first, second = experiments
    for factor in [name for name in first.words if name in second.words]:
        for level in first.levels(factor):
            # A number or a shortened text may stand for something else in another import.
            meant = [experiment.words[factor].get(level) for experiment in experiments]
            if None not in meant and meant[0] != meant[1] and level in second.levels(factor):
                return (
                    f"{factor} {level} is {meant[0]} in {names[0]}, but {meant[1]} in the other data set: "
                    "import both together"
                )
    return ""


def _variants(experiments: tuple[Experiment, Experiment]) -> list[tuple[str, str]]:
    """Return the pairs of variants to compare: those of the same name, or the only ones, whatever their names."""
    first, second = (experiment.variants for experiment in experiments)
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    return [(variant, variant) for variant in first if variant in second]


def _metrics(experiments: tuple[Experiment, Experiment]) -> Iterator[Metric]:
    """Yield the metrics that have the same meaning on both sides."""
    first, second = (experiment.metrics for experiment in experiments)
    for name, metric in first.items():
        if name in second and (second[name].column, second[name].unit) == (metric.column, metric.unit):
            yield metric


def _points(experiment: Experiment, variant: str, factors: Iterable[str]) -> Points:
    points: Points = {}
    for run in experiment.runs:
        if run.variant == variant:
            points.setdefault(tuple((name, run.levels[name]) for name in factors), {})[run.block] = run
    return points


def _rank(point: tuple[tuple[str, str], ...], experiment: Experiment) -> list[int]:
    """Return a point's rank, by the order of its levels."""
    return [experiment.factors[factor].index(level) for factor, level in point]


def _values(runs: Mapping[int, TidyRun], column: str) -> dict[int, float]:
    return {block: run.values[column] for block, run in sorted(runs.items()) if column in run.values}


def _is_bounded(runs: Mapping[int, TidyRun], column: str) -> bool:
    return any(column not in run.values and lower_bound_of(column) in run.values for run in runs.values())


def _estimate(
    runs: tuple[Mapping[int, TidyRun], ...], values: tuple[Mapping[int, float], ...], apart: str
) -> tuple[Any, str, str]:
    """Return the ratio second ÷ first of a point's values by block, the method, and why it is not the stronger one.

    `apart` says why runs of these sides cannot be pairs, or is empty.
    """
    under, over = ([*several.values()] for several in values)
    if min(*under, *over) <= 0:
        return None, NONE, "a value of 0 has no ratio"
    if min(len(under), len(over)) == 1:
        method, why = SINGLE, f"one run on {'each' if len(under) == len(over) else 'one'} side: no interval"
    else:
        times = (
            {block: (by_block[block].started_at, by_block[block].ended_at) for block in several}
            for by_block, several in zip(runs, values, strict=True)
        )
        why = apart or why_not_in_turns(*times)
        method = WELCH if why else PAIRED
    try:
        estimate = (paired_log_ratio if method == PAIRED else independent_log_ratio)(over, under)
    except ValueError as error:
        return None, NONE, str(error)
    if estimate.low is None and method != SINGLE:
        why = "the runs differ so much that no number holds the end of the interval"
    return estimate, method, why


def why_hosts_differ(first: Experiment, second: Experiment) -> str:
    """Return why no runs of these can be pairs; empty if one host measured each block of both."""
    if first.imported or second.imported:
        return "imported results do not say that they ran back to back"
    return "" if by_one_host(first.machines, second.machines) else "not measured on the same host"


# Which experiments and levels were asked for. Pure -------------------------------------------------------------------

#: An experiment of the first data set, and the one of the others that it is compared with.
Pair = tuple[str, str]


def paired_up(sides: Sequence[Side], pairs: Sequence[Pair]) -> tuple[Side, ...]:
    """Return the sides with their experiments under the names of the comparison, `second ÷ first` if they differ.

    Without pairs the sides stay as they are. Raises ConfigurationError for an experiment that no data set has.
    """
    if not pairs:
        return tuple(sides)
    known = [
        set(sides[0].manifest["experiments"]),
        {name for side in sides[1:] for name in side.manifest["experiments"]},
    ]
    for first, other in pairs:
        if first == other and first in known[0] | known[1]:
            continue  # whoever lacks it is named with what is not compared
        for name, here in zip((first, other), known, strict=True):
            if name not in here:
                raise ConfigurationError(
                    f"--experiment {name}: there is no such experiment", next_step=suggestion(name, sorted(here))
                )
    return tuple(_renamed(side, pairs, 1 if number else 0) for number, side in enumerate(sides))


def _renamed(side: Side, pairs: Iterable[Pair], place: int) -> Side:
    names = {first if first == other else f"{other} ÷ {first}": (first, other)[place] for first, other in pairs}
    return replace(
        side, experiments={name: side.experiments[own] for name, own in names.items() if own in side.experiments}
    )


def at_levels(sides: Sequence[Side], wanted: Iterable[str]) -> tuple[Side, ...]:
    """Return the sides with only the runs at the wanted levels, each `FACTOR=LEVEL`.

    Levels of one factor are alternatives; several factors all have to fit. A factor that an experiment does not state
    leaves its runs as they are. Raises ConfigurationError for an unknown factor or level, or if no run is left.
    """
    chosen = _chosen([experiment for side in sides for experiment in side.experiments.values()], wanted)
    return tuple(_narrowed(side, chosen) for side in sides)


def _chosen(experiments: Sequence[Experiment], wanted: Iterable[str]) -> dict[str, set[str]]:
    chosen: dict[str, set[str]] = {}
    for text in wanted:
        factor, _, level = text.partition("=")
        factors = sorted({name for experiment in experiments for name in experiment.factors})
        if factor not in factors:
            raise ConfigurationError(
                f"--only {text}: no data set has a factor {factor!r}", next_step=suggestion(factor, factors)
            )
        levels = list(dict.fromkeys(name for experiment in experiments for name in experiment.factors.get(factor, ())))
        if level not in levels:
            raise ConfigurationError(
                f"--only {text}: no data set has this level of {factor}", next_step=f"there are: {', '.join(levels)}"
            )
        chosen.setdefault(factor, set()).add(level)
    return chosen


def _narrowed(side: Side, chosen: Mapping[str, set[str]]) -> Side:
    def is_chosen(run: TidyRun) -> bool:
        return all(run.levels.get(factor) in (None, *levels) for factor, levels in chosen.items())

    kept = only_runs(side.experiments, is_chosen)
    if side.experiments and not kept:
        raise ConfigurationError(f"--only: {side.name} has no run at these levels")
    return replace(side, experiments=kept)
