"""Writes two parts of the docs: the list of protocols, from the procedures' declarations, and the table of levels.

`python -m replay.design.describe` rewrites the text between the two marks of each part.
"""

from __future__ import annotations

import sys
from typing import Any

from replay.base.paths import ROOT
from replay.design.describe_levels import levels_table
from replay.design.needs import REQUIRED, Factor, Option, protocol_class, protocol_names

PAGE = ROOT / "docs" / "adding-an-experiment.md"
LEVELS_PAGE = ROOT / "docs" / "experiments.md"
BEGIN, END = "<!-- {part}: written by `python -m replay.design.describe` -->", "<!-- end of {part} -->"
_KINDS = {"never": "no mirrored variants", "always": "mirrored variants only"}


def describe() -> str:
    """Return every protocol with its factors, options and programs, as Markdown."""
    return "\n".join(_describe(name) for name in protocol_names())


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


if __name__ == "__main__":
    sys.exit(main())
