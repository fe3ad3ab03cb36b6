"""What data sets say about each claim, for programs: claims.json, claims.csv, a comparison of two, releases.json."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.programs import COMPARED_RELEASES, older_releases
from replay.base.tables import csv_text, json_text, write_if_changed
from replay.claims.campaigns import CAMPAIGNS_FOR_PREDICTION
from replay.claims.evaluate import EQUIVALENCE_BLOCKS, ClaimComparison, ConditionComparison, compare
from replay.claims.judge import FALSE_DISCOVERY_RATE, judge_data_set, multiplicity, with_campaigns, with_versions
from replay.claims.load import load_book
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    Assessment,
    Book,
    ClaimOverCampaigns,
    Condition,
    ConditionOverCampaigns,
    ConditionResult,
    Count,
    Judgement,
    Presupposed,
)
from replay.design.configuration import claims_path

COLUMNS = (
    *("id", "kind", "condition", "estimate", "low", "high", "n", "region", "p_value", "q_value", "condition_verdict"),
    *("verdict", "exploratory", "presuppositions", "reason"),
)

#: What is said of a claim and of a condition if no campaign that ships measured it.
_NO_CAMPAIGN, _CONDITION_OF_NONE = ClaimOverCampaigns(), ConditionOverCampaigns()


def write_claims(data_set: Path) -> None:
    """Judge a data set, and write its claims.json and claims.csv if they change. A talk without claims has none.

    Call it while holding `locked(data_set)`. Raises EvidenceError if there is no such data set, and
    ConfigurationError if the claims are invalid.
    """
    if not claims_path().exists():
        return
    book = load_book(data_set)
    assessment = with_campaigns(judge_data_set(data_set, book), data_set, book)
    write_if_changed(data_set / "claims.json", json_text(as_document(assessment)))
    write_if_changed(data_set / "claims.csv", as_csv(assessment))


def as_document(assessment: Assessment) -> dict[str, Any]:
    """Return the content of claims.json. Estimates have six significant digits."""
    many = multiplicity(assessment.judgements)
    return {
        "schema_version": 3,
        "data_set": assessment.data_set,
        "altered": False,
        "method": {
            "confidence": statistics.CONFIDENCE,
            "equivalence_blocks": EQUIVALENCE_BLOCKS,
            "blocks_for_verdict": BLOCKS_FOR_VERDICT,
            "false_discovery_rate": FALSE_DISCOVERY_RATE,
            "campaigns_for_prediction": CAMPAIGNS_FOR_PREDICTION,
        },
        "multiplicity": attributes(many, *vars(many)),
        "sources": {name: {"title": title} for name, title in assessment.sources.items()},
        "claims": {
            judgement.claim.id: _claim(judgement, assessment.over_campaigns.get(judgement.claim.id, _NO_CAMPAIGN))
            for judgement in assessment.judgements
        },
    }


def _claim(judgement: Judgement, over: ClaimOverCampaigns) -> dict[str, Any]:
    claim = judgement.claim
    return {
        **attributes(claim, "kind", "sentence", "source"),
        "says": list(claim.says),
        "differs": claim.differs or None,
        "ours": claim.ours or None,
        **attributes(claim, "experiment", "chart"),
        **attributes(judgement, "verdict", "reason"),
        "over_campaigns": over.verdict,
        "exploratory": bool(judgement.exploratory),
        "exploratory_reason": judgement.exploratory or None,
        "presupposes": [_presupposed(examined) for examined in judgement.presupposed],
        "presupposes_nothing": claim.presupposes_nothing or None,
        "conditions": {
            (name := result.condition.name): {
                **_condition(result),
                **_campaigns(over.conditions.get(name, _CONDITION_OF_NONE)),
            }
            for result in judgement.results
        },
    }


def _presupposed(examined: Presupposed) -> dict[str, Any]:
    return {
        "that": examined.presupposition.predicate.text(),
        **attributes(examined.presupposition, "decides", "because"),
        **attributes(examined, "met", "found", "reason"),
    }


def _condition(result: ConditionResult) -> dict[str, Any]:
    condition = result.condition
    return {
        "kind": kind_of(condition),
        "says": result.says,
        "metric": condition.metric,
        **attributes(result, "estimate", "low", "high", "n", "hosts", "neighbours"),
        "region": {"low": condition.region.low, "high": condition.region.high},
        **attributes(result, "p_value", "q_value", "verdict", "reason"),
        "cells": list(result.cells),
        "blocks": {str(block): six_digits(value) for block, value in result.blocks.items()},
    }


def _campaigns(over: ConditionOverCampaigns) -> dict[str, Any]:
    """Return what several campaigns say about a condition: all that a stranger needs to compute the mean again."""
    mean, prediction = over.mean, over.prediction
    return {
        "campaigns": [
            {**attributes(campaign, *vars(campaign)), "host": campaign.host or None} for campaign in over.campaigns
        ],
        "mean": mean and {**attributes(mean, *mean._fields), "tau": six_digits(over.tau)},
        "prediction": prediction and {"low": six_digits(prediction[0]), "high": six_digits(prediction[1])},
        "over_campaigns": over.verdict,
    }


def kind_of(condition: Condition | Count) -> str:
    return "count" if isinstance(condition, Count) else "ratio"


def six_digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def attributes(told: Any, *names: str) -> dict[str, Any]:
    """Return attributes by their names, numbers with six significant digits."""
    values = {name: getattr(told, name) for name in names}
    return {name: six_digits(value) if isinstance(value, float) else value for name, value in values.items()}


def as_csv(assessment: Assessment) -> str:
    """Return the text of claims.csv: one row per condition."""
    rows = [
        (judgement.claim.id, judgement.claim.kind, *_shown(result), *_verdict(judgement))
        for judgement in assessment.judgements
        for result in judgement.results
    ]
    return csv_text([COLUMNS, *rows])


def _shown(result: ConditionResult) -> tuple[str, ...]:
    numbers = attributes(result, "estimate", "low", "high", "p_value", "q_value").values()
    estimate, low, high, p_value, q_value = ("" if value is None else f"{value:g}" for value in numbers)
    region = result.condition.region.text()
    return result.condition.name, estimate, low, high, str(result.n), region, p_value, q_value, result.verdict


def _verdict(judgement: Judgement) -> tuple[str, ...]:
    met = [examined.met for examined in judgement.presupposed]
    presuppositions = "not met" if False in met else "not recorded" if None in met else "met" if met else "none"
    return judgement.verdict, str(bool(judgement.exploratory)).lower(), presuppositions, judgement.reason


# Two data sets -------------------------------------------------------------------------------------------------------

_SIDES = ("data_set", "against")


def comparison_document(first: Assessment, second: Assessment) -> dict[str, Any]:
    """Return the comparison for programs. `ratio` is the first data set's estimate ÷ the second's."""
    sides = dict(zip(_SIDES, (first, second), strict=True))
    return {
        "schema_version": 2,
        "data_set": first.data_set,
        "against": second.data_set,
        "measured_with": {name: side.measured_with or None for name, side in sides.items()},
        "altered": dict.fromkeys(_SIDES, False),
        "method": {"confidence": statistics.CONFIDENCE, "correction": "holm"},
        "claims": compared_claims(first, second),
    }


def compared_claims(first: Assessment, second: Assessment) -> dict[str, Any]:
    return {comparison.claim.id: _claim_document(comparison) for comparison in compare(first, second)}


def _claim_document(comparison: ClaimComparison) -> dict[str, Any]:
    claim, judgements = comparison.claim, dict(zip(_SIDES, comparison.judgements, strict=True))
    return {
        **attributes(claim, "kind", "sentence", "source"),
        "verdicts": {name: judgement.verdict for name, judgement in judgements.items()},
        "exploratory": {name: bool(judgement.exploratory) for name, judgement in judgements.items()},
        "verdicts_differ": comparison.verdicts_differ,
        "conditions": {each.condition.name: _condition_document(each) for each in comparison.conditions},
    }


def _condition_document(comparison: ConditionComparison) -> dict[str, Any]:
    return {
        "kind": kind_of(comparison.condition),
        **{
            name: attributes(side, "estimate", "low", "high", "n", "verdict")
            for name, side in zip(_SIDES, comparison.results, strict=True)
        },
        "interval": None if comparison.low is None else "paired" if comparison.paired else "welch",
        **attributes(comparison, "ratio", "low", "high", "degrees_of_freedom", "p_value", "more_than_noise"),
        "missing": comparison.missing or None,
    }


# Releases: `replay interleave --data NAME` measures each into a data set of its own, NAME-16, NAME-18 and so on


def write_releases(data_set: Path, book: Book) -> None:
    """Write releases.json, or remove it if there is nothing to compare with.

    Raises EvidenceError if a manifest cannot be read.
    """
    document = None
    if older := older_releases(data_set):
        assessments = [with_versions(judge_data_set(folder, book), folder) for folder in (data_set, *older)]
        document = releases_document(*assessments)
    if document is None:
        (data_set / COMPARED_RELEASES).unlink(missing_ok=True)
    else:
        write_if_changed(data_set / COMPARED_RELEASES, json_text(document))


def releases_document(own: Assessment, *others: Assessment) -> dict[str, Any] | None:
    """Return the content of releases.json: per older data set, each claim that both measured. Pure.

    None if there is no such claim. All ratios of one comparison are tested together, as `replay claims --against` tests
    them.
    """
    against = {}
    for other in others:
        measured = {judgement.claim.id for judgement in other.measured}
        both = tuple(judgement for judgement in own.measured if judgement.claim.id in measured)
        if claims := compared_claims(replace(own, judgements=both), other):
            against[other.data_set] = {"measured_with": other.measured_with or None, "claims": claims}
    if not against:
        return None
    return {
        "schema_version": 1,
        "data_set": own.data_set,
        "measured_with": own.measured_with or None,
        "method": {"confidence": statistics.CONFIDENCE, "correction": "holm"},
        "against": against,
    }
