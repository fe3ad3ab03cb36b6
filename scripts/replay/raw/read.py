"""The reading side of `raw/`: what is there, what SHA256SUMS says of it, and whether the two agree. Writes nothing.

Strings instead of Path objects in the loops: a data set has tens of thousands of small files.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command

SUMS = "SHA256SUMS"
SEAL = "attempt.json"
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^\n]+)", re.ASCII)
_BLOCK = re.compile(r"block-(\d{2,})", re.ASCII)
_ATTEMPT = re.compile(r"attempt-(\d+)", re.ASCII)
_RESTORE = "restore it from git or from a copy; raw output is never edited"
_ALTERED = (
    "restore it from git or from a copy; to see what other figures would say, alter a copy of the data set, then: "
    + replay_command("derive", "--reseal", "COPY")
)


@dataclass(frozen=True)
class AttemptFiles:
    """A sealed attempt: where it stands, and its files as stored (`.gz` or not), sorted."""

    block: int
    point: str
    number: int
    directory: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """What was in `raw/` at one moment. `sums`: path relative to `raw/` to SHA-256. `unsealed`: folders in progress."""

    raw: str
    sums: dict[str, str]
    attempts: list[AttemptFiles] = field(default_factory=list)
    unsealed: list[str] = field(default_factory=list)

    def matching(self, pattern: str) -> list[str]:
        """Return the listed paths that match a regular expression, sorted; `.gz` is not part of what is matched."""
        wanted = re.compile(pattern, re.ASCII)
        return sorted(path for path in self.sums if wanted.fullmatch(path.removesuffix(".gz")))


@contextmanager
def shared_lock(path: str) -> Iterator[int]:
    """Hold a shared lock on a file while it is read: measuring appends to SHA256SUMS under an exclusive one."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield descriptor
    finally:
        os.close(descriptor)


def list_raw(raw: str | Path) -> Listing:
    """List `raw/` under a shared lock on SHA256SUMS, so that no seal is seen by half.

    An attempt is sealed when it has `attempt.json` and SHA256SUMS names its files; one without is passed over.
    Raises EvidenceError when SHA256SUMS is missing or malformed, or does not name a file of a sealed attempt.
    """
    raw = str(raw)
    with _held_sums(raw) as sums:
        return _walk(raw, sums)


def compare(raw: str | Path, known: Collection[str] = ()) -> tuple[dict[str, str], dict[str, str | None]]:
    """Return, by path, the digest that SHA256SUMS records, and the one found (None where the file is gone).

    `known` are paths that may have been listed before: those that are there again are found, too.
    Raises EvidenceError when SHA256SUMS is missing or malformed, and naming a file that cannot be read, or that was
    never listed: nothing measured it. What an attempt in progress holds is passed over.
    """
    raw = str(raw)
    with _held_sums(raw) as recorded:
        _refuse_unlisted(raw, {*recorded, *known})
        found = {path: _digest(f"{raw}/{path}") for path in recorded}
        back = {path: _digest(f"{raw}/{path}") for path in sorted(known) if path not in recorded}
        return recorded, found | {path: digest for path, digest in back.items() if digest}


@contextmanager
def _held_sums(raw: str) -> Iterator[dict[str, str]]:
    """Hold SHA256SUMS under a shared lock while `raw/` is looked at; gives what it says."""
    path = f"{raw}/{SUMS}"
    try:
        with shared_lock(path) as descriptor:
            yield parse_sums(_read_all(descriptor), path)
    except FileNotFoundError as error:
        raise EvidenceError("there is no such file", where=error.filename or path, next_step=_RESTORE) from None


def parse_sums(content: bytes, where: str) -> dict[str, str]:
    """Return path to digest from what `sha256sum` writes. Raises EvidenceError naming the line that is not such."""
    sums: dict[str, str] = {}
    lines = content.decode("utf-8", errors="replace").split("\n")
    if lines.pop():
        raise EvidenceError(
            "the last line is cut off", where=f"{where}:{len(lines) + 1}", next_step="measure again: it lists the rest"
        )
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2].startswith("/") or ".." in match[2].split("/"):
            raise EvidenceError("not a line of sha256sum", where=f"{where}:{number}", next_step=_RESTORE)
        if sums.setdefault(match[2], match[1]) != match[1]:
            raise EvidenceError(f"two digests for {match[2]}", where=f"{where}:{number}", next_step=_RESTORE)
    return sums


def read_verified(raw: str, path: str, digest: str) -> bytes:
    """Return a file's content as stored. Raises EvidenceError naming it when it is missing or altered."""
    full = f"{raw}/{path}"
    content = _stored(full)
    if content is None:
        raise EvidenceError(f"listed in {SUMS}, but not there", where=full, next_step=_ALTERED)
    if hashlib.sha256(content).hexdigest() != digest:
        raise EvidenceError(f"altered: it is not what {SUMS} says", where=full, next_step=_ALTERED)
    return content


def plain(path: str, content: bytes) -> bytes:
    """Return stored content decompressed where the path ends in `.gz`. Raises EvidenceError when it is no gzip."""
    if not path.endswith(".gz"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise EvidenceError(f"not a gzip file: {error}", where=path, next_step=_RESTORE) from None


def parse_json(path: str, content: bytes) -> dict[str, Any]:
    """Return the JSON object in a file of schema version 1. Raises EvidenceError naming the file."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"not JSON: {error}", where=path, next_step=_RESTORE) from None
    if not isinstance(data, dict) or data.get("schema_version") != 1:
        raise EvidenceError("not an object of schema_version 1", where=path, next_step="derive with the code that fits")
    return data


def read_object(listing: Listing, path: str) -> dict[str, Any]:
    """Return the verified, decompressed, parsed JSON object at a listed path."""
    content = read_verified(listing.raw, path, listing.sums[path])
    return parse_json(f"{listing.raw}/{path}", plain(path, content))


def verify_all(listing: Listing) -> None:
    """Read every listed file and compare its digest. Raises EvidenceError naming the first that is not as listed."""
    for path in sorted(listing.sums):
        read_verified(listing.raw, path, listing.sums[path])


def _stored(full: str) -> bytes | None:
    """Return a file's content, or None where it is gone. Raises EvidenceError naming one that cannot be read."""
    try:
        descriptor = os.open(full, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return _read_all(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EvidenceError(f"cannot be read: {error.strerror}", where=full, next_step=_RESTORE) from None


def _digest(full: str) -> str | None:
    content = _stored(full)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _read_all(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    chunks = [os.read(descriptor, size + 1)]
    while chunks[-1]:
        chunks.append(os.read(descriptor, 1 << 20))
        if len(chunks) == 2 and not chunks[1]:
            return chunks[0]
    return b"".join(chunks)


def _walk(raw: str, sums: dict[str, str]) -> Listing:
    listing = Listing(raw, sums)
    listed: dict[str, set[str]] = {}
    for path in sums:
        directory, _, name = path.rpartition("/")
        listed.setdefault(directory, set()).add(name)
    for block_name in _directories(raw):
        if not (block := _BLOCK.fullmatch(block_name)):
            continue
        for point in _directories(f"{raw}/{block_name}"):
            for attempt_name in _directories(f"{raw}/{block_name}/{point}"):
                if not (attempt := _ATTEMPT.fullmatch(attempt_name)):
                    continue
                directory = f"{block_name}/{point}/{attempt_name}"
                if names := _sealed_names(raw, directory, listed.get(directory)):
                    listing.attempts.append(AttemptFiles(int(block[1]), point, int(attempt[1]), directory, names))
                else:
                    listing.unsealed.append(directory)
    listing.attempts.sort(key=lambda one: (one.block, one.point, one.number))
    return listing


def _refuse_unlisted(raw: str, known: set[str]) -> None:
    """Raise EvidenceError naming a file of `raw/` that is not known, unless its attempt is in progress."""
    listed = {path.rpartition("/")[0] for path in known}
    for folder, folders, names in os.walk(raw):
        here = folder[len(raw) + 1 :]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if _ATTEMPT.fullmatch(here.rpartition("/")[2]) and here not in listed and not {SEAL, f"{SEAL}.gz"} & {*names}:
            folders.clear()
            continue
        for name in sorted(names):
            path = f"{here}/{name}" if here else name
            if path != SUMS and path not in known and not name.startswith("."):
                raise EvidenceError(
                    f"not listed in {SUMS}: nothing measured it",
                    where=f"{raw}/{path}",
                    next_step="remove it: --reseal takes files that were altered or removed, it adds none",
                )


def _sealed_names(raw: str, directory: str, listed: set[str] | None) -> tuple[str, ...]:
    """Return the names of a sealed attempt's files, or nothing when it is not sealed."""
    with os.scandir(f"{raw}/{directory}") as entries:
        names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    # The seal is written before the lines of SHA256SUMS: with none of them the run was cut short in between.
    if listed is None or (SEAL not in names and f"{SEAL}.gz" not in names and not listed & {SEAL, f"{SEAL}.gz"}):
        return ()
    for name in names:
        if name not in listed:
            raise EvidenceError(
                f"in a sealed attempt, but not listed in {SUMS}",
                where=f"{raw}/{directory}/{name}",
                next_step="remove it if it does not belong there; measure again if a run was cut short",
            )
    for name in sorted(listed.difference(names)):
        raise EvidenceError(f"listed in {SUMS}, but not there", where=f"{raw}/{directory}/{name}", next_step=_ALTERED)
    return tuple(names)


def _directories(path: str) -> list[str]:
    with os.scandir(path) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
