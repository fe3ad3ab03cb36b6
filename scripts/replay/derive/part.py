"""`experiment.json`: the result of deriving an experiment, from which the manifest is made. Git ignores it.

It also holds the digests of the tables. Whatever reads the tables of a whole data set first compares them with these: a
table that somebody edited must not be described as one that was derived.

The names and headers of derived files are here too, where naming them imports no pandas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replay.base.errors import EvidenceError
from replay.base.paths import replay_command
from replay.base.tables import write_if_changed
from replay.evidence.data_set import experiments_in
from replay.evidence.durable import sha256

PART = "experiment.json"
RATIOS = "ratios.csv"
REGISTERED_FILE = "registered.csv"
RUNS_FILE = "runs.csv"
#: The columns of tidy.csv that name a cell.
KEYS = ("experiment", "block", "cell", "attempt", "point", "variant", "label")
#: The header of an aggregate with a measured axis.
LONG_HEADER = ("series", "x", "y", "low", "high", "n")
#: The header of the spread beside an aggregate with a shared axis: of medians the ends, of ratios the interval.
SPREAD_HEADER = ("series", "x", "low", "high", "min", "max", "n")
RUNS_HEADER = ("chart", "series", "x", "y", "block", "attempt")
#: What the manifest says of a chart's runs if each is a line.
LINES = "lines"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Derived:
    """The result of deriving an experiment.

    `entry` is its part of the manifest, and `provenance` what the manifest also collects over all experiments. `notes`
    are for the person who derives. `outputs` has the SHA-256 of each table, by its path in the experiment; `program` is
    the digest of the code that derives and judges. `written` lists the files that changed.
    """

    name: str
    entry: Mapping[str, Any]
    provenance: Mapping[str, Any]
    cells: int
    notes: tuple[str, ...]
    outputs: Mapping[str, str]
    program: str
    written: tuple[Path, ...] = ()

    def lines(self) -> list[str]:
        void = [f"{self.name}: void, its output cannot stand: {note}" for note in self.notes]
        return [*void, f"{self.name}: {self.cells} cells, {len(self.written)} tables changed"]


def write_part(directory: Path, derived: Derived) -> None:
    """Write `experiment.json` if it changes; which files were written is not part of it."""
    part = {key: value for key, value in asdict(derived).items() if key not in ("name", "written")}
    text = json.dumps({"schema_version": SCHEMA_VERSION, **part}, ensure_ascii=False, allow_nan=False)
    write_if_changed(directory / PART, f"{text}\n")


def read_part(directory: Path) -> Derived | None:
    """Return the last result, or None if there is no `experiment.json` of this version."""
    try:
        part = json.loads((directory / PART).read_bytes())
    except FileNotFoundError:
        return None
    if part.pop("schema_version") != SCHEMA_VERSION:
        return None
    return Derived(directory.name, **part | {"notes": tuple(part["notes"])})


def refuse_altered_tables(data_set: Path) -> None:
    """Raise EvidenceError that names the first table that is not what deriving wrote. Call it under `locked`."""
    for name in experiments_in(data_set):
        part = read_part(data_set / name)
        for file, digest in part.outputs.items() if part else ():
            path = data_set / name / file
            if not path.exists() or sha256(path.read_bytes()) != digest:
                raise EvidenceError(
                    f"this table is {'altered: it is not what derive wrote' if path.exists() else 'missing'}",
                    where=path,
                    next_step=f"derive it again: {replay_command('derive', '--data', data_set.name, '--force')}",
                )
