"""The report of a comparison, as a page: conditions, a chart and a table for each metric, methods, origin. Pure."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from replay.base.stats import median
from replay.base.tables import number_text
from replay.exchange.compare.figure import figure
from replay.exchange.compare.model import HIGHER, LOWER, PAIRED, SINGLE, WELCH, Comparison, Outcome
from replay.exchange.compare.output import (
    Checked,
    comparisons_csv,
    counted,
    difference_lines,
    exploratory_lines,
    provenance,
    ratio_text,
    runs_csv,
    single_line,
)
from replay.exchange.page import NUMBER, Column, bullets, document, heading, origin, paragraph, scrolled, table, words

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


def page(outcome: Outcome, checked: Sequence[Checked], style: str, version: str) -> str:
    """Return the HTML of the report. `style` is its CSS, `version` that of Replay."""
    names = [side.name for side in outcome.sides]
    title = f"{' and '.join(names[1:])} compared with {names[0]}"
    parts = [
        paragraph(f"A ratio divides by {names[0]}: above 1 is more than there, below 1 is less."),
        _conditions(checked),
        *(_pair(outcome, number) for number in range(1, len(outcome.sides))),
        _exploratory(outcome),
        _reading(outcome.comparisons),
        heading("Where the figures come from"),
        *(origin(side.name, provenance(side)) for side in outcome.sides),
        _downloads(outcome.comparisons),
    ]
    return document(title, parts, style, version)


def _conditions(checked: Sequence[Checked]) -> str:
    if not checked:
        return ""
    items = []
    for one in checked:
        where = "; ".join(f"{hit.second}: {hit.experiment}, {hit.variant}, {hit.point}" for hit in one.met)
        said = (
            f"met at {len(one.met)} of {one.decided} points: {where}" if one.met else f"not met at {one.decided} points"
        )
        more = f"; {one.undecided} more points have no interval" if one.undecided else ""
        items.append(f"<li><code>{escape(one.text)}</code>: {escape(said + more)}</li>")
    return f"<h2>Conditions</h2>\n<ul>{''.join(items)}</ul>"


def _pair(outcome: Outcome, number: int) -> str:
    first, second = outcome.sides[0].name, outcome.sides[number].name
    here = [one for one in outcome.comparisons if one.second == second]
    parts = [heading(f"{second} ÷ {first}")]
    if differs := difference_lines(outcome, second):
        parts += [heading("What differs besides what is compared", 3), bullets(differs)]
    parts.append(paragraph(f"{counted(here) if here else 'No point is in both'}."))
    if single := single_line(here):
        parts.append(paragraph(f"{single}."))
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in here:
        groups.setdefault((one.experiment, one.metric.name), []).append(one)
    for place, ((experiment, _), group) in enumerate(groups.items()):
        parts.append(_section(group, _title(outcome, number, experiment), f"f{number}-{place}"))
    missing = [one for one in outcome.not_compared if one.second == second]
    if missing:
        parts.append(heading(f"Not compared: {second} with {first}", 3))
        parts.append(bullets(f"{one.experiment}: {one.why}" for one in missing))
    return "\n".join(parts)


def _title(outcome: Outcome, number: int, name: str) -> str:
    """Return the title of an experiment; both titles if two experiments of different names are compared."""
    first = outcome.sides[0].experiments[name]
    return first.title if first.name == name else f"{outcome.sides[number].experiments[name].title} ÷ {first.title}"


def _section(group: Sequence[Comparison], experiment: str, identifier: str) -> str:
    metric = group[0].metric
    title = f"{metric.title}: {experiment}"
    better = f"; {metric.better} is better" if metric.better else ""
    drawn = [one for one in group if one.estimate]
    figures = []
    for number, start in enumerate(range(0, len(drawn), ROWS)):
        rows = drawn[start : start + ROWS]
        svg = figure(rows, f"{title}, {rows[0].second} ÷ {rows[0].first}", f"{identifier}-{number}")
        figures.append(scrolled(svg, f"Chart: {title}, {rows[0].second}{f', {number + 1}' if number else ''}"))
    return "\n".join([heading(title, 3), *figures, _table(group, f"{title}, in {words(metric.unit)}{better}")])


def _table(group: Sequence[Comparison], caption: str) -> str:
    """Return the table of a group; its caption says what is the same in all rows."""
    first, second = group[0].first, group[0].second
    place = [Column("variant", [one.variant for one in group])]
    for number, (factor, _) in enumerate(group[0].levels):
        levels = [one.levels[number][1] for one in group]
        place.append(Column(words(factor), levels, NUMBER if all(map(_is_number, levels)) else ""))
    how = Column("method", [f"{one.method} ({one.why})" if one.why else one.method for one in group])
    same = [one for one in (*place, how) if len(group) > 1 and len(set(one.texts)) == 1]
    medians = [[_four_digits(median(list(one.values[side].values()))) for one in group] for side in (0, 1)]
    counts = [[str(len(one.values[side])) for one in group] for side in (0, 1)]
    said = [f"{one.verdict}, {one.judgement}" if one.judgement else one.verdict for one in group]
    beyond = [(one.judgement or "beyond") if one.verdict in (HIGHER, LOWER) else "" for one in group]
    columns = [
        *(one for one in place if one not in same),
        Column(f"{first}: median", medians[0], NUMBER),
        Column("n", counts[0], NUMBER),
        Column(f"{second}: median", medians[1], NUMBER),
        Column("n", counts[1], NUMBER),
        Column("ratio (95 % interval)", [ratio_text(one) for one in group], NUMBER),
        Column("that is", said, kinds=beyond),
        *([] if how in same else [how]),
    ]
    shared = "; ".join([caption, *(f"{one.heading}: {one.texts[0]}" for one in same)])
    return table(columns, shared, f"{caption}, {second}")


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _four_digits(value: float) -> str:
    return number_text(float(f"{value:.4g}"))


def _reading(comparisons: Sequence[Comparison]) -> str:
    """Return how to read the figures: the methods that were used, and what many intervals mean."""
    used = dict.fromkeys(one.method for one in comparisons)
    items = [f"<dt>{method}</dt><dd>{text}</dd>" for method, text in _METHODS.items() if method in used]
    intervals = sum(one.estimate is not None and one.estimate.low is not None for one in comparisons)
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


def _exploratory(outcome: Outcome) -> str:
    lines = exploratory_lines(outcome)
    if not lines:
        return ""
    return f"{heading('Exploratory claims')}\n{bullets(lines)}"


def _downloads(comparisons: Sequence[Comparison]) -> str:
    ratios, runs = comparisons_csv(comparisons), runs_csv(comparisons)
    items = _download("ratios.csv", ratios, "every ratio") + _download("runs.csv", runs, "every run")
    return f"<h2>The data</h2>\n<ul>{items}</ul>"


def _download(name: str, text: str, said: str) -> str:
    address = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"
    return f'<li><a download="{name}" href="{address}">{name}</a>: {said} behind this page</li>'
