"""A bench without a cluster, for protocols in tests that script Ceph's answers."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from replay.base.clock import Costs, Waiting
from replay.cluster.cluster import Cluster
from replay.cluster.site import Ceilings, Pool, Pools
from replay.design.configuration import load_experiment
from replay.design.design import Cell, Design
from replay.design.expansion import expand
from replay.design.sizing import Write
from replay.measure.bench import Bench
from replay.measure.protocol import Protocol
from replay.ownership.write_budget import WriteBudget


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


def site_of(**changes: Any) -> SimpleNamespace:
    """Return a site with a pool `replay` that allows nothing and has no second cluster, or with these changes."""
    known = {
        "name": "elsewhere",
        "pools": Pools(Pool("replay")),
        "ceilings": Ceilings(),
        "allows": set(),
        "client_hosts": ("localhost",),
        "second_site": None,
        "sandbox": None,
        "fsid": None,
    }
    return SimpleNamespace(**known | changes)


def design_of(experiment: str, scale: str = "quick", **changes: Any) -> Design:
    """Return the design of an experiment that ships, with other keys of its file."""
    return expand({**load_experiment(experiment), **changes}, scale)


def bench_of(
    site: Any,
    session: Any = None,
    *,
    data_set: str = "trial",
    ledger: Any = None,
    sampler: Any = None,
    watch: Any = None,
    say: Callable[[str], None] = lambda line: None,
    daemons_are_here: bool = False,
) -> Bench:
    """Return a bench on a site, with a session that answers as the test says, or else has nothing but a cluster."""
    return Bench(
        site=site,
        data_set=data_set,
        session=session or SimpleNamespace(cluster=Cluster(Path("c"))),
        ledger=ledger,
        slot=None,
        budget=in_memory(),
        costs=Costs(),
        sampler=sampler,
        watch=watch or SimpleNamespace(waiting=_telling),
        say=say,
        daemons_are_here=daemons_are_here,
    )


def _telling(site: Any, what: str, at_most_seconds: float | None, **how: Any) -> Waiting:
    """Make a wait that looks at nothing, like a watch's `waiting`."""
    return Waiting(what, at_most_seconds, say=how["say"], sleep=how.get("sleep", time.sleep))


def waiting(
    what: str, at_most_seconds: float | None, *, sleep: Callable[[float], None] = time.sleep, **_: Any
) -> Waiting:
    """Make a wait that tells nobody and looks at nothing, like a bench's `waiting`."""
    return Waiting(what, at_most_seconds, say=lambda line: None, sleep=sleep)


def cell(protocol: Protocol, point: str, variant: str) -> Cell:
    """Return the cell of a variant at a point of a protocol's design."""
    return next(
        one for each in protocol.design.sets if each.point == point for one in each.cells if one.variant.name == variant
    )


def cells(protocol: Protocol, variant: str, **levels: object) -> list[Cell]:
    """Return the cells of a variant that have these levels, in the design's order."""
    every = [one for each in protocol.design.sets for one in each.cells if one.variant.name == variant]
    return [one for one in every if levels.items() <= one.levels.items()]


# The write budget of a protocol under test: a real one, in memory ----------------------------------------------------


class MemoryLog:
    """A log like that of a budget's file, without the file."""

    path = Path("in memory")

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def lines(self) -> list[bytes]:
        return self._lines

    @contextlib.contextmanager
    def writing(self) -> Iterator[MemoryLog]:
        yield self

    def append(self, record: dict[str, object]) -> None:
        self._lines.append(json.dumps(record).encode())


def in_memory(*, limit: float | None = None, before: float = 0.0, copies: float = 1.0) -> WriteBudget:
    """Return a budget for which every pool keeps `copies` copies, and a journal as many again."""

    def media_bytes(write: Write) -> float:
        of_journal = copies if write.journaled else 0.0
        return write.bytes * ((copies if write.copies is None else write.copies) + of_journal)

    budget = WriteBudget(MemoryLog(), media_bytes, limit=limit, site="elsewhere")
    budget.charge("before", before, refusable=False)
    return budget
