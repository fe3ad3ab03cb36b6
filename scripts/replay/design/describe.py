"""Writes the list of protocols in docs/adding-an-experiment.md from their declarations.

`python -m replay.design.describe` rewrites the text between the page's two marks.
"""

from __future__ import annotations

import sys
from typing import Any

from replay.base.paths import ROOT
from replay.design.needs import REQUIRED, Factor, Option, protocol_class, protocol_names

PAGE = ROOT / "docs" / "adding-an-experiment.md"
BEGIN, END = "<!-- protocols: written by `python -m replay.design.describe` -->", "<!-- end of protocols -->"
_MIRRORING = {"never": "It has no mirrored variants.", "always": "It has mirrored variants only."}


def protocols_text() -> str:
    """Return every protocol with its factors, options and programs, as Markdown."""
    return "\n".join(_protocol(name) for name in protocol_names())


def with_protocols(page: str) -> str:
    """Return the page with a new list of protocols. Raises ValueError if it lacks a mark."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{protocols_text()}\n{END}{after}"


def main() -> int:
    """Rewrite the page."""
    PAGE.write_text(with_protocols(PAGE.read_text()))
    return 0


def _protocol(name: str) -> str:
    protocol = protocol_class(name)
    needs = protocol.needs
    tools = " or ".join(f"`{tool}`" for tool in needs.tools) or "any tool that takes the number of bytes to transfer"
    programs = ", ".join(f"`{program}`" for program in needs.programs)
    if needs.programs_elsewhere:
        elsewhere = ", ".join(f"`{program}`" for program in needs.programs_elsewhere)
        programs += f"; with clients on other hosts also {elsewhere}"
    lines = [
        f"### {name}",
        "",
        (protocol.__doc__ or "").strip().splitlines()[0],
        "",
        f"Tool: {tools}.",
        f"Programs: {programs}.",
        *([_MIRRORING[needs.mirroring]] if needs.mirroring in _MIRRORING else []),
        "",
        "| level or option | of what | default | meaning |",
        "|---|---|---|---|",
        *map(_factor, needs.factors),
        *map(_option, needs.options),
    ]
    return "\n".join([*lines, ""])


def _factor(factor: Factor) -> str:
    words = ", ".join(f"`{word}`" for word in factor.words) or "level"
    return _row(factor.name, words, "required" if factor.required else "", factor.meaning)


def _option(option: Option) -> str:
    kind = option.kind if not option.unit else f"{option.kind}, {option.unit}"
    default = "required" if option.default is REQUIRED else _value(option.default)
    place = "option or level" if option.varies else "option"
    return _row(option.name, f"{place}: {kind}", default, option.meaning)


def _value(value: Any) -> str:
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`" if value != "" else "none"


def _row(*cells: str) -> str:
    return f"| `{cells[0]}` | {' | '.join(cells[1:])} |"


if __name__ == "__main__":
    sys.exit(main())
