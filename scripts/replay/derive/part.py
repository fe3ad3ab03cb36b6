"""`derived.json`: the result of deriving an experiment, from which the manifest is made. Git ignores it.

The names and headers of derived files are here too, where naming them imports no pandas.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from replay.base.tables import write_if_changed

PART = "derived.json"
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
SCHEMA_VERSION = 2
#: The rooms whose code decides what deriving writes.
_ROOMS = ("base", "design", "evidence", "tools", "derive")
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Derived:
    """The result of deriving an experiment.

    `entry` is its part of the manifest, and `provenance` what the manifest also collects over all experiments. `notes`
    are for the person who derives. `written` lists the files that changed.
    """

    name: str
    entry: Mapping[str, Any]
    provenance: Mapping[str, Any]
    cells: int
    notes: tuple[str, ...]
    written: tuple[Path, ...] = ()


@cache
def program_digest(*further_rooms: str) -> str:
    """Return the digest of the code that derives, and of further rooms. After an edit, everything is derived again."""
    whole = hashlib.sha256()
    for room in (*_ROOMS, *further_rooms):
        for path in sorted((_PACKAGE / room).rglob("*.py")):
            whole.update(f"{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    return whole.hexdigest()


def write_part(directory: Path, derived: Derived) -> None:
    """Write `derived.json` if it changes; which files were written is not part of it."""
    part = {key: value for key, value in asdict(derived).items() if key not in ("name", "written")}
    text = json.dumps({"schema_version": SCHEMA_VERSION, **part}, ensure_ascii=False, allow_nan=False)
    write_if_changed(directory / PART, f"{text}\n")


def read_part(directory: Path) -> Derived | None:
    """Return the last result, or None if there is no `derived.json` of this version."""
    try:
        part = json.loads((directory / PART).read_bytes())
    except FileNotFoundError:
        return None
    if part["schema_version"] != SCHEMA_VERSION:
        return None
    return Derived(directory.name, part["entry"], part["provenance"], part["cells"], tuple(part["notes"]))
