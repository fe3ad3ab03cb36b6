"""What an operating system refuses, as a sentence: full disks, quotas, foreign owners, read-only and busy places.

`guarded` ends a program with such a sentence, or with a ReplayError's, instead of a traceback.
"""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from replay.base.errors import INTERRUPTED, ReplayError, take_notes
from replay.base.paths import benchmarks_directory, state_directory, working_directory

#: A disk with less room than this is full for Replay, which writes files of this size.
FULL_BELOW_BYTES = 1 << 20


def guarded(run: Callable[[], int], kept: str) -> int:
    """Call a program; return its exit status. Prints a ReplayError and returns its status.

    `kept` tells the person after an interruption what happened to the work.
    """
    try:
        return run()
    except BrokenPipeError:
        raise
    except (ReplayError, OSError) as error:
        if (refused := explained(error)) is None:
            raise
        print(refused, file=sys.stderr)
        return refused.exit_status
    except KeyboardInterrupt:
        print(f"interrupted; {kept}", file=sys.stderr)
        return INTERRUPTED


def explained(error: ReplayError | OSError) -> ReplayError | None:
    """Return an operating system's refusal as a ReplayError with what to do; None for an error of another kind.

    A ReplayError explains itself.
    """
    if isinstance(error, ReplayError):
        return error
    place = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes | os.PathLike) else None
    if error.errno == errno.ENOSPC:
        what, next_step = _full(place)
    elif error.errno in (errno.EACCES, errno.EPERM):
        what, next_step = _owner(place)
    elif error.errno in _REFUSALS:
        what, next_step = _REFUSALS[error.errno]
    else:
        return None
    made = ReplayError(what, where=place, next_step=next_step)
    take_notes(made, error)
    return made


def mount_point(path: Path) -> Path:
    """Return the root of the file system that a path is in, or would be in."""
    path = existing(path)
    while not path.is_mount() and path != path.parent:
        path = path.parent
    return path


def existing(path: Path) -> Path:
    """Return a path, or the nearest folder above it that exists."""
    path = path.absolute()
    # Not `exists`, which fails in a folder that this user may not enter.
    while not os.access(path, os.F_OK) and path != path.parent:
        path = path.parent
    return path


def _full(place: Path | None) -> tuple[str, str]:
    places = [place] if place is not None else _places()
    disks = {mount_point(place): shutil.disk_usage(existing(place)) for place in places}
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


def _owner(place: Path | None) -> tuple[str, str]:
    if place is None:
        return "this user may not do that", "run it as the user who owns the files"
    owned = existing(place)
    status, me = owned.stat(), _name(os.geteuid())
    owner, is_mine = _name(status.st_uid), status.st_uid == os.geteuid()
    next_step = "name another place, or have somebody give you access"
    if is_mine and ~status.st_mode & (stat.S_IRUSR | stat.S_IWUSR):
        next_step = f"allow it: chmod u+rwX {owned}"
    elif owned == place.absolute() and not is_mine:
        # Never a parent's owner: that may be a folder of the system.
        next_step = f"run this as {owner}, or let it belong to you: sudo chown -R {me} {owned}"
    return f"{me} may not use it: {owned} belongs to {owner}", next_step


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


_TOO_MANY = ("too many files are open", "allow more: ulimit -n 4096; then run this again")
#: What else is refused, and what to do about it.
_REFUSALS: dict[int | None, tuple[str, str]] = {
    errno.EDQUOT: ("this user's disk quota is used up", "free space or have it raised, then run this again"),
    errno.EROFS: ("its disk is mounted read-only", "mount it for writing, or choose another folder"),
    errno.EBUSY: ("it is in use", "find out by whom with fuser -vm, or unmount it; then run this again"),
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
    errno.EIO: ("the disk reported an error", "look at dmesg: it may be failing"),
}
