"""What a data set's figures rest on: whether its files are as recorded, and which claims on them are exploratory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.claims.datapackage import DATAPACKAGE, recorded_digests
from replay.evidence.read import verify_packs


def verify_compared(folder: Path, experiments: Collection[str]) -> None:
    """Compare packs with SHA256SUMS, and manifest and tables with their digests.

    Raises EvidenceError naming the first file that is altered, missing or not listed. A data set without raw output and
    without digests, which somebody derived elsewhere, is taken as it is.
    """
    measured = [folder / name / "raw" for name in experiments if (folder / name / "raw").is_dir()]
    for raw in measured:
        verify_packs(raw)
    if not measured and not (folder / DATAPACKAGE).exists():
        return
    recorded = recorded_digests(folder)
    for name in ("manifest.json", *(f"{one}/tidy.csv" for one in experiments)):
        if recorded.get(name) != f"sha256:{hashlib.sha256((folder / name).read_bytes()).hexdigest()}":
            raise EvidenceError(
                f"altered: it is not what {DATAPACKAGE} says",
                where=folder / name,
                next_step=f"derive it again: {replay_command('derive', '--data', folder.name)}",
            )


def exploratory_claims(folder: Path, experiments: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the exploratory claims on each of these experiments that has any, by name.

    A talk without claims has none. Raises EvidenceError if claims.json cannot be read.
    """
    path = folder / "claims.json"
    found: dict[str, list[str]] = {}
    try:
        claims = json.loads(path.read_bytes())["claims"]
        for name, claim in claims.items():
            if claim["exploratory"] and claim["experiment"] in experiments:
                found.setdefault(claim["experiment"], []).append(name)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(
            f"cannot be read: {type(error).__name__}: {error}",
            where=path,
            next_step=f"derive it again: {replay_command('derive', '--data', folder.name)}",
        ) from error
    return {experiment: tuple(sorted(names)) for experiment, names in sorted(found.items())}
