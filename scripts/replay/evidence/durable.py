"""Crash-safe writing: a file or folder appears complete, by a rename, or not at all.

Until it is complete it has the working name `.<name>.partial`; readers skip every name that begins with a dot.
"""

from __future__ import annotations

import os
from pathlib import Path


def working_name(path: Path) -> Path:
    """Return the name of a file or folder until it is complete."""
    return path.with_name(f".{path.name}.partial")


def finished_name(path: Path) -> Path:
    """Return the final name for a working name."""
    return path.with_name(path.name[1:].removesuffix(".partial"))


def is_working(name: str) -> bool:
    """Return whether a name is a working name."""
    return name.startswith(".") and name.endswith(".partial")


def write_synced(path: Path, content: bytes) -> None:
    """Write a file. Its content is on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    except OSError as error:
        error.filename = error.filename or str(path)  # a failed write does not tell its file
        raise
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Write all of `content`, in as many calls as it takes."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def replace(path: Path, content: bytes) -> None:
    """Write a file in one step, replacing an existing one. It is on disk when this returns."""
    partial = working_name(path)
    write_synced(partial, content)
    put_in_place(partial, path)


def put_in_place(working: Path, path: Path) -> None:
    """Give a complete file or folder its final name. The name is on disk when this returns."""
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
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            remove_tree(inner)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
