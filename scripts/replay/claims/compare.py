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

from replay.base import stats as statistics
from replay.base.in_turns import why_not_in_turns
from replay.claims.model import BLOCKS_FOR_VERDICT, Assessment, Claim, Condition, Count, Finding, Judgement


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
