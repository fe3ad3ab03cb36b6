"""`replay claims --brief`: a few plain sentences, from templates of `config/claims.yaml`, and ratios of throughput.

Nothing is computed here except how many digits of a figure are shown, so sentences, deck and files always agree.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.stats import CONFIDENCE, by_chance
from replay.base.tables import rows_in, short_size_text
from replay.claims.model import (
    HELD,
    INCONCLUSIVE,
    NOT_MEASURED,
    NOT_TESTABLE,
    REFUTED,
    Book,
    Claim,
    Plain,
)
from replay.claims.tables import PLACEHOLDER, read_manifest

#: The longest line of sentences.
WIDTH = 100
NO_INTERVAL = "  (no interval: it needs at least two blocks)"
_RATIOS = "ratio-throughput-"


def plain_of(raw: Mapping[str, Any], conditions: Collection[str], where: str) -> Plain:
    """Return a claim's plain words. `conditions` are the names of its ratios, `where` is file and line.

    Raises ConfigurationError for an unknown condition or placeholder.
    """
    condition = raw.get("condition", next(iter(conditions), None))
    if condition not in conditions:
        raise ConfigurationError(
            f"plain: this claim has no ratio {condition or 'at all'}",
            where=where,
            next_step=f"ratios: {', '.join(conditions) or 'none, so there is no figure for a plain sentence'}",
        )
    follows = {verdict: raw[verdict] for verdict in (HELD, REFUTED, INCONCLUSIVE)}
    for name, text in {"finding": raw["finding"], **follows}.items():
        _check(f"plain.{name}", text, ("estimate", "interval"), where)
    return Plain(condition, raw["shown"], raw["finding"], follows)


def check_wording(raw: Mapping[str, Any], experiments: Collection[str], where: str) -> None:
    """Raise ConfigurationError for an unknown experiment or placeholder in the wording that claims share."""
    for name, allowed in (
        ("against", ("data_set", "estimate", "interval", "verdict")),
        ("not_in_other", ("data_set",)),
        ("not_testable", ("reason",)),
        ("measured_in_part", ()),
    ):
        _check(f"plain.{name}", raw[name], allowed, where)
    for experiment, texts in raw.get("controls", {}).items():
        if experiment not in experiments:
            raise ConfigurationError(
                f"plain.controls: there is no experiment {experiment!r}",
                where=where,
                next_step=f"experiments: {', '.join(experiments)}",
            )
        for name, text in texts.items():
            allowed = ("intervals", "excluding_one", "geometric_mean")
            _check(f"plain.controls.{experiment}.{name}", text, allowed, where)


def _check(name: str, text: str, allowed: Collection[str], where: str) -> None:
    """Raise ConfigurationError if a template names anything else, in braces."""
    for placeholder in PLACEHOLDER.findall(text):
        if placeholder not in allowed:
            raise ConfigurationError(
                f"{name}: there is no figure {{{placeholder}}}",
                where=where,
                next_step=f"one of {', '.join(f'{{{name}}}' for name in allowed)}",
            )


#: A share below this many per cent is shown with two digits, any other without decimals.
_WHOLE_PERCENT = 10

#: Takes the place of the verdict if a figure was measured, but not everything that its claim is about.
_IN_PART = "measured in part"


@dataclass(frozen=True)
class Sentence:
    """What a data set says about one claim or control; `beside` is what another data set says about it, or ""."""

    text: str
    beside: str = ""


def brief(
    book: Book,
    document: Mapping[str, Any],
    controls: Mapping[str, Mapping[str, Any]],
    other: Mapping[str, Any] | None = None,
) -> list[Sentence]:
    """Return a sentence for each claim that has plain words and a measured figure, in order, then for each control.

    `document` and `other` are the contents of two data sets' claims.json. `controls` maps the names of experiments to
    their `control` in the manifest. A claim that is not in `document` has no sentence.
    """
    wording = book.wording
    if wording is None:
        return []
    sentences = [
        _of_claim(claim, wording, document, other)
        for claim in book.claims
        if claim.plain and _is_measured(document, claim)
    ]
    there = {claim["experiment"] for claim in document["claims"].values()}
    return sentences + [
        _of_control(texts, controls[name])
        for name, texts in wording.get("controls", {}).items()
        if name in there and controls.get(name)
    ]


def as_text(data_set: str, sentences: Sequence[Sentence]) -> str:
    """Return the sentences for a terminal, each followed by that of the other data set."""
    if not sentences:
        return f"The data set {data_set} has measured no claim that has a plain sentence."
    lines = [f"What the data set {data_set} says (intervals: {CONFIDENCE:.0%}, over n blocks):"]
    for sentence in sentences:
        lines += _wrapped(sentence.text, "  - ")
        lines += _wrapped(sentence.beside, "    ")
    return "\n".join(lines)


def _wrapped(text: str, start: str) -> list[str]:
    """Wrap a text, but never between a figure and its sign: "n = 6" and "38 %" stay together."""
    whole = text.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")
    lines = textwrap.wrap(whole, WIDTH, initial_indent=start, subsequent_indent="    ")
    return [line.replace("\u00a0", " ") for line in lines]


def _is_measured(document: Mapping[str, Any], claim: Claim) -> bool:
    """Return whether there is an estimate to report, even if other conditions of the claim have none."""
    judged = document["claims"].get(claim.id)
    return judged is not None and judged["conditions"][claim.plain.condition]["estimate"] is not None


def _of_claim(
    claim: Claim, wording: Mapping[str, Any], document: Mapping[str, Any], other: Mapping[str, Any] | None
) -> Sentence:
    plain, judged = claim.plain, document["claims"][claim.id]
    figures = _figures(plain, judged)
    if judged["verdict"] == NOT_TESTABLE:
        follows = filled(wording["not_testable"], {"reason": judged["reason"]})
    elif judged["verdict"] == NOT_MEASURED:
        follows = wording["measured_in_part"]
    else:
        follows = filled(plain.follows[judged["verdict"]], figures)
    return Sentence(f"{filled(plain.finding, figures)} {follows}", _beside(claim, wording, other))


def _beside(claim: Claim, wording: Mapping[str, str], other: Mapping[str, Any] | None) -> str:
    if other is None:
        return ""
    name = {"data_set": other["data_set"]}
    if not _is_measured(other, claim):
        return filled(wording["not_in_other"], name)
    judged = other["claims"][claim.id]
    verdict = _IN_PART if judged["verdict"] == NOT_MEASURED else judged["verdict"]
    return filled(wording["against"], {**name, **_figures(claim.plain, judged), "verdict": verdict})


def _of_control(texts: Mapping[str, str], control: Mapping[str, Any]) -> Sentence:
    """Return what a control found. It passed if there are intervals, and no more of them exclude 1 than by chance."""
    if not control["intervals"]:
        return Sentence(texts["no_interval"])
    figures = {
        "intervals": str(control["intervals"]),
        "excluding_one": str(control["excluding_one"]),
        "geometric_mean": times(control["geometric_mean"], digits=3),
    }
    passed = by_chance(control["excluding_one"], control["intervals"])
    return Sentence(filled(texts["passed" if passed else "strayed"], figures))


def _figures(plain: Plain, judged: Mapping[str, Any]) -> dict[str, str]:
    condition = judged["conditions"][plain.condition]
    show = {"times": times, "percent": percent}[plain.shown]
    ends = [condition["low"], condition["high"]]
    interval = "no interval" if None in ends else " to ".join(show(end) for end in ends)
    return {"estimate": show(condition["estimate"]), "interval": f"{interval}, n = {condition['n']}"}


def times(value: float, digits: int = 2) -> str:
    """Return a ratio with this many significant digits and no exponent: 1.83 is "1.8", 2 is "2.0"."""
    return format(Decimal(f"{value:.{digits - 1}e}"), "f")


def percent(value: float) -> str:
    """Return a share in per cent: 0.378 is "38 %", 0.045 is "4.5 %"."""
    share = value * 100
    return f"{times(share) if share < _WHOLE_PERCENT else f'{share:.0f}'} %"


def filled(template: str, figures: Mapping[str, str]) -> str:
    """Replace every placeholder of a template. Reading the templates has checked that all are known."""
    return PLACEHOLDER.sub(lambda match: figures[match[1]], template)


# Ratios of throughput -------------------------------------------------------------------------------------------------


def ratio_lines(data_set: Path) -> list[str]:
    """Return a data set's ratios of throughput with their intervals, and an empty line; nothing if it has none."""
    entries = read_manifest(data_set)["experiments"]
    lines: list[str] = []
    for folder in sorted(data_set.glob("*/aggregate")):
        paths = sorted(path for path in folder.glob(f"{_RATIOS}*.csv") if path.name.count(".") == 1)
        charts = {path.stem.removeprefix(_RATIOS): points for path in paths if (points := _points(path))}
        if charts:
            lines += _of_experiment(folder.parent.name, entries.get(folder.parent.name, {}), charts)
    return [*lines, ""] if lines else []


#: By series and level of the axis, a ratio and the ends of its interval, as the files write them; "" if missing.
_Points = Mapping[tuple[str, str], tuple[str, str, str]]


def _points(path: Path) -> _Points:
    """Return the ratios of a chart: those of a long file, or of a wide one and its spread."""
    rows, spread = rows_in(path), path.with_suffix(".spread.csv")
    if not spread.exists():
        return {(row["series"], row["x"]): (row["y"], row["low"], row["high"]) for row in rows}
    ends = {(row["series"], row["x"]): (row["low"], row["high"]) for row in rows_in(spread)}
    series, *xs = rows[0]
    return {
        (row[series], short_size_text(x)): (row[x], *ends.get((row[series], x), ("", ""))) for row in rows for x in xs
    }


def _of_experiment(name: str, entry: dict[str, Any], charts: Mapping[str, _Points]) -> Iterator[str]:
    labels = [variant["label"] for variant in entry.get("variants", ()) if variant.get("reference")]
    reference = labels[0][:1].lower() + labels[0][1:] if labels else "the reference"
    yield f"{entry.get('title', name)}: throughput of {reference} ÷ throughput of …"
    lacks_interval = False
    for workload, points in charts.items():
        series, xs = (list(dict.fromkeys(places)) for places in zip(*points, strict=True))
        table = [[f"  {workload.replace('-', ' ')}", *xs]]
        for one in series:
            row = [points.get((one, x), ("", "", "")) for x in xs]
            lacks_interval |= any(ratio and not (low and high) for ratio, low, high in row)
            table.append([f"    {one}", *(_cell(ratio, ends) for ratio, *ends in row)])
        yield from aligned(table, "   ")
    if lacks_interval:
        yield NO_INTERVAL


def _cell(value: str, ends: Sequence[str]) -> str:
    if not value:
        return "-"
    figure, *bounds = (times(float(text), digits=3) for text in (value, *ends) if text)
    return f"{figure} [{', '.join(bounds)}]" if bounds else figure


def aligned(rows: Sequence[Sequence[str]], between: str) -> Iterator[str]:
    """Yield rows with their columns aligned; a row of one field takes the whole line."""
    table = [row for row in rows if len(row) > 1]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in rows:
        yield between.join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip()
