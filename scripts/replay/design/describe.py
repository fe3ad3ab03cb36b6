"""Writes the list of protocols in docs/adding-an-experiment.md from the procedures' declarations.

`python -m replay.design.describe` rewrites the part of the page between its two marks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from replay.base.paths import ROOT
from replay.design.needs import REQUIRED, Factor, Option
from replay.design.procedures import protocol_class, protocol_names

PAGE = ROOT / "docs" / "adding-an-experiment.md"
BEGIN, END = "<!-- protocols: written by `python -m replay.design.describe` -->", "<!-- end of protocols -->"
_KINDS = {"never": "no mirrored variants", "always": "mirrored variants only"}


def describe() -> str:
    """Return every protocol with its factors, options and programs, as Markdown."""
    return "\n".join(_describe(name) for name in protocol_names())


def replaced(page: str) -> str:
    """Return the page with an updated list. Raises ValueError if the page lacks a mark."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{describe()}\n{END}{after}"


def main() -> int:
    """Rewrite the page."""
    Path(PAGE).write_text(replaced(PAGE.read_text()))
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
