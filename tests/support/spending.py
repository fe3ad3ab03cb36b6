"""The charges of a protocol under test: real spending on an account in memory."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping

from replay.design.media import Write
from replay.owned.account import Tally
from replay.owned.spending import Spending


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
