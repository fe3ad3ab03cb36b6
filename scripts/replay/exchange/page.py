"""A self-contained HTML page that requests no other file and runs no script: its frame, its tables, its origin.

`replay compare` and `replay report` write such pages. Whatever text comes in is escaped here. Pure but for
`style_sheet` and `write_page`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from replay.base.errors import ConfigurationError
from replay.base.paths import number_text, program_file, write_if_changed

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
#: The class of a column of figures.
NUMBER = "number"


class Column(NamedTuple):
    """A column of a table: its heading and its texts. `kind` is the class of all its cells, `kinds` that of each."""

    heading: str
    texts: Sequence[str]
    kind: str = ""
    kinds: Sequence[str] = ()


def style_sheet() -> str:
    """Return the CSS of all pages."""
    return program_file("templates", "page.css").read_text()


def write_page(path: Path, text: str) -> None:
    """Write a page if it changes. Raises ConfigurationError if that is not possible."""
    try:
        write_if_changed(path, text)
    except OSError as error:
        raise ConfigurationError(
            f"the report cannot be written: {error.strerror or error}",
            where=path,
            next_step="name a file in a folder that you may write to",
        ) from error


def document(title: str, parts: Iterable[str], style: str, version: str) -> str:
    """Return the whole page. `parts` are its HTML below the title, `style` is its CSS, `version` that of Replay."""
    body = [f"<h1>{escape(title)}</h1>", *parts, f"<footer><p>Made by Replay {escape(version)}.</p></footer>"]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def heading(text: str, level: int = 2) -> str:
    """Return a heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph; "" if there is nothing to say."""
    return f"<p{class_of(kind)}>{escape(text)}</p>" if text else ""


def bullets(lines: Iterable[str]) -> str:
    """Return a list."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def scrolled(inner: str, label: str) -> str:
    """Return a wide element in a box that scrolls by itself, also by keyboard."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">{inner}</div>'


def table(columns: Sequence[Column], caption: str, label: str = "", *, stacked: bool = False) -> str:
    """Return a table whose first column heads its rows. `label` names it where several have one caption.

    With `stacked`, for columns of sentences, the cells of a row stand below each other where the page is narrow.
    """
    head = "".join(f'<th scope="col"{class_of(one.kind)}>{escape(one.heading)}</th>' for one in columns)
    rows = "".join(_row(columns, number) for number in range(len(columns[0].texts)))
    body = f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return scrolled(f"<table{class_of('stacked' if stacked else '')}>{body}</table>", f"Table: {label or caption}")


def _row(columns: Sequence[Column], number: int) -> str:
    cells = []
    for place, column in enumerate(columns):
        tag = "td" if place else 'th scope="row"'
        kind = column.kinds[number] if column.kinds else column.kind
        cells.append(f"<{tag}{class_of(kind)}>{escape(column.texts[number])}</{tag.partition(' ')[0]}>")
    return f"<tr>{''.join(cells)}</tr>"


def class_of(name: str) -> str:
    """Return the attribute for a class; "" for none."""
    return f' class="{name}"' if name else ""


def shortened(text: str, letters: int) -> str:
    """Return a text of at most so many letters."""
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def words(name: str) -> str:
    """Return the name of a column or key as words."""
    return name.replace("_", " ")


def origin(name: str, facts: Mapping[str, Any]) -> str:
    """Return the table of where a data set's figures come from. `facts` are those of `output.provenance`."""
    tables = facts["tables"]
    rows = [(key, text) for key, value in facts.items() if key != "tables" and (text := _value(value))]
    rows += [(path, f"SHA-256 {digest}") for path, digest in tables.items()]
    body = "".join(
        f'<tr><th scope="row">{escape(words(key))}</th><td><code>{escape(text)}</code></td></tr>' for key, text in rows
    )
    text = f"<table><caption>{escape(name)}</caption><tbody>{body}</tbody></table>"
    return scrolled(text, f"Provenance of {name}")


def _value(value: Any) -> str:
    """Return a fact as text; empty for unknown facts, and for those that do not hold, such as `altered` usually."""
    if isinstance(value, dict):
        return "; ".join(f"{words(str(key))}: {_value(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if value is None or value is False:
        return ""
    return number_text(value) if isinstance(value, int | float) else str(value)
