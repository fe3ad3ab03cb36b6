"""Compares the derived files of a data set with their digests in datapackage.json."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from replay.base.errors import ReplayError
from replay.base.invocation import replay_command
from replay.claims.describe.datapackage import DATAPACKAGE, described_files


def differences(data_set: Path) -> list[str]:
    """Return a line for each derived file that does not match datapackage.json: altered, missing or not described.

    Raises ReplayError if there is no usable datapackage.json.
    """
    recorded = recorded_digests(data_set)
    there = {path.relative_to(data_set).as_posix(): path for path in described_files(data_set)}
    lines = [f"missing: {data_set / name}" for name in recorded.keys() - there.keys()]
    for name, path in there.items():
        if name not in recorded:
            lines.append(f"not described: {path}")
        elif recorded[name] != f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}":
            lines.append(f"altered: {path}")
    return sorted(lines)


def recorded_digests(data_set: Path) -> dict[str, str]:
    """Return the digests in datapackage.json, `sha256:…`, by path in the data set. Raises ReplayError without them."""
    path = data_set / DATAPACKAGE
    try:
        return {one["path"]: one["hash"] for one in json.loads(path.read_bytes())["resources"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReplayError(
            f"this file does not list the derived files: {error}",
            where=path,
            next_step=f"derive the data set: {replay_command('derive', '--data', data_set.name)}",
        ) from None
