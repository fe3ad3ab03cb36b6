"""A bench without a cluster, for procedures in tests that script Ceph's answers."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from replay.base.clock import Costs
from replay.base.waiting import Waiting
from replay.design.design import Cell
from replay.design.media import Write
from replay.measure.bench import Bench
from replay.measure.procedure import Procedure
from replay.ownership.account import Tally
from replay.ownership.spending import Spending


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time, in seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let this much time pass at once."""
        self.now += seconds


def bench_of(
    site: Any,
    session: Any,
    *,
    data_set: str = "trial",
    ledger: Any = None,
    sampler: Any = None,
    say: Callable[[str], None] = lambda line: None,
    daemons_are_here: bool = False,
) -> Bench:
    """Return a bench on a site, with a session that answers as the test says."""
    return Bench(
        site=site,
        data_set=data_set,
        session=session,
        ledger=ledger,
        slot=None,
        spending=in_memory(),
        costs=Costs(),
        sampler=sampler,
        say=say,
        daemons_are_here=daemons_are_here,
        allowed=frozenset(),
    )


def waiting(
    what: str, at_most_seconds: float | None, *, sleep: Callable[[float], None] = time.sleep, **_: Any
) -> Waiting:
    """Make a wait that tells nobody and looks at nothing, like a bench's `waiting`."""
    return Waiting(what, at_most_seconds, say=lambda line: None, sleep=sleep)


def cell(protocol: Procedure, point: str, variant: str) -> Cell:
    """Return the cell of a variant at a point of a procedure's design."""
    return next(
        one for each in protocol.design.sets if each.point == point for one in each.cells if one.variant.name == variant
    )


def cells(protocol: Procedure, variant: str, **levels: object) -> list[Cell]:
    """Return the cells of a variant that have these levels, in the design's order."""
    every = [one for each in protocol.design.sets for one in each.cells if one.variant.name == variant]
    return [one for one in every if levels.items() <= one.levels.items()]


# The charges of a protocol under test: real spending on an account in memory ------------------------------------------


class MemoryAccount:
    """An account like that of the file, without the file."""

    def __init__(self, before: float = 0.0) -> None:
        self.tally = Tally(total=before)
        self.what: list[str] = []
        self._ids = itertools.count()

    def total(self) -> float:
        return self.tally.total

    def charge(self, what: str, bytes_to_media: float, *, allow: Callable[[float], None] = lambda total: None) -> str:
        allow(self.tally.total)
        charge_id = str(next(self._ids))
        self._apply(event="charge", id=charge_id, bytes_to_media=bytes_to_media)
        self.what.append(what)
        return charge_id

    def settle(self, ids: Iterable[str], bytes_to_media: float, cells: Mapping[str, float]) -> None:
        self._apply(event="settle", ids=list(ids), bytes_to_media=bytes_to_media, cells=dict(cells))

    def most_written(self, cell_id: str) -> float | None:
        return self.tally.most.get(cell_id)

    def _apply(self, **record: object) -> None:
        self.tally.apply(json.dumps(record).encode())


def in_memory(*, limit: float | None = None, before: float = 0.0, copies: float = 1.0) -> Spending:
    """Return spending for which every pool keeps `copies` copies, and a journal as many again."""

    def media_bytes(write: Write) -> float:
        of_journal = copies if write.journaled else 0.0
        return write.bytes * ((copies if write.copies is None else write.copies) + of_journal)

    return Spending(MemoryAccount(before), media_bytes, limit=limit, site="elsewhere")
