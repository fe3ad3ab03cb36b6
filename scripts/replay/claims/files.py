"""Claims of one data set: reads its tidy tables, and writes claims.json and claims.csv if they have changed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base.did_you_mean import after_missing
from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.releases import with_names
from replay.base.tables import write_if_changed
from replay.claims.evaluate import Table, judge
from replay.claims.load import known_experiments, load_book
from replay.claims.model import Assessment, Book
from replay.claims.multiplicity import with_q_values
from replay.claims.output import as_csv, as_json
from replay.claims.registration import registered_in
from replay.derive.part import REGISTERED_FILE
from replay.design.talk_files import claims_path
from replay.evidence.copies import MANIFEST, read_stamp


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
