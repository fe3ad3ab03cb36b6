"""The report of a comparison, as a page: conditions, a chart and a table for each metric, methods, origin."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from replay.base.stats import median
from replay.base.tables import number_text
from replay.exchange.compare_text import (
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
    DIAMOND,
    NUMBER,
    RING,
    STROKE,
    Column,
    Row,
    bullets,
    document,
    origin,
    paragraph,
    section,
    strip,
    table,
    words,
)
from replay.exchange.sides import Side

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
    parts = [
        paragraph(f"A ratio divides by {names[0]}: above 1 is more than there, below 1 is less."),
        _conditions(checked),
        *(_pair(outcome, second) for second in outcome.sides[1:]),
        section("Exploratory claims", bullets(exploratory_lines(outcome))),
        _reading(outcome.comparisons),
        section("Where the figures come from", *(origin(side.name, provenance(side)) for side in outcome.sides)),
        _downloads(outcome.comparisons),
    ]
    return document(title, parts)


def _conditions(checked: Sequence[Checked]) -> str:
    items = []
    for condition in checked:
        where = "; ".join(f"{hit.second}: {hit.experiment}, {hit.variant}, {hit.point}" for hit in condition.met)
        outcome = f"not met at {condition.decided} points"
        if condition.met:
            outcome = f"met at {len(condition.met)} of {condition.decided} points: {where}"
        more = f"; {condition.undecided} more points have no interval" if condition.undecided else ""
        items.append(f"<li><code>{escape(condition.text)}</code>: {escape(outcome + more)}</li>")
    return section("Conditions", f"<ul>{''.join(items)}</ul>" if items else "")


def _pair(outcome: Outcome, second: Side) -> str:
    first = outcome.sides[0]
    here = [comparison for comparison in outcome.comparisons if comparison.second == second.name]
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in here:
        groups.setdefault((comparison.experiment, comparison.metric.name), []).append(comparison)
    single = single_line(here)
    missing = [f"{gap.experiment}: {gap.why}" for gap in outcome.not_compared if gap.second == second.name]
    parts = [
        section("What differs besides what is compared", bullets(difference_lines(outcome, second.name)), level=3),
        paragraph(f"{counted(here) if here else 'No point is in both'}."),
        paragraph(f"{single}." if single else ""),
        *(_metric(group, _title(first, second, name)) for (name, _), group in groups.items()),
        section(f"Not compared: {second.name} with {first.name}", bullets(missing), level=3),
    ]
    return section(f"{second.name} ÷ {first.name}", *filter(None, parts))


def _title(first: Side, second: Side, name: str) -> str:
    """Return the title of an experiment; both titles if two experiments of different names are compared."""
    here = first.experiments[name]
    return here.title if here.name == name else f"{second.experiments[name].title} ÷ {here.title}"


def _metric(group: Sequence[Comparison], experiment: str) -> str:
    metric = group[0].metric
    title = f"{metric.title}: {experiment}"
    better = f"; {metric.better} is better" if metric.better else ""
    drawn = [comparison for comparison in group if comparison.estimate]
    charts = [figure(drawn, title)] if drawn else []
    return section(title, *charts, _table(group, f"{title}, in {words(metric.unit)}{better}"), level=3)


def figure(drawn: Sequence[Comparison], title: str) -> str:
    """Return the chart of comparisons that have a ratio. Marks differ in their shape, not only in their colour."""
    divided = f"{drawn[0].second} ÷ {drawn[0].first}"
    rows = []
    for comparison, label in zip(drawn, _labels_of(drawn), strict=True):
        value, low, high, _ = comparison.estimate
        plain = RING if comparison.verdict == WITHIN else STROKE
        kind = f"{DIAMOND} {comparison.beyond}" if comparison.beyond else plain
        interval = () if comparison.verdict == UNKNOWN else (low, high)
        rows.append(Row(label, ratio_text(comparison), [(value, kind)], interval, comparison.verdict))
    key = f"{divided}: ◆ beyond noise, ○ not beyond noise, ❘ no interval; the line is the 95 % interval"
    return strip(rows, f"{title}, {divided}", key, "{:.3g}".format, "around 1")


def _table(group: Sequence[Comparison], caption: str) -> str:
    """Return the table of a group; its caption says what is the same in all rows."""
    first, second = group[0].first, group[0].second
    place = [Column("variant", [comparison.variant for comparison in group])]
    for number, (factor, _) in enumerate(group[0].levels):
        levels = [comparison.levels[number][1] for comparison in group]
        are_numbers = all(text.replace(".", "", 1).isdecimal() for text in levels)
        place.append(Column(words(factor), levels, NUMBER if are_numbers else ""))
    methods = [f"{each.method} ({each.why})" if each.why else each.method for each in group]
    how = Column("method", methods)
    same = [column for column in (*place, how) if len(group) > 1 and len(set(column.texts)) == 1]
    figures = []
    for side, name in enumerate((first, second)):
        values = [comparison.values[side].values() for comparison in group]
        medians = [number_text(float(f"{median(several):.4g}")) for several in values]
        figures += [Column(f"{name}: median", medians, NUMBER), Column("n", [*map(str, map(len, values))], NUMBER)]
    verdicts = [", ".join(filter(None, (comparison.verdict, comparison.judgement))) for comparison in group]
    columns = [
        *(column for column in place if column not in same),
        *figures,
        Column("ratio (95 % interval)", [ratio_text(comparison) for comparison in group], NUMBER),
        Column("that is", verdicts, kinds=[comparison.beyond for comparison in group]),
        *([] if how in same else [how]),
    ]
    shared = "; ".join([caption, *(f"{column.heading}: {column.texts[0]}" for column in same)])
    return table(columns, shared, f"{caption}, {second}")


def _reading(comparisons: Sequence[Comparison]) -> str:
    """Return how to read the figures: the methods that were used, and what many intervals mean."""
    used = dict.fromkeys(comparison.method for comparison in comparisons)
    items = [f"<dt>{method}</dt><dd>{text}</dd>" for method, text in _METHODS.items() if method in used]
    intervals = sum(comparison.verdict != UNKNOWN for comparison in comparisons)
    chance = (
        f"<p>Each interval is a 95 % interval of its own. Of the {intervals} intervals here, "
        f"about {intervals * 0.05:.0f} would lie beside 1 by chance if nothing had changed at all. "
        "Trust what shows at neighbouring points too.</p>"
        if intervals >= 20
        else ""
    )
    return section(
        "How to read this",
        "<p>In the charts a filled diamond is beyond noise: its interval does not contain 1. A ring is a ratio whose "
        "interval contains 1, which does not prove that nothing changed. A stroke has no interval. n counts the runs. "
        "A ratio divides geometric means, so it can differ a little from the ratio of the two medians beside it.</p>",
        f"<dl>{''.join(items)}</dl>{chance}",
    )


def _downloads(comparisons: Sequence[Comparison]) -> str:
    items = []
    for name, text, what in (
        ("ratios.csv", comparisons_csv(comparisons), "every ratio"),
        ("runs.csv", runs_csv(comparisons), "every run"),
    ):
        address = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"
        items.append(f'<li><a download="{name}" href="{address}">{name}</a>: {what} behind this page</li>')
    return section("The data", f"<ul>{''.join(items)}</ul>")


def _labels_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of rows: the levels that differ between them. The table below has the other levels."""
    variants = {comparison.variant for comparison in comparisons}
    varying = {pair[0] for comparison in comparisons for pair in comparison.levels if pair not in comparisons[0].levels}
    labels = []
    for comparison in comparisons:
        parts = [comparison.variant] if len(variants) > 1 or not varying else []
        labels.append(" · ".join([*parts, *(level for factor, level in comparison.levels if factor in varying)]))
    return labels
