"""What of the data sets is compared: experiments, also such of different names, and the points at some levels. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from replay.base.errors import ConfigurationError
from replay.base.invocation import suggestion
from replay.exchange.compare.model import Experiment, Side

#: An experiment of the first data set, and the one of the others that it is compared with.
Pair = tuple[str, str]


def wanted_of(pairs: Sequence[Pair], *, first: bool) -> list[str]:
    """Return the experiments that the first data set, or the others, are asked for; none means all."""
    return [pair[0 if first else 1] for pair in pairs]


def paired_up(sides: Sequence[Side], pairs: Sequence[Pair]) -> tuple[Side, ...]:
    """Return the sides with their experiments under the names of the comparison, `second ÷ first` if they differ.

    Without pairs the sides stay as they are. Raises ConfigurationError for an experiment that no data set has.
    """
    if not pairs:
        return tuple(sides)
    known = [set(sides[0].manifest["experiments"]), {name for one in sides[1:] for name in one.manifest["experiments"]}]
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
    names = {one if one == other else f"{other} ÷ {one}": (one, other)[place] for one, other in pairs}
    return replace(
        side, experiments={name: side.experiments[own] for name, own in names.items() if own in side.experiments}
    )


def at_levels(sides: Sequence[Side], wanted: Iterable[str]) -> tuple[Side, ...]:
    """Return the sides with only the runs at the wanted levels, each `FACTOR=LEVEL`.

    Levels of one factor are alternatives; several factors all have to fit. A factor that an experiment does not state
    leaves its runs as they are. Raises ConfigurationError for an unknown factor or level, or if no run is left.
    """
    chosen = _chosen([one for side in sides for one in side.experiments.values()], wanted)
    if not chosen:
        return tuple(sides)
    return tuple(_narrowed(side, chosen) for side in sides)


def _chosen(experiments: Sequence[Experiment], wanted: Iterable[str]) -> dict[str, set[str]]:
    chosen: dict[str, set[str]] = {}
    for text in wanted:
        factor, _, level = text.partition("=")
        factors = sorted({name for one in experiments for name in one.factors})
        if factor not in factors:
            raise ConfigurationError(
                f"--only {text}: no data set has a factor {factor!r}", next_step=suggestion(factor, factors)
            )
        levels = list(dict.fromkeys(name for one in experiments for name in one.factors.get(factor, ())))
        if level not in levels:
            raise ConfigurationError(
                f"--only {text}: no data set has this level of {factor}", next_step=f"there are: {', '.join(levels)}"
            )
        chosen.setdefault(factor, set()).add(level)
    return chosen


def _narrowed(side: Side, chosen: Mapping[str, set[str]]) -> Side:
    kept = {}
    for name, one in side.experiments.items():
        runs = tuple(
            run
            for run in one.runs
            if all(run.levels.get(factor) in (None, *levels) for factor, levels in chosen.items())
        )
        if runs:
            kept[name] = replace(one, runs=runs)
    if side.experiments and not kept:
        raise ConfigurationError(f"--only: {side.name} has no run at these levels")
    return replace(side, experiments=kept)
