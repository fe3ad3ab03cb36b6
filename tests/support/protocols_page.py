"""Writes the two tables of protocols in docs/adding-an-experiment.md from the protocols' declarations.

`python tests/support/protocols_page.py` rewrites the text between the page's two marks.
"""

from __future__ import annotations

import sys
from typing import Any

from replay.base.paths import ROOT
from replay.design.needs import REQUIRED, Factor, Option, protocol_class, protocol_names

PAGE = ROOT / "docs" / "adding-an-experiment.md"
BEGIN, END = "<!-- protocols: written by `python tests/support/protocols_page.py` -->", "<!-- end of protocols -->"
_MIRRORING = {"never": "; no mirrored variants", "always": "; mirrored variants only"}


def protocols_text() -> str:
    """Return a table of the protocols, and one of all levels and options, as Markdown."""
    protocols = [_row(f"`{name}`", *_protocol(name)) for name in protocol_names()]
    declared = [
        row
        for name in protocol_names()
        for needs in [protocol_class(name).needs]
        for row in [*map(_factor, needs.factors), *map(_option, needs.options)]
    ]
    return "\n".join(
        [
            _row("protocol", "what it does", "tool, programs", "levels and options"),
            "|---|---|---|---|",
            *protocols,
            "",
            _row("level or option", "of what", "meaning"),
            "|---|---|---|",
            *sorted(set(declared)),
            "",
        ]
    )


def with_protocols(page: str) -> str:
    """Return the page with new tables. Raises ValueError if it lacks a mark."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{protocols_text()}\n{END}{after}"


def main() -> int:
    """Rewrite the page."""
    PAGE.write_text(with_protocols(PAGE.read_text()))
    return 0


def _protocol(name: str) -> tuple[str, str, str]:
    protocol = protocol_class(name)
    needs = protocol.needs
    tools = " or ".join(f"`{tool}`" for tool in needs.tools) or "any tool sized in bytes"
    programs = " ".join(f"`{program}`" for program in (*needs.programs, *needs.programs_elsewhere))
    names = [f"**`{factor.name}`**" if factor.required else f"`{factor.name}`" for factor in needs.factors]
    names += [f"**`{option.name}`**" if option.default is REQUIRED else f"`{option.name}`" for option in needs.options]
    what = (protocol.__doc__ or "").strip().splitlines()[0]
    return what, f"{tools}: {programs}{_MIRRORING.get(needs.mirroring, '')}", ", ".join(names)


def _factor(factor: Factor) -> str:
    place = ", ".join(f"`{word}`" for word in factor.words) or "level"
    return _row(f"`{factor.name}`", place + ("; of variants" if factor.of_variants else ""), factor.meaning)


def _option(option: Option) -> str:
    place = "option or level" if option.varies else "option"
    unit = f", {option.unit}" if option.unit else ""
    default = "" if option.default is REQUIRED else f"; default {_value(option.default)}"
    return _row(f"`{option.name}`", f"{place}: {option.kind.removeprefix('a ')}{unit}{default}", option.meaning)


def _value(value: Any) -> str:
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`" if value != "" else "none"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
