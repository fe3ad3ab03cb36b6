"""`replay claims --brief`: a few plain sentences, from templates of `config/claims.yaml`, and ratios of throughput.

Nothing is computed here except how many digits of a figure are shown, so sentences, deck and files always agree.
"""

from __future__ import annotations

import csv
import json
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from replay.base.errors import ConfigurationError
from replay.base.stats import CONFIDENCE, by_chance
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
from replay.claims.tables import PLACEHOLDER

NO_INTERVAL = "  (no interval: it needs at least two blocks)"
_RATIOS = "ratio-throughput-"
_UNITS = ("", "K", "M", "G")
#: What a template may name, in braces.
OF_A_CLAIM = ("estimate", "interval")
OF_ANOTHER_DATA_SET = ("data_set", "estimate", "interval", "verdict")
OF_AN_ABSENT_CLAIM = ("data_set",)
OF_A_REASON = ("reason",)
OF_A_CONTROL = ("intervals", "excluding_one", "geometric_mean")


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
        _check(f"plain.{name}", text, OF_A_CLAIM, where)
    return Plain(condition, raw["shown"], raw["finding"], follows)


def check_wording(raw: Mapping[str, Any], experiments: Collection[str], where: str) -> None:
    """Raise ConfigurationError for an unknown experiment or placeholder in the wording that claims share."""
    for name, allowed in (
        ("against", OF_ANOTHER_DATA_SET),
        ("not_in_other", OF_AN_ABSENT_CLAIM),
        ("not_testable", OF_A_REASON),
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
            _check(f"plain.controls.{experiment}.{name}", text, OF_A_CONTROL, where)


def _check(name: str, text: str, allowed: Collection[str], where: str) -> None:
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
        _of_claim(claim, claim.plain, wording, document, other)
        for claim in book.claims
        if claim.plain and _is_measured(document, claim, claim.plain)
    ]
    there = {document["claims"][claim.id]["experiment"] for claim in book.claims if claim.id in document["claims"]}
    return sentences + [
        _of_control(texts, controls[name])
        for name, texts in wording.get("controls", {}).items()
        if name in there and controls.get(name)
    ]


def as_text(data_set: str, sentences: Sequence[Sentence], width: int = 100) -> str:
    """Return the sentences for a terminal, each followed by that of the other data set."""
    if not sentences:
        return f"The data set {data_set} has measured no claim that has a plain sentence."
    lines = [f"What the data set {data_set} says (intervals: {CONFIDENCE:.0%}, over n blocks):"]
    for sentence in sentences:
        lines += _wrapped(sentence.text, width, "  - ")
        lines += _wrapped(sentence.beside, width, "    ")
    return "\n".join(lines)


def _wrapped(text: str, width: int, start: str) -> list[str]:
    """Wrap a text, but never between a figure and its sign: "n = 6" and "38 %" stay together."""
    whole = text.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")
    lines = textwrap.wrap(whole, width, initial_indent=start, subsequent_indent="    ")
    return [line.replace("\u00a0", " ") for line in lines]


def _is_measured(document: Mapping[str, Any], claim: Claim, plain: Plain) -> bool:
    """Return whether there is an estimate to report, even if other conditions of the claim have none."""
    judged = document["claims"].get(claim.id)
    return judged is not None and judged["conditions"][plain.condition]["estimate"] is not None


def _of_claim(
    claim: Claim,
    plain: Plain,
    wording: Mapping[str, Any],
    document: Mapping[str, Any],
    other: Mapping[str, Any] | None,
) -> Sentence:
    judged = document["claims"][claim.id]
    figures = _figures(plain, judged)
    if judged["verdict"] == NOT_TESTABLE:
        follows = filled(wording["not_testable"], {"reason": judged["reason"]})
    elif judged["verdict"] == NOT_MEASURED:
        follows = wording["measured_in_part"]
    else:
        follows = filled(plain.follows[judged["verdict"]], figures)
    return Sentence(f"{filled(plain.finding, figures)} {follows}", _beside(claim, plain, wording, other))


def _beside(claim: Claim, plain: Plain, wording: Mapping[str, str], other: Mapping[str, Any] | None) -> str:
    if other is None:
        return ""
    name = {"data_set": other["data_set"]}
    if not _is_measured(other, claim, plain):
        return filled(wording["not_in_other"], name)
    judged = other["claims"][claim.id]
    verdict = _IN_PART if judged["verdict"] == NOT_MEASURED else judged["verdict"]
    return filled(wording["against"], {**name, **_figures(plain, judged), "verdict": verdict})


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


def print_ratios(data_set: Path, stream: TextIO) -> None:
    """Print a data set's ratios of throughput with their intervals, and an empty line; nothing if it has none."""
    try:
        entries = json.loads((data_set / "manifest.json").read_text(encoding="utf-8"))["experiments"]
    except FileNotFoundError:
        entries = {}  # the data set has not been described yet
    lines: list[str] = []
    for folder in sorted(data_set.glob("*/aggregate")):
        charts = sorted(path for path in folder.glob(f"{_RATIOS}*.csv") if path.name.count(".") == 1)
        if charts:
            lines += _of_experiment(folder.parent.name, entries.get(folder.parent.name, {}), charts)
    if lines:
        print(*lines, "", sep="\n", file=stream)


def _of_experiment(name: str, entry: dict[str, Any], charts: Sequence[Path]) -> Iterator[str]:
    labels = [variant["label"] for variant in entry.get("variants", ()) if variant.get("reference")]
    reference = labels[0][:1].lower() + labels[0][1:] if labels else "the reference"
    yield f"{entry.get('title', name)}: throughput of {reference} ÷ throughput of …"
    lacks_interval = False
    for path in charts:
        (_, *xs), *rows = _fields(path)
        spread = {(row[0], row[1]): row[2:4] for row in _fields(path.with_suffix(".spread.csv"))}
        table = [[f"  {path.stem.removeprefix(_RATIOS).replace('-', ' ')}", *map(size_text, xs)]]
        for series, *values in rows:
            ends = [spread.get((series, x), ["", ""]) for x in xs]
            lacks_interval |= any(value and not all(end) for value, end in zip(values, ends, strict=True))
            table.append([f"    {series}", *map(_cell, values, ends)])
        yield from aligned(table, "   ")
    if lacks_interval:
        yield NO_INTERVAL


def size_text(text: str) -> str:
    """Return bytes as an I/O size (4096 becomes 4K), and anything else unchanged."""
    if not text.isdecimal():
        return text
    value, unit = int(text), 0
    while value >= 1024 and value % 1024 == 0 and unit < len(_UNITS) - 1:
        value, unit = value // 1024, unit + 1
    return f"{value}{_UNITS[unit]}"


def _cell(value: str, ends: Sequence[str]) -> str:
    if not value:
        return "-"
    low, high = (times(float(end), digits=3) if end else "" for end in ends)
    return times(float(value), digits=3) + (f" [{low}, {high}]" if low and high else "")


def _fields(path: Path) -> list[list[str]]:
    """Return the rows of a CSV, the header included; none if there is no such file."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    except FileNotFoundError:
        return []


def aligned(rows: Sequence[Sequence[str]], between: str) -> Iterator[str]:
    """Yield rows with their columns aligned; a row of one field takes the whole line."""
    table = [row for row in rows if len(row) > 1]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in rows:
        yield between.join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip()
