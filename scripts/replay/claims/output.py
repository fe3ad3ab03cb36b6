"""Claims as files and as text: `claims.json`, `claims.csv`, a table for a terminal."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from typing import Any

from replay.base import stats as statistics
from replay.claims.evaluate import EQUIVALENCE_BLOCKS
from replay.claims.model import BLOCKS_FOR_VERDICT, Assessment, Condition, Count, Finding, Judgement

#: Wide enough for every verdict, in text as on a terminal.
VERDICT_WIDTH = 20
NO_CLAIM = "no claim is about these experiments"
COLUMNS = ("id", "condition", "estimate", "low", "high", "n", "region", "condition_verdict", "verdict", "reason")


def as_document(assessment: Assessment) -> dict[str, Any]:
    """Return the content of claims.json. Estimates have six significant digits; no time, no host."""
    return {
        "schema_version": 2,
        "data_set": assessment.data_set,
        "altered": bool(assessment.altered),
        "method": {
            "confidence": statistics.CONFIDENCE,
            "equivalence_blocks": EQUIVALENCE_BLOCKS,
            "blocks_for_verdict": BLOCKS_FOR_VERDICT,
        },
        "sources": {name: {"title": title} for name, title in assessment.sources.items()},
        "claims": {one.claim.id: _claim(one) for one in assessment.judgements},
    }


def _claim(one: Judgement) -> dict[str, Any]:
    return {
        "sentence": one.claim.sentence,
        "source": one.claim.source,
        "experiment": one.claim.experiment,
        "chart": one.claim.chart,
        "limiter": list(one.claim.limiter),
        "limiter_decides": one.claim.limiter_decides,
        "verdict": one.verdict,
        "reason": one.reason,
        "conditions": {found.condition.name: _finding(found) for found in one.findings},
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "kind": kind_of(found.condition),
        "says": found.says,
        "metric": found.condition.metric,
        "estimate": six_digits(found.estimate),
        "low": six_digits(found.low),
        "high": six_digits(found.high),
        "n": found.n,
        "region": {"low": found.condition.region.low, "high": found.condition.region.high},
        "verdict": found.verdict,
        "reason": found.reason,
        "cells": list(found.cells),
        "blocks": {str(block): six_digits(value) for block, value in found.blocks.items()},
    }


def kind_of(condition: Condition | Count) -> str:
    """Return what a condition compares: `ratio`, or `count` for exact comparison."""
    return "count" if isinstance(condition, Count) else "ratio"


def six_digits(value: float | None) -> float | None:
    """Return a number for the files, with six significant digits."""
    return None if value is None else float(f"{value:.6g}")


def as_json(assessment: Assessment) -> str:
    """Return the text of claims.json."""
    return json.dumps(as_document(assessment), indent=2, ensure_ascii=False) + "\n"


def as_csv(assessment: Assessment) -> str:
    """Return the text of claims.csv: one row per condition, or per claim where it has none.

    For an altered data set every row says so in a last column, `altered`.
    """
    mark = (("altered",), ("true",)) if assessment.altered else ((), ())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, *mark[0]))
    for one in assessment.judgements:
        for found in one.findings or (None,):
            shown = (
                ("", "", "", "", "", "", "")
                if found is None
                else (
                    found.condition.name,
                    *(_empty(six_digits(value)) for value in (found.estimate, found.low, found.high)),
                    found.n,
                    found.condition.region.text(),
                    found.verdict,
                )
            )
            writer.writerow((one.claim.id, *shown, one.verdict, one.reason, *mark[1]))
    return out.getvalue()


def _empty(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def altered_line(assessment: Assessment) -> list[str]:
    """Return the first line of any text about an altered data set; none if the data set is unchanged."""
    return [f"ALTERED DATA: {assessment.data_set} is {assessment.altered}"] if assessment.altered else []


def as_table(assessment: Assessment, width: int = 100) -> str:
    """Return the claims as plain text: verdict, sentence, reason."""
    lines = altered_line(assessment)
    if not assessment.judgements:
        lines.append(NO_CLAIM)
    indent = " " * VERDICT_WIDTH
    for one in assessment.judgements:
        lines.append(f"{one.verdict.upper():{VERDICT_WIDTH}}{heading_of(one)}")
        lines += textwrap.wrap(one.reason, width, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(lines)


def heading_of(one: Judgement) -> str:
    """Return a claim for people: its sentence, the sentence's source, and its name."""
    return f"{one.claim.sentence} ({one.claim.source}, {one.claim.id})"
