"""A file of lines that several processes append to, each line on disk before the call returns.

A last line without a newline was never acknowledged: readers skip it, and the next writer removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class SyncedLog:
    """The file. The first writer creates it and its folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[bytes]:
        """Return the complete lines, without their newlines; none if there is no file."""
        try:
            with self.path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                return _whole(file.read())
        except FileNotFoundError:
            return []

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Lock the file for writing: what the writer reads stays true until it has appended."""
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if new:
                for directory in (self.path.parent, self.path.parent.parent):
                    _sync_directory(directory)
            _cut_torn_line(descriptor)
            yield Writer(descriptor)
        finally:
            os.close(descriptor)


class Writer:
    """A log while it is locked for writing."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def lines_after(self, place: tuple[int, int]) -> tuple[list[bytes], tuple[int, int], bool]:
        """Return the lines after an earlier position, the new position, and whether the earlier one was still valid.

        `(0, 0)` is the beginning. A file that was replaced or truncated is read from its beginning.
        """
        now = os.fstat(self._descriptor)
        inode, offset = place
        held = inode == now.st_ino and offset <= now.st_size
        offset = offset if held else 0
        data = os.pread(self._descriptor, now.st_size - offset, offset)
        return _whole(data), (now.st_ino, now.st_size), held

    def append(self, record: dict[str, Any]) -> None:
        """Append an object as a line, and sync the file."""
        os.lseek(self._descriptor, 0, os.SEEK_END)
        _write_all(self._descriptor, (json.dumps(record, ensure_ascii=False) + "\n").encode())
        os.fsync(self._descriptor)


def _whole(data: bytes) -> list[bytes]:
    whole, _, _torn = data.rpartition(b"\n")
    return whole.split(b"\n") if whole else []


def _cut_torn_line(descriptor: int) -> None:
    """Remove anything that a crash left after the last newline."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return
    os.ftruncate(descriptor, os.pread(descriptor, size, 0).rfind(b"\n") + 1)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
