"""The record of what Replay creates on a cluster, written before creating it. Replay removes only what is listed here.

One file for each cluster, `<state>/ledger/<fsid>.jsonl`, outside the checkout so that it outlives it.
Each line is an event:

    {"event": "intend", "id": …, "at": …, "kind": …, "pool": …, "namespace": …, "name": …,
     "site": …, "data_set": …, "details": {…}}
    {"event": "confirm", "id": …, "at": …, "facts": {…}}
    {"event": "removed", "id": …, "at": …}

Each line is synced to disk before the call returns, so nothing was created (or removed) because of a torn line.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import EvidenceError, ReplayError
from replay.base.paths import state_directory
from replay.cluster.admin_commands import NAME_PREFIX
from replay.evidence.durable import sync_directory

#: This machine's, not the cluster's.
LOCAL_KINDS = ("file", "kernel_mapping", "kernel_mount")
#: Removing one restores the earlier value.
SETTINGS = ("config", "crush_weight", "primary_affinity", "device_class", "io_cap")
KINDS = ("image", "pool", "snapshot", "lock", *SETTINGS, *LOCAL_KINDS)


def unique_name(suffix: str) -> str:
    """Return `replay-<8 random hexadecimal digits>-<suffix>`: a name that nobody else uses."""
    return f"{NAME_PREFIX}{secrets.token_hex(4)}-{suffix}"


@dataclass(frozen=True)
class Entry:
    """One thing that Replay owns, or owned. Times are UTC, empty for what has not been recorded."""

    id: str
    kind: str
    pool: str
    namespace: str
    name: str
    site: str
    data_set: str
    intended_at: str
    details: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    confirmed_at: str = ""
    removed_at: str = ""

    @property
    def confirmed(self) -> bool:
        """False if a crash may have prevented its creation."""
        return bool(self.confirmed_at)

    @property
    def spec(self) -> str:
        """`pool[/namespace][/name]`, as the rbd program takes it."""
        return "/".join(part for part in (self.pool, self.namespace, self.name) if part)

    @property
    def elsewhere(self) -> str:
        """The other machine that this was made on; empty if it was made on this one, or belongs to the cluster."""
        host = self.details.get("host", "")
        return host if host != platform.node() else ""


class Ledger:
    """The ledger of one cluster. Several processes may use it at once; each event is written under a lock."""

    def __init__(self, fsid: str, *, directory: Path | None = None) -> None:
        if not re.fullmatch(r"[0-9a-fA-F-]{8,}", fsid):
            raise ReplayError(f"{fsid!r} is not a cluster's fsid", where="ledger")
        self.fsid = fsid
        self.path = (directory or state_directory() / "ledger") / f"{fsid}.jsonl"
        self._log = SyncedLog(self.path)

    def intend(
        self,
        kind: str,
        pool: str,
        namespace: str,
        name: str,
        *,
        site: str,
        data_set: str = "",
        details: dict[str, Any] | None = None,
    ) -> str:
        """Record that `pool/namespace/name` is about to be created, and return the entry's id.

        Call it *before* the creation. `kind` is one of KINDS; a pool's `name` is empty (see pools.py), a file's is its
        path; `details` is what removing it may need (`{"size_bytes": …}`, `{"mirrored": true}`,
        `{"who": "osd", "before": null}`, `{"before": 0.5}` of an OSD's weight or affinity). Of what is this machine's,
        they also name the machine.
        """
        if kind not in KINDS:
            raise ReplayError(f"{kind!r} is not one of {', '.join(KINDS)}", where="ledger")
        host = {"host": platform.node()} if kind in LOCAL_KINDS else {}
        entry_id = secrets.token_hex(8)
        self._append(
            {
                "event": "intend",
                "id": entry_id,
                "kind": kind,
                "pool": pool,
                "namespace": namespace or "",
                "name": name,
                "site": site,
                "data_set": data_set,
                "details": {**(details or {}), **host},
            }
        )
        return entry_id

    def confirm(self, entry_id: str, facts: dict[str, Any] | None = None) -> None:
        """Record that the thing exists, with what identifies it beyond its name (`{"id": <rbd image id>}`)."""
        self._append({"event": "confirm", "id": entry_id, "facts": facts or {}})

    def removed(self, entry_id: str) -> None:
        """Record that the thing is gone, or was never created."""
        self._append({"event": "removed", "id": entry_id})

    def owned(self) -> list[Entry]:
        """Return what is not recorded as removed, oldest first. Raises EvidenceError for an invalid line."""
        return [entry for entry in self.history() if not entry.removed_at]

    def history(self) -> list[Entry]:
        """Return everything that was ever entered, oldest first. Raises EvidenceError for an invalid line."""
        entries: dict[str, Entry] = {}
        for number, line in enumerate(self._log.lines(), start=1):
            self._apply(entries, line, number)
        return list(entries.values())

    def _apply(self, entries: dict[str, Entry], line: bytes, number: int) -> None:
        try:
            record = json.loads(line)
            event, entry_id = record["event"], record["id"]
            if event == "intend":
                keys = ("id", "kind", "pool", "namespace", "name", "site", "data_set", "details")
                entries[entry_id] = Entry(intended_at=record["at"], **{key: record[key] for key in keys})
            elif event == "confirm" and entry_id in entries:
                entries[entry_id] = replace(entries[entry_id], facts=record["facts"], confirmed_at=record["at"])
            elif event == "removed" and entry_id in entries:
                entries[entry_id] = replace(entries[entry_id], removed_at=record["at"])
            elif event not in ("confirm", "removed"):
                raise ValueError(f"unknown event {event!r}")
        except (ValueError, KeyError, TypeError) as error:
            raise EvidenceError(
                f"this line is not an event of the ledger: {error}",
                where=f"{self.path}:{number}",
                next_step="restore the file from a backup, or check what the line names and then delete the line",
            ) from error

    def _append(self, record: dict[str, Any]) -> None:
        event, entry_id, *_ = record.values()
        with self._log.writing() as log:
            log.append({"event": event, "id": entry_id, "at": utc_now(), **record})


# A file of lines that several processes append to, each line on disk before the call returns.
#
# A last line without a newline was never acknowledged: readers skip it, and the next writer removes it.


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
                    sync_directory(directory)
            _cut_torn_line(descriptor)
            yield Writer(descriptor)
        finally:
            os.close(descriptor)


class Writer:
    """A log while it is locked for writing."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def lines(self) -> list[bytes]:
        """Return the complete lines, without their newlines."""
        return _whole(os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0))

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
