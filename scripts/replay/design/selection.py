"""Part of a design: the sets at some levels alone, as `--only FACTOR=LEVEL` asks for them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.invocation import did_you_mean
from replay.design.design import CellSet, Design


def narrowed(design: Design, wanted: Iterable[str]) -> Design:
    """Return the design with only the sets at the wanted levels, each `FACTOR=LEVEL`; the others are left out.

    Levels of one factor are alternatives; several factors all have to fit. Without any, the design stays as it is.
    Raises ConfigurationError if there is no such factor or level, or no set at these levels.
    """
    chosen = _levels(design, wanted)
    if not chosen or not design.sets:
        return design
    kept = tuple(one for one in design.sets if _fits(one, chosen))
    if not kept:
        raise ConfigurationError(f"{design.name} has no set at these levels", where=_option(wanted))
    return replace(design, sets=kept, left_out=tuple(one for one in design.sets if one not in kept))


def _fits(one: CellSet, chosen: Mapping[str, list[Any]]) -> bool:
    return all(one.levels.get(factor) in levels for factor, levels in chosen.items())


def _levels(design: Design, wanted: Iterable[str]) -> dict[str, list[Any]]:
    """Return the wanted levels by factor, as the design writes them."""
    chosen: dict[str, list[Any]] = {}
    for text in wanted:
        factor, _, level = text.partition("=")
        if factor not in design.factors:
            raise ConfigurationError(
                f"{design.name} has no factor {factor!r}; its factors are {', '.join(design.factors)}",
                where=_option([text]),
                next_step=did_you_mean(factor, list(design.factors)),
            )
        known = {str(one): one for one in design.factors[factor]}
        if level not in known:
            raise ConfigurationError(
                f"{design.name} has no level {level!r} of {factor} at scale {design.scale}; it has {', '.join(known)}",
                where=_option([text]),
                next_step=f"add it to the factor, or to the scale, in config/experiments/{design.name}.yaml",
            )
        chosen.setdefault(factor, []).append(known[level])
    return chosen


def _option(wanted: Iterable[str]) -> str:
    return " ".join(f"--only {one}" for one in wanted)
