"""A data set's claims as a few plain sentences. Pure: it puts figures of claims.json and manifest.json into templates.

Nothing is computed here but how many digits of a figure are shown, so that a sentence, the deck and the files agree.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from replay.base.stats import CONFIDENCE
from replay.claims.model import NOT_MEASURED, NOT_TESTABLE, Book, Claim, Plain, Wording
from replay.claims.table import PLACEHOLDER

#: Below this many per cent a share is shown with two digits, from here on without decimals.
_WHOLE_PERCENT = 10

#: Stands for the verdict where a figure was measured, but not all that its claim is about.
_IN_PART = "measured in part"


@dataclass(frozen=True)
class Sentence:
    """What a data set says of one claim or control; `beside` is what another data set says of it, or ""."""

    text: str
    beside: str = ""


def brief(
    book: Book,
    document: Mapping[str, Any],
    controls: Mapping[str, Mapping[str, Any]],
    other: Mapping[str, Any] | None = None,
) -> list[Sentence]:
    """Return a sentence for each claim with plain words whose figure was measured, in order, then for each control.

    `document` and `other` are the content of claims.json of two data sets, `controls` is `control` of the manifest's
    experiments, by name. A claim that `document` does not hold has no sentence.
    """
    wording = book.wording
    if wording is None:
        return []
    said = [
        _of_claim(claim, claim.plain, wording, document, other)
        for claim in book.claims
        if claim.plain and _is_measured(document, claim, claim.plain)
    ]
    there = {document["claims"][claim.id]["experiment"] for claim in book.claims if claim.id in document["claims"]}
    return said + [
        _of_control(wording, name, controls[name]) for name in wording.controls if name in there and controls.get(name)
    ]


def as_text(data_set: str, sentences: Sequence[Sentence], width: int = 100) -> str:
    """Return the sentences for a terminal, each with what is beside it below."""
    if not sentences:
        return f"The data set {data_set} has measured no claim that has a plain sentence."
    lines = [f"What the data set {data_set} says (intervals: {CONFIDENCE:.0%}, over n blocks):"]
    for one in sentences:
        lines += _wrapped(one.text, width, "  - ")
        lines += _wrapped(one.beside, width, "    ")
    return "\n".join(lines)


def _wrapped(text: str, width: int, start: str) -> list[str]:
    """Wrap a text, but not between a figure and its sign: "n = 6" and "38 %" stay whole."""
    whole = text.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")
    lines = textwrap.wrap(whole, width, initial_indent=start, subsequent_indent="    ")
    return [line.replace("\u00a0", " ") for line in lines]


def _is_measured(document: Mapping[str, Any], claim: Claim, plain: Plain) -> bool:
    """Return whether there is an estimate to say, even if other conditions of the claim are without."""
    judged = document["claims"].get(claim.id)
    return judged is not None and judged["conditions"][plain.condition]["estimate"] is not None


def _of_claim(
    claim: Claim,
    plain: Plain,
    wording: Wording,
    document: Mapping[str, Any],
    other: Mapping[str, Any] | None,
) -> Sentence:
    judged = document["claims"][claim.id]
    figures = _figures(plain, judged)
    if judged["verdict"] == NOT_TESTABLE:
        follows = filled(wording.not_testable, {"reason": judged["reason"]})
    elif judged["verdict"] == NOT_MEASURED:
        follows = wording.measured_in_part
    else:
        follows = filled(plain.follows[judged["verdict"]], figures)
    return Sentence(f"{filled(plain.finding, figures)} {follows}", _beside(claim, plain, wording, other))


def _beside(claim: Claim, plain: Plain, wording: Wording, other: Mapping[str, Any] | None) -> str:
    if other is None:
        return ""
    name = {"data_set": other["data_set"]}
    if not _is_measured(other, claim, plain):
        return filled(wording.not_in_other, name)
    judged = other["claims"][claim.id]
    verdict = _IN_PART if judged["verdict"] == NOT_MEASURED else judged["verdict"]
    return filled(wording.against, {**name, **_figures(plain, judged), "verdict": verdict})


def _of_control(wording: Wording, experiment: str, found: Mapping[str, Any]) -> Sentence:
    """Say what a control found: it passed if there is an interval at all, and every one includes 1."""
    one = wording.controls[experiment]
    if not found["intervals"]:
        return Sentence(one.no_interval)
    figures = {
        "intervals": str(found["intervals"]),
        "excluding_one": str(found["excluding_one"]),
        "geometric_mean": times(found["geometric_mean"], digits=3),
    }
    return Sentence(filled(one.passed if found["excluding_one"] == 0 else one.strayed, figures))


def _figures(plain: Plain, judged: Mapping[str, Any]) -> dict[str, str]:
    found = judged["conditions"][plain.condition]
    show = {"times": times, "percent": percent}[plain.shown]
    ends = [found["low"], found["high"]]
    interval = "no interval" if None in ends else " to ".join(show(end) for end in ends)
    return {"estimate": show(found["estimate"]), "interval": f"{interval}, n = {found['n']}"}


def times(value: float, digits: int = 2) -> str:
    """Return a ratio with so many significant digits, without an exponent: 1.83 is "1.8", 2 is "2.0"."""
    return format(Decimal(f"{value:.{digits - 1}e}"), "f")


def percent(value: float) -> str:
    """Return a share in per cent: 0.378 is "38 %", 0.045 is "4.5 %"."""
    share = value * 100
    return f"{times(share) if share < _WHOLE_PERCENT else f'{share:.0f}'} %"


def filled(template: str, figures: Mapping[str, str]) -> str:
    """Replace every placeholder of a template; the templates were checked when they were read."""
    return PLACEHOLDER.sub(lambda match: figures[match[1]], template)
