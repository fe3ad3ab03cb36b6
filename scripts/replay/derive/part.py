"""`experiment.json`: an experiment's entry in the manifest, and the digests of its tables. Git ignores it.

Whatever reads the tables of a whole data set first compares them with these digests: a table that somebody edited must
not be described as one that was derived.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.tables import write_if_changed
from replay.evidence.layout import experiments_in

PART = "experiment.json"
#: `derive.ratios` and `derive.registered` write these. Importing them here would import pandas as well.
RATIOS = "ratios.csv"
REGISTERED_FILE = "registered.csv"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Derived:
    """The result of deriving an experiment.

    `entry` is its part of the manifest, and `facts` is what the manifest collects over all experiments. `notes` are for
    the person who derives. `written` lists the files that changed.
    """

    name: str
    entry: Mapping[str, Any]
    facts: Mapping[str, Any]
    cells: int
    notes: tuple[str, ...]
    written: tuple[Path, ...] = ()

    def lines(self) -> list[str]:
        """Return the notes and the result, as a person reads them."""
        void = [f"{self.name}: void, its output cannot stand: {note}" for note in self.notes]
        return [*void, f"{self.name}: {self.cells} cells, {len(self.written)} files changed"]


@dataclass(frozen=True)
class Part:
    """The content of `experiment.json`. `outputs` has the SHA-256 of each table, by its path in the experiment."""

    entry: Mapping[str, Any]
    facts: Mapping[str, Any]
    outputs: Mapping[str, str]


def write_part(directory: Path, derived: Derived, outputs: Mapping[Path, str]) -> None:
    """Write `experiment.json`; `outputs` has the digest of each table that was derived."""
    part = {
        "schema_version": SCHEMA_VERSION,
        "outputs": {path.relative_to(directory).as_posix(): digest for path, digest in outputs.items()},
        "facts": dict(derived.facts),
        "entry": dict(derived.entry),
    }
    write_if_changed(directory / PART, json.dumps(part, ensure_ascii=False, allow_nan=False) + "\n")


def read_part(directory: Path) -> Part | None:
    """Return the content of `experiment.json`, or None if there is none of this version."""
    try:
        part = json.loads((directory / PART).read_bytes())
        if part["schema_version"] != SCHEMA_VERSION:
            return None
        return Part(part["entry"], part["facts"], part["outputs"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def refuse_altered_tables(data_set: Path) -> None:
    """Raise EvidenceError that names the first table that is not what deriving wrote. Call it under `exclusive`."""
    for name in experiments_in(data_set):
        part = read_part(data_set / name)
        for file, digest in part.outputs.items() if part else ():
            path = data_set / name / file
            if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                raise EvidenceError(
                    f"this table is {'altered' if path.exists() else 'missing'}: it is not as it was derived",
                    where=path,
                    next_step=f"derive it again: {replay_command('derive', '--data', data_set.name, '--force')}",
                )
