"""How the person called Replay, so that every command that is printed for them can be pasted as it stands."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from replay.base.paths import ROOT

_VARIABLE = "REPLAY_CALLED_AS"
_IN_CHECKOUT, _INSTALLED = "./replay", "replay"


def called_as() -> str:
    """Return the word that starts Replay here: `./replay` or a path to it in a checkout, `replay` where installed."""
    return os.environ.get(_VARIABLE) or (_INSTALLED if ROOT is None else _IN_CHECKOUT)


def remember_call(program: str) -> None:
    """Keep how this process was called, for itself and for the processes that it starts.

    `program` is `sys.argv[0]`. The script `./replay` of a checkout has said already what the person typed.
    """
    found = shutil.which(_INSTALLED)
    if found is not None and Path(program).name == _INSTALLED and Path(found).resolve() == Path(program).resolve():
        os.environ.setdefault(_VARIABLE, _INSTALLED)


def replay_command(*words: str) -> str:
    """Return the command line that runs Replay with these words, quoted for a shell."""
    return shlex.join([called_as(), *words])


def from_elsewhere(*words: str) -> str:
    """Return the command line as it works in any folder: a checkout's script by its whole path."""
    called = called_as()
    return shlex.join([str(Path(called).absolute()) if "/" in called else called, *words])


def deck_command(script: str, *words: str) -> str | None:
    """Return the command line of an npm script of the deck; None where there is no checkout, and so no deck."""
    return None if ROOT is None else shlex.join(["npm", "run", script, *(["--", *words] if words else [])])


def setup_command() -> str:
    """Return what provides a program that is missing on this machine, as a next step."""
    if ROOT is None:
        return "install it from your system's packages"
    return "run scripts/setup --for client, which installs it"
