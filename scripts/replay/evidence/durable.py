"""Durable records: a file or folder appears whole or not at all, and SHA256SUMS lists it.

Until a file or folder is whole it has the working name `.<name>.partial`; readers skip every name that begins with a
dot. A record, a file or a folder of files, is written under its working name, then listed in SHA256SUMS, then given its
final name. So a listed record is whole, wherever the writer was stopped; `Store.give_name` makes up for the last step.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from replay.base.errors import EvidenceError

SUMS = "SHA256SUMS"
RESTORE = "restore it from git or from a copy; raw output is never edited"
MISMATCH = f"altered: it does not match {SUMS}"
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^\n]+)", re.ASCII)


# Files and folders ---------------------------------------------------------------------------------------------------


def working_name(path: Path) -> Path:
    """Return the name of a file or folder until it is whole."""
    return path.with_name(f".{path.name}.partial")


def finished_name(path: Path) -> Path:
    return path.with_name(path.name[1:].removesuffix(".partial"))


def write_synced(path: Path, content: bytes) -> None:
    """Write a file. Its content is on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except OSError as error:
        error.filename = error.filename or str(path)  # the exception of a failed write lacks the file's name
        raise
    finally:
        os.close(descriptor)


def replace(path: Path, content: bytes) -> None:
    """Write a file in one step, replacing an existing one. It is on disk when this returns."""
    partial = working_name(path)
    write_synced(partial, content)
    put_in_place(partial, path)


def put_in_place(working: Path, path: Path) -> None:
    """Give a whole file or folder its final name. The name is on disk when this returns."""
    working.rename(path)
    sync_directory(path.parent)


def make_directory(path: Path) -> None:
    """Create a folder and its missing parents. All are on disk when this returns."""
    if path.is_dir():
        return
    make_directory(path.parent)
    try:
        path.mkdir()
    except FileExistsError:
        return
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Write a folder's entries to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Remove a file, or a folder with everything in it. A missing path is not an error."""
    # A link is never followed: where it leads, this user may not even look.
    if not path.is_symlink() and path.is_dir():
        for inner in path.iterdir():
            remove_tree(inner)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(folder: str | Path, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder, alone for writing or `shared` for reading, so that nobody sees a half-finished step.

    Raises FileNotFoundError if there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# SHA256SUMS: what was recorded, as `sha256sum -c` reads it. It is replaced as a whole, so no line is ever cut off. ---


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_sums(folder: str | Path) -> dict[str, str]:
    """Return path to digest from a folder's SHA256SUMS.

    Raises EvidenceError if it is missing, or naming a malformed line.
    """
    path = f"{folder}/{SUMS}"
    try:
        return parse_sums(Path(path).read_bytes(), path)
    except OSError as error:
        what = "there is no such file" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise EvidenceError(what, where=path, next_step=RESTORE) from None


def parse_sums(content: bytes, where: str) -> dict[str, str]:
    """Return path to digest from the output of `sha256sum`. Raises EvidenceError naming a malformed line."""
    sums: dict[str, str] = {}
    lines = content.decode("utf-8", errors="replace").split("\n")
    if lines.pop():
        raise EvidenceError("the last line is cut off", where=f"{where}:{len(lines) + 1}", next_step=RESTORE)
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2].startswith("/") or ".." in match[2].split("/"):
            raise EvidenceError("not a line of sha256sum", where=f"{where}:{number}", next_step=RESTORE)
        if sums.setdefault(match[2], match[1]) != match[1]:
            raise EvidenceError(f"two digests for {match[2]}", where=f"{where}:{number}", next_step=RESTORE)
    return sums


def sums_text(sums: Mapping[str, str]) -> bytes:
    """Return the content of SHA256SUMS, in the given order."""
    return "".join(f"{digest}  {name}\n" for name, digest in sums.items()).encode()


def add_sums(folder: Path, added: Mapping[str, str]) -> None:
    """Add files to a folder's SHA256SUMS, and create it if it is missing. The caller holds the lock of `raw/`.

    Raises EvidenceError naming a file that is already listed with another digest.
    """
    listed = read_sums(folder) if (folder / SUMS).exists() else {}
    for name, digest in added.items():
        if listed.get(name, digest) != digest:
            raise EvidenceError(f"{SUMS} already lists it with another digest", where=folder / name, next_step=RESTORE)
    if added.items() - listed.items():
        replace(folder / SUMS, sums_text({**listed, **added}))


# Records -------------------------------------------------------------------------------------------------------------


class Store:
    """A folder with its own SHA256SUMS, to which records are added; existing ones never change.

    `raw` is the folder to lock while a record is added.
    """

    def __init__(self, folder: Path, raw: Path) -> None:
        self.folder = folder
        self.raw = raw

    def add_file(self, name: str, content: bytes) -> Path:
        """Add a file; return its path. If it already exists with this content, change nothing.

        Raises EvidenceError if it exists with other content: evidence is never overwritten.
        """
        path = self.folder / name
        if path.exists():
            if path.read_bytes() == content:
                return path
            raise EvidenceError(
                "this evidence exists already and differs", where=path, next_step="measure into a new data set"
            )
        make_directory(path.parent)
        write_synced(working_name(path), content)
        sync_directory(path.parent)  # what SHA256SUMS lists must be found, even after a power cut
        self._list_and_name(path, {name: sha256(content)})
        return path

    def begin_folder(self, name: str) -> Path:
        """Create the working folder of a record, to be filled with `write_synced`; return its path.

        Raises FileExistsError if the record exists already.
        """
        path = self.folder / name
        make_directory(path.parent)
        if path.exists():
            raise FileExistsError(path)
        working = working_name(path)
        working.mkdir()
        sync_directory(path.parent)
        return working

    def finish_folder(self, name: str) -> Path:
        """List all files in a record's working folder, give the folder its final name, and return its path."""
        path = self.folder / name
        working = working_name(path)
        for cut_short in working.glob(".*.partial"):
            cut_short.unlink()
        sync_directory(working)
        files = sorted(file for file in working.iterdir() if file.is_file())
        self._list_and_name(path, {f"{name}/{file.name}": sha256(file.read_bytes()) for file in files})
        return path

    def is_listed(self, working: Path) -> bool:
        """Return whether SHA256SUMS lists a record under a working name: every file, with its present content."""
        sums = read_sums(self.folder) if (self.folder / SUMS).exists() else {}
        name = finished_name(working).relative_to(self.folder).as_posix()
        if working.is_dir():
            files = {f"{name}/{file.name}": file for file in working.iterdir()}
            listed = {path for path in sums if path.startswith(f"{name}/")}
            return bool(listed) and listed == files.keys() and all(_has(files[path], sums[path]) for path in listed)
        return name in sums and _has(working, sums[name])

    def give_name(self, working: Path) -> None:
        """Give a listed record its final name."""
        with locked(self.raw):
            put_in_place(working, finished_name(working))

    def _list_and_name(self, path: Path, sums: Mapping[str, str]) -> None:
        with locked(self.raw):
            add_sums(self.folder, sums)
            put_in_place(working_name(path), path)


def _has(path: Path, digest: str) -> bool:
    return path.is_file() and sha256(path.read_bytes()) == digest


def unfinished(folder: Path) -> Iterator[Path]:
    """Yield the outermost files and folders in a folder that have a working name."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith(".") and path.name.endswith(".partial"):
            yield path
        elif path.is_dir() and not path.name.startswith("."):
            yield from unfinished(path)
