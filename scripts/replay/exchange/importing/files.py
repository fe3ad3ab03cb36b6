"""The files in folders of results and in archives. Follows no link, opens only plain files, reports what it skips.

An archive (`.zip`, `.tar`, `.tar.gz`, or a file packed by gzip) counts as a folder. Nothing of it is unpacked under its
own name, so none can be written outside of the folder for unpacked files, and no archive may unpack to more than a
limit.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from replay.base.errors import ConfigurationError, visible

#: The largest file to read; a report of many jobs with all their bins has a few megabytes.
MOST_BYTES = 64 << 20
#: The most bytes and files that all archives of an import may unpack to, and how deep archives may be in archives.
MOST_UNPACKED_BYTES, MOST_UNPACKED_FILES, DEEPEST = 1 << 30, 50_000, 2
_DIGITS = re.compile(r"(\d{1,18})", re.ASCII)
_ENDINGS = re.compile(r"(\.tar)?\.(gz|zip|tgz|tar)$", re.IGNORECASE)
_ZIP, _GZIP, _TAR, _TAR_AT = b"PK\x03\x04", b"\x1f\x8b", b"ustar", 257
_CHUNK = 1 << 20
#: What precedes a member of a tar file: its long name and the like, which tarfile reads into memory as a whole.
_HEADERS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK)  # fmt: skip
#: What tarfile and zipfile raise for damaged archives, which they do not all recognise as such.
_UNREADABLE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError,
    TypeError, LookupError, OverflowError,
)  # fmt: skip
_LINK, _NOT_PLAIN = "a symbolic link, which is not followed", "not a plain file"


@dataclass(frozen=True)
class SourceFile:
    """A plain file below a folder that was named: `folder` is its number, `path` is relative to it, with `/`.

    `location` is where its content is now: for a file in an archive among the unpacked ones.
    """

    folder: int
    path: str
    location: Path


@dataclass(frozen=True)
class LeftOut:
    """A file, or a part of one, that is not imported, and why."""

    folder: int
    path: str
    why: str


def files_below(folders: list[Path], unpacked: Path) -> Iterator[SourceFile | LeftOut]:
    """Yield every file of the folders and archives in natural order: `run-2` before `run-10`.

    `unpacked` is an empty folder for the files of archives. Raises ConfigurationError for a folder that is missing, is
    named twice or is inside another one.
    """
    real = [_folder(folder) for folder in folders]
    for number, place in enumerate(real):
        for other in real[:number]:
            if place.is_relative_to(other) or other.is_relative_to(place):
                raise ConfigurationError(
                    "a folder is named twice, or is inside another one: its files would count twice",
                    where=folders[number],
                    next_step="name each folder once",
                )
    archives = _Archives(unpacked)
    for number, place in enumerate(real):
        found = _below(number, place, archives) if place.is_dir() else archives.open(number, "", place)
        yield from sorted(found, key=lambda file: in_order(file.path))


def in_order(path: str) -> list[tuple[int, int, str]]:
    """Return the key by which paths are sorted: words by their letters, numbers by their value."""
    return [(0, int(part), "") if _DIGITS.fullmatch(part) else (1, 0, part) for part in _DIGITS.split(path) if part]


def name_of(folder: Path) -> str:
    """Return the name of a folder, or of an archive without its ending."""
    return text_of(folder.name if folder.is_dir() else _ENDINGS.sub("", folder.name))


def _folder(path: Path) -> Path:
    try:
        is_file = path.is_file()
        if path.is_dir() or is_archive(path):
            return path.resolve()
    except OSError as error:
        raise ConfigurationError(
            f"cannot be read: {error.strerror}", where=path, next_step="name a folder that you can read"
        ) from error
    what = "is a file, not a folder" if is_file else "there is no such folder"
    raise ConfigurationError(what, where=path, next_step="name the folder that contains the results")


def _below(folder: int, root: Path, archives: _Archives) -> list[SourceFile | LeftOut]:
    files: list[SourceFile | LeftOut] = []

    def unreadable(error: OSError) -> None:
        files.append(
            LeftOut(folder, _shown(root, error.filename or ""), f"this folder cannot be read: {error.strerror}")
        )

    for here, folders, names in os.walk(root, onerror=unreadable, followlinks=False):
        for name in (*folders, *names):
            location = Path(here, name)
            files += _opened(folder, _shown(root, str(location)), location, archives)
    return files


def _opened(folder: int, path: str, location: Path, archives: _Archives) -> list[SourceFile | LeftOut]:
    """Return what is at a location: a file, what an archive holds, or why it is not opened; nothing of a folder."""
    try:
        mode = location.lstat().st_mode
        if stat.S_ISLNK(mode):
            return [LeftOut(folder, path, _LINK)]
        if stat.S_ISDIR(mode):
            return []
        if not stat.S_ISREG(mode):
            return [LeftOut(folder, path, _NOT_PLAIN)]
        return archives.open(folder, path, location) if is_archive(location) else [_plain_file(folder, path, location)]
    except OSError as error:
        return [LeftOut(folder, path, f"it cannot be read: {error.strerror}")]


def _plain_file(folder: int, path: str, location: Path) -> SourceFile | LeftOut:
    """Return a file unless its size says that it is no result."""
    size = location.stat().st_size
    if not size:
        return LeftOut(folder, path, "it is empty")
    if size > MOST_BYTES:
        return LeftOut(folder, path, f"larger than {MOST_BYTES >> 20} MiB, which no report of a tool is")
    return SourceFile(folder, path, location)


def _shown(root: Path, location: str) -> str:
    return text_of(os.path.relpath(location, root))


def text_of(name: str) -> str:
    """Return a name as text; bytes that are not UTF-8 are shown as `\\xff`, and what a terminal obeys as `\\x1b`."""
    return visible(name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


# Archives ------------------------------------------------------------------------------------------------------------


def is_archive(path: Path) -> bool:
    """Return whether a path is a file that is an archive or packed, by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_TAR_AT + len(_TAR))
    return head.startswith((_ZIP, _GZIP)) or head[_TAR_AT:] == _TAR


class _Archives:
    """Unpacks archives into a folder, under numbers, up to a limit for all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = self._bytes = 0

    def open(self, folder: int, path: str, location: Path, depth: int = 0) -> list[SourceFile | LeftOut]:
        """Return the files in an archive. One that is damaged or unpacks to too much is left out as a whole."""
        if depth > DEEPEST:
            return [LeftOut(folder, path, "an archive in an archive in an archive")]
        files, size = self._files, self._bytes
        try:
            members = list(self._members(folder, path, location, depth))
        except _UNREADABLE as error:
            for number in range(files + 1, self._files + 1):
                (self._folder / str(number)).unlink(missing_ok=True)
            self._bytes = size
            return [LeftOut(folder, path, f"it cannot be unpacked: {str(error)[:80] or type(error).__name__}")]
        return members or [LeftOut(folder, path or location.name, "an archive without a file")]

    def _members(self, folder: int, path: str, location: Path, depth: int) -> Iterator[SourceFile | LeftOut]:
        seen: set[str] = set()
        for name, refused, content in _content_of(location):
            inner = f"{path}/{name}" if path and name else path or name or location.name
            outside = name.startswith("/") or ".." in name.split("/")
            why = refused or ("its name leads out of the archive" if outside else "")
            why = why or ("the archive has this name twice" if name in seen else "")
            seen.add(name)
            if why or content is None:
                yield LeftOut(folder, inner, why)
                continue
            unpacked = self._unpacked(content)
            if is_archive(unpacked):
                yield from self.open(folder, inner, unpacked, depth + 1)
            else:
                yield _plain_file(folder, inner, unpacked)

    def _unpacked(self, content: IO[bytes]) -> Path:
        """Write a file's content, and return where it is. Raises ValueError beyond the limit."""
        self._files += 1
        path = self._folder / str(self._files)
        with content, path.open("wb") as file:
            while chunk := content.read(_CHUNK):
                self._bytes += len(chunk)
                if self._bytes > MOST_UNPACKED_BYTES or self._files > MOST_UNPACKED_FILES:
                    limit = f"{MOST_UNPACKED_BYTES >> 20} MiB or {MOST_UNPACKED_FILES:,} files"
                    raise ValueError(f"archives unpack to more than {limit}: unpack it yourself")
                file.write(chunk)
        return path


_Member = tuple[str, str, IO[bytes] | None]


class _TarMember(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return what a header says. Raises ValueError for a long name that is no name: it would fill the memory."""
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and member.size > _CHUNK:
            raise ValueError(f"a header in it has more than {_CHUNK >> 20} MiB")
        return member


def _content_of(location: Path) -> Iterator[_Member]:
    """Yield (name, why it is not opened, its content) of what an archive holds.

    A single packed file has no name. Content is to be read before the next member is asked for.
    """
    with location.open("rb") as file:
        head = file.read(len(_ZIP))
    if head == _ZIP:
        yield from _in_zip(location)
        return
    try:
        archive = tarfile.open(location, "r|*", tarinfo=_TarMember)  # noqa: SIM115 - closed below
    except tarfile.ReadError:
        yield "", "", gzip.open(location)  # noqa: SIM115 - closed by whoever calls it
        return
    with archive:
        for member in archive:
            name = _plain(member.name)
            if member.issym() or member.islnk():
                yield name, _LINK, None
            elif member.isreg():
                yield name, "", archive.extractfile(member)
            elif not member.isdir():
                yield name, _NOT_PLAIN, None


def _in_zip(location: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(location) as archive:
        for member in archive.infolist():
            name = _plain(member.filename)
            if stat.S_ISLNK(member.external_attr >> 16):
                yield name, _LINK, None
            elif member.flag_bits & 1:
                yield name, "it is encrypted", None
            elif not member.is_dir():
                yield name, "", archive.open(member)


def _plain(name: str) -> str:
    """Return a member's name with `/` between its folders."""
    return text_of(name.replace("\\", "/").removeprefix("./"))
