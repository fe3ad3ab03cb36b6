"""Imported results over time, as charts: a line for each series, and the range of its runs behind it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

import pandas as pd

from replay.exchange.page import heading, paragraph, scrolled
from replay.exchange.report.figure import steps, thinned
from replay.exchange.report.read import DataSet
from replay.exchange.report.words import Part, bytes_per_second, per_second, seconds

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 220, 80, 170, 12, 34
#: Names of lines keep this distance, and only so many lines are told apart by their dashes.
_NAME_HEIGHT, _DASHES = 16, 6
_LETTERS = 24
_WORDS: Mapping[str, Callable[[float], str]] = {"seconds": seconds, "bytes_per_second": bytes_per_second}
_KEY = (
    "Means of one second. A line is the median of its runs, the band behind it goes from the lowest to the highest of "
    "them. A line ends with its shortest run."
)


def over_time(data: DataSet) -> Part:
    """Return the charts of what fio's logs and the rows of `rados bench` and `rbd bench` tell of imported runs."""
    charts = [
        figure(one.entry["charts"][name], table)
        for one in data.of("imported")
        for name, table in one.lines.groupby("chart", sort=False)
    ]
    return Part(body="\n".join([heading("Over time"), paragraph(_KEY, "muted"), *charts]) if charts else "")


def figure(chart: Mapping[str, Any], table: pd.DataFrame) -> str:
    """Return the SVG of a chart over time. `table` has the columns `series, x, y, low, high`, `x` in seconds."""
    words = _WORDS.get(chart["y"]["unit"], per_second)
    down, across = steps(float(table["high"].max())), steps(float(table["x"].max()))
    left, right, top, bottom = _LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT - _BOTTOM

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
        for tick in thinned(across)
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
        name = str(series) if len(str(series)) <= _LETTERS else f"{str(series)[: _LETTERS - 1]}…"
        parts.append(
            f'<path class="line line-{number % _DASHES}" d="M{right + 4} {end:.1f}L{right + 16} {at:.1f}"/>'
            f'<text x="{right + 20}" y="{at + 4.5:.1f}">{escape(name)}</text>'
        )
    said = "; ".join(
        f"{series}: {words(float(points['y'].min()))} to {words(float(points['y'].max()))}" for series, points in lines
    )
    title = str(chart["title"])
    label = escape(f"{title} over time. {said}")
    svg = f'<svg role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'
    return "\n".join([heading(title, 3), scrolled(svg, f"Chart: {title}")])


def _apart(ends: list[float]) -> list[float]:
    """Return where the names of lines stand: as near to the ends of their lines as there is room."""
    order = sorted(range(len(ends)), key=ends.__getitem__)
    placed = list(_downwards(ends[number] for number in order))
    # What went below the chart goes up again, and pushes the others.
    lowest = float(_HEIGHT - _BOTTOM)
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], lowest)
        lowest = placed[place] - _NAME_HEIGHT
    return [placed[order.index(number)] for number in range(len(ends))]


def _downwards(wanted: Iterator[float]) -> Iterator[float]:
    last = float("-inf")
    for value in wanted:
        last = max(value, last + _NAME_HEIGHT)
        yield last
