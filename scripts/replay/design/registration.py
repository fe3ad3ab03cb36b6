"""Registers claims before the data that test them: a block's receipt keeps a digest of each claim's content.

A claim whose content has another digest was changed after its data were known; `claims.registration` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replay.design.design import digest_of
from replay.design.talk_files import claims_path, load_claims_document

#: The sentence, and the keys that decide its verdict. A claim's chart, its source and its reasons may change.
_CONTENT = ("id", "sentence", "experiment", "metric", "conditions")
_PRESUPPOSITION = ("that", "of", "decides")


def claim_digest(claim: Mapping[str, Any]) -> str:
    """Return the digest of one entry of `claims` in config/claims.yaml: 12 hexadecimal digits."""
    presupposes = [{key: one[key] for key in _PRESUPPOSITION if key in one} for one in claim.get("presupposes", ())]
    return digest_of({**{key: claim[key] for key in _CONTENT}, "presupposes": presupposes})


def claims_to_register(experiment: str) -> dict[str, str]:
    """Return claim id to present digest for the claims about an experiment; empty for a talk without claims.

    Raises ConfigurationError if config/claims.yaml is invalid.
    """
    if not claims_path().exists():
        return {}
    claims = load_claims_document().data["claims"]
    return {one["id"]: claim_digest(one) for one in claims if one["experiment"] == experiment}


def registered_throughout(sittings: Iterable[Mapping[str, str] | None]) -> dict[str, str]:
    """Return claim to digest for the claims that all sittings of a block registered with the same digest.

    A sitting that registered nothing is None.
    """
    several = [dict(one or {}) for one in sittings]
    first, *others = several or [{}]
    return {claim: digest for claim, digest in first.items() if all(one.get(claim) == digest for one in others)}
