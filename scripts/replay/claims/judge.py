"""Reads data sets, and judges the talk's claims by them: one data set alone, and over the campaigns that ship."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base.errors import EvidenceError
from replay.base.invocation import after_missing, replay_command
from replay.base.releases import major_of, with_names
from replay.claims.campaigns import over_campaigns
from replay.claims.evaluate import judge
from replay.claims.load import known_experiments, load_book
from replay.claims.model import Assessment, Book, Judgement
from replay.claims.multiplicity import with_q_values
from replay.claims.tables import read_table
from replay.design.configuration import load_claims_document
from replay.evidence.data_set import CAMPAIGN, MANIFEST, read_campaign


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


def with_campaigns(assessment: Assessment, data_set: Path, book: Book) -> Assessment:
    """Return a data set's assessment with what the campaigns that ship say about each claim together."""
    assessments = [
        assessment if folder == data_set else judge_data_set(folder, book) for folder in campaign_folders(data_set)
    ]
    judgements: dict[str, dict[str, Judgement]] = {}
    for campaign in assessments:
        for judgement in campaign.judgements:
            judgements.setdefault(judgement.claim.id, {})[campaign.data_set] = judgement
    over = {claim.id: over_campaigns(claim, judgements.get(claim.id, {})) for claim in book.claims}
    return replace(assessment, over_campaigns=over)


def campaign_folders(data_set: Path) -> list[Path]:
    """Return the data sets beside this one that `campaigns` in config/claims.yaml names and that have its release.

    They are those that ship: somebody's own data set is compared with them, and never changes what they say.
    """
    release = _release(data_set)
    patterns = load_claims_document().data.get("campaigns", ())
    folders = {folder for pattern in patterns for folder in data_set.parent.glob(pattern)}
    return sorted(
        folder
        for folder in folders
        if release is not None and (folder / CAMPAIGN).exists() and _release(folder) == release
    )


def _release(data_set: Path) -> int | None:
    return major_of((read_campaign(data_set).get("setup") or {}).get("ceph_version"))


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
