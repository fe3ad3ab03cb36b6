"""Judges a data set and writes what it says about each claim: claims.json and claims.csv."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.did_you_mean import after_missing
from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.releases import with_names
from replay.base.tables import csv_text, json_text, write_if_changed
from replay.claims.evaluate import EQUIVALENCE_BLOCKS, judge
from replay.claims.load import known_experiments, load_book
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    Assessment,
    Book,
    Condition,
    ConditionResult,
    Count,
    Judgement,
    Presupposed,
)
from replay.claims.multiplicity import FALSE_DISCOVERY_RATE, multiplicity, with_q_values
from replay.claims.tables import read_table
from replay.design.talk_files import claims_path
from replay.evidence.copies import MANIFEST

COLUMNS = (
    *("id", "kind", "condition", "estimate", "low", "high", "n", "region", "p_value", "q_value", "condition_verdict"),
    *("verdict", "exploratory", "presuppositions", "reason"),
)


def write_claims(data_set: Path) -> None:
    """Judge a data set, and write its claims.json and claims.csv if they change. A talk without claims has none.

    Call it while holding `exclusive(data_set)`. Raises EvidenceError if there is no such data set, and
    ConfigurationError if the claims are invalid.
    """
    if not claims_path().exists():
        return
    assessment = judge_data_set(data_set)
    write_if_changed(data_set / "claims.json", json_text(as_document(assessment)))
    write_if_changed(data_set / "claims.csv", as_csv(assessment))


def judge_data_set(data_set: Path, book: Book | None = None) -> Assessment:
    """Return a data set's verdict on every claim. `book` saves reading the claims again.

    Raises EvidenceError if there is no such data set, and ConfigurationError if the claims are invalid.
    """
    if not data_set.is_dir():
        raise EvidenceError("there is no such data set", where=data_set, next_step=after_missing(data_set))
    tables = {
        name: read_table(data_set / name, list(experiment["factors"]))
        for name, experiment in known_experiments(data_set).items()
    }
    book = book or load_book(data_set)
    return Assessment(
        data_set=data_set.name,
        sources=book.sources,
        judgements=with_q_values(judge(claim, tables.get(claim.experiment)) for claim in book.claims),
    )


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
        },
        "multiplicity": {
            "claims_tested": many.tested,
            "claims_decided": many.decided,
            "wrong_by_chance_at_most": six_digits(many.by_chance),
            "conditions_tested": many.conditions,
            "conditions_within_false_discovery_rate": many.discoveries,
        },
        "sources": {name: {"title": title} for name, title in assessment.sources.items()},
        "claims": {judgement.claim.id: _claim(judgement) for judgement in assessment.judgements},
    }


def _claim(judgement: Judgement) -> dict[str, Any]:
    claim = judgement.claim
    return {
        "kind": claim.kind,
        "sentence": claim.sentence,
        "source": claim.source,
        "says": [{"words": said.words, "place": said.place, "source": said.source} for said in claim.says],
        "differs": claim.differs or None,
        "ours": claim.ours or None,
        "experiment": claim.experiment,
        "chart": claim.chart,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "exploratory": bool(judgement.exploratory),
        "exploratory_reason": judgement.exploratory or None,
        "presupposes": [_presupposed(examined) for examined in judgement.presupposed],
        "presupposes_nothing": claim.presupposes_nothing or None,
        "conditions": {result.condition.name: _condition(result) for result in judgement.results},
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
        "estimate": six_digits(result.estimate),
        "low": six_digits(result.low),
        "high": six_digits(result.high),
        "n": result.n,
        "neighbours": result.neighbours,
        "region": {"low": condition.region.low, "high": condition.region.high},
        "p_value": six_digits(result.p_value),
        "q_value": six_digits(result.q_value),
        "verdict": result.verdict,
        "reason": result.reason,
        "cells": list(result.cells),
        "blocks": {str(block): six_digits(value) for block, value in result.blocks.items()},
    }


def kind_of(condition: Condition | Count) -> str:
    """Return what a condition compares: `ratio`, or `count` for exact comparison."""
    return "count" if isinstance(condition, Count) else "ratio"


def six_digits(value: float | None) -> float | None:
    """Return a number with six significant digits, for the files."""
    return None if value is None else float(f"{value:.6g}")


def as_csv(assessment: Assessment) -> str:
    """Return the text of claims.csv: one row per condition, and one for a claim without any."""
    rows = [
        (judgement.claim.id, judgement.claim.kind, *_shown(result), *_verdict(judgement))
        for judgement in assessment.judgements
        for result in judgement.results or (None,)
    ]
    return csv_text([COLUMNS, *rows])


def _shown(result: ConditionResult | None) -> tuple[str, ...]:
    if result is None:
        return ("",) * 9
    numbers = (result.estimate, result.low, result.high, result.p_value, result.q_value)
    estimate, low, high, p_value, q_value = ("" if value is None else f"{six_digits(value):g}" for value in numbers)
    region = result.condition.region.text()
    return result.condition.name, estimate, low, high, str(result.n), region, p_value, q_value, result.verdict


def _verdict(judgement: Judgement) -> tuple[str, ...]:
    met = [examined.met for examined in judgement.presupposed]
    presuppositions = "not met" if False in met else "not recorded" if None in met else "met" if met else "none"
    return judgement.verdict, str(bool(judgement.exploratory)).lower(), presuppositions, judgement.reason


def with_versions(assessment: Assessment, data_set: Path) -> Assessment:
    """Return an assessment with the versions and hosts that its data set's manifest.json names.

    Raises EvidenceError if that file cannot be read.
    """
    setup = _of_manifest(data_set, lambda manifest: manifest["setup"])
    versions = [(name, setup.get(f"{key}_version")) for name, key in (("Ceph", "ceph"), ("client", "librbd"))]
    measured_with = ", ".join(f"{name} {with_names(version)}" for name, version in versions if version)
    experiments = _of_manifest(data_set, lambda manifest: manifest.get("experiments", {}))
    machines = {name: entry.get("provenance", {}).get("machines_by_block", {}) for name, entry in experiments.items()}
    return replace(assessment, measured_with=measured_with, machines=machines)


def read_controls(data_set: Path) -> dict[str, Mapping[str, Any]]:
    """Return what the A/A control of each experiment found, from manifest.json; empty if there is no such file.

    Raises EvidenceError if that file cannot be read.
    """
    return _of_manifest(
        data_set,
        lambda manifest: {
            name: entry["control"] for name, entry in manifest["experiments"].items() if entry.get("control")
        },
    )


def _of_manifest(data_set: Path, pick: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return what `pick` takes from manifest.json, empty if there is no such file. Raises EvidenceError if it fails."""
    path = data_set / MANIFEST
    try:
        return pick(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(
            f"this manifest cannot be read: {error}",
            where=path,
            next_step=f"derive it again: {replay_command('derive', '--data', data_set.name)}",
        ) from error
