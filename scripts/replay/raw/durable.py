"""Writing that survives being cut short: a file or a folder appears whole, by a rename, or not at all.

What is not whole yet bears the working name `.<name>.partial`; readers pass over every name that begins with a dot.
"""

from __future__ import annotations

import os
from pathlib import Path


def working_name(path: Path) -> Path:
    """Return the name under which a file or folder is written until it is whole."""
    return path.with_name(f".{path.name}.partial")


def finished_name(path: Path) -> Path:
    """Return what a working name stands for."""
    return path.with_name(path.name[1:].removesuffix(".partial"))


def is_working(name: str) -> bool:
    """Tell whether a name is a working name."""
    return name.startswith(".") and name.endswith(".partial")


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and have its content on disk before this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Write all of `content`, however little one call takes."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def replace(path: Path, content: bytes) -> None:
    """Put a file in place whole, over one that may be there, and on disk before this returns."""
    partial = working_name(path)
    write_synced(partial, content)
    put_in_place(partial, path)


def put_in_place(working: Path, path: Path) -> None:
    """Give a whole file or folder its name, on disk before this returns."""
    working.rename(path)
    sync_directory(path.parent)


def make_directory(path: Path) -> None:
    """Make a folder and those above it that are not there, each on disk before this returns."""
    if path.is_dir():
        return
    make_directory(path.parent)
    try:
        path.mkdir()
    except FileExistsError:
        return
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Have a folder's entries on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Remove a folder with all in it, or a file. What is gone already is no error."""
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            remove_tree(inner)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
