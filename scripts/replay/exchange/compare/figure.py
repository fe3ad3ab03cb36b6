"""A chart of ratios with their intervals as SVG: a row for each point, on a logarithmic axis with a line at 1. Pure.

Shapes show what a mark means, not only colours: a filled diamond is beyond noise, a ring is not, a cross has no
interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from replay.exchange.compare.model import UNKNOWN, WITHIN, Comparison
from replay.exchange.compare.output import ratio_text

WIDTH, ROW, TOP, BOTTOM, LEFT, RIGHT = 720, 26, 12, 46, 290, 20
_STEPS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5, 10, 100, 1000, 10**6, 10**12)
#: How many letters have room left of the axis, and below it. The table beside a chart shows names in full.
_LABEL_LETTERS, _AXIS_LETTERS = 40, 65
#: Maps a ratio to a position on the axis.
_Scale = Callable[[float], float]


def figure(comparisons: Sequence[Comparison], title: str, identifier: str) -> str:
    """Return the SVG of comparisons that have a ratio; `identifier` is unique on its page. ValueError if one has none.

    The axis is symmetric about 1, so that a halving and a doubling are equally far away.
    """
    estimates = [one.estimate for one in comparisons if one.estimate]
    if not estimates or len(estimates) != len(comparisons):
        raise ValueError("a figure needs ratios")
    far = max(abs(math.log(value)) for one in estimates for value in one[:3] if value is not None and value > 0)
    # A little more than the farthest value, and enough that noise of a thousandth does not fill the chart.
    reach = max(far * 1.08, math.log(1.02))
    middle, half = LEFT + (WIDTH - LEFT - RIGHT) / 2, (WIDTH - LEFT - RIGHT) / 2

    def x(value: float) -> float:
        return middle + half * max(-1.0, min(1.0, math.log(value) / reach)) if value > 0 else middle - half

    bottom = TOP + ROW * len(comparisons)
    parts = [_axis(x, reach, bottom)]
    labels = labels_of(comparisons)
    for number, (one, label) in enumerate(zip(comparisons, labels, strict=True)):
        parts.append(_row(one, label, x, TOP + ROW * (number + 0.5)))
    pairs = zip(comparisons, labels, strict=True)
    said = "; ".join(f"{label}: {ratio_text(one)}, {one.verdict}" for one, label in pairs)
    divided = f"{comparisons[0].second} ÷ {comparisons[0].first}"
    return (
        f'<svg role="img" aria-labelledby="{identifier}-t {identifier}-d" '
        f'viewBox="0 0 {WIDTH} {bottom + BOTTOM}">'
        f'<title id="{identifier}-t">{escape(title)}</title><desc id="{identifier}-d">{escape(said)}</desc>'
        f"{''.join(parts)}"
        f'<text class="axis" x="{WIDTH - RIGHT}" y="{bottom + 38}" text-anchor="end">'
        f"{escape(divided if len(divided) <= _AXIS_LETTERS else 'ratio')}, with 95 % interval</text></svg>"
    )


def ticks(reach: float) -> list[float]:
    """Return the ratios that an axis names, 1 included, symmetric about it: at most seven within exp(±reach)."""
    inside = [step for step in _STEPS if math.log(step) <= reach]
    chosen = inside[-3:] if len(inside) > 3 else inside
    return [*(1 / step for step in reversed(chosen)), 1.0, *chosen]


def _axis(x: _Scale, reach: float, bottom: float) -> str:
    parts = []
    last = -math.inf
    for tick in ticks(reach):
        at = x(tick)
        kind = "one" if tick == 1 else "grid"
        parts.append(f'<line class="{kind}" x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{bottom}"/>')
        # Labels that would touch each other are left out; that of 1 never is.
        room = min(at - last, math.inf if tick >= 1 else x(1.0) - at)
        if tick == 1 or room >= 40:
            parts.append(f'<text class="axis" x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{_tick(tick)}</text>')
            last = at
    return "".join(parts)


def _tick(value: float) -> str:
    return f"{value:.3g}"


def _row(one: Comparison, label: str, x: _Scale, y: float) -> str:
    value, low, high, _ = one.estimate
    at = x(value)
    text = f'<text x="{LEFT - 12}" y="{y + 4.5:.1f}" text-anchor="end">{escape(_short(label))}</text>'
    if one.verdict == UNKNOWN:
        return f'{text}<path class="unknown" d="M{at - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>'
    span = f'<line class="span" x1="{x(low):.1f}" y1="{y:.1f}" x2="{x(high):.1f}" y2="{y:.1f}"/>'
    if one.verdict == WITHIN:
        return f'{text}{span}<circle class="within" cx="{at:.1f}" cy="{y:.1f}" r="5"/>'
    kind = one.judgement or "beyond"
    return f'{text}{span}<path class="{kind}" d="M{at:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7z"/>'


def labels_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of rows: the levels that differ between them. The table below has the other levels."""
    variants = {one.variant for one in comparisons}
    varying = {pair[0] for one in comparisons for pair in one.levels if pair not in comparisons[0].levels}
    labels = []
    for one in comparisons:
        parts = [one.variant] if len(variants) > 1 or not varying else []
        labels.append(" · ".join([*parts, *(level for factor, level in one.levels if factor in varying)]))
    return labels


def _short(text: str) -> str:
    return text if len(text) <= _LABEL_LETTERS else f"{text[: _LABEL_LETTERS - 1]}…"
