"""Registers claims before the data that test them: a digest of each claim's content, which a block's receipt keeps.

A claim whose content differs from what was registered was changed when data were known; `claims.registration` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replay.config.claims_file import claims_path, load_claims_document
from replay.design.design import digest_of

#: What decides a verdict, and what is said. A claim's chart, its source and the reasons that it gives may change.
_CONTENT = ("id", "sentence", "experiment", "metric", "conditions")
_PRESUPPOSITION = ("that", "of", "decides")


def claim_digest(claim: Mapping[str, Any]) -> str:
    """Return the digest of one entry of `claims` in config/claims.yaml: 12 hexadecimal digits."""
    presupposes = [{key: one[key] for key in _PRESUPPOSITION if key in one} for one in claim.get("presupposes", ())]
    return digest_of({**{key: claim[key] for key in _CONTENT}, "presupposes": presupposes})


def claims_to_register(experiment: str) -> dict[str, str]:
    """Return the digest of each claim on an experiment as it stands now, by id; none for a talk without claims.

    Raises ConfigurationError if config/claims.yaml is invalid.
    """
    if not claims_path().exists():
        return {}
    claims = load_claims_document().data["claims"]
    return {one["id"]: claim_digest(one) for one in claims if one["experiment"] == experiment}


def registered_throughout(sittings: Iterable[Mapping[str, str] | None]) -> dict[str, str]:
    """Return the digests that every part of a block registered alike; None is a part that registered nothing."""
    several = [dict(one or {}) for one in sittings]
    first, *others = several or [{}]
    return {claim: digest for claim, digest in first.items() if all(one.get(claim) == digest for one in others)}
