"""A comparison of two data sets as JSON and as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replay.base import stats as statistics
from replay.claims.compare import ClaimComparison, ConditionComparison
from replay.claims.evaluate import three_digits
from replay.claims.model import CLAIM, SETUP_CHECK, Assessment, Count, Finding, Judgement
from replay.claims.output import EXPLORATORY, SETUP_CHECKS, altered_line, kind_of, six_digits, whose

_SIDES = ("data_set", "against")


def comparison_document(first: Assessment, second: Assessment, compared: Sequence[ClaimComparison]) -> dict[str, Any]:
    """Return the comparison for programs. `ratio` is the first data set's estimate ÷ the second's."""
    return {
        "schema_version": 2,
        "data_set": first.data_set,
        "against": second.data_set,
        "measured_with": {side: one.measured_with or None for side, one in zip(_SIDES, (first, second), strict=True)},
        "altered": {side: bool(one.altered) for side, one in zip(_SIDES, (first, second), strict=True)},
        "method": {"confidence": statistics.CONFIDENCE, "correction": "holm"},
        "claims": compared_claims(compared),
    }


def compared_claims(compared: Sequence[ClaimComparison]) -> dict[str, Any]:
    """Return what was compared of each claim, by its id, for programs."""
    return {one.claim.id: _claim(one) for one in compared}


def _claim(one: ClaimComparison) -> dict[str, Any]:
    return {
        "kind": one.claim.kind,
        "sentence": one.claim.sentence,
        "source": one.claim.source,
        "verdicts": {side: judged.verdict for side, judged in zip(_SIDES, one.judgements, strict=True)},
        "exploratory": {side: bool(judged.exploratory) for side, judged in zip(_SIDES, one.judgements, strict=True)},
        "verdicts_differ": one.verdicts_differ,
        "conditions": {condition.condition.name: _condition(condition) for condition in one.conditions},
    }


def _condition(one: ConditionComparison) -> dict[str, Any]:
    return {
        "kind": kind_of(one.condition),
        **{side: _finding(found) for side, found in zip(_SIDES, one.findings, strict=True)},
        "interval": None if one.low is None else "paired" if one.paired else "welch",
        "ratio": six_digits(one.ratio),
        "low": six_digits(one.low),
        "high": six_digits(one.high),
        "degrees_of_freedom": six_digits(one.degrees_of_freedom),
        "p_value": six_digits(one.p_value),
        "more_than_noise": one.more_than_noise,
        "missing": one.missing or None,
    }


def _finding(found: Finding | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "estimate": six_digits(found.estimate),
        "low": six_digits(found.low),
        "high": six_digits(found.high),
        "n": found.n,
        "verdict": found.verdict,
    }


def comparison_table(first: Assessment, second: Assessment, compared: Sequence[ClaimComparison]) -> str:
    """Return the comparison for a terminal: the verdicts on each claim, both estimates of each condition, their ratio.

    A claim whose verdicts differ begins with ≠. Checks of the set-up come last, under a line of their own.
    """
    names = [first.data_set, second.data_set]
    rows: list[list[str]] = [["", *names, " ÷ ".join(names)]]
    for kind in (CLAIM, SETUP_CHECK):
        several = [one for one in compared if one.claim.kind == kind]
        rows += [[""], [SETUP_CHECKS]] if several and kind == SETUP_CHECK else []
        rows += [row for one in several for row in _rows(one)]
    widths = [max(len(row[column]) for row in rows if len(row) > 1) for column in range(4)]
    lines = [*altered_line(first), *altered_line(second)]
    lines += [f"{one.data_set}: {one.measured_with or 'its versions are not recorded'}" for one in (first, second)]
    lines += ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip() for row in rows]
    marked = any(judged.exploratory for one in compared for judged in one.judgements)
    return "\n".join([*lines, "", _summary(compared), *([EXPLORATORY] if marked else [])])


def _rows(one: ClaimComparison) -> list[list[str]]:
    mark = "≠" if one.verdicts_differ else " "
    return [
        [f"{mark} {one.claim.sentence} ({whose(one.claim)}, {one.claim.id})"],
        ["    verdict", *map(_verdict, one.judgements), ""],
        *map(_row, one.conditions),
    ]


def _verdict(one: Judgement) -> str:
    return f"{one.verdict.upper()}{', exploratory' if one.exploratory else ''}"


def _row(one: ConditionComparison) -> list[str]:
    sides = ["not measured" if found is None or found.n == 0 else _side(found) for found in one.findings]
    if one.more_than_noise is None:
        ratio = f"{_figure(one.ratio)}: {one.missing}" if one.ratio is not None else one.missing
    else:
        said = "more than noise" if one.more_than_noise else "within noise"
        ratio = f"{_figure(one.ratio, one.low, one.high)}: {said}{', in pairs' if one.paired else ''}"
    return [f"    {one.condition.name}", *sides, ratio]


def _side(found: Finding) -> str:
    if isinstance(found.condition, Count):
        counted = f"{found.low:g}" if found.low == found.high else f"{found.low:g} to {found.high:g}"
        return f"{counted} n = {found.n} {found.verdict}"
    return f"{_figure(found.estimate, found.low, found.high)} n = {found.n} {found.verdict}"


def _figure(value: float, low: float | None = None, high: float | None = None) -> str:
    return (
        three_digits(value)
        if low is None or high is None
        else f"{three_digits(value)} [{three_digits(low)}, {three_digits(high)}]"
    )


def _methods(tested: Sequence[ConditionComparison]) -> str:
    paired = "Student's t over pairs of blocks"
    if not any(one.paired for one in tested):
        return "Welch's t"
    return paired if all(one.paired for one in tested) else f"Welch's t or {paired}"


def _summary(compared: Sequence[ClaimComparison]) -> str:
    conditions = [one for claim in compared for one in claim.conditions]
    tested = [one for one in conditions if one.more_than_noise is not None]
    return (
        f"{sum(claim.verdicts_differ for claim in compared)} of {len(compared)} verdicts differ (≠); "
        f"{sum(bool(one.more_than_noise) for one in tested)} of {len(tested)} ratios differ by more than noise "
        f"({statistics.CONFIDENCE:.0%} intervals by {_methods(tested)}; Holm's correction over all of them)"
    )
