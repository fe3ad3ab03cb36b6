"""Claims as files and as text: `claims.json`, `claims.csv`, a table for a terminal."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Sequence
from typing import Any

from replay.claims.model import Finding, Judgement

COLUMNS = ("id", "condition", "estimate", "low", "high", "n", "region", "condition_verdict", "verdict", "reason")


def as_document(judgements: Sequence[Judgement], data_set: str) -> dict[str, Any]:
    """Return what claims.json holds. Estimates have six significant digits; no clock, no host."""
    return {
        "schema_version": 1,
        "data_set": data_set,
        "claims": {one.claim.id: _claim(one) for one in judgements},
    }


def _claim(one: Judgement) -> dict[str, Any]:
    return {
        "sentence": one.claim.sentence,
        "source": one.claim.source,
        "experiment": one.claim.experiment,
        "verdict": one.verdict,
        "reason": one.reason,
        "conditions": {found.condition.name: _finding(found) for found in one.findings},
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "says": found.condition.says,
        "metric": found.condition.metric,
        "estimate": _digits(found.estimate),
        "low": _digits(found.low),
        "high": _digits(found.high),
        "n": found.n,
        "region": {"low": found.condition.region.low, "high": found.condition.region.high},
        "verdict": found.verdict,
        "reason": found.reason,
        "cells": list(found.cells),
    }


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def as_json(judgements: Sequence[Judgement], data_set: str) -> str:
    """Return the text of claims.json."""
    return json.dumps(as_document(judgements, data_set), indent=2, ensure_ascii=False) + "\n"


def as_csv(judgements: Sequence[Judgement]) -> str:
    """Return the text of claims.csv: one row per condition, or per claim where it has none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in judgements:
        for found in one.findings or (None,):
            shown = (
                ("", "", "", "", "", "", "")
                if found is None
                else (
                    found.condition.name,
                    *(_empty(_digits(value)) for value in (found.estimate, found.low, found.high)),
                    found.n,
                    found.condition.region.text(),
                    found.verdict,
                )
            )
            writer.writerow((one.claim.id, *shown, one.verdict, one.reason))
    return out.getvalue()


def _empty(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def as_table(judgements: Sequence[Judgement], width: int = 100) -> str:
    """Return the claims for a terminal: verdict, sentence, reason."""
    lines = []
    for one in judgements:
        lines.append(f"{one.verdict.upper():20}{one.claim.sentence} ({one.claim.source}, {one.claim.id})")
        lines += textwrap.wrap(one.reason, width, initial_indent=" " * 20, subsequent_indent=" " * 20)
    return "\n".join(lines)
