"""What a run has written to a cluster's media: one account for all its blocks, processes and nights.

A run is a campaign: one site and one data set. Its file is `<state>/accounts/<fsid>.<site>.<data set>.jsonl`, outside
the checkout and the evidence. Each line is an event:

    {"event": "charge", "id": …, "at": …, "what": …, "bytes_to_media": …}
    {"event": "settle", "ids": […], "at": …, "bytes_to_media": …, "cells": {cell id: bytes to media}}

A charge is on disk before the first of its bytes is written. A settlement replaces charges by what was really written.
So a process that is killed at any moment leaves its charge in place: the account errs towards too much.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import EvidenceError, ReplayError
from replay.base.paths import state_directory
from replay.base.synced_log import SyncedLog

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)


@dataclass
class Tally:
    """The sum of an account's lines. `most` is the most that a cell wrote, by its id; bytes to media."""

    total: float = 0.0
    charges: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    lines: int = 0

    def apply(self, line: bytes) -> None:
        """Add one line. Raises ValueError, KeyError or TypeError if it is not an event of an account."""
        record = json.loads(line)
        amount = record["bytes_to_media"]
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount < float("inf"):
            raise ValueError(f"{amount!r} is not a number of bytes")
        if record["event"] == "charge":
            if record["id"] in self.charges:
                raise ValueError(f"{record['id']} is charged twice")
            self.charges[record["id"]] = amount
            self.total += amount
        elif record["event"] == "settle":
            for one in record["ids"]:
                self.total -= self.charges.pop(one)
            self.total += amount
            for cell, written in record["cells"].items():
                self.most[cell] = max(written, self.most.get(cell, 0.0))
        else:
            raise ValueError(f"unknown event {record['event']!r}")
        self.lines += 1


class Account:
    """The account of one campaign. Several processes may use it at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = SyncedLog(path)
        self._place = (0, 0)
        self._tally = Tally()

    @classmethod
    def of(cls, fsid: str, site: str, data_set: str) -> Account:
        """Return the account of a campaign on a live cluster. Raises ReplayError for an invalid name."""
        for name in (fsid, site, data_set):
            if not _NAME.fullmatch(name):
                raise ReplayError(f"{name!r} names no account", where="accounts")
        return cls(state_directory() / "accounts" / f"{fsid}.{site}.{data_set}.jsonl")

    def total(self) -> float:
        """Return the bytes that were, or may have been, written to media; 0 if nothing was charged.

        Raises EvidenceError naming an invalid line.
        """
        tally = Tally()
        for line in self._log.lines():
            self._apply(tally, line)
        return tally.total

    def charge(self, what: str, bytes_to_media: float, *, allow: Callable[[float], None] = lambda total: None) -> str:
        """Charge upcoming writes, and return the charge's id.

        `allow` gets the sum of earlier charges, and raises if this is too much; then nothing is charged.
        """
        with self._log.writing() as log:
            allow(self._read(log).total)
            charge_id = secrets.token_hex(8)
            log.append(
                {
                    "event": "charge",
                    "id": charge_id,
                    "at": utc_now(),
                    "what": what,
                    "bytes_to_media": round(bytes_to_media),
                }
            )
        return charge_id

    def settle(self, ids: Iterable[str], bytes_to_media: float, cells: Mapping[str, float]) -> None:
        """Replace charges by what was really written, in total and by each cell."""
        with self._log.writing() as log:
            log.append(
                {
                    "event": "settle",
                    "ids": list(ids),
                    "at": utc_now(),
                    "bytes_to_media": round(bytes_to_media),
                    "cells": {cell: round(written) for cell, written in cells.items()},
                }
            )

    def most_written(self, cell_id: str) -> float | None:
        """Return the most that a cell with this id has written to media so far, None if none was finished."""
        with self._log.writing() as log:
            return self._read(log).most.get(cell_id)

    def _read(self, log: Any) -> Tally:
        """Read the lines added since the last time, by this process or another one."""
        lines, place, held = log.lines_after(self._place)
        if not held:
            self._tally = Tally()
        for line in lines:
            self._apply(self._tally, line)
        self._place = place
        return self._tally

    def _apply(self, tally: Tally, line: bytes) -> None:
        try:
            tally.apply(line)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EvidenceError(
                f"this line is not an event of the account: {error}",
                where=f"{self.path}:{tally.lines + 1}",
                next_step="restore the file from a backup: it is the only record of what this run has written",
            ) from error
