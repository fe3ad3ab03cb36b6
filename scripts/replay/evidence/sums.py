"""SHA256SUMS: what was recorded, as `sha256sum -c` reads it. Replaced as a whole, so no line is ever cut off."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.evidence import durable

SUMS = "SHA256SUMS"
RESTORE = "restore it from git or from a copy; raw output is never edited"
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^\n]+)", re.ASCII)


@contextlib.contextmanager
def locked(raw: str | Path, *, shared: bool = False) -> Iterator[None]:
    """Lock `evidence/`, alone for writing or `shared` for reading, so that nobody sees a half-finished step.

    Raises FileNotFoundError if there is no such folder.
    """
    descriptor = os.open(raw, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sha256(content: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal digits."""
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
    """Add files to a folder's SHA256SUMS, and create it if it is missing. The caller holds `locked(raw)`.

    Raises EvidenceError naming a file that is already listed with another digest.
    """
    known = read_sums(folder) if (folder / SUMS).exists() else {}
    for name, digest in added.items():
        if known.get(name, digest) != digest:
            raise EvidenceError(f"{SUMS} already lists it with another digest", where=folder / name, next_step=RESTORE)
    if added.items() - known.items():
        durable.replace(folder / SUMS, sums_text({**known, **added}))
