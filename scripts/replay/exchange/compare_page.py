"""The report of a comparison, as a page: conditions, a chart and a table for each metric, methods, origin."""

from __future__ import annotations

import base64
from collections.abc import Sequence
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
    DIAMOND,
    NUMBER,
    RING,
    STROKE,
    Column,
    Row,
    bullets,
    document,
    heading,
    origin,
    paragraph,
    strip,
    table,
    words,
)

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
    parts += [_section(group, _title(outcome, number, experiment)) for (experiment, _), group in groups.items()]
    missing = [gap for gap in outcome.not_compared if gap.second == second]
    if missing:
        parts.append(heading(f"Not compared: {second} with {first}", 3))
        parts.append(bullets(f"{gap.experiment}: {gap.why}" for gap in missing))
    return "\n".join(parts)


def _title(outcome: Outcome, number: int, name: str) -> str:
    """Return the title of an experiment; both titles if two experiments of different names are compared."""
    first = outcome.sides[0].experiments[name]
    return first.title if first.name == name else f"{outcome.sides[number].experiments[name].title} ÷ {first.title}"


def _section(group: Sequence[Comparison], experiment: str) -> str:
    metric = group[0].metric
    title = f"{metric.title}: {experiment}"
    better = f"; {metric.better} is better" if metric.better else ""
    drawn = [comparison for comparison in group if comparison.estimate]
    charts = [figure(drawn, title)] if drawn else []
    return "\n".join([heading(title, 3), *charts, _table(group, f"{title}, in {words(metric.unit)}{better}")])


def figure(drawn: Sequence[Comparison], title: str) -> str:
    """Return the chart of comparisons that have a ratio. Marks differ in their shape, not only in their colour."""
    divided = f"{drawn[0].second} ÷ {drawn[0].first}"
    rows = []
    for comparison, label in zip(drawn, _labels_of(drawn), strict=True):
        value, low, high, _ = comparison.estimate
        kinds = {UNKNOWN: STROKE, WITHIN: RING}
        kind = kinds.get(comparison.verdict, f"{DIAMOND} {comparison.judgement or 'beyond'}")
        interval = () if comparison.verdict == UNKNOWN else (low, high)
        rows.append(Row(label, ratio_text(comparison), [(value, kind)], interval, comparison.verdict))
    key = f"{divided}: ◆ beyond noise, ○ not beyond noise, ❘ no interval; the line is the 95 % interval"
    return strip(rows, f"{title}, {divided}", key, "{:.3g}".format, logarithmic=True, around_one=True)


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
        "interval contains 1, which does not prove that nothing changed. A stroke has no interval. n counts the runs. "
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


def _labels_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of rows: the levels that differ between them. The table below has the other levels."""
    variants = {comparison.variant for comparison in comparisons}
    varying = {pair[0] for comparison in comparisons for pair in comparison.levels if pair not in comparisons[0].levels}
    labels = []
    for comparison in comparisons:
        parts = [comparison.variant] if len(variants) > 1 or not varying else []
        labels.append(" · ".join([*parts, *(level for factor, level in comparison.levels if factor in varying)]))
    return labels
