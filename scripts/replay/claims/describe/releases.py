"""Writes releases.json: the claims of one release of Ceph against those of older ones that were measured with it.

`replay interleave --data NAME` measures each release into a data set of its own: NAME-16, NAME-18 and so on. The newer
of two says how far its ratios moved from those of the older, so that a slide can show it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.releases import COMPARED_RELEASES, older_releases
from replay.base.tables import json_text, write_if_changed
from replay.claims.compare import compare
from replay.claims.compare_output import compared_claims
from replay.claims.files import judge_data_set, with_versions
from replay.claims.model import Assessment, Book

_SCHEMA_VERSION = 1


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
        there = {one.claim.id for one in other.measured()[0].judgements}
        both = tuple(one for one in own.measured()[0].judgements if one.claim.id in there)
        compared = compare(replace(own, judgements=both), other)
        if compared:
            against[other.data_set] = {
                "measured_with": other.measured_with or None,
                "claims": compared_claims(compared),
            }
    if not against:
        return None
    return {
        "schema_version": _SCHEMA_VERSION,
        "data_set": own.data_set,
        "measured_with": own.measured_with or None,
        "method": {"confidence": statistics.CONFIDENCE, "correction": "holm"},
        "against": against,
    }
