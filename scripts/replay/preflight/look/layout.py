"""What `replay look` prints: sections of rows. What stands out has a `!`, not only a colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.text import Text

from replay.base.terminal import console_of, is_terminal, print_columns

_MARK_WIDTH, _HEADING_WIDTH = 2, 12


@dataclass(frozen=True)
class Row:
    """A line below a section's title: its heading, empty where it continues the last one, and its text."""

    heading: str
    text: str
    stands_out: bool = False


@dataclass(frozen=True)
class Section:
    """A title and its rows."""

    title: str
    rows: list[Row] = field(default_factory=list)


def render(sections: Iterable[Section]) -> str:
    """Return sections as plain text."""
    lines = []
    for section in sections:
        lines += ["", section.title]
        for row in section.rows:
            mark = "!" if row.stands_out else ""
            lines.append(f"{mark:<{_MARK_WIDTH}}{row.heading:<{_HEADING_WIDTH}}{row.text}".rstrip())
    return "\n".join(lines)


def show(sections: Sequence[Section], stream: TextIO) -> None:
    """Print sections: in colours and in the terminal's width on a terminal, else like `render`."""
    if not is_terminal(stream):
        print(render(sections), file=stream)
        return
    console = console_of(stream)
    for section in sections:
        console.print(Text(f"\n{section.title}", style="bold"), soft_wrap=True)
        rows = [
            (
                Text("!" if row.stands_out else "", style="bold yellow"),
                row.heading,
                Text(row.text, style="yellow" if row.stands_out else ""),
            )
            for row in section.rows
        ]
        print_columns(console, rows, widths=(_MARK_WIDTH, _HEADING_WIDTH))


def columns(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Return rows of cells as lines of aligned columns, those named in `right` to the right."""
    widths = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))] if rows else []
    aligned = set(right)
    return [
        "  ".join(
            f"{cell:>{width}}" if number in aligned else f"{cell:<{width}}"
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
