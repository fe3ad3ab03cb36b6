"""A self-contained HTML page that requests no other file and runs no script: its frame, tables, charts, origin.

`replay compare` and `replay report` write such pages. Whatever text comes in is escaped here. Pure but for
`document` and `write_page`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

from replay.base.errors import ConfigurationError
from replay.base.paths import program_file, version
from replay.base.tables import level_text, write_if_changed

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
#: The class of a column of figures.
NUMBER = "number"


class Column(NamedTuple):
    """A column of a table: its heading and its texts. `kind` is the class of all its cells, `kinds` that of each."""

    heading: str
    texts: Sequence[str]
    kind: str = ""
    kinds: Sequence[str] = ()


def is_device(path: Path) -> bool:
    """Return whether a file that a person named is one such as /dev/stdout, which must never be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_page(path: Path, text: str) -> None:
    """Write a page if it changes. Raises ConfigurationError if that is not possible."""
    try:
        if is_device(path):
            path.write_text(text, encoding="utf-8")
        else:
            write_if_changed(path, text)
    except OSError as error:
        raise ConfigurationError(
            f"the report cannot be written: {error.strerror or error}",
            where=path,
            next_step="name a file in a folder that you may write to",
        ) from error


def document(title: str, parts: Iterable[str]) -> str:
    """Return the whole page. `parts` are its HTML below the title."""
    style = program_file("templates", "page.css").read_text()
    body = [f"<h1>{escape(title)}</h1>", *parts, f"<footer><p>Made by Replay {escape(version())}.</p></footer>"]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph; "" if there is nothing to say."""
    return f"<p{class_of(kind)}>{escape(text)}</p>" if text else ""


def bullets(lines: Iterable[str]) -> str:
    """Return a list; "" if it has no lines."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def section(title: str, *parts: str, level: int = 2) -> str:
    """Return a heading with what is below it; "" if nothing is."""
    return "\n".join([f"<h{level}>{escape(title)}</h{level}>", *parts]) if any(parts) else ""


def scrolled(inner: str, label: str) -> str:
    """Return a wide element in a box that scrolls by itself, also by keyboard."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">{inner}</div>'


def table(columns: Sequence[Column], caption: str, label: str = "", *, stacked: bool = False) -> str:
    """Return a table whose first column heads its rows. `label` names it where several have one caption.

    With `stacked`, for columns of sentences, the cells of a row stand below each other where the page is narrow.
    """
    head = "".join(f'<th scope="col"{class_of(column.kind)}>{escape(column.heading)}</th>' for column in columns)
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
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def words(name: str) -> str:
    """Return the name of a column or key as words."""
    return name.replace("_", " ")


def origin(name: str, facts: Mapping[str, Any]) -> str:
    """Return the table of where a data set's figures come from. `facts` are those of `compare_text.provenance`."""
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
        return "; ".join(f"{words(str(key))}: {_value(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return "" if value is False else level_text(value)


# Marks in rows on one axis -------------------------------------------------------------------------------------------

#: Kinds of marks: a filled dot, a ring, a stroke for one run, a diamond; another class behind it colours a diamond.
DOT, RING, STROKE, DIAMOND = "dot", "ring", "stroke", "diamond"
#: An axis that begins at 0, has powers of ten, or has the same ratios above and below 1.
Axis = Literal["linear", "logarithmic", "around 1"]
#: The marks keep this distance from the ends of the axis, in per cent.
_EDGE = 2.0
_MOST_TICKS = 4
#: Where an axis around 1 may end.
_RATIOS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 5.0, 10.0, 100.0, 1e3, 1e6, 1e12, 1e300)
#: Where a line of marks lies, and how high it is, in pixels; the style sheet has the height as well.
_MIDDLE, _HEIGHT = 12, 24


class Row(NamedTuple):
    """A row: its name, its figures in words, its marks (value, kind), and between which values there is a line.

    `shown` says what its marks show, for those who do not see them.
    """

    label: str
    said: str
    marks: Sequence[tuple[float, str]]
    line: Sequence[float] = ()
    shown: str = ""


def strip(rows: Sequence[Row], title: str, key: str, written: Callable[[float], str], axis: Axis) -> str:
    """Return a chart of marks in rows: each has a name, its figures in words, and a line with its marks.

    It is as wide as the page, at any width: positions are per cents, and the words are the page's own text. `key` says
    what the marks mean, `written` writes a value at the axis. Around 1 there is a line at 1, in the middle.
    """
    values = [*(value for row in rows for value, _ in row.marks), *(end for row in rows for end in row.line)]
    ticks = ratios(values) if axis == "around 1" else _decades(values) if axis == "logarithmic" else _steps(max(values))
    scale = float if axis == "linear" else math.log
    low, high = scale(ticks[0]), scale(ticks[-1])

    def at(value: float) -> float:
        # The bound of a ratio may be 0, which no logarithmic axis has.
        part = (scale(min(max(value, ticks[0]), ticks[-1])) - low) / (high - low)
        return _EDGE + (100 - 2 * _EDGE) * part

    grid = "".join(
        f'<line class="{"one" if axis == "around 1" and tick == 1 else "grid"}" '
        f'x1="{at(tick):.2f}%" y1="0" x2="{at(tick):.2f}%" y2="{_HEIGHT}"/>'
        for tick in ticks
    )
    lines = "".join(
        f'<div class="row"><span>{escape(row.label)}</span><span class="said">{escape(row.said)}</span>'
        f"<svg>{grid}{_marks(row, at)}</svg></div>"
        for row in rows
    )
    names = "".join(
        f'<text class="axis" x="{at(tick):.2f}%" y="14" text-anchor="{_anchor(at(tick))}">{escape(name)}</text>'
        for tick in _thinned(ticks)
        for name in [written(tick).replace(".0 ", " ")]  # a tick is a round number
    )
    description = "; ".join(f"{row.label}: {', '.join(filter(None, (row.said, row.shown)))}" for row in rows)
    return (
        f'<figure class="strip"><figcaption>{escape(key)}</figcaption>'
        f'<div role="img" aria-label="{escape(f"{title}. {description}")}">{lines}'
        f'<div class="row"><svg>{names}</svg></div></div></figure>'
    )


def _marks(row: Row, at: Callable[[float], float]) -> str:
    parts = []
    if row.line:
        ends = [at(value) for value in row.line]
        line = f'x1="{min(ends):.2f}%" y1="{_MIDDLE}" x2="{max(ends):.2f}%" y2="{_MIDDLE}"'
        parts.append(f'<line class="joined" {line}/>')
    for value, kind in row.marks:
        x = f"{at(value):.2f}%"
        if kind == STROKE:
            parts.append(f'<line class="stroke" x1="{x}" y1="{_MIDDLE - 8}" x2="{x}" y2="{_MIDDLE + 8}"/>')
        elif kind.startswith(DIAMOND):  # the style sheet turns the square about its middle, and moves it there
            parts.append(f'<rect class="{kind}" x="{x}" y="{_MIDDLE - 5}" width="10" height="10"/>')
        else:
            parts.append(f'<circle class="{kind}" cx="{x}" cy="{_MIDDLE}" r="6"/>')
    return "".join(parts)


def _anchor(percent: float) -> str:
    return "start" if percent < 10 else "end" if percent > 90 else "middle"


def _decades(values: Sequence[float]) -> list[float]:
    """Return 1, 2, 5, 10, … from the last one that is not above any value to the first one not below any."""
    lowest, highest = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = [digit * 10.0**power for power in range(lowest, highest + 1) for digit in (1, 2, 5)]
    first = max(step for step in steps if step <= min(values) * (1 + 1e-9))
    last = min(step for step in steps if step >= max(values) * (1 - 1e-9) and step > first)
    return [step for step in steps if first <= step <= last]


def ratios(values: Sequence[float]) -> list[float]:
    """Return 1 and the same ratios above and below it, up to the first ones beyond which no value lies."""
    farthest = max(max(value, 1 / value) for value in values if value > 0)
    end = next((place for place, ratio in enumerate(_RATIOS) if ratio >= farthest), len(_RATIOS) - 1)
    above = _RATIOS[max(0, end - 1) : end + 1]
    return [*(1 / ratio for ratio in reversed(above)), 1.0, *above]


def _steps(largest: float) -> list[float]:
    """Return 0 and equal steps up to the first one that is not below a value, four at most."""
    if largest <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(step for step in (power / 5, power / 2, power, 2 * power, 5 * power) if largest <= 4 * step)
    return [step * number for number in range(math.ceil(largest / step - 1e-9) + 1)]


def _thinned(ticks: Sequence[float]) -> Sequence[float]:
    """Return the ticks that are named: every one, every second one, … of them."""
    while len(ticks) > _MOST_TICKS:
        ticks = ticks[::2]
    return ticks


# Lines over time -----------------------------------------------------------------------------------------------------

_WIDTH, _DEEP, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 220, 80, 170, 12, 34
#: Names of lines keep this distance, and only so many lines are told apart by their dashes.
_NAME_HEIGHT, _DASHES = 16, 6
_LETTERS = 24


def over_time(title: str, table: Any, written: Callable[[float], str]) -> str:
    """Return the SVG of a chart over time. `written` writes a value at the axis.

    `table` is one of pandas, with the columns `series, x, y, low, high`, `x` in seconds.
    """
    down, across = _steps(float(table["high"].max())), _steps(float(table["x"].max()))
    left, right, top, bottom = _LEFT, _WIDTH - _RIGHT, _TOP, _DEEP - _BOTTOM

    def x(value: float) -> float:
        return left + (right - left) * value / across[-1]

    def y(value: float) -> float:
        return bottom - (bottom - top) * value / down[-1]

    parts = [
        f'<line class="grid" x1="{left}" y1="{y(tick):.1f}" x2="{right}" y2="{y(tick):.1f}"/>'
        f'<text class="axis" x="{left - 8}" y="{y(tick) + 4.5:.1f}" text-anchor="end">{escape(written(tick))}</text>'
        for tick in down
    ]
    parts += [
        f'<text class="axis" x="{x(tick):.1f}" y="{bottom + 20}" text-anchor="middle">{tick:g} s</text>'
        for tick in _thinned(across)
    ]
    lines = list(table.groupby("series", sort=False))
    for number, (_, points) in enumerate(lines):
        upper = [f"{x(point.x):.1f},{y(point.high):.1f}" for point in points.itertuples()]
        lower = [f"{x(point.x):.1f},{y(point.low):.1f}" for point in points.iloc[::-1].itertuples()]
        middle = [f"{x(point.x):.1f},{y(point.y):.1f}" for point in points.itertuples()]
        parts.append(f'<polygon class="band" points="{" ".join(upper + lower)}"/>')
        parts.append(f'<polyline class="line line-{number % _DASHES}" points="{" ".join(middle)}"/>')
    ends = [y(float(points["y"].iloc[-1])) for _, points in lines]
    for number, ((series, _), end, at) in enumerate(zip(lines, ends, _apart(ends), strict=True)):
        name = shortened(str(series), _LETTERS)
        parts.append(
            f'<path class="line line-{number % _DASHES}" d="M{right + 4} {end:.1f}L{right + 16} {at:.1f}"/>'
            f'<text x="{right + 20}" y="{at + 4.5:.1f}">{escape(name)}</text>'
        )
    description = "; ".join(
        f"{series}: {written(float(points['y'].min()))} to {written(float(points['y'].max()))}"
        for series, points in lines
    )
    label = escape(f"{title}. {description}")
    svg = f'<svg role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_DEEP}">{"".join(parts)}</svg>'
    return section(title, scrolled(svg, f"Chart: {title}"), level=3)


def _apart(ends: list[float]) -> list[float]:
    """Return where the names of lines stand: as near to the ends of their lines as there is room."""
    order = sorted(range(len(ends)), key=ends.__getitem__)
    down = (ends[number] for number in order)
    placed = list(itertools.accumulate(down, lambda last, end: max(end, last + _NAME_HEIGHT)))
    # What went below the chart goes up again, and pushes the others.
    lowest = float(_DEEP - _BOTTOM)
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], lowest)
        lowest = placed[place] - _NAME_HEIGHT
    return [placed[order.index(number)] for number in range(len(ends))]
