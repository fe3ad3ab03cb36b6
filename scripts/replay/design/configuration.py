"""Reads and checks what people wrote in config/: experiments, claims, the answer. Registers claims before their data.

A block's receipt keeps a digest of each claim's content. A claim whose content has another digest was changed after its
data were known; `claims.registration` says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from replay.base import plugins
from replay.base.errors import ConfigurationError
from replay.base.invocation import suggestion
from replay.base.paths import config_directory, program_file
from replay.design.design import digest_of
from replay.design.documents import Document, load_validated_document
from replay.design.needs import protocol_names


def experiment_names(scale: str | None = None) -> list[str]:
    """Return the names of all configured experiments; with `scale`, of those that have it.

    Raises ConfigurationError if `scale` is given and an experiment's file is wrong.
    """
    names = sorted(path.stem for path in (config_directory() / "experiments").glob("*.yaml"))
    return names if scale is None else [name for name in names if scale in load_experiment(name)["scales"]]


def load_experiment(name: str) -> dict[str, Any]:
    """Read and check `config/experiments/<name>.yaml`. Raises ConfigurationError naming file, key and what is wrong."""
    return load_experiment_document(name).data


def load_experiment_document(name: str) -> Document:
    """Like `load_experiment`, but with line numbers, for callers that check more than names."""
    path = config_directory() / "experiments" / f"{name}.yaml"
    if not path.exists():
        raise ConfigurationError(f"no experiment {name!r}", where=path, next_step=suggestion(name, experiment_names()))
    document = load_validated_document(path, program_file("schemas", "experiment.schema.json"))
    configuration = document.data
    if configuration["name"] != name:
        raise ConfigurationError(f"name: {configuration['name']!r} does not match the file's name {name!r}", where=path)
    for key, known in (
        ("protocol", protocol_names()),
        ("tool", plugins.load("replay", "tools").tool_names()),
    ):
        if configuration[key].replace("-", "_") not in known:
            raise ConfigurationError(
                f"{key}: there is no {configuration[key]!r}",
                where=document.where(key),
                next_step=suggestion(configuration[key], known),
            )
    return document


def claims_path() -> Path:
    """Return the path of the file of the claims. A talk without this file makes no claims."""
    return config_directory() / "claims.yaml"


def load_claims_document() -> Document:
    """Read and check the file of the claims. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(claims_path(), program_file("schemas", "claims.schema.json"))


def answer_path() -> Path:
    """Return the path of the file that says where the figures in answer.csv come from. A talk may have none."""
    return config_directory() / "answer.yaml"


def load_answer_document() -> Document:
    """Read and check the file. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(answer_path(), program_file("schemas", "answer.schema.json"))


#: The sentence, and the keys that decide its verdict. A claim's chart, its source and its reasons may change.
_CONTENT = ("id", "sentence", "experiment", "metric", "conditions")
_PRESUPPOSITION = ("that", "of", "decides")


def claim_digest(claim: Mapping[str, Any]) -> str:
    """Return the digest of one entry of `claims` in config/claims.yaml: 12 hexadecimal digits."""
    presupposes = [
        {key: presupposition[key] for key in _PRESUPPOSITION if key in presupposition}
        for presupposition in claim.get("presupposes", ())
    ]
    return digest_of({**{key: claim[key] for key in _CONTENT}, "presupposes": presupposes})


def claims_to_register(experiment: str) -> dict[str, str]:
    """Return claim id to present digest for the claims about an experiment; empty for a talk without claims.

    Raises ConfigurationError if config/claims.yaml is invalid.
    """
    if not claims_path().exists():
        return {}
    claims = load_claims_document().data["claims"]
    return {claim["id"]: claim_digest(claim) for claim in claims if claim["experiment"] == experiment}


def claims_that_presuppose(facts: Collection[str]) -> list[tuple[str, str, str]]:
    """Return id and experiment of each claim that presupposes one of these facts, and which verdict that decides.

    The verdict is `any`, `refutation` or `confirmation`, as in the file of the claims; empty for a talk without claims.
    Raises ConfigurationError if that file is invalid.
    """
    if not claims_path().exists():
        return []
    found = []
    for claim in load_claims_document().data["claims"]:
        decided = [one.get("decides", "any") for one in claim.get("presupposes", ()) if one["that"].split()[0] in facts]
        if decided:
            found.append((claim["id"], claim["experiment"], "any" if "any" in decided else decided[0]))
    return found


def registered_throughout(sittings: Iterable[Mapping[str, str] | None]) -> dict[str, str]:
    """Return claim to digest for the claims that all sittings of a block registered with the same digest.

    A sitting that registered nothing is None.
    """
    first, *others = [dict(sitting or {}) for sitting in sittings] or [{}]
    return {claim: digest for claim, digest in first.items() if all(other.get(claim) == digest for other in others)}
