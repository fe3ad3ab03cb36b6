"""Writes two parts of the docs: the list of protocols, from their declarations, and the table of levels and variants.

`python -m replay.design.describe` rewrites the text between the two marks of each part.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from replay.base.paths import ROOT
from replay.design.configuration import experiment_names, load_experiment
from replay.design.design import Design
from replay.design.expansion import expand
from replay.design.needs import REQUIRED, Factor, Option, protocol_class, protocol_names

PAGE = ROOT / "docs" / "adding-an-experiment.md"
LEVELS_PAGE = ROOT / "docs" / "experiments.md"
BEGIN, END = "<!-- {part}: written by `python -m replay.design.describe` -->", "<!-- end of {part} -->"
_KINDS = {"never": "no mirrored variants", "always": "mirrored variants only"}


def describe() -> str:
    """Return every protocol with its factors, options and programs, as Markdown."""
    return "\n".join(_describe(name) for name in protocol_names())


def _describe(name: str) -> str:
    protocol = protocol_class(name)
    needs = protocol.needs
    first = (protocol.__doc__ or "").strip().splitlines()[0]
    tools = " or ".join(f"`{tool}`" for tool in needs.tools) or "any tool that takes the number of bytes to transfer"
    said = [f"Tool: {tools}.", f"Programs: {', '.join(f'`{one}`' for one in needs.programs)}"]
    if needs.programs_elsewhere:
        elsewhere = ", ".join(f"`{one}`" for one in needs.programs_elsewhere)
        said[-1] += f"; with clients on other hosts also {elsewhere}"
    said[-1] += "."
    if needs.mirroring in _KINDS:
        said.append(f"It has {_KINDS[needs.mirroring]}.")
    lines = [
        f"### {name}",
        "",
        first,
        "",
        *said,
        "",
        "| level or option | of what | default | meaning |",
        "|---|---|---|---|",
    ]
    lines += [_factor(one) for one in needs.factors] + [_option(one) for one in needs.options]
    return "\n".join([*lines, ""])


def _factor(one: Factor) -> str:
    words = ", ".join(f"`{word}`" for word in one.words) or "level"
    return _row(one.name, words, "required" if one.required else "", one.meaning)


def _option(one: Option) -> str:
    kind = one.kind if not one.unit else f"{one.kind}, {one.unit}"
    default = "required" if one.default is REQUIRED else _text(one.default)
    can = "option or level" if one.varies else "option"
    return _row(one.name, f"{can}: {kind}", default, one.meaning)


def _text(value: Any) -> str:
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`" if value != "" else "none"


def _row(*cells: str) -> str:
    return f"| `{cells[0]}` | {' | '.join(cells[1:])} |"


SHOWN_SCALES = ("quick", "talk")
ALL, NOT_THERE = "all", "\N{EN DASH}"


def levels_table() -> str:
    """Return the table of all experiments, as Markdown."""
    rows = [
        ("experiment", "what", *SHOWN_SCALES),
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
    designs = [expand(configuration, scale) for scale in SHOWN_SCALES]
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


#: The parts: the page, the part's name in the marks, the function that returns its text.
PARTS = ((PAGE, "protocols", describe), (LEVELS_PAGE, "levels", levels_table))


def replaced(page: str, part: str, text: str) -> str:
    """Return a page with the new text of a part. Raises ValueError if the page lacks a mark."""
    begin, end = BEGIN.format(part=part), END.format(part=part)
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n\n{text}\n{end}{after}"


def main() -> int:
    """Rewrite the pages."""
    for page, part, text in PARTS:
        page.write_text(replaced(page.read_text(), part, text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
