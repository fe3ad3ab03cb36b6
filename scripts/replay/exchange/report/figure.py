"""The report's charts: marks in rows on one axis, and lines over time. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from replay.exchange.page import heading, scrolled, shortened
from replay.exchange.report.words import bytes_per_second, per_second, seconds

#: Kinds of marks: a filled dot, a ring, a stroke for one run among many, a diamond.
DOT, RING, STROKE, DIAMOND = "dot", "ring", "stroke", "diamond"
#: The marks keep this distance from the ends of the axis, in per cent.
_EDGE = 2.0
_MOST_TICKS = 4
#: Where a line of marks lies, and how high it is, in pixels; the style sheet has the height as well.
_MIDDLE, _HEIGHT = 12, 24


class Row(NamedTuple):
    """A row: its name, its figures in words, its marks (value, kind), and whether a line joins them."""

    label: str
    said: str
    marks: Sequence[tuple[float, str]]
    joined: bool = False


def strip(rows: Sequence[Row], title: str, key: str, words: Callable[[float], str], *, logarithmic: bool) -> str:
    """Return a chart of marks in rows: each has a name, its figures in words, and a line with its marks.

    It is as wide as the page, at any width: positions are per cents, and the words are the page's own text. `key` says
    what the marks mean, `words` writes a value at the axis.
    """
    values = [value for row in rows for value, _ in row.marks]
    ticks = _decades(values) if logarithmic else _steps(max(values))
    low, high = ticks[0], ticks[-1]

    def at(value: float) -> float:
        part = math.log(value / low) / math.log(high / low) if logarithmic else (value - low) / (high - low)
        return _EDGE + (100 - 2 * _EDGE) * part

    grid = "".join(
        f'<line class="grid" x1="{at(tick):.2f}%" y1="0" x2="{at(tick):.2f}%" y2="{_HEIGHT}"/>' for tick in ticks
    )
    lines = "".join(
        f'<div class="row"><span>{escape(row.label)}</span><span class="said">{escape(row.said)}</span>'
        f"<svg>{grid}{_marks(row, at)}</svg></div>"
        for row in rows
    )
    axis = "".join(
        f'<text class="axis" x="{at(tick):.2f}%" y="14" text-anchor="{_anchor(at(tick))}">{escape(name)}</text>'
        for tick in _thinned(ticks)
        for name in [words(tick).replace(".0 ", " ")]  # a tick is a round number
    )
    said = "; ".join(f"{row.label}: {row.said}" for row in rows)
    return (
        f'<figure class="strip"><figcaption>{escape(key)}</figcaption>'
        f'<div role="img" aria-label="{escape(f"{title}. {said}")}">{lines}'
        f'<div class="row"><svg>{axis}</svg></div></div></figure>'
    )


def _marks(row: Row, at: Callable[[float], float]) -> str:
    parts = []
    if row.joined and len(row.marks) > 1:
        ends = [at(value) for value, _ in row.marks]
        line = f'x1="{min(ends):.2f}%" y1="{_MIDDLE}" x2="{max(ends):.2f}%" y2="{_MIDDLE}"'
        parts.append(f'<line class="joined" {line}/>')
    for value, kind in row.marks:
        x = f"{at(value):.2f}%"
        if kind == STROKE:
            parts.append(f'<line class="stroke" x1="{x}" y1="{_MIDDLE - 8}" x2="{x}" y2="{_MIDDLE + 8}"/>')
        elif kind == DIAMOND:  # the style sheet turns the square about its middle, and moves it there
            parts.append(f'<rect class="diamond" x="{x}" y="{_MIDDLE - 5}" width="10" height="10"/>')
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


def _steps(largest: float) -> list[float]:
    """Return 0 and equal steps up to the first one that is not below a value, four at most."""
    if largest <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(one for one in (power / 5, power / 2, power, 2 * power, 5 * power) if largest <= 4 * one)
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
_WORDS: Mapping[str, Callable[[float], str]] = {"seconds": seconds, "bytes_per_second": bytes_per_second}


def over_time(chart: Mapping[str, Any], table: pd.DataFrame) -> str:
    """Return the SVG of a chart over time. `table` has the columns `series, x, y, low, high`, `x` in seconds."""
    words = _WORDS.get(chart["y"]["unit"], per_second)
    down, across = _steps(float(table["high"].max())), _steps(float(table["x"].max()))
    left, right, top, bottom = _LEFT, _WIDTH - _RIGHT, _TOP, _DEEP - _BOTTOM

    def x(value: float) -> float:
        return left + (right - left) * value / across[-1]

    def y(value: float) -> float:
        return bottom - (bottom - top) * value / down[-1]

    parts = [
        f'<line class="grid" x1="{left}" y1="{y(tick):.1f}" x2="{right}" y2="{y(tick):.1f}"/>'
        f'<text class="axis" x="{left - 8}" y="{y(tick) + 4.5:.1f}" text-anchor="end">{escape(words(tick))}</text>'
        for tick in down
    ]
    parts += [
        f'<text class="axis" x="{x(tick):.1f}" y="{bottom + 20}" text-anchor="middle">{tick:g} s</text>'
        for tick in _thinned(across)
    ]
    lines = list(table.groupby("series", sort=False))
    for number, (_, points) in enumerate(lines):
        upper = [f"{x(one.x):.1f},{y(one.high):.1f}" for one in points.itertuples()]
        lower = [f"{x(one.x):.1f},{y(one.low):.1f}" for one in points.iloc[::-1].itertuples()]
        middle = [f"{x(one.x):.1f},{y(one.y):.1f}" for one in points.itertuples()]
        parts.append(f'<polygon class="band" points="{" ".join(upper + lower)}"/>')
        parts.append(f'<polyline class="line line-{number % _DASHES}" points="{" ".join(middle)}"/>')
    ends = [y(float(points["y"].iloc[-1])) for _, points in lines]
    names = zip(lines, ends, _apart(ends), strict=True)
    for number, ((series, _), end, at) in enumerate(names):
        name = shortened(str(series), _LETTERS)
        parts.append(
            f'<path class="line line-{number % _DASHES}" d="M{right + 4} {end:.1f}L{right + 16} {at:.1f}"/>'
            f'<text x="{right + 20}" y="{at + 4.5:.1f}">{escape(name)}</text>'
        )
    said = "; ".join(
        f"{series}: {words(float(points['y'].min()))} to {words(float(points['y'].max()))}" for series, points in lines
    )
    title = str(chart["title"])
    label = escape(f"{title}. {said}")
    svg = f'<svg role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_DEEP}">{"".join(parts)}</svg>'
    return "\n".join([heading(title, 3), scrolled(svg, f"Chart: {title}")])


def _apart(ends: list[float]) -> list[float]:
    """Return where the names of lines stand: as near to the ends of their lines as there is room."""
    order = sorted(range(len(ends)), key=ends.__getitem__)
    placed = list(_downwards(ends[number] for number in order))
    # What went below the chart goes up again, and pushes the others.
    lowest = float(_DEEP - _BOTTOM)
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], lowest)
        lowest = placed[place] - _NAME_HEIGHT
    return [placed[order.index(number)] for number in range(len(ends))]


def _downwards(wanted: Iterator[float]) -> Iterator[float]:
    last = float("-inf")
    for value in wanted:
        last = max(value, last + _NAME_HEIGHT)
        yield last
