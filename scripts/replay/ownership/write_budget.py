"""What a run may write to a cluster's media, and has written: one budget for all its blocks, processes and nights.

A run is a campaign: one site and one data set. Its file is `<state>/accounts/<fsid>.<site>.<data set>.jsonl`, outside
the checkout and the evidence. Each line is an event:

    {"event": "charge", "id": …, "at": …, "what": …, "bytes_to_media": …}
    {"event": "settle", "ids": […], "at": …, "bytes_to_media": …, "cells": {cell id: bytes to media}}

A charge is on disk before the first of its bytes is written. A settlement replaces charges by what was really written.
So a process that is killed at any moment leaves its charge in place: the budget errs towards too much.

Known amounts are reserved as they are. A set is reserved with an estimate of what its cells will write, and settled
with what they wrote. An invalid or unfinished cell keeps the larger of the two.
"""

from __future__ import annotations

import errno
import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import EvidenceError, RefusedError, ReplayError
from replay.base.paths import state_directory
from replay.cluster.cluster import CephCommandError, unless_gone
from replay.cluster.session import MonitorSession
from replay.cluster.site import DEFAULT_ERASURE_CODE, RAISE_IT, Ceilings, Pool, Site, ceilings_reached
from replay.design.sizing import PoolCopies, Write
from replay.ownership.ledger import SyncedLog

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)


@dataclass
class _Sums:
    """The sums of a budget's lines, in bytes to media. `most` is the most that a cell wrote, by its id."""

    total: float = 0.0
    charges: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)

    def apply(self, line: bytes) -> None:
        """Add one line. Raises ValueError, KeyError or TypeError if it is not an event of a budget."""
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
            for charge_id in record["ids"]:
                self.total -= self.charges.pop(charge_id)
            self.total += amount
            for cell, written in record["cells"].items():
                self.most[cell] = max(written, self.most.get(cell, 0.0))
        else:
            raise ValueError(f"unknown event {record['event']!r}")


class WriteBudget:
    """The budget of one campaign, as one process uses it. Several processes may use it at once.

    `media_bytes` returns what a write of clients causes on media; `limit` is the site's ceiling in such bytes, or None.
    Every method that reads raises EvidenceError naming an invalid line.
    """

    def __init__(
        self,
        log: SyncedLog,
        media_bytes: Callable[[Write], float] = lambda write: write.bytes,
        *,
        limit: float | None = None,
        site: str = "",
    ) -> None:
        self.log = log
        self.media_bytes = media_bytes
        self._limit, self._site = limit, site
        self._set: SetReservation | None = None

    @classmethod
    def of(cls, fsid: str, site: str, data_set: str, **how: Any) -> WriteBudget:
        """Return the budget of a campaign on a live cluster. Raises ReplayError for an invalid name."""
        for name in (fsid, site, data_set):
            if not _NAME.fullmatch(name):
                raise ReplayError(f"{name!r} names no write budget", where="accounts")
        path = state_directory() / "accounts" / f"{fsid}.{site}.{data_set}.jsonl"
        return cls(SyncedLog(path), site=site, **how)

    def total(self) -> float:
        """Return the bytes that were, or may have been, written to media; 0 if nothing was charged."""
        return self._sums(self.log.lines()).total

    def most_written(self) -> dict[str, float]:
        """Return the most that each cell has written to media so far, by its id; only of cells that finished."""
        return self._sums(self.log.lines()).most

    def reserve(self, what: str, write: Write) -> None:
        """Charge an upcoming write. Raises RefusedError if it would exceed the ceiling; then nothing is charged."""
        self._add(what, self.media_bytes(write), refusable=True)

    def commit(self, write: Write) -> None:
        """Charge a write whose amount was unknown in advance. Above the ceiling, the next `reserve` is refused."""
        self._add("written", self.media_bytes(write), refusable=False)

    @contextmanager
    def reserve_set(self, what: str, expected: Mapping[str, float]) -> Iterator[SetReservation]:
        """Charge a set with what its cells will write to media, by their ids. Settle it with what they wrote.

        Raises RefusedError if it would exceed the ceiling. The charge stays if the set does not end.
        """
        reservation = self._set = SetReservation(self, what, dict(expected))
        try:
            reservation.top_up(refusable=True)
            yield reservation
            self._settle(reservation)
        finally:
            self._set = None

    def charge(self, what: str, amount: float, *, refusable: bool = True) -> str:
        """Charge bytes to media and return the charge's id. If `refusable`, raise RefusedError above the ceiling."""
        with self.log.writing() as writer:
            total = self._sums(writer.lines()).total
            if refusable:
                self._refuse_above_limit(what, total, amount)
            charge_id = secrets.token_hex(8)
            event = {"event": "charge", "id": charge_id, "at": utc_now(), "what": what}
            writer.append(event | {"bytes_to_media": round(amount)})
        return charge_id

    def _settle(self, reservation: SetReservation) -> None:
        written = {cell: round(amount) for cell, amount in reservation.written.items()}
        event = {"event": "settle", "ids": reservation.charges, "at": utc_now()}
        with self.log.writing() as writer:
            writer.append(event | {"bytes_to_media": round(reservation.total), "cells": written})

    def _add(self, what: str, amount: float, *, refusable: bool) -> None:
        if self._set is not None:
            self._set.add(amount, refusable=refusable)
        elif amount:
            self.charge(what, amount, refusable=refusable)

    def _refuse_above_limit(self, what: str, total: float, amount: float) -> None:
        limits = Ceilings(bytes_written_to_media_per_run=self._limit)
        stops = ceilings_reached(limits, bytes_written_to_media=total, bytes_of_next_set=amount, next_set=what)
        if stops:
            raise RefusedError(
                stops[0].detail,
                where=f"site {self._site}, ceiling bytes_written_to_media_per_run",
                next_step=RAISE_IT,
            )

    def _sums(self, lines: list[bytes]) -> _Sums:
        sums = _Sums()
        for number, line in enumerate(lines, start=1):
            try:
                sums.apply(line)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise EvidenceError(
                    f"this line is not an event of the write budget: {error}",
                    where=f"{self.log.path}:{number}",
                    next_step="restore the file from a backup: it is the only record of what this run has written",
                ) from error
        return sums


class SetReservation:
    """A running set: what is charged for it, and what its cells have written so far."""

    def __init__(self, budget: WriteBudget, what: str, expected: dict[str, float]) -> None:
        self._budget, self._what = budget, what
        self._left = expected
        self._cell: str | None = None
        self._of_cell = self._between = self._charged = 0.0
        #: The ids of its charges.
        self.charges: list[str] = []
        #: Bytes to media by cell.
        self.written: dict[str, float] = {}

    def begin(self, cell_id: str) -> None:
        """Begin a cell. Raises RefusedError if earlier cells wrote so much that it would exceed the ceiling."""
        self._cell, self._of_cell = cell_id, 0.0
        self.top_up(refusable=True)

    def end(self, *, void: bool) -> None:
        """End the cell with what it reported. An invalid cell counts at least what was expected of it."""
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
            self.charges.append(self._budget.charge(self._what, needed - self._charged, refusable=refusable))
            self._charged = needed


class MediaCopies:
    """How many times each pool writes a byte to media, by the monitors. Asks about each pool once."""

    def __init__(self, site: Site, session: MonitorSession) -> None:
        self._pools = site.pools
        self._session = session
        self._known: dict[str, float] = {}

    def media_bytes(self, write: Write) -> float:
        """Return the bytes that a write causes on media: all copies, and all copies of what goes through a journal."""
        if write.copies is not None:
            return write.bytes * write.copies
        pools = self._pools
        pool = journal = write.pool or pools.data.name
        if pool == pools.data.name:
            pool = pools.data_pool.name if pools.data_pool else pool
            journal = pools.journal.name if pools.journal else journal
        return write.bytes * (self._of(pool) + (self._of(journal) if write.journaled else 0.0))

    def of_site(self) -> PoolCopies:
        """Return the copies of the site's pools; those with which a pool is made where it does not exist yet."""
        data, journal = (pool or self._pools.data for pool in (self._pools.data_pool, self._pools.journal))
        return PoolCopies(self._existing_or_asked(data), self._existing_or_asked(journal))

    def _existing_or_asked(self, pool: Pool) -> float:
        if (copies := unless_gone(lambda: self._of(pool.name))) is not None:
            return copies
        if pool is self._pools.data_pool:
            k, m = pool.erasure_code or DEFAULT_ERASURE_CODE
            return (k + m) / k
        return float(pool.replicas or PoolCopies().data)

    def _of(self, pool: str) -> float:
        if pool not in self._known:
            size, data_pool = int(self._get(pool, "size")["size"]), self._pools.data_pool
            self._known[pool] = size / (self._pieces(pool) if data_pool and data_pool.name == pool else 1)
        return self._known[pool]

    def _pieces(self, pool: str) -> int:
        """Return into how many pieces of data an object is cut: 1 in a replicated pool."""
        try:
            profile = self._get(pool, "erasure_code_profile")["erasure_code_profile"]
        except CephCommandError as error:
            if error.exit_status_of_tool in (errno.EACCES, errno.EINVAL, errno.ENOENT):
                return 1  # only an erasure-coded pool has a profile; without one, the budget errs on the high side
            raise
        return int(self._session.command({"prefix": "osd erasure-code-profile get", "name": profile})["k"])

    def _get(self, pool: str, variable: str) -> dict[str, str]:
        return self._session.command({"prefix": "osd pool get", "pool": pool, "var": variable})
