"""The report of a comparison: one self-contained HTML page that requests no other file and runs no script. Pure."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import Any

from replay.base.stats import median
from replay.base.tables import number_text
from replay.exchange.compare.figure import figure
from replay.exchange.compare.model import HIGHER, LOWER, PAIRED, SINGLE, WELCH, Comparison, Outcome, Side
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

#: The number of rows of a figure that fit on a printed page.
ROWS = 28
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
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
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>A ratio divides by {escape(names[0])}: above 1 is more than there, below 1 is less.</p>",
        _conditions(checked),
        *(_pair(outcome, number) for number in range(1, len(outcome.sides))),
        _exploratory(outcome),
        _reading(outcome.comparisons),
        _provenance(outcome.sides),
        _downloads(outcome.comparisons),
        f"<footer><p>Made by Replay {escape(version)}.</p></footer>",
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main>\n</body>\n</html>\n"
    )


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
    parts = [f"<h2>{escape(second)} ÷ {escape(first)}</h2>"]
    if differs := difference_lines(outcome, second):
        items = "".join(f"<li>{escape(line)}</li>" for line in differs)
        parts.append(f"<h3>What differs besides what is compared</h3>\n<ul>{items}</ul>")
    parts.append(f"<p>{escape(counted(here)) if here else 'No point is in both'}.</p>")
    if single := single_line(here):
        parts.append(f"<p>{escape(single)}.</p>")
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in here:
        groups.setdefault((one.experiment, one.metric.name), []).append(one)
    for place, ((experiment, _), group) in enumerate(groups.items()):
        parts.append(_section(group, _title(outcome, number, experiment), f"f{number}-{place}"))
    missing = [one for one in outcome.not_compared if one.second == second]
    if missing:
        items = "".join(f"<li>{escape(one.experiment)}: {escape(one.why)}</li>" for one in missing)
        parts.append(f"<h3>Not compared: {escape(second)} with {escape(first)}</h3>\n<ul>{items}</ul>")
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
        figures.append(_scrolled(svg, f"Chart: {title}, {rows[0].second}{f', {number + 1}' if number else ''}"))
    return "\n".join(
        [f"<h3>{escape(title)}</h3>", *figures, _table(group, f"{title}, in {_words(metric.unit)}{better}")]
    )


def _scrolled(inner: str, label: str) -> str:
    """Return a wide element in a box that scrolls by itself, also by keyboard."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">{inner}</div>'


def _table(group: Sequence[Comparison], caption: str) -> str:
    """Return the table of a group; its caption says what is the same in all rows."""
    first, second = group[0].first, group[0].second
    place = [("variant", "", [one.variant for one in group])]
    for number, (factor, _) in enumerate(group[0].levels):
        levels = [one.levels[number][1] for one in group]
        place.append((_words(factor), "number" if all(map(_is_number, levels)) else "", levels))
    how = ("method", "", [f"{one.method} ({one.why})" if one.why else one.method for one in group])
    same = [one for one in (*place, how) if len(group) > 1 and len(set(one[2])) == 1]
    medians = [[_four_digits(median(list(one.values[side].values()))) for one in group] for side in (0, 1)]
    counts = [[str(len(one.values[side])) for one in group] for side in (0, 1)]
    columns = [
        *(one for one in place if one not in same),
        (f"{first}: median", "number", medians[0]),
        ("n", "number", counts[0]),
        (f"{second}: median", "number", medians[1]),
        ("n", "number", counts[1]),
        ("ratio (95 % interval)", "number", [ratio_text(one) for one in group]),
        ("that is", "", [f"{one.verdict}, {one.judgement}" if one.judgement else one.verdict for one in group]),
        *([] if how in same else [how]),
    ]
    head = "".join(f'<th scope="col"{_class(kind)}>{escape(name)}</th>' for name, kind, _ in columns)
    rows = "".join(_row(one, columns, number) for number, one in enumerate(group))
    said = "; ".join([caption, *(f"{name}: {texts[0]}" for name, _, texts in same)])
    table = f"<table><caption>{escape(said)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return _scrolled(table, f"Table: {caption}, {second}")


def _row(one: Comparison, columns: Sequence[tuple[str, str, Sequence[str]]], number: int) -> str:
    cells = []
    for place, (name, kind, texts) in enumerate(columns):
        tag = "td" if place else 'th scope="row"'
        beyond = one.judgement or "beyond" if name == "that is" and one.verdict in (HIGHER, LOWER) else kind
        cells.append(f"<{tag}{_class(beyond)}>{escape(texts[number])}</{tag.partition(' ')[0]}>")
    return f"<tr>{''.join(cells)}</tr>"


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _four_digits(value: float) -> str:
    return number_text(float(f"{value:.4g}"))


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _words(name: str) -> str:
    return name.replace("_", " ")


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
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>Exploratory claims</h2>\n<ul>{items}</ul>"


def _provenance(sides: Sequence[Side]) -> str:
    parts = ["<h2>Where the figures come from</h2>"]
    for side in sides:
        facts = provenance(side)
        tables = facts.pop("tables")
        rows = [(key, text) for key, value in facts.items() if (text := _value(value))]
        rows += [(name, f"SHA-256 {digest}") for name, digest in tables.items()]
        body = "".join(
            f'<tr><th scope="row">{escape(_words(key))}</th><td><code>{escape(text)}</code></td></tr>'
            for key, text in rows
        )
        table = f"<table><caption>{escape(side.name)}</caption><tbody>{body}</tbody></table>"
        parts.append(_scrolled(table, f"Provenance of {side.name}"))
    return "\n".join(parts)


def _value(value: Any) -> str:
    """Return a fact as text; empty for unknown facts, and for those that do not hold, such as `altered` usually."""
    if isinstance(value, dict):
        return "; ".join(f"{_words(str(key))}: {_value(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if value is None or value is False:
        return ""
    return number_text(value) if isinstance(value, int | float) else str(value)


def _downloads(comparisons: Sequence[Comparison]) -> str:
    ratios, runs = comparisons_csv(comparisons), runs_csv(comparisons)
    items = _download("ratios.csv", ratios, "every ratio") + _download("runs.csv", runs, "every run")
    return f"<h2>The data</h2>\n<ul>{items}</ul>"


def _download(name: str, text: str, said: str) -> str:
    address = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"
    return f'<li><a download="{name}" href="{address}">{name}</a>: {said} behind this page</li>'
