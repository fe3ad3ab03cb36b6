"""Where files are, and how derived ones are written.

There are the program's own files and their version, the person's project, and the state that outlives both. Derived
files have the same bytes on every machine, and are not written if nothing changed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import tomllib
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError

#: The folder of the Python package, and of the files that come with it.
PACKAGE = Path(__file__).resolve().parents[1]


def _checkout() -> Path | None:
    root = PACKAGE.parents[1]
    return root if PACKAGE.parent.name == "scripts" and (root / "scripts" / "setup").is_file() else None


#: The checkout that this program runs from. None where the package was installed: then only `program_file` finds files.
ROOT = _checkout()


def program_file(*parts: str) -> Path:
    """Return a file or folder that comes with the program: a schema, the workflow, a template of `replay init`.

    They are in the package's folder `files`. In a checkout most of these are links to the files that people edit; the
    schemas are there themselves, and `config/schemas` is a link to them.
    """
    return PACKAGE.joinpath("files", *parts)


def find_project() -> Path | None:
    """Return the project folder, which holds `config/` and `benchmarks/`; None if there is none.

    It is the working directory, or the nearest folder above it, that has `config/sites` or a talk in `slides/`; else
    the checkout.
    """
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if _is_project(folder)), ROOT)


def _is_project(folder: Path) -> bool:
    try:
        return (folder / "config" / "sites").is_dir() or any(folder.glob("slides/*/talk.yaml"))
    except PermissionError:
        # A folder that this user may not look into is none of theirs.
        return False


def project_directory() -> Path:
    """Return the project folder. Raises ConfigurationError if there is none."""
    if (found := find_project()) is None:
        raise ConfigurationError(
            "this is not a Replay project: neither this folder nor any above it has config/sites or slides/*/talk.yaml",
            where=Path.cwd(),
            next_step="go to your project's folder, or create a project here: replay init",
        )
    return found


def shown(path: Path) -> str:
    """Return a path for display: relative to the project if it is inside."""
    project = find_project()
    return str(path.relative_to(project)) if project and path.is_relative_to(project) else str(path)


def benchmarks_directory() -> Path:
    """Folder of all data sets; `REPLAY_BENCHMARKS` moves it."""
    override = os.environ.get("REPLAY_BENCHMARKS")
    return Path(override) if override else project_directory() / "benchmarks"


def config_directory() -> Path:
    """Folder of sites, experiments and claims; `REPLAY_CONFIG` moves it."""
    override = os.environ.get("REPLAY_CONFIG")
    return Path(override) if override else project_directory() / "config"


def working_directory() -> Path:
    """Folder for temporary files of a run: plans, logs, sandboxes."""
    return project_directory() / ".replay"


def state_directory() -> Path:
    """Folder for files that must outlive a project: the ledgers. `REPLAY_STATE`, else the XDG state folder."""
    if override := os.environ.get("REPLAY_STATE"):
        return Path(override)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "replay"


# The version of this program: its number, and a digest of its code --------------------------------------------------


#: The rooms whose code derives an experiment, and those whose code judges and describes a data set.
DERIVING = ("base", "design", "evidence", "tools", "derive")
JUDGING = (*DERIVING, "claims")


def version() -> str:
    """Return the version of the installed package; in a checkout the version in pyproject.toml."""
    if ROOT is None:
        return metadata.version("replay")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@cache
def program_digest(*rooms: str) -> str:
    """Return the digest of the code in these rooms of the package: if it changes, what the code made is out of date."""
    whole = hashlib.sha256()
    for path in sorted(path for room in rooms for path in (PACKAGE / room).rglob("*.py")):
        whole.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    return whole.hexdigest()


# Derived files: numbers, CSV, JSON ------------------------------------------------------------------------------------

SIGNIFICANT_DIGITS = 9


def number_text(value: Any) -> str:
    """Return a number for a CSV: whole numbers exactly, others with nine significant digits and no exponent.

    None and NaN mean a missing measurement and become an empty field.
    """
    if value is None:
        return ""
    if isinstance(value, int):
        return str(int(value))
    value = float(value)
    if math.isnan(value):
        return ""
    if value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    text = f"{value:.{SIGNIFICANT_DIGITS}g}"
    return format(Decimal(text), "f") if "e" in text else text


def level_text(value: Any) -> str:
    """Return a level in the format of the CSVs and the manifest."""
    return number_text(value) if isinstance(value, int | float) else str("" if value is None else value)


def rounded(value: float) -> float | int:
    """Round a number to the digits in the CSVs, so that a sentence and its chart agree."""
    text = number_text(value)
    return float(text) if "." in text else int(text)


#: The first line of a cell's table of samples.
SAMPLES_HEADER = "elapsed_seconds,entity,metric,value"
#: Entity and metric of its last row, which counts the rows before it, so that a table that was cut off is recognised.
SAMPLES_FOOTER = ("sampler", "rows")


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return RFC 4180 text with line feeds."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def json_text(value: Any) -> str:
    """Return JSON for people and diffs: keys in the given order, two spaces, a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_if_changed(path: Path, text: str) -> bool:
    """Write a file atomically, and only if its content changes, so that watchers are not triggered for nothing.

    Return whether it was written.
    """
    content = text.encode()
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    # A name for this process only: two derivations at once write the same bytes and must not collide.
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    _remove_abandoned(path)
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return True


def _remove_abandoned(path: Path) -> None:
    """Remove what earlier processes of this machine left because they were killed while they wrote the file."""
    begin, end = f".{path.name}.", ".partial"
    for one in path.parent.iterdir():
        name = one.name
        if name.startswith(begin) and name.endswith(end) and not _is_alive(name[len(begin) : -len(end)]):
            one.unlink(missing_ok=True)


def _is_alive(process: str) -> bool:
    """Return whether a process runs. What is no process id counts as one that does: it is not known to be dead."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, PermissionError):
        return True
    return True
