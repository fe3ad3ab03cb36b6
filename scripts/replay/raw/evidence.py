"""The writing side of `raw/`: append-only, synced, sealed. Nothing here ever changes a file that exists.

The order on disk is what makes a crash harmless: a cell's files, then its sidecar, then `attempt.json`, then the
lines in SHA256SUMS. Whatever is cut short is sealed as `interrupted` by the next run, and kept.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import EvidenceError
from replay.design.design import canonical_json

SUMS = "SHA256SUMS"
SEAL = "attempt.json"
#: Output of a tool from this size on is stored compressed: a listing of all placement groups is repetition.
COMPRESSED_FROM_BYTES = 32 << 10


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not exist yet, whole or not at all, synced to disk.

    Raises EvidenceError when it exists with other content: evidence is never overwritten.
    """
    if path.exists():
        if path.read_bytes() == content:
            return
        raise EvidenceError("evidence exists already and differs", where=path, next_step="measure into a new data set")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


def pretty_json(value: Any) -> bytes:
    """Return JSON as a person reads it: sorted keys, one line per entry, a final newline."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


@contextlib.contextmanager
def locked(raw: Path) -> Iterator[None]:
    """Hold SHA256SUMS exclusively: derive reads it under a shared lock and so never sees half a seal."""
    raw.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(raw / SUMS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def listed(raw: Path) -> set[str]:
    """Return the paths, relative to `raw`, that SHA256SUMS names."""
    sums = raw / SUMS
    if not sums.exists():
        return set()
    return {line[66:] for line in sums.read_text().splitlines() if len(line) > 66}


def append_sums(raw: Path, files: list[Path], known: set[str] | None = None) -> None:
    """Append the checksums of `files` to SHA256SUMS, those not listed yet, and sync it. Hold `locked(raw)`."""
    known = listed(raw) if known is None else known
    lines = []
    for path in sorted(files):
        name = path.relative_to(raw).as_posix()
        if name not in known:
            lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n")
    if not lines:
        return
    with (raw / SUMS).open("a") as file:
        file.write("".join(lines))
        file.flush()
        os.fsync(file.fileno())


def record(raw: Path, name: str, content: bytes) -> Path:
    """Write one file of evidence that belongs to no attempt (a pilot's, a design, a receipt) and list its checksum."""
    path = raw / name
    with locked(raw):
        write_new(path, content)
        append_sums(raw, [path])
    return path


def point_directory(raw: Path, block: int, point: str) -> Path:
    """Return the folder of a set's attempts."""
    return raw / f"block-{block:02d}" / point


def attempts_of(raw: Path, block: int, point: str) -> list[tuple[int, dict[str, Any] | None]]:
    """Return (number, attempt.json or None where unsealed) of each attempt of a set, in order."""
    folder = point_directory(raw, block, point)
    found = []
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name.startswith("attempt-"):
                seal = path / SEAL
                found.append((int(path.name.removeprefix("attempt-")), read_json(seal) if seal.exists() else None))
    return sorted(found, key=lambda pair: pair[0])


def is_measured(raw: Path, block: int, point: str, cells: Mapping[str, str]) -> bool:
    """Tell whether a set has a valid attempt for exactly these cells (variant to cell id)."""
    return any(
        seal and seal["valid"] and cells.items() <= seal.get("cells", {}).items()
        for _, seal in attempts_of(raw, block, point)
    )


def read_json(path: Path) -> Any:
    """Read a JSON file of `raw/`. Raises EvidenceError naming the file when it is not JSON."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise EvidenceError(f"cannot be read: {error}", where=path, next_step="restore it from a copy") from error


def as_stored(name: str, content: bytes) -> tuple[str, bytes]:
    """Return the name and bytes under which output is kept: compressed, without a date, where it is large."""
    if len(content) < COMPRESSED_FROM_BYTES:
        return name, content
    return f"{name}.gz", gzip.compress(content, mtime=0)


class Attempt:
    """One run of a set, while it is being written."""

    def __init__(self, raw: Path, block: int, point: str, number: int) -> None:
        self.raw = raw
        self.directory = point_directory(raw, block, point) / f"attempt-{number}"
        self.number = number
        self.directory.mkdir(parents=True, exist_ok=False)

    def write_cell(self, variant: str, results: Mapping[str, tuple[str, bytes]], sidecar: Mapping[str, Any]) -> None:
        """Write a cell's files (`role: (suffix, content)`) and, last, its sidecar. Large output is stored as `.gz`."""
        for suffix, content in results.values():
            name, stored = as_stored(f"{variant}.{suffix}", content)
            write_new(self.directory / name, stored)
        write_new(self.directory / f"{variant}.json", pretty_json(sidecar))

    def seal(self, facts: Mapping[str, Any]) -> None:
        """Write `attempt.json` and list every file of the attempt in SHA256SUMS."""
        seal_directory(self.raw, self.directory, facts)


def seal_directory(raw: Path, directory: Path, facts: Mapping[str, Any] | None) -> None:
    """Seal a folder: `attempt.json` (unless it is there) and the checksums of all its files, in one locked step."""
    with locked(raw):
        if facts is not None:
            write_new(directory / SEAL, pretty_json(facts))
        for leftover in directory.glob(".*.partial"):
            leftover.unlink()
        append_sums(raw, [path for path in directory.iterdir() if path.is_file()])


def seal_leftovers(raw: Path) -> list[Path]:
    """Seal what an earlier run left open: attempts as `interrupted`, and files that no checksum names.

    Returns the attempts' folders that were sealed as interrupted. Call it only while no other run measures.
    """
    interrupted = []
    for directory in sorted(raw.glob("block-*/*/attempt-*")):
        if (directory / SEAL).exists():
            continue
        block, point, attempt = directory.parts[-3:]
        seal_directory(
            raw,
            directory,
            {
                "schema_version": 1,
                "experiment": raw.parent.name,
                "block": int(block.removeprefix("block-")),
                "point": point,
                "attempt": int(attempt.removeprefix("attempt-")),
                "status": "interrupted",
                "valid": False,
                "invalid": [{"variant": None, "reason": "interrupted", "detail": "the run ended before the set did"}],
                "order": [],
                "seed": None,
                "set_index": None,
                "started_at": None,
                "ended_at": utc_now(),
            },
        )
        interrupted.append(directory)
    with locked(raw):
        for partial in raw.rglob(".*.partial"):
            partial.unlink()
        append_sums(raw, [path for path in raw.rglob("*") if path.is_file() and path.name != SUMS])
    return interrupted


def design_file(public: Mapping[str, Any], digest: str) -> tuple[str, bytes]:
    """Return the name and content of the file that records a design."""
    return f"design-{digest}.json", (canonical_json(public) + "\n").encode()
