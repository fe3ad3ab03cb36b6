"""How the person called Replay, what it advises, and how it ends when the operating system refuses.

Every command that Replay prints can be pasted unchanged. Full disks, quotas, foreign owners, read-only and busy places
are explained in a sentence. `guarded` ends a program with it, or with a ReplayError's, instead of a traceback.
"""

from __future__ import annotations

import difflib
import errno
import os
import pwd
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from replay.base.errors import INTERRUPTED, ReplayError, take_notes
from replay.base.paths import ROOT, benchmarks_directory, find_project, state_directory, working_directory

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


# How a program ends ---------------------------------------------------------------------------------------------------

#: A disk with less room than this is full for Replay, which writes files of this size.
FULL_BELOW_BYTES = 1 << 20


def guarded(run: Callable[[], int], kept: str) -> int:
    """Call a program; return its exit status. Prints a ReplayError and returns its status.

    `kept` tells the person after an interruption what happened to the work.
    """
    try:
        return run()
    except ReplayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        raise
    except OSError as error:
        if (refused := explained(error)) is None:
            raise
        print(refused, file=sys.stderr)
        return refused.exit_status
    except KeyboardInterrupt:
        print(f"interrupted; {kept}", file=sys.stderr)
        return INTERRUPTED


def explained(error: OSError) -> ReplayError | None:
    """Return an operating system's refusal as a ReplayError with what to do; None for an error of another kind."""
    explain = _EXPLAINED.get(error.errno)
    if explain is None:
        return None
    place = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes | os.PathLike) else None
    what, next_step = explain(place)
    made = ReplayError(what, where=place, next_step=next_step)
    take_notes(made, error)
    return made


def mount_point(path: Path) -> Path:
    """Return the root of the file system that a path is in, or would be in."""
    path = _existing(path)
    while not path.is_mount() and path != path.parent:
        path = path.parent
    return path


def _existing(path: Path) -> Path:
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _full(place: Path | None) -> tuple[str, str]:
    places = [place] if place is not None else _places()
    disks = {mount_point(one): shutil.disk_usage(_existing(one)) for one in places}
    # A failed write does not tell its file; then it is one of Replay's disks that has no room left.
    full = [disk for disk, usage in disks.items() if usage.free < FULL_BELOW_BYTES]
    sizes = " and ".join(
        f"{disk} ({size_text(disks[disk].free)} of {size_text(disks[disk].total)} free)" for disk in full or disks
    )
    what = "the disk is full" if full or place else "a disk is full, or has no room for another file, perhaps of these"
    return f"{what}: {sizes}", "free space there, then run this again; what was recorded is kept"


def _places() -> list[Path]:
    return [benchmarks_directory(), working_directory(), state_directory(), Path(tempfile.gettempdir())]


def size_text(size_bytes: float) -> str:
    """Return a number of bytes for people: `1.5 GiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.4g} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.4g} TiB"


def _quota(place: Path | None) -> tuple[str, str]:
    disk = f" on {mount_point(place)}" if place is not None else ""
    return f"this user's disk quota{disk} is used up", "free space or have it raised, then run this again"


def _owner(place: Path | None) -> tuple[str, str]:
    if place is None:
        return "this user may not do that", "run it as the user who owns the files"
    owned = _existing(place)
    owner = _name(owned.stat().st_uid)
    return (
        f"{_name(os.geteuid())} may not use it: {owned} belongs to {owner}",
        f"run this as {owner}, or let it belong to you: sudo chown -R {_name(os.geteuid())} {owned}",
    )


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _read_only(place: Path | None) -> tuple[str, str]:
    disk = mount_point(place) if place is not None else "the disk"
    return f"{disk} is mounted read-only", "mount it for writing, or choose another folder"


def _busy(place: Path | None) -> tuple[str, str]:
    if place is not None and place.is_mount():
        return "something is mounted here", f"unmount it: umount {place}; then run this again"
    return "it is in use", "find out by whom with fuser -vm, then run this again"


def _too_many(place: Path | None) -> tuple[str, str]:
    return "too many files are open", "allow more: ulimit -n 4096; then run this again"


def _broken(place: Path | None) -> tuple[str, str]:
    return "the disk reported an error", "look at dmesg: it may be failing"


_EXPLAINED: dict[int | None, Callable[[Path | None], tuple[str, str]]] = {
    errno.ENOSPC: _full,
    errno.EDQUOT: _quota,
    errno.EACCES: _owner,
    errno.EPERM: _owner,
    errno.EROFS: _read_only,
    errno.EBUSY: _busy,
    errno.EMFILE: _too_many,
    errno.ENFILE: _too_many,
    errno.EIO: _broken,
}
