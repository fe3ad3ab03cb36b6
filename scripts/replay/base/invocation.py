"""How the person called Replay, so that every command that Replay prints can be pasted unchanged."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from replay.base.paths import ROOT, find_project

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
    found = shutil.which(_INSTALLED)
    if found is not None and Path(program).name == _INSTALLED and Path(found).resolve() == Path(program).resolve():
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
