"""Claims as files and as text: `claims.json`, `claims.csv`, a table for a terminal."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.errors import EvidenceError
from replay.base.invocation import after_missing, replay_command
from replay.base.releases import with_names
from replay.base.tables import write_if_changed
from replay.claims.evaluate import EQUIVALENCE_BLOCKS, Table, judge
from replay.claims.load import known_experiments, load_book
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    NOT_MEASURED,
    Assessment,
    Book,
    Claim,
    Condition,
    Count,
    Finding,
    Judgement,
    Presupposed,
)
from replay.claims.multiplicity import FALSE_DISCOVERY_RATE, multiplicity, with_q_values
from replay.claims.tables import registered_in
from replay.derive.part import REGISTERED_FILE
from replay.design.configuration import claims_path
from replay.evidence.data_set import MANIFEST, read_stamp

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
    book, stamp = book or load_book(data_set), read_stamp(data_set)
    return Assessment(
        data_set=data_set.name,
        altered=stamp.sentence() if stamp else "",
        sources=book.sources,
        judgements=with_q_values(judge(claim, tables.get(claim.experiment)) for claim in book.claims),
    )


def with_versions(assessment: Assessment, data_set: Path) -> Assessment:
    """Return an assessment with the versions and hosts that its data set's manifest.json names.

    Raises EvidenceError if that file cannot be read.
    """
    setup = _of_manifest(data_set, lambda manifest: manifest["setup"])
    said = [(name, setup.get(f"{key}_version")) for name, key in (("Ceph", "ceph"), ("client", "librbd"))]
    told = ", ".join(f"{name} {with_names(version)}" for name, version in said if version)
    experiments = _of_manifest(data_set, lambda manifest: manifest.get("experiments", {}))
    machines = {name: one.get("provenance", {}).get("machines_by_block", {}) for name, one in experiments.items()}
    return replace(assessment, measured_with=told, machines=machines)


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


def read_table(experiment: Path, factors: list[str]) -> Table | None:
    """Read an experiment's tidy.csv, and the claims that its blocks registered.

    Returns None if the experiment was not measured. Without registered.csv, the table has no registered claims.
    """
    if not (experiment / "tidy.csv").exists():
        return None
    registered = registered_in(_rows(experiment / REGISTERED_FILE))
    return Table(_rows(experiment / "tidy.csv"), factors, registered)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


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


def write_claims(data_set: Path, book: Book | None = None) -> Assessment | None:
    """Judge a data set and write its claims.json and claims.csv; return the result.

    A talk without claims has no such files, and None is returned.
    """
    if not claims_path().exists():
        return None
    assessment = judge_data_set(data_set, book)
    write_if_changed(data_set / "claims.json", as_json(assessment))
    write_if_changed(data_set / "claims.csv", as_csv(assessment))
    return assessment
