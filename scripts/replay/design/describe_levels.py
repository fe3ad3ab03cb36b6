"""The table of levels in docs/experiments.md: which levels and variants each scale measures, unless it is all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from replay.design.design import Design
from replay.design.expansion import expand
from replay.design.experiments import experiment_names, load_experiment

SCALES = ("quick", "talk")
ALL, NOT_THERE = "all", "\N{EN DASH}"


def levels_table() -> str:
    """Return the table of all experiments, as Markdown."""
    rows = [
        ("experiment", "what", *SCALES),
        *(line for name in experiment_names() for line in lines_of(load_experiment(name))),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:], ""])


def _level(factor: str, level: Any) -> str:
    if not factor.endswith("_bytes"):
        return str(level)
    mebibytes, rest = divmod(level, 1 << 20)
    return f"{level >> 10}K" if rest else f"{mebibytes}M"


def _levels(factor: str, levels: Sequence[Any], of: Sequence[Any]) -> str:
    """Return levels as the table writes them: `all` if none of `of` is missing."""
    return ALL if list(levels) == list(of) else ", ".join(_level(factor, one) for one in levels)


def _levels_of(design: Design, variant: str, factor: str) -> list[Any]:
    """Return the levels that a variant is measured at, in the order of the design."""
    found = {one.levels[factor] for one in design.sets for cell in one.cells if cell.variant.name == variant}
    return [level for level in design.factors[factor] if level in found]


def _combined(designs: Sequence[Design], variant: str) -> tuple[str, ...] | None:
    """Return the combinations of levels that each scale measures a variant at, None if all scales measure all."""
    told = []
    for design in designs:
        points = [one for one in design.sets if any(cell.variant.name == variant for cell in one.cells)]
        factors = [name for name in design.factors if len({one.levels[name] for one in points}) > 1]
        found = {tuple(_level(name, one.levels[name]) for name in factors): None for one in points}
        every = math.prod(len({one.levels[name] for one in points}) for name in factors)
        product = ALL if points else NOT_THERE
        told.append(product if len(points) == every or not points else ", ".join(" at ".join(one) for one in found))
    return None if {*told} <= {ALL, NOT_THERE} else tuple(told)


def lines_of(configuration: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return an experiment's rows: the variants of each scale, its levels, and the levels and cells of each variant.

    A row is (experiment, what, quick, talk). Rows in which no scale leaves anything out are omitted.
    """
    designs = [expand(configuration, scale) for scale in SCALES]
    variants = [one["name"] for one in configuration["variants"]]
    there = [[one.name for one in design.variants] for design in designs]
    lines = [("variants", *(ALL if names == variants else ", ".join(f"`{name}`" for name in names) for names in there))]
    for factor, declared in configuration["factors"].items():
        lines.append((f"`{factor}`", *(_levels(factor, design.factors[factor], declared) for design in designs)))
    for factor in configuration["factors"]:
        alike: dict[tuple[str, ...], list[str]] = {}
        for name in variants:
            cells = tuple(
                _levels(factor, _levels_of(design, name, factor), design.factors[factor])
                if any(one.name == name for one in design.variants)
                else NOT_THERE
                for design in designs
            )
            alike.setdefault(cells, []).append(f"`{name}`")
        lines += [(f"`{factor}` of {', '.join(names)}", *cells) for cells, names in alike.items()]
    lines += [(f"cells of `{name}`", *cells) for name in variants if (cells := _combined(designs, name)) is not None]
    return [(f"`{configuration['name']}`", *line) for line in lines if not {*line[1:]} <= {ALL, NOT_THERE}]
