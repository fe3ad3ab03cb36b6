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
from replay.base.programs import COMPARED_RELEASES, older_releases
from replay.base.tables import json_text, write_if_changed
from replay.claims.documents import kind_of, rounded
from replay.claims.judge import judge_data_set, with_versions
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    Assessment,
    Book,
    Claim,
    Condition,
    ConditionResult,
    Count,
    Judgement,
)

_SIDES = ("data_set", "against")


@dataclass(frozen=True)
class ConditionComparison:
    """One condition in two data sets.

    A result is None if its data set has no data for the experiment. `ratio` is the first estimate ÷ the second, `low`
    and `high` bound its 95 % interval, and `p_value` is two-sided. Without an interval, `more_than_noise` is None and
    `missing` says why. A count has no ratio either: `missing` then says whether both counts are alike. `paired` says
    that the blocks of both were compared in pairs.
    """

    condition: Condition | Count
    results: tuple[ConditionResult | None, ConditionResult | None]
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
    others = {judgement.claim.id: judgement for judgement in second.judgements}
    names = (first.data_set, second.data_set)
    compared = []
    for judgement in first.judgements:
        claim, other = judgement.claim, others[judgement.claim.id]
        one_host = _on_one_host(claim, first, second)
        conditions = (_condition(each, (judgement, other), names, one_host=one_host) for each in claim.conditions)
        compared.append(ClaimComparison(claim, (judgement, other), tuple(conditions)))
    return _corrected(compared)


def _on_one_host(claim: Claim, first: Assessment, second: Assessment) -> bool:
    """Return whether one host measured each block of both sides, which may be another one for another block."""
    machines, others = (side.machines.get(claim.experiment, {}) for side in (first, second))
    return bool(machines) and machines == others and all(len(hosts) == 1 for hosts in machines.values())


def _condition(
    condition: Condition | Count,
    judgements: tuple[Judgement, Judgement],
    names: tuple[str, str],
    *,
    one_host: bool,
) -> ConditionComparison:
    results = tuple(
        next((result for result in judgement.results if result.condition.name == condition.name), None)
        for judgement in judgements
    )
    absent = [name for name, side in zip(names, results, strict=True) if side is None or side.n == 0]
    if absent:
        return ConditionComparison(condition, results, missing=f"not measured in {' and '.join(absent)}")
    first, second = results
    if isinstance(condition, Count):
        alike = {*first.blocks.values()} == {*second.blocks.values()}
        return ConditionComparison(condition, results, missing=f"counts: {'alike' if alike else 'they differ'}")
    ratio = first.estimate / second.estimate
    few = [name for name, side in zip(names, results, strict=True) if side.n < BLOCKS_FOR_VERDICT]
    if few:
        missing = f"no interval is possible: one block in {' and '.join(few)}"
        return ConditionComparison(condition, results, ratio, missing=missing)
    paired = one_host and not why_not_in_turns(first.times, second.times)
    # Sorted, so that each block is at the same place on both sides.
    logs = [[math.log(value) for _, value in sorted(side.blocks.items())] for side in results]
    difference = (statistics.paired_difference if paired else statistics.welch_difference)(*logs)
    return ConditionComparison(
        condition,
        results,
        *(math.exp(value) for value in difference[:3]),
        degrees_of_freedom=difference.degrees_of_freedom,
        p_value=difference.p_value,
        paired=paired,
    )


def _corrected(compared: Sequence[ClaimComparison]) -> list[ClaimComparison]:
    """Set for each condition with a p-value whether it is significant after Holm's correction over all of them."""
    conditions = [condition for comparison in compared for condition in comparison.conditions]
    tested = [condition for condition in conditions if condition.p_value is not None]
    stands = iter(statistics.holm([condition.p_value for condition in tested]))

    def corrected(condition: ConditionComparison) -> ConditionComparison:
        return condition if condition.p_value is None else replace(condition, more_than_noise=next(stands))

    return [replace(each, conditions=tuple(corrected(condition) for condition in each.conditions)) for each in compared]


def comparison_document(first: Assessment, second: Assessment, compared: Sequence[ClaimComparison]) -> dict[str, Any]:
    """Return the comparison for programs. `ratio` is the first data set's estimate ÷ the second's."""
    sides = dict(zip(_SIDES, (first, second), strict=True))
    return {
        "schema_version": 2,
        "data_set": first.data_set,
        "against": second.data_set,
        "measured_with": {name: side.measured_with or None for name, side in sides.items()},
        "altered": dict.fromkeys(_SIDES, False),
        "method": {"confidence": statistics.CONFIDENCE, "correction": "holm"},
        "claims": compared_claims(compared),
    }


def compared_claims(compared: Sequence[ClaimComparison]) -> dict[str, Any]:
    """Return what was compared of each claim, by its id, for programs."""
    return {comparison.claim.id: _claim_document(comparison) for comparison in compared}


def _claim_document(comparison: ClaimComparison) -> dict[str, Any]:
    claim, judgements = comparison.claim, dict(zip(_SIDES, comparison.judgements, strict=True))
    return {
        "kind": claim.kind,
        "sentence": claim.sentence,
        "source": claim.source,
        "verdicts": {name: judgement.verdict for name, judgement in judgements.items()},
        "exploratory": {name: bool(judgement.exploratory) for name, judgement in judgements.items()},
        "verdicts_differ": comparison.verdicts_differ,
        "conditions": {each.condition.name: _condition_document(each) for each in comparison.conditions},
    }


def _condition_document(comparison: ConditionComparison) -> dict[str, Any]:
    return {
        "kind": kind_of(comparison.condition),
        **{name: _side_document(side) for name, side in zip(_SIDES, comparison.results, strict=True)},
        "interval": None if comparison.low is None else "paired" if comparison.paired else "welch",
        **rounded(comparison, "ratio", "low", "high", "degrees_of_freedom", "p_value"),
        "more_than_noise": comparison.more_than_noise,
        "missing": comparison.missing or None,
    }


def _side_document(side: ConditionResult | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {**rounded(side, "estimate", "low", "high"), "n": side.n, "verdict": side.verdict}


# Releases: `replay interleave --data NAME` measures each into a data set of its own, NAME-16, NAME-18 and so on


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
        measured = {judgement.claim.id for judgement in other.measured()[0].judgements}
        both = tuple(judgement for judgement in own.measured()[0].judgements if judgement.claim.id in measured)
        compared = compare(replace(own, judgements=both), other)
        if compared:
            against[other.data_set] = {
                "measured_with": other.measured_with or None,
                "claims": compared_claims(compared),
            }
    if not against:
        return None
    return {
        "schema_version": 1,
        "data_set": own.data_set,
        "measured_with": own.measured_with or None,
        "method": {"confidence": statistics.CONFIDENCE, "correction": "holm"},
        "against": against,
    }
