"""The report of a comparison, as a page: conditions, a chart and a table for each metric, methods, origin."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from html import escape

from replay.base.stats import median
from replay.base.tables import number_text
from replay.exchange.compare_text import (
    HIGHER,
    LOWER,
    PAIRED,
    SINGLE,
    UNKNOWN,
    WELCH,
    WITHIN,
    Checked,
    Comparison,
    Outcome,
    comparisons_csv,
    counted,
    difference_lines,
    exploratory_lines,
    provenance,
    ratio_text,
    runs_csv,
    single_line,
)
from replay.exchange.page import (
    NUMBER,
    Column,
    bullets,
    document,
    heading,
    origin,
    paragraph,
    scrolled,
    shortened,
    table,
    words,
)

#: The number of rows of a figure that fit on a printed page.
ROWS = 28
_METHODS = {
    PAIRED: "Runs of both data sets next to each other on one host are pairs: Student's t-interval of the mean of the "
    "logarithms of the pairs' ratios. Slow drift cancels out.",
    WELCH: "The runs of both data sets are two independent samples: Welch's t-interval of the difference of the mean "
    "logarithms. It covers the spread of the runs, but not what changed between the two measurements besides what you "
    "meant to change: another day, another load, another machine.",
    SINGLE: "With one run on a side there is no interval. How much runs differ from one another is unknown, so whether "
    "this ratio is more than noise cannot be said.",
}


def page(outcome: Outcome, checked: Sequence[Checked]) -> str:
    """Return the HTML of the report."""
    names = [side.name for side in outcome.sides]
    title = f"{' and '.join(names[1:])} compared with {names[0]}"
    exploratory = exploratory_lines(outcome)
    parts = [
        paragraph(f"A ratio divides by {names[0]}: above 1 is more than there, below 1 is less."),
        _conditions(checked),
        *(_pair(outcome, number) for number in range(1, len(outcome.sides))),
        *([heading("Exploratory claims"), bullets(exploratory)] if exploratory else []),
        _reading(outcome.comparisons),
        heading("Where the figures come from"),
        *(origin(side.name, provenance(side)) for side in outcome.sides),
        _downloads(outcome.comparisons),
    ]
    return document(title, parts)


def _conditions(checked: Sequence[Checked]) -> str:
    if not checked:
        return ""
    items = []
    for condition in checked:
        where = "; ".join(f"{hit.second}: {hit.experiment}, {hit.variant}, {hit.point}" for hit in condition.met)
        outcome = (
            f"met at {len(condition.met)} of {condition.decided} points: {where}"
            if condition.met
            else f"not met at {condition.decided} points"
        )
        more = f"; {condition.undecided} more points have no interval" if condition.undecided else ""
        items.append(f"<li><code>{escape(condition.text)}</code>: {escape(outcome + more)}</li>")
    return f"<h2>Conditions</h2>\n<ul>{''.join(items)}</ul>"


def _pair(outcome: Outcome, number: int) -> str:
    first, second = outcome.sides[0].name, outcome.sides[number].name
    here = [comparison for comparison in outcome.comparisons if comparison.second == second]
    parts = [heading(f"{second} ÷ {first}")]
    if differs := difference_lines(outcome, second):
        parts += [heading("What differs besides what is compared", 3), bullets(differs)]
    parts.append(paragraph(f"{counted(here) if here else 'No point is in both'}."))
    if single := single_line(here):
        parts.append(paragraph(f"{single}."))
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in here:
        groups.setdefault((comparison.experiment, comparison.metric.name), []).append(comparison)
    for place, ((experiment, _), group) in enumerate(groups.items()):
        parts.append(_section(group, _title(outcome, number, experiment), f"f{number}-{place}"))
    missing = [gap for gap in outcome.not_compared if gap.second == second]
    if missing:
        parts.append(heading(f"Not compared: {second} with {first}", 3))
        parts.append(bullets(f"{gap.experiment}: {gap.why}" for gap in missing))
    return "\n".join(parts)


def _title(outcome: Outcome, number: int, name: str) -> str:
    """Return the title of an experiment; both titles if two experiments of different names are compared."""
    first = outcome.sides[0].experiments[name]
    return first.title if first.name == name else f"{outcome.sides[number].experiments[name].title} ÷ {first.title}"


def _section(group: Sequence[Comparison], experiment: str, identifier: str) -> str:
    metric = group[0].metric
    title = f"{metric.title}: {experiment}"
    better = f"; {metric.better} is better" if metric.better else ""
    drawn = [comparison for comparison in group if comparison.estimate]
    figures = []
    for number, start in enumerate(range(0, len(drawn), ROWS)):
        rows = drawn[start : start + ROWS]
        svg = figure(rows, f"{title}, {rows[0].second} ÷ {rows[0].first}", f"{identifier}-{number}")
        figures.append(scrolled(svg, f"Chart: {title}, {rows[0].second}{f', {number + 1}' if number else ''}"))
    return "\n".join([heading(title, 3), *figures, _table(group, f"{title}, in {words(metric.unit)}{better}")])


def _table(group: Sequence[Comparison], caption: str) -> str:
    """Return the table of a group; its caption says what is the same in all rows."""
    first, second = group[0].first, group[0].second
    place = [Column("variant", [comparison.variant for comparison in group])]
    for number, (factor, _) in enumerate(group[0].levels):
        levels = [comparison.levels[number][1] for comparison in group]
        are_numbers = all(text.replace(".", "", 1).isdecimal() for text in levels)
        place.append(Column(words(factor), levels, NUMBER if are_numbers else ""))
    how = Column(
        "method",
        [f"{comparison.method} ({comparison.why})" if comparison.why else comparison.method for comparison in group],
    )
    same = [column for column in (*place, how) if len(group) > 1 and len(set(column.texts)) == 1]
    medians = [
        [number_text(float(f"{median([*comparison.values[side].values()]):.4g}")) for comparison in group]
        for side in (0, 1)
    ]
    counts = [[str(len(comparison.values[side])) for comparison in group] for side in (0, 1)]
    verdicts = [
        f"{comparison.verdict}, {comparison.judgement}" if comparison.judgement else comparison.verdict
        for comparison in group
    ]
    beyond = [
        (comparison.judgement or "beyond") if comparison.verdict in (HIGHER, LOWER) else "" for comparison in group
    ]
    columns = [
        *(column for column in place if column not in same),
        Column(f"{first}: median", medians[0], NUMBER),
        Column("n", counts[0], NUMBER),
        Column(f"{second}: median", medians[1], NUMBER),
        Column("n", counts[1], NUMBER),
        Column("ratio (95 % interval)", [ratio_text(comparison) for comparison in group], NUMBER),
        Column("that is", verdicts, kinds=beyond),
        *([] if how in same else [how]),
    ]
    shared = "; ".join([caption, *(f"{column.heading}: {column.texts[0]}" for column in same)])
    return table(columns, shared, f"{caption}, {second}")


def _reading(comparisons: Sequence[Comparison]) -> str:
    """Return how to read the figures: the methods that were used, and what many intervals mean."""
    used = dict.fromkeys(comparison.method for comparison in comparisons)
    items = [f"<dt>{method}</dt><dd>{text}</dd>" for method, text in _METHODS.items() if method in used]
    intervals = sum(
        comparison.estimate is not None and comparison.estimate.low is not None for comparison in comparisons
    )
    chance = (
        f"<p>Each interval is a 95 % interval of its own. Of the {intervals} intervals here, "
        f"about {intervals * 0.05:.0f} would lie beside 1 by chance if nothing had changed at all. "
        "Trust what shows at neighbouring points too.</p>"
        if intervals >= 20
        else ""
    )
    return (
        "<h2>How to read this</h2>\n"
        "<p>In the charts a filled diamond is beyond noise: its interval does not contain 1. A ring is a ratio whose "
        "interval contains 1, which does not prove that nothing changed. A cross has no interval. n counts the runs. "
        "A ratio divides geometric means, so it can differ a little from the ratio of the two medians beside it.</p>\n"
        f"<dl>{''.join(items)}</dl>{chance}"
    )


def _downloads(comparisons: Sequence[Comparison]) -> str:
    ratios = _download("ratios.csv", comparisons_csv(comparisons), "every ratio")
    runs = _download("runs.csv", runs_csv(comparisons), "every run")
    return f"<h2>The data</h2>\n<ul>{ratios}{runs}</ul>"


def _download(name: str, text: str, summary: str) -> str:
    address = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"
    return f'<li><a download="{name}" href="{address}">{name}</a>: {summary} behind this page</li>'


# A chart of ratios with their intervals as SVG: a row for each point, on a logarithmic axis with a line at 1.
# Shapes show what a mark means, not only colours: a filled diamond is beyond noise, a ring is not, a cross has no
# interval.

WIDTH, ROW, TOP, BOTTOM, LEFT, RIGHT = 720, 26, 12, 46, 290, 20
_STEPS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5, 10, 100, 1000, 10**6, 10**12)
#: How many letters have room left of the axis, and below it. The table beside a chart shows names in full.
_LABEL_LETTERS, _AXIS_LETTERS = 40, 65
#: Maps a ratio to a position on the axis.
_Scale = Callable[[float], float]


def figure(comparisons: Sequence[Comparison], title: str, identifier: str) -> str:
    """Return the SVG of comparisons that have a ratio; `identifier` is unique on its page.

    The axis is symmetric about 1, so that a halving and a doubling are equally far away.
    """
    values = [value for comparison in comparisons for value in comparison.estimate[:3]]
    far = max(abs(math.log(value)) for value in values if value is not None and value > 0)
    # A little more than the farthest value, and enough that noise of a thousandth does not fill the chart.
    reach = max(far * 1.08, math.log(1.02))
    middle, half = LEFT + (WIDTH - LEFT - RIGHT) / 2, (WIDTH - LEFT - RIGHT) / 2

    def x(value: float) -> float:
        return middle + half * max(-1.0, min(1.0, math.log(value) / reach)) if value > 0 else middle - half

    bottom = TOP + ROW * len(comparisons)
    parts = [_axis(x, reach, bottom)]
    labels = _labels_of(comparisons)
    for number, (comparison, label) in enumerate(zip(comparisons, labels, strict=True)):
        parts.append(_mark(comparison, label, x, TOP + ROW * (number + 0.5)))
    pairs = zip(comparisons, labels, strict=True)
    description = "; ".join(f"{label}: {ratio_text(comparison)}, {comparison.verdict}" for comparison, label in pairs)
    divided = f"{comparisons[0].second} ÷ {comparisons[0].first}"
    return (
        f'<svg role="img" aria-labelledby="{identifier}-t {identifier}-d" '
        f'viewBox="0 0 {WIDTH} {bottom + BOTTOM}">'
        f'<title id="{identifier}-t">{escape(title)}</title><desc id="{identifier}-d">{escape(description)}</desc>'
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
            parts.append(f'<text class="axis" x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:.3g}</text>')
            last = at
    return "".join(parts)


def _mark(comparison: Comparison, label: str, x: _Scale, y: float) -> str:
    value, low, high, _ = comparison.estimate
    at = x(value)
    text = (
        f'<text x="{LEFT - 12}" y="{y + 4.5:.1f}" text-anchor="end">{escape(shortened(label, _LABEL_LETTERS))}</text>'
    )
    if comparison.verdict == UNKNOWN:
        return f'{text}<path class="unknown" d="M{at - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>'
    span = f'<line class="span" x1="{x(low):.1f}" y1="{y:.1f}" x2="{x(high):.1f}" y2="{y:.1f}"/>'
    if comparison.verdict == WITHIN:
        return f'{text}{span}<circle class="within" cx="{at:.1f}" cy="{y:.1f}" r="5"/>'
    kind = comparison.judgement or "beyond"
    return f'{text}{span}<path class="{kind}" d="M{at:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7z"/>'


def _labels_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of rows: the levels that differ between them. The table below has the other levels."""
    variants = {comparison.variant for comparison in comparisons}
    varying = {pair[0] for comparison in comparisons for pair in comparison.levels if pair not in comparisons[0].levels}
    labels = []
    for comparison in comparisons:
        parts = [comparison.variant] if len(variants) > 1 or not varying else []
        labels.append(" · ".join([*parts, *(level for factor, level in comparison.levels if factor in varying)]))
    return labels
