"""Claims as files and as text: `claims.json`, `claims.csv`, a table for a terminal."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from typing import Any

from replay.base import stats as statistics
from replay.claims.evaluate import EQUIVALENCE_BLOCKS
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    NOT_MEASURED,
    Assessment,
    Claim,
    Condition,
    Count,
    Finding,
    Judgement,
    Presupposed,
)
from replay.claims.multiplicity import FALSE_DISCOVERY_RATE, multiplicity

#: Wide enough for every verdict, in a pipe and on a terminal.
VERDICT_WIDTH = 20
NO_CLAIM = "no claim is about these experiments"
COLUMNS = (
    *("id", "kind", "condition", "estimate", "low", "high", "n", "region", "p_value", "q_value", "condition_verdict"),
    *("verdict", "exploratory", "presuppositions", "reason"),
)
EXPLORATORY = "Exploratory: not registered, as it stands, before all of its blocks were measured."
SETUP_CHECKS = "Checks of the set-up, which say nothing about storage:"


def as_document(assessment: Assessment) -> dict[str, Any]:
    """Return the content of claims.json. Estimates have six significant digits; no time or host appears in it."""
    return {
        "schema_version": 3,
        "data_set": assessment.data_set,
        "altered": bool(assessment.altered),
        "method": {
            "confidence": statistics.CONFIDENCE,
            "equivalence_blocks": EQUIVALENCE_BLOCKS,
            "blocks_for_verdict": BLOCKS_FOR_VERDICT,
            "false_discovery_rate": FALSE_DISCOVERY_RATE,
        },
        "multiplicity": _multiplicity(assessment),
        "sources": {name: {"title": title} for name, title in assessment.sources.items()},
        "claims": {one.claim.id: _claim(one) for one in assessment.judgements},
    }


def _multiplicity(assessment: Assessment) -> dict[str, Any]:
    found = multiplicity(assessment.judgements)
    return {
        "claims_tested": found.tested,
        "claims_decided": found.decided,
        "wrong_by_chance_at_most": six_digits(found.by_chance),
        "conditions_tested": found.conditions,
        "conditions_within_false_discovery_rate": found.discoveries,
    }


def _claim(one: Judgement) -> dict[str, Any]:
    return {
        "kind": one.claim.kind,
        "sentence": one.claim.sentence,
        "source": one.claim.source,
        "says": [{"words": q.words, "place": q.place, "source": q.source} for q in one.claim.says],
        "differs": one.claim.differs or None,
        "ours": one.claim.ours or None,
        "experiment": one.claim.experiment,
        "chart": one.claim.chart,
        "verdict": one.verdict,
        "reason": one.reason,
        "exploratory": bool(one.exploratory),
        "exploratory_reason": one.exploratory or None,
        "presupposes": [_presupposed(presupposed) for presupposed in one.presupposed],
        "presupposes_nothing": one.claim.presupposes_nothing or None,
        "conditions": {found.condition.name: _finding(found) for found in one.findings},
    }


def _presupposed(one: Presupposed) -> dict[str, Any]:
    found = one.found
    return {
        "that": one.presupposition.predicate.text(),
        "decides": one.presupposition.decides,
        "because": one.presupposition.because,
        "met": one.met,
        "found": found if found is None or isinstance(found, str) else six_digits(found),
        "reason": one.reason,
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
        "neighbours": found.neighbours,
        "region": {"low": found.condition.region.low, "high": found.condition.region.high},
        "p_value": six_digits(found.p_value),
        "q_value": six_digits(found.q_value),
        "verdict": found.verdict,
        "reason": found.reason,
        "cells": list(found.cells),
        "blocks": {str(block): six_digits(value) for block, value in found.blocks.items()},
    }


def kind_of(condition: Condition | Count) -> str:
    """Return what a condition compares: `ratio`, or `count` for exact comparison."""
    return "count" if isinstance(condition, Count) else "ratio"


def six_digits(value: float | None) -> float | None:
    """Return a number with six significant digits, for the files."""
    return None if value is None else float(f"{value:.6g}")


def as_json(assessment: Assessment) -> str:
    """Return the text of claims.json."""
    return json.dumps(as_document(assessment), indent=2, ensure_ascii=False) + "\n"


def as_csv(assessment: Assessment) -> str:
    """Return the text of claims.csv: one row per condition, and one for a claim without any.

    For an altered data set, a last column `altered` of every row says so.
    """
    mark = (("altered",), ("true",)) if assessment.altered else ((), ())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, *mark[0]))
    for one in assessment.judgements:
        for found in one.findings or (None,):
            shown = (
                ("",) * 9
                if found is None
                else (
                    found.condition.name,
                    *(_empty(six_digits(value)) for value in (found.estimate, found.low, found.high)),
                    found.n,
                    found.condition.region.text(),
                    _empty(six_digits(found.p_value)),
                    _empty(six_digits(found.q_value)),
                    found.verdict,
                )
            )
            said = (one.verdict, str(bool(one.exploratory)).lower(), presuppositions_text(one), one.reason)
            writer.writerow((one.claim.id, one.claim.kind, *shown, *said, *mark[1]))
    return out.getvalue()


def presuppositions_text(one: Judgement) -> str:
    """Return whether a claim's presuppositions are met: `met`, `not met`, `not recorded` or `none`."""
    met = [presupposed.met for presupposed in one.presupposed]
    if False in met:
        return "not met"
    return "not recorded" if None in met else "met" if met else "none"


def _empty(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def altered_line(assessment: Assessment) -> list[str]:
    """Return the line that begins any text about an altered data set; an empty list if the data set is unchanged."""
    return [f"ALTERED DATA: {assessment.data_set} is {assessment.altered}"] if assessment.altered else []


def as_table(assessment: Assessment, width: int = 100) -> str:
    """Return the claims as plain text, each with its verdict, sentence and reason."""
    lines = altered_line(assessment)
    if not assessment.judgements:
        lines.append(NO_CLAIM)
    for part, several in enumerate((assessment.claims, assessment.setup_checks)):
        lines += ["", SETUP_CHECKS] if part and several else []
        lines += [line for one in several for line in _lines_of(one, width)]
    return "\n".join([*lines, *summary_lines(assessment)])


def _lines_of(one: Judgement, width: int) -> list[str]:
    indent = " " * VERDICT_WIDTH
    reason = textwrap.wrap(one.reason, width, initial_indent=indent, subsequent_indent=indent)
    return [f"{one.verdict.upper():{VERDICT_WIDTH}}{heading_of(one)}", *reason]


def heading_of(one: Judgement) -> str:
    """Return a claim for people: its sentence, who makes it, its id, and whether it is exploratory."""
    return f"{one.claim.sentence} ({whose(one.claim)}, {one.claim.id}{', exploratory' if one.exploratory else ''})"


def whose(claim: Claim) -> str:
    """Return who makes a claim: a source, or Replay, prompted by a source."""
    return f"ours, after {claim.source}" if claim.ours else claim.source


def summary_lines(assessment: Assessment) -> list[str]:
    """Return the lines that end a table of claims: what chance alone would produce, and what exploratory means."""
    found = multiplicity(assessment.judgements)
    lines = []
    if found.tested:
        lines += [
            "",
            f"{found.decided} of {found.tested} tested claims are decided. Chance alone would get at most "
            f"{found.by_chance:.1f} of them wrong, on average.",
            f"{found.discoveries} of {found.conditions} conditions have a q-value of {FALSE_DISCOVERY_RATE:g} or less "
            "(Benjamini-Hochberg).",
        ]
    if any(one.exploratory for one in assessment.judgements):
        lines.append(EXPLORATORY)
    return [*lines, *_host_lines(assessment)]


def _host_lines(assessment: Assessment) -> list[str]:
    """Return a line for each experiment with a tested claim whose blocks come from several hosts: which from which."""
    tested = {one.claim.experiment for one in assessment.judgements if one.verdict != NOT_MEASURED}
    lines = []
    for name in sorted(tested & assessment.machines.keys()):
        blocks_of: dict[str, list[str]] = {}
        for block, hosts in assessment.machines[name].items():
            for host in hosts:
                blocks_of.setdefault(host, []).append(block)
        if len(blocks_of) > 1:
            shares = "; ".join(
                f"block{'s' if len(blocks) > 1 else ''} {', '.join(blocks)} on {host}"
                for host, blocks in blocks_of.items()
            )
            lines.append(f"{name} was measured on {len(blocks_of)} hosts: {shares}.")
    return lines
