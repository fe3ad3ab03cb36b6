"""Lists the files in a folder of results. Follows no link, opens only plain files, and reports every file it skips."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from replay.base.errors import ConfigurationError

#: The largest file to read; a report of many jobs with all their bins has a few megabytes.
MOST_BYTES = 64 << 20
_DIGITS = re.compile(r"(\d+)", re.ASCII)


@dataclass(frozen=True)
class SourceFile:
    """A plain file below a folder that was named: `folder` is its number, `path` is relative to it, with `/`."""

    folder: int
    path: str
    location: Path


@dataclass(frozen=True)
class LeftOut:
    """A file, or a part of one, that is not imported, and why."""

    folder: int
    path: str
    why: str


def files_below(folders: list[Path]) -> Iterator[SourceFile | LeftOut]:
    """Yield every file of the folders in natural order: `run-2` before `run-10`.

    Raises ConfigurationError for a folder that is missing, is named twice or is inside another one.
    """
    real = [_folder(one) for one in folders]
    for number, one in enumerate(real):
        for other in real[:number]:
            if one.is_relative_to(other) or other.is_relative_to(one):
                raise ConfigurationError(
                    "a folder is named twice, or is inside another one: its files would count twice",
                    where=folders[number],
                    next_step="name each folder once",
                )
    for number, one in enumerate(real):
        yield from _below(number, one)


def in_order(path: str) -> list[tuple[int, int, str]]:
    """Return the key by which paths are sorted: words by their letters, numbers by their value."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in _DIGITS.split(path) if part]


def _folder(path: Path) -> Path:
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError as error:
        raise ConfigurationError(
            f"cannot be read: {error.strerror}", where=path, next_step="name a folder that you can read"
        ) from error
    if is_folder:
        return path.resolve()
    what = "is a file, not a folder" if is_file else "there is no such folder"
    raise ConfigurationError(what, where=path, next_step="name the folder that contains the results")


def _below(folder: int, root: Path) -> Iterator[SourceFile | LeftOut]:
    found: list[tuple[str, SourceFile | LeftOut]] = []

    def unreadable(error: OSError) -> None:
        path = _shown(root, error.filename or "")
        found.append((path, LeftOut(folder, path, f"this folder cannot be read: {error.strerror}")))

    for here, folders, names in os.walk(root, onerror=unreadable, followlinks=False):
        for name in (*folders, *names):
            location = Path(here, name)
            path = _shown(root, str(location))
            if why := _why_not(location, is_folder=name in folders):
                found.append((path, LeftOut(folder, path, why)))
            elif name not in folders:
                found.append((path, SourceFile(folder, path, location)))
    for _, one in sorted(found, key=lambda pair: in_order(pair[0])):
        yield one


def _why_not(location: Path, *, is_folder: bool) -> str:
    """Return why a file is not opened, or nothing."""
    try:
        status = location.lstat()
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if stat.S_ISLNK(status.st_mode):
        why = "a symbolic link, which is not followed"
    elif is_folder:
        why = ""
    elif not stat.S_ISREG(status.st_mode):
        why = "not a plain file"
    elif not status.st_size:
        why = "it is empty"
    else:
        too_large = status.st_size > MOST_BYTES
        why = f"larger than {MOST_BYTES >> 20} MiB, which no report of a tool is" if too_large else ""
    return why


def _shown(root: Path, location: str) -> str:
    """Return a path relative to its folder; bytes that are not UTF-8 are shown as `\\xff`."""
    relative = os.path.relpath(location, root).replace(os.sep, "/")
    return relative.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
