"""x"""

from __future__ import annotations

import errno
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import EvidenceError, RefusedError, ReplayError
from replay.base.paths import state_directory
from replay.base.synced_log import SyncedLog
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import RAISE_IT, Ceilings, Pool, Site, ceilings_reached
from replay.design.media import PoolCopies, Write

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


class Copies:
    """How many times each pool writes a byte to media, by the monitors. Asks about each pool once."""

    def __init__(self, site: Site, session: MonitorSession) -> None:
        self._site = site
        self._session = session
        self._known: dict[str, float] = {}

    def media_bytes(self, write: Write) -> float:
        """Return the bytes that a write causes on media: all copies, and all copies of what goes through a journal."""
        if write.copies is not None:
            return write.bytes * write.copies
        pools = self._site.pools
        pool = journal = write.pool or pools.data.name
        if pool == pools.data.name:
            pool = pools.data_pool.name if pools.data_pool else pool
            journal = pools.journal.name if pools.journal else journal
        return write.bytes * (self._of(pool) + (self._of(journal) if write.journaled else 0.0))

    def of_site(self) -> PoolCopies:
        """Return the copies of the site's pools, those that its file asks for where a pool does not exist yet."""
        pools = self._site.pools
        return PoolCopies(self._there_or_wanted(pools.data_pool or pools.data), self._of_journal(), are_known=True)

    def _of_journal(self) -> float:
        return self._there_or_wanted(self._site.pools.journal or self._site.pools.data)

    def _there_or_wanted(self, pool: Pool) -> float:
        try:
            return self._of(pool.name)
        except CephCommandError as error:
            if error.exit_status_of_tool != errno.ENOENT:
                raise
        if pool.erasure_code:
            return sum(pool.erasure_code) / pool.erasure_code[0]
        return float(pool.replicas or PoolCopies().data)

    def _of(self, pool: str) -> float:
        if pool not in self._known:
            size = int(self._get(pool, "size")["size"])
            data_pool = self._site.pools.data_pool
            self._known[pool] = size / (self._pieces(pool) if data_pool and data_pool.name == pool else 1)
        return self._known[pool]

    def _pieces(self, pool: str) -> int:
        """Return into how many pieces of data an object is cut: 1 in a replicated pool."""
        try:
            profile = self._get(pool, "erasure_code_profile")["erasure_code_profile"]
        except CephCommandError as error:
            if error.exit_status_of_tool in (errno.EACCES, errno.EINVAL, errno.ENOENT):
                return 1  # only an erasure-coded pool has a profile; without one, the account errs on the high side
            raise
        return int(self._session.command({"prefix": "osd erasure-code-profile get", "name": profile})["k"])

    def _get(self, pool: str, variable: str) -> dict[str, str]:
        return self._session.command({"prefix": "osd pool get", "pool": pool, "var": variable})


class Spending:
    """What one process charges to its run's account. `limit` is the site's ceiling in bytes to media, or None."""

    def __init__(
        self, account: Account, media_bytes: Callable[[Write], float], *, limit: float | None = None, site: str = ""
    ) -> None:
        self.account = account
        self.media_bytes = media_bytes
        self._limit = limit
        self._site = site
        self._open: Reservation | None = None

    def total(self) -> float:
        """Return the bytes that the run has written to media, by its account."""
        return self.account.total()

    def most_written(self, cell_id: str) -> float | None:
        """Return the most that a cell with this id has written to media so far, None if none has finished."""
        return self.account.most_written(cell_id)

    def charge(self, what: str, write: Write) -> None:
        """Charge an upcoming write. Raises RefusedError if it would exceed the ceiling."""
        self._add(what, self.media_bytes(write), refusable=True)

    def record(self, write: Write) -> None:
        """Charge a write whose amount was unknown in advance. If it exceeds the ceiling, the next charge is refused."""
        self._add("written", self.media_bytes(write), refusable=False)

    @contextmanager
    def reserve(self, what: str, expected: Mapping[str, float]) -> Iterator[Reservation]:
        """Charge a set with what its cells will write to media, by their ids. Settle it with what they wrote.

        Raises RefusedError if it would exceed the ceiling. The charge stays if the set does not end.
        """
        reservation = self._open = Reservation(self, what, dict(expected))
        try:
            reservation.top_up(refusable=True)
            yield reservation
            self.account.settle(reservation.ids, reservation.total, reservation.written)
        finally:
            self._open = None

    def _add(self, what: str, amount: float, *, refusable: bool) -> None:
        if self._open is not None:
            self._open.add(amount, refusable=refusable)
        elif amount:
            self.charge_media(what, amount, refusable=refusable)

    def charge_media(self, what: str, amount: float, *, refusable: bool) -> str:
        """Charge bytes to media and return the charge's id. If `refusable`, raise RefusedError above the ceiling."""
        return self.account.charge(what, amount, allow=lambda total: self._allow(what, total, amount, refusable))

    def _allow(self, what: str, total: float, amount: float, refusable: bool) -> None:
        limits = Ceilings(bytes_written_to_media_per_run=self._limit)
        if refusable and (
            stops := ceilings_reached(limits, bytes_written_to_media=total, bytes_of_next_set=amount, next_set=what)
        ):
            raise RefusedError(
                stops[0].detail,
                where=f"site {self._site}, ceiling bytes_written_to_media_per_run",
                next_step=RAISE_IT,
            )


class Reservation:
    """A running set: what is charged for it, and what its cells have written so far."""

    def __init__(self, spending: Spending, what: str, expected: dict[str, float]) -> None:
        self._spending = spending
        self._what = what
        self._left = expected
        self._cell: str | None = None
        self._of_cell = 0.0
        self._between = 0.0
        self._charged = 0.0
        self.ids: list[str] = []
        #: Bytes to media by cell.
        self.written: dict[str, float] = {}

    def begin(self, cell_id: str) -> None:
        """Begin a cell. Raises RefusedError if earlier cells wrote so much that it would exceed the ceiling."""
        self._cell, self._of_cell = cell_id, 0.0
        self.top_up(refusable=True)

    def end(self, *, void: bool) -> None:
        """End the cell with what it reported. A void cell counts at least what was expected of it."""
        assert self._cell is not None, "begin comes first"
        expected = self._left.pop(self._cell)
        self.written[self._cell] = max(self._of_cell, expected) if void else self._of_cell
        self._cell, self._of_cell = None, 0.0

    @property
    def total(self) -> float:
        """What finished cells wrote, and what was written between cells (a pilot that resizes one)."""
        return sum(self.written.values()) + self._between

    def add(self, amount: float, *, refusable: bool) -> None:
        """Add what the cell wrote, or what it is about to write if that can be refused."""
        if self._cell is None:
            self._between += amount
        else:
            self._of_cell += amount
        self.top_up(refusable=refusable)

    def top_up(self, *, refusable: bool) -> None:
        """Charge what is needed in addition: for what was written, for this cell, and for later cells.

        Later cells must ask again if earlier ones used up their share of the ceiling.
        """
        left = dict(self._left)
        of_cell = 0.0 if self._cell is None else max(self._of_cell, left.pop(self._cell))
        needed = self.total + of_cell + (sum(left.values()) if refusable else 0.0)
        if needed > self._charged:
            more = needed - self._charged
            self.ids.append(self._spending.charge_media(self._what, more, refusable=refusable))
            self._charged = needed
