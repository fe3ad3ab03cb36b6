"""A folder of evidence. Records are added to it, complete or not at all; existing ones never change.

A record is a file, or a folder of files. It is written under a working name, then listed in SHA256SUMS, and then given
its final name. So a listed record is complete, wherever the writer was stopped; `give_name` makes up for the last step.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.evidence import durable
from replay.evidence.sums import SUMS, add_sums, locked, read_sums, sha256


class Store:
    """A folder with its own SHA256SUMS. `raw` is the folder to lock while a record is added."""

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
        durable.make_directory(path.parent)
        durable.write_synced(durable.working_name(path), content)
        durable.sync_directory(path.parent)  # what SHA256SUMS lists must be found, even after a power cut
        self._put_in_place(path, {name: sha256(content)})
        return path

    def begin_folder(self, name: str) -> Path:
        """Create the working folder of a record, to be filled with `durable.write_synced`; return its path.

        Raises FileExistsError if the record exists already.
        """
        path = self.folder / name
        durable.make_directory(path.parent)
        if path.exists():
            raise FileExistsError(path)
        working = durable.working_name(path)
        working.mkdir()
        durable.sync_directory(path.parent)
        return working

    def finish_folder(self, name: str) -> Path:
        """List all files in a record's working folder, give the folder its final name, and return its path."""
        path = self.folder / name
        working = durable.working_name(path)
        for cut_short in working.glob(".*.partial"):
            cut_short.unlink()
        durable.sync_directory(working)
        files = sorted(one for one in working.iterdir() if one.is_file())
        self._put_in_place(path, {f"{name}/{one.name}": sha256(one.read_bytes()) for one in files})
        return path

    def unfinished(self) -> Iterator[Path]:
        """Yield the outermost files and folders that have a working name."""
        yield from _working(self.folder)

    def is_listed(self, working: Path) -> bool:
        """Return whether SHA256SUMS lists a record under a working name: every file, with its present content."""
        sums = read_sums(self.folder) if (self.folder / SUMS).exists() else {}
        name = durable.finished_name(working).relative_to(self.folder).as_posix()
        if working.is_dir():
            files = {f"{name}/{one.name}": one for one in working.iterdir()}
            listed = {path for path in sums if path.startswith(f"{name}/")}
            return bool(listed) and listed == files.keys() and all(_is(files[path], sums[path]) for path in listed)
        return name in sums and _is(working, sums[name])

    def give_name(self, working: Path) -> None:
        """Give a listed record its final name."""
        with locked(self.raw):
            durable.put_in_place(working, durable.finished_name(working))

    def _put_in_place(self, path: Path, sums: dict[str, str]) -> None:
        with locked(self.raw):
            add_sums(self.folder, sums)
            durable.put_in_place(durable.working_name(path), path)


def _is(path: Path, digest: str) -> bool:
    return path.is_file() and sha256(path.read_bytes()) == digest


def _working(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if durable.is_working(path.name):
            yield path
        elif path.is_dir() and not path.name.startswith("."):
            yield from _working(path)
