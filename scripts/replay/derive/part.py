"""`derived.json`: the result of deriving an experiment, for the following steps and for the next run.

It holds the experiment's entry in the manifest, and the digests of what was read and written, so that nothing is
derived twice. Git ignores it. If it is missing, the experiment is derived again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from replay.base.paths import config_directory
from replay.base.tables import write_if_changed
from replay.evidence.data_set import recorded_in
from replay.evidence.read import verify_all

PART = "derived.json"
#: `derive.ratios` and `derive.registered` write these. Importing them here would import pandas as well.
RATIOS = "ratios.csv"
REGISTERED_FILE = "registered.csv"
SCHEMA_VERSION = 1
#: The rooms whose code decides what deriving writes.
_ROOMS = ("base", "config", "design", "raw", "tools", "samplers", "derive")
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Derived:
    """The result of deriving an experiment.

    `entry` is its part of the manifest, and `facts` is what the manifest collects over all experiments. `notes` are for
    the person who derives. `written` lists the files that changed; it is empty if nothing had to be derived.
    """

    name: str
    entry: Mapping[str, Any]
    facts: Mapping[str, Any]
    cells: int
    notes: tuple[str, ...]
    written: tuple[Path, ...] = ()


def evidence_digest(directory: Path) -> str:
    """Return one digest of all SHA256SUMS files, which stand for all raw files; empty if there are none."""
    found = recorded_in(directory / "raw")
    return hashlib.sha256("\0".join(map(digest_of_file, found)).encode()).hexdigest() if found else ""


def sources_of(directory: Path, experiment: str) -> dict[str, str]:
    """Return the digests of everything that deriving reads; empty for a file that does not exist.

    `experiment` is the name of the configuration.
    """
    configuration = config_directory() / "experiments" / f"{experiment}.yaml"
    return {
        "experiment": experiment,
        "evidence": evidence_digest(directory),
        "configuration": digest_of_file(configuration),
        "program": program_digest(),
    }


@cache
def program_digest(*further_rooms: str) -> str:
    """Return the digest of the code that derives, and of further rooms. After an edit, everything is derived again."""
    whole = hashlib.sha256()
    for room in (*_ROOMS, *further_rooms):
        for path in sorted((_PACKAGE / room).rglob("*.py")):
            whole.update(f"{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    return whole.hexdigest()


def write_part(directory: Path, derived: Derived, sources: Mapping[str, str], outputs: Mapping[Path, str]) -> None:
    """Write `derived.json`: what was derived, from which sources, and the digest of each file that was written."""
    part = {
        "schema_version": SCHEMA_VERSION,
        "sources": dict(sources),
        "outputs": {path.relative_to(directory).as_posix(): digest for path, digest in outputs.items()},
        "cells": derived.cells,
        "notes": list(derived.notes),
        "facts": dict(derived.facts),
        "entry": dict(derived.entry),
    }
    write_if_changed(directory / PART, json.dumps(part, ensure_ascii=False, allow_nan=False) + "\n")


def read_part(directory: Path) -> Derived | None:
    """Return the last result, or None if there is no `derived.json` of this version."""
    part = _read(directory)
    return None if part is None else _derived(directory, part)


def current_part(directory: Path) -> Derived | None:
    """Return the last result if deriving again would not change it, else None.

    This compares every raw file with SHA256SUMS. Raises EvidenceError that names one that is missing or altered.
    """
    if (known := noted_part(directory)) is not None:
        verify_all(directory / "raw")
    return known


def noted_part(directory: Path) -> Derived | None:
    """Return the last result if its sources and the derived files are still as noted, else None.

    This reads SHA256SUMS, which stands for the raw files, but not those files themselves.
    """
    part = _read(directory)
    if part is None or part["sources"] != sources_of(directory, part["sources"].get("experiment", "")):
        return None
    there = {path.relative_to(directory).as_posix() for path in (directory / "aggregate").glob("*.csv")}
    if there - part["outputs"].keys():
        return None
    if any(digest_of_file(directory / name) != digest for name, digest in part["outputs"].items()):
        return None
    return _derived(directory, part)


def state_of(directory: Path) -> str:
    """Return a digest of the sources and the derived files as they are now, whatever `derived.json` says about them."""
    part = _read(directory) or {"sources": {}, "outputs": {}}
    found = [*sources_of(directory, part["sources"].get("experiment", "")).values(), program_digest()]
    found += [digest_of_file(path) for path in [directory / name for name in sorted(part["outputs"])]]
    found += [path.name for path in sorted((directory / "aggregate").glob("*.csv"))]
    return hashlib.sha256("\0".join(found).encode()).hexdigest()


def _read(directory: Path) -> dict[str, Any] | None:
    try:
        part = json.loads((directory / PART).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return part if isinstance(part, dict) and part.get("schema_version") == SCHEMA_VERSION else None


def _derived(directory: Path, part: Mapping[str, Any]) -> Derived:
    return Derived(directory.name, part["entry"], part["facts"], part["cells"], tuple(part["notes"]))


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; empty if there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
