"""Where things are, and how the person called Replay: files and version, project, state, commands to paste."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from replay.base.errors import ConfigurationError

#: The folder of the Python package, and of the files that come with it.
PACKAGE = Path(__file__).resolve().parents[1]
#: What a data set's folder may be called: its name becomes part of addresses.
DATA_SET_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
#: The variables with which a person moves data sets, configuration and ledgers.
PLACES = ("REPLAY_BENCHMARKS", "REPLAY_CONFIG", "REPLAY_STATE")


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
    if (project := find_project()) is None:
        raise ConfigurationError(
            "this is not a Replay project: neither this folder nor any above it has config/sites or slides/*/talk.yaml",
            where=Path.cwd(),
            next_step="go to your project's folder, or create a project here: replay init",
        )
    return project


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


_VARIABLE = "REPLAY_CALLED_AS"
_IN_CHECKOUT, _INSTALLED = "./replay", "replay"
_BENCHMARKS = "REPLAY_BENCHMARKS"


def called_as() -> str:
    """Return the word that starts Replay here: `./replay` or a path to it in a checkout, `replay` where installed."""
    return os.environ.get(_VARIABLE) or (_INSTALLED if ROOT is None else _IN_CHECKOUT)


def remember_call(program: str) -> None:
    """Remember how this process was called, for itself and for the processes that it starts.

    `program` is `sys.argv[0]`. A checkout's `./replay` script has already recorded what the person typed.
    """
    installed = shutil.which(_INSTALLED)
    if installed is not None and Path(installed).resolve() == Path(program).resolve():
        os.environ.setdefault(_VARIABLE, _INSTALLED)


def replay_command(*words: str) -> str:
    """Return the command line that runs Replay with these words, quoted for a shell."""
    return shlex.join([called_as(), *words])


def from_elsewhere(*words: str) -> str:
    """Return a command line that works in any folder: it names a checkout's script by its full path."""
    called = called_as()
    return shlex.join([str(Path(called).absolute()) if "/" in called else called, *words])


def deck_command(script: str, *words: str, talk: Path | None = None) -> str | None:
    """Return the command line of an npm script of the deck; None without a checkout, which means without a deck.

    It works in the present folder. It is about the talk in the folder `talk`, by default that of the present project;
    if the project has none, it is about the project's data in the checkout's talk.
    """
    if ROOT is None:
        return None
    project, told = talk or find_project() or ROOT, []
    if talk or any(project.glob("slides/*/talk.yaml")):
        told = [f"REPLAY_TALK={shlex.quote(str(project))}"] if project != ROOT else []
    elif _BENCHMARKS not in os.environ:
        told = [f"{_BENCHMARKS}={shlex.quote(str(project / 'benchmarks'))}"]
    place = [] if Path.cwd().is_relative_to(ROOT) else ["--prefix", str(ROOT)]
    return " ".join([*told, shlex.join(["npm", *place, "run", script, *(["--", *words] if words else [])])])


def setup_command() -> str:
    """Return the next step that provides a missing program."""
    if ROOT is None:
        return "install it from your system's packages"
    return "run scripts/setup --for client, which installs it"


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return `did you mean 'NAME'?` for the closest known name, or an empty text if none is close."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""


def suggestion(word: str, known: Sequence[str]) -> str:
    """Return `did_you_mean`, or the list of known names if none is close."""
    return did_you_mean(word, known) or (f"there are: {', '.join(known)}" if known else "there are none yet")


def after_missing(data_set: Path) -> str:
    """Return the next step for a missing or empty data set folder: the name that was probably meant, or to measure."""
    beside = data_set.parent.glob("*/") if data_set.parent.is_dir() else ()
    names = sorted(path.name for path in beside if path != data_set)
    return suggestion(data_set.name, names) if names else f"measure first: {replay_command('measure', '--help')}"
