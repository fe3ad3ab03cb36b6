"""Compares two data sets: does a ratio differ between them by more than noise? Judgements in, comparisons out. Pure.

The unit is each block's own estimate, on the logarithm. The blocks of two data sets are two independent samples, which
may differ in number and spread, so the interval is Welch's. If both were measured in turns, block by block, and each
pair of blocks by one host, then a block of one and the same block of the other are a pair: drift from block to block
cancels out, and the interval is Student's. All conditions of all claims are tested together: "more than noise" means
significant after Holm's correction over all of them. Counts are compared directly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.clock import why_not_in_turns
from replay.base.releases import COMPARED_RELEASES, older_releases
from replay.base.tables import json_text, write_if_changed
from replay.claims.documents import (
    EXPLORATORY,
    SETUP_CHECKS,
    altered_line,
    judge_data_set,
    kind_of,
    six_digits,
    whose,
    with_versions,
)
from replay.claims.evaluate import three_digits
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    CLAIM,
    SETUP_CHECK,
    Assessment,
    Book,
    Claim,
    Condition,
    Count,
    Finding,
    Judgement,
)


@dataclass(frozen=True)
class ConditionComparison:
    """One condition in two data sets.

    A finding is None if its data set has no data for the experiment. `ratio` is the first estimate ÷ the second, `low`
    and `high` bound its 95 % interval, and `p_value` is two-sided. Without an interval, `more_than_noise` is None and
    `missing` says why. A count has no ratio either: `missing` then says whether both counts are alike. `paired` says
    that the blocks of both were compared in pairs.
    """

    condition: Condition | Count
    findings: tuple[Finding | None, Finding | None]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    degrees_of_freedom: float | None = None
    p_value: float | None = None
    more_than_noise: bool | None = None
    missing: str = ""
    paired: bool = False


@dataclass(frozen=True)
class ClaimComparison:
    """One claim in two data sets."""

    claim: Claim
    judgements: tuple[Judgement, Judgement]
    conditions: tuple[ConditionComparison, ...]

    @property
    def verdicts_differ(self) -> bool:
        """Return whether the data sets give the claim different verdicts."""
        first, second = self.judgements
        return first.verdict != second.verdict


def compare(first: Assessment, second: Assessment) -> list[ClaimComparison]:
    """Return the comparison of every claim, in the order of the first data set."""
    others = {one.claim.id: one for one in second.judgements}
    names = (first.data_set, second.data_set)

    def on_one_host(claim: Claim) -> bool:
        """Return whether one host measured each block of both sides, which may be another one for another block."""
        here, there = (side.machines.get(claim.experiment, {}) for side in (first, second))
        return bool(here) and here == there and all(len(hosts) == 1 for hosts in here.values())

    compared = [
        ClaimComparison(
            one.claim,
            (one, other := others[one.claim.id]),
            tuple(
                _condition(condition, one, other, names, one_host=on_one_host(one.claim))
                for condition in one.claim.conditions
            ),
        )
        for one in first.judgements
    ]
    return _corrected(compared)


def _condition(
    condition: Condition | Count, first: Judgement, second: Judgement, names: tuple[str, str], *, one_host: bool
) -> ConditionComparison:
    findings = (_finding(first, condition), _finding(second, condition))
    absent = [name for name, one in zip(names, findings, strict=True) if one is None or one.n == 0]
    if absent:
        return ConditionComparison(condition, findings, missing=f"not measured in {' and '.join(absent)}")
    if isinstance(condition, Count):
        alike = {*findings[0].blocks.values()} == {*findings[1].blocks.values()}
        return ConditionComparison(condition, findings, missing=f"counts: {'alike' if alike else 'they differ'}")
    ratio = findings[0].estimate / findings[1].estimate
    few = [name for name, one in zip(names, findings, strict=True) if one.n < BLOCKS_FOR_VERDICT]
    if few:
        return ConditionComparison(
            condition, findings, ratio, missing=f"no interval is possible: one block in {' and '.join(few)}"
        )
    paired = one_host and not why_not_in_turns(*(one.times for one in findings))
    # Sorted, so that each block is at the same place on both sides.
    logs = [[math.log(value) for _, value in sorted(one.blocks.items())] for one in findings]
    found = (statistics.paired_difference if paired else statistics.welch_difference)(*logs)
    return ConditionComparison(
        condition,
        findings,
        *(math.exp(value) for value in found[:3]),
        degrees_of_freedom=found.degrees_of_freedom,
        p_value=found.p_value,
        paired=paired,
    )


def _finding(judgement: Judgement, condition: Condition | Count) -> Finding | None:
    return next((one for one in judgement.findings if one.condition.name == condition.name), None)


def _corrected(compared: Sequence[ClaimComparison]) -> list[ClaimComparison]:
    """Set for each condition with a p-value whether it is significant after Holm's correction over all of them."""
    tested = [one.p_value for claim in compared for one in claim.conditions if one.p_value is not None]
    stands = iter(statistics.holm(tested))
    return [
        replace(
            claim,
            conditions=tuple(
                one if one.p_value is None else replace(one, more_than_noise=next(stands)) for one in claim.conditions
            ),
        )
        for claim in compared
    ]


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
    return {one.claim.id: _claim_document(one) for one in compared}


def _claim_document(one: ClaimComparison) -> dict[str, Any]:
    return {
        "kind": one.claim.kind,
        "sentence": one.claim.sentence,
        "source": one.claim.source,
        "verdicts": {side: judged.verdict for side, judged in zip(_SIDES, one.judgements, strict=True)},
        "exploratory": {side: bool(judged.exploratory) for side, judged in zip(_SIDES, one.judgements, strict=True)},
        "verdicts_differ": one.verdicts_differ,
        "conditions": {condition.condition.name: _condition_document(condition) for condition in one.conditions},
    }


def _condition_document(one: ConditionComparison) -> dict[str, Any]:
    return {
        "kind": kind_of(one.condition),
        **{side: _finding_document(found) for side, found in zip(_SIDES, one.findings, strict=True)},
        "interval": None if one.low is None else "paired" if one.paired else "welch",
        "ratio": six_digits(one.ratio),
        "low": six_digits(one.low),
        "high": six_digits(one.high),
        "degrees_of_freedom": six_digits(one.degrees_of_freedom),
        "p_value": six_digits(one.p_value),
        "more_than_noise": one.more_than_noise,
        "missing": one.missing or None,
    }


def _finding_document(found: Finding | None) -> dict[str, Any] | None:
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


_SCHEMA_VERSION = 1


def write_releases(data_set: Path, book: Book) -> bool:
    """Write releases.json, or remove it if there is nothing to compare with; return whether anything changed.

    Raises EvidenceError if a manifest cannot be read.
    """
    path = data_set / COMPARED_RELEASES
    older = older_releases(data_set)
    folders = [data_set, *older] if older else []
    assessments = [with_versions(judge_data_set(folder, book), folder) for folder in folders]
    document = releases_document(*assessments) if assessments else None
    if document is not None:
        return write_if_changed(path, json_text(document))
    existed = path.exists()
    path.unlink(missing_ok=True)
    return existed


def releases_document(own: Assessment, *others: Assessment) -> dict[str, Any] | None:
    """Return the content of releases.json: per older data set, each claim that both measured. Pure.

    None if there is no such claim. All ratios of one comparison are tested together, as `replay claims --against` tests
    them.
    """
    against = {}
    for other in others:
        there = {one.claim.id for one in other.measured()[0].judgements}
        both = tuple(one for one in own.measured()[0].judgements if one.claim.id in there)
        compared = compare(replace(own, judgements=both), other)
        if compared:
            against[other.data_set] = {
                "measured_with": other.measured_with or None,
                "claims": compared_claims(compared),
            }
    if not against:
        return None
    return {
        "schema_version": _SCHEMA_VERSION,
        "data_set": own.data_set,
        "measured_with": own.measured_with or None,
        "method": {"confidence": statistics.CONFIDENCE, "correction": "holm"},
        "against": against,
    }
