"""What a data set says about each claim, as files: claims.json and claims.csv."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.tables import csv_text, json_text, write_if_changed
from replay.claims.campaigns import CAMPAIGNS_FOR_PREDICTION
from replay.claims.evaluate import EQUIVALENCE_BLOCKS
from replay.claims.judge import FALSE_DISCOVERY_RATE, judge_data_set, multiplicity, with_campaigns
from replay.claims.load import load_book
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    Assessment,
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

    Call it while holding `exclusive(data_set)`. Raises EvidenceError if there is no such data set, and
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
        "multiplicity": {
            "claims_tested": many.tested,
            "claims_decided": many.decided,
            "wrong_by_chance_at_most": six_digits(many.by_chance),
            "conditions_tested": many.conditions,
            "conditions_within_false_discovery_rate": many.discoveries,
        },
        "sources": {name: {"title": title} for name, title in assessment.sources.items()},
        "claims": {
            judgement.claim.id: _claim(judgement, assessment.over_campaigns.get(judgement.claim.id, _NO_CAMPAIGN))
            for judgement in assessment.judgements
        },
    }


def _claim(judgement: Judgement, over: ClaimOverCampaigns) -> dict[str, Any]:
    claim = judgement.claim
    return {
        "kind": claim.kind,
        "sentence": claim.sentence,
        "source": claim.source,
        "says": [vars(said) for said in claim.says],
        "differs": claim.differs or None,
        "ours": claim.ours or None,
        "experiment": claim.experiment,
        "chart": claim.chart,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
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
    presupposition, value = examined.presupposition, examined.found
    return {
        "that": presupposition.predicate.text(),
        "decides": presupposition.decides,
        "because": presupposition.because,
        "met": examined.met,
        "found": value if value is None or isinstance(value, str) else six_digits(value),
        "reason": examined.reason,
    }


def _condition(result: ConditionResult) -> dict[str, Any]:
    condition = result.condition
    return {
        "kind": kind_of(condition),
        "says": result.says,
        "metric": condition.metric,
        **rounded(result, "estimate", "low", "high"),
        "n": result.n,
        "hosts": result.hosts,
        "neighbours": result.neighbours,
        "region": {"low": condition.region.low, "high": condition.region.high},
        **rounded(result, "p_value", "q_value"),
        "verdict": result.verdict,
        "reason": result.reason,
        "cells": list(result.cells),
        "blocks": {str(block): six_digits(value) for block, value in result.blocks.items()},
    }


def _campaigns(over: ConditionOverCampaigns) -> dict[str, Any]:
    """Return what several campaigns say about a condition: all that a stranger needs to compute the mean again."""
    mean, prediction = over.mean, over.prediction
    return {
        "campaigns": [
            {
                "name": campaign.name,
                "host": campaign.host or None,
                "bottleneck": campaign.bottleneck,
                **rounded(campaign, "estimate", "low", "high"),
                "n": campaign.n,
                **rounded(campaign, "standard_error"),
                "verdict": campaign.verdict,
                "testable": campaign.testable,
            }
            for campaign in over.campaigns
        ],
        "mean": None
        if mean is None
        else {
            "estimate": six_digits(mean.value),
            **rounded(mean, "low", "high", "standard_error"),
            "tau": six_digits(over.tau),
        },
        "prediction": None
        if prediction is None
        else {"low": six_digits(prediction[0]), "high": six_digits(prediction[1])},
        "over_campaigns": over.verdict,
    }


def kind_of(condition: Condition | Count) -> str:
    """Return what a condition compares: `ratio`, or `count` for exact comparison."""
    return "count" if isinstance(condition, Count) else "ratio"


def six_digits(value: float | None) -> float | None:
    """Return a number with six significant digits, for the files."""
    return None if value is None else float(f"{value:.6g}")


def rounded(one: Any, *names: str) -> dict[str, float | None]:
    """Return numbers of a result by their names, for the files."""
    return {name: six_digits(getattr(one, name)) for name in names}


def as_csv(assessment: Assessment) -> str:
    """Return the text of claims.csv: one row per condition."""
    rows = [
        (judgement.claim.id, judgement.claim.kind, *_shown(result), *_verdict(judgement))
        for judgement in assessment.judgements
        for result in judgement.results
    ]
    return csv_text([COLUMNS, *rows])


def _shown(result: ConditionResult) -> tuple[str, ...]:
    numbers = rounded(result, "estimate", "low", "high", "p_value", "q_value").values()
    estimate, low, high, p_value, q_value = ("" if value is None else f"{value:g}" for value in numbers)
    region = result.condition.region.text()
    return result.condition.name, estimate, low, high, str(result.n), region, p_value, q_value, result.verdict


def _verdict(judgement: Judgement) -> tuple[str, ...]:
    met = [examined.met for examined in judgement.presupposed]
    presuppositions = "not met" if False in met else "not recorded" if None in met else "met" if met else "none"
    return judgement.verdict, str(bool(judgement.exploratory)).lower(), presuppositions, judgement.reason
