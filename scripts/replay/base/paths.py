"""Where things are: the program's own files and their version, the person's project, the state that outlives both."""

from __future__ import annotations

import hashlib
import os
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

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
