"""Measures the sets of one block, cell by cell. Every attempt is kept; a set with an invalid cell runs again whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from replay.base.clock import seconds_of, utc_now
from replay.base.errors import ReplayError, during, name_work
from replay.base.progress import Progress
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import versions
from replay.cluster.site import commit_latencies
from replay.design.configuration import claims_to_register
from replay.design.design import Cell, CellSet, block_seed, digest_of, order_of_cells, order_of_sets
from replay.evidence.attempts import Attempt, BlockWriter
from replay.evidence.record import (
    BOTTLENECK_RULE,
    HOSTS_BOTTLENECK_RULE,
    Measured,
    Wait,
    bottleneck_here,
    bottleneck_of_hosts,
    host,
    measuring_code,
)
from replay.measure.bench import Caches, LineBetweenSites
from replay.measure.guard import Guard
from replay.measure.job import Halted, without_interruption
from replay.measure.protocol import Observer, Protocol
from replay.ownership.removal import remove_owned_leftovers
from replay.sandbox.daemons import naming_absent_daemons
from replay.sandbox.link import link_facts

MOST_ATTEMPTS = 3

#: A set that still has to be measured, with its place in the block's order.
Todo = list[tuple[int, CellSet]]


@dataclass
class SetRun:
    """One attempt of a set while it runs: the variants measured so far, in that order, and what made cells invalid."""

    attempt: Attempt
    index: int
    cells: CellSet
    started_at: str = field(default_factory=utc_now)
    order: list[str] = field(default_factory=list)
    invalid: list[dict[str, str]] = field(default_factory=list)

    def add_problem(self, cell: Cell, reason: str, detail: str) -> None:
        """Note why a cell must not count."""
        self.invalid.append({"variant": cell.variant.name, "reason": reason, "detail": detail})

    @property
    def is_whole(self) -> bool:
        return len(self.order) == len(self.cells.cells)


class CommitLatencies(Observer):
    """Reads how fast each OSD committed while the tool's last seconds ran, if this user may ask for it."""

    def ended(self, cell: Cell, measured: Measured) -> None:
        with contextlib.suppress(CephCommandError):
            if latencies := commit_latencies(self.bench.session.command({"prefix": "osd perf"})):
                by_name = {f"osd.{number}": seconds for number, seconds in sorted(latencies.items())}
                measured.samples["osd_commit_latency_seconds"] = by_name


class SetRunner:
    """Measures the sets of a block with its protocol, as long as the guard lets it."""

    def __init__(self, protocol: Protocol, writer: BlockWriter, progress: Progress, guard: Guard) -> None:
        self.bench, self.design = protocol.bench, protocol.design
        self.protocol, self.writer, self.progress, self.guard = protocol, writer, progress, guard
        # The first observer, since others wait for a cell's after-effects.
        protocol.observers = (CommitLatencies().bound_to(protocol), *protocol.observers)
        self.block = writer.block
        self.seed = block_seed(self.bench.data_set, self.design.name, self.block)
        self.caches = Caches(self.bench)
        self.line = LineBetweenSites(self.bench, self.design)
        self._started_at = utc_now()
        self._claims = claims_to_register(self.design.name)

    @property
    def name(self) -> str:
        return f"{self.design.name}, block {self.block}"

    def missing(self) -> Todo:
        """Return the sets that have no valid attempt yet, in the block's random order."""
        return [
            (index, cell_set)
            for index, cell_set in enumerate(order_of_sets(self.design, self.seed))
            if self.writer.lacks(cell_set)
        ]

    @contextlib.contextmanager
    def opened(self, todo: Todo) -> Iterator[Todo]:
        """Create what these sets need, yield those that this cluster can measure, and remove everything at the end.

        Nothing interrupts the removal.
        """
        clean = (
            lambda: self.progress.doing("removing what the block made"),
            self.line.close_block,
            self.protocol.close_block,
            # What only the ledger names: an image whose creation was cut short.
            lambda: remove_owned_leftovers(self.bench),
        )
        with without_interruption(*clean), self._saying_why():
            with during(self.name):
                self.guard.before_block()
                self.caches.before_block()
                self.line.open_block()
                self.protocol.open_block(self.writer, [cell_set for _, cell_set in todo])
            yield self._available(todo)

    @contextlib.contextmanager
    def _saying_why(self) -> Iterator[None]:
        """Say at once why the block ends: it is told in full afterwards, and removing what it made may take minutes."""
        try:
            with naming_absent_daemons(self.bench.site):
                yield
        except ReplayError as error:
            because = f" ({error.because})" if error.because else ""
            self.progress.line(f"{self.name} ends: {error.what}{because}; first it removes what it made")
            raise

    def _available(self, todo: Todo) -> Todo:
        """Return the sets that still have to be measured, without the variants that this cluster refuses."""
        if not self.protocol.unavailable:
            return todo
        rest = [(index, self.protocol.without_refused(cell_set)) for index, cell_set in todo]
        return [(index, cell_set) for index, cell_set in rest if cell_set.cells and self.writer.lacks(cell_set)]

    # One set ----------------------------------------------------------------------------------------------------------

    def measure(self, index: int, cell_set: CellSet) -> bool:
        """Run a set until an attempt is valid, at most three times; return whether one was."""
        for number in range(MOST_ATTEMPTS):
            if number:
                self.progress.repeat(len(cell_set.cells))
            if self._attempt(index, cell_set):
                return True
        return False

    def _attempt(self, index: int, cell_set: CellSet) -> bool:
        """Run a set once; return whether the attempt is valid. Raises RunStoppedError if the whole run has to end."""
        what = f"{self.name}, set {cell_set.point}"
        expected, added = self.protocol.expected_bytes(cell_set)
        self.line.before_set(cell_set)
        self.guard.before_set(what, media_bytes=sum(expected.values()), added_bytes=added)
        number = self.writer.next_attempt(cell_set.point)
        stop: BaseException | None = None
        with self.bench.budget.reserve_set(f"{what}, attempt {number}", expected) as reservation:
            run = SetRun(self.writer.begin_attempt(cell_set.point, number), index, cell_set)
            for position, cell in enumerate(order_of_cells(cell_set, self.seed, number)):
                reservation.begin(cell.cell_id)
                name = f"{self.name}, {cell.point} {cell.variant.label}, attempt {number}"
                try:
                    with during(name):
                        measured = self._measure_cell(run, position, cell)
                except Halted as halt:
                    name_work(halt.error, name)
                    run.add_problem(cell, halt.reason, halt.error.what)
                    self._seal(run, "stopped")
                    raise
                reservation.end(void=measured.invalid is not None)
                run.order.append(cell.variant.name)
                if measured.invalid:
                    run.add_problem(cell, *measured.invalid)
                    self.progress.line(f"{cell.point} {cell.variant.label}: invalid, {': '.join(measured.invalid)}")
                if (stop := self.guard.stop_after_cell()) is not None:
                    break
                if measured.invalid:
                    self.protocol.driver.after_invalid(self.writer, cell, measured)
        self._seal(run, "complete" if run.is_whole else "stopped")
        if stop is not None:
            raise stop
        return not run.invalid

    def _seal(self, run: SetRun, status: str) -> None:
        """Seal an attempt with the variants that were measured."""
        with self.bench.costs.measure("record"):
            run.attempt.seal(
                {
                    "schema_version": 1,
                    "experiment": self.design.name,
                    "block": self.block,
                    "point": run.cells.point,
                    "attempt": run.attempt.number,
                    "set_index": run.index,
                    "seed": self.seed,
                    "order": run.order,
                    "cells": {cell.variant.name: cell.cell_id for cell in run.cells.cells},
                    "status": status,
                    "valid": status == "complete" and not run.invalid,
                    "invalid": run.invalid,
                    "claims": self._claims,
                    "started_at": run.started_at,
                    "ended_at": utc_now(),
                }
            )

    # One cell ---------------------------------------------------------------------------------------------------------

    def _measure_cell(self, run: SetRun, position: int, cell: Cell) -> Measured:
        """Take a cell through the phases of its protocol, and write its output and its sidecar."""
        self.progress.begin(f"{cell.point} {cell.variant.label}")
        seed = int(digest_of([self.seed, cell.point, run.attempt.number, cell.variant.name], 8), 16) & 0x7FFFFFFF
        waits = [*self.guard.settle(), *self.protocol.prepare(cell)]
        caches, dropping = self.caches.before_cell()
        with self.bench.costs.measure("health"):
            health_before = self.guard.before_cell()
        measured = self.protocol.run(cell, seed)
        with self.bench.costs.measure("health"):
            health_after = self.guard.after_cell(measured)
        if self.bench.hosts is not None:
            measured.samples["prometheus"] = self.bench.hosts.between(
                seconds_of(measured.started_at), seconds_of(measured.ended_at)
            )
        measured.facts["caches"] = caches
        measured.facts |= link_facts(self.bench.site)
        waits += [*dropping, *measured.waits, *self.protocol.restore(cell, measured)]
        health = {
            "before": health_before.summary,
            **({"during": sorted(self.guard.new)} if self.guard.new else {}),
            "after": health_after.summary,
        }
        with self.bench.costs.measure("record"):
            sidecar = self._sidecar(run, position, seed, cell, measured, health, waits)
            run.attempt.write_cell(cell.variant.name, measured.results, sidecar)
        self.progress.end(measured.headline if not measured.invalid else measured.invalid[0])
        return measured

    def _sidecar(
        self,
        run: SetRun,
        position: int,
        seed: int,
        cell: Cell,
        measured: Measured,
        health: dict[str, Any],
        waits: list[Wait],
    ) -> dict[str, Any]:
        """Return a cell's sidecar; docs/data-formats.md lists its keys."""
        return {
            "schema_version": 1,
            "experiment": self.design.name,
            "block": self.block,
            "attempt": run.attempt.number,
            "set_index": run.index,
            "position": position,
            "seed": seed,
            "point": cell.point,
            "variant": cell.variant.name,
            "label": cell.variant.label,
            "cell_id": cell.cell_id,
            "levels": dict(cell.levels),
            "protocol": self.design.configuration["protocol"],
            "tool": self.design.configuration["tool"],
            "argv": measured.argv,
            "files": {role: f"{cell.variant.name}.{suffix}" for role, (suffix, _) in measured.results.items()},
            "exit_status": measured.exit_status,
            "started_at": measured.started_at,
            "ended_at": measured.ended_at,
            "tool_seconds": round(measured.tool_seconds, 4),
            "valid": measured.invalid is None,
            "invalid": (
                None if measured.invalid is None else dict(zip(("reason", "detail"), measured.invalid, strict=True))
            ),
            "versions": self._versions(),
            **measuring_code(),
            "host": host(),
            "health": health,
            "load": measured.load,
            **_bottleneck(measured, self.bench.daemons_are_here),
            "waits": [wait.public() for wait in waits],
            "samples": measured.samples,
            "facts": measured.facts,
        }

    def _versions(self) -> dict[str, Any]:
        """Return the versions that are running now: daemons may be upgraded while a block is measured."""
        return versions(self.bench.session, self.protocol.program, self.bench.secondary)

    def receipt(self, plan: str, *, measured_sets: int) -> dict[str, Any]:
        """Return the block's receipt."""
        return {
            "schema_version": 1,
            "experiment": self.design.name,
            "block": self.block,
            "plan": plan,
            "design": self.design.digest,
            "scale": self.design.scale,
            "seed": self.seed,
            "sets": [cell_set.point for cell_set in order_of_sets(self.design, self.seed)],
            "sets_measured_in_this_sitting": measured_sets,
            "skipped": [vars(skip) for skip in self.protocol.unavailable],
            "claims": self._claims,
            "versions": self._versions(),
            "host": host(),
            **measuring_code(),
            "started_at": self._started_at,
            "ended_at": utc_now(),
            "costs_seconds": self.bench.costs.summary(),
            "sentry": self.guard.cost(),
        }


def _bottleneck(measured: Measured, daemons_are_here: bool) -> dict[str, str]:
    """Return a cell's bottleneck, and the rule that names it: the one for the site's hosts, if they were observed."""
    if (seen := measured.samples.get("prometheus")) is not None:
        return {"limiter": bottleneck_of_hosts(seen), "limiter_rule": HOSTS_BOTTLENECK_RULE}
    resource = bottleneck_here(measured.load, daemons_are_here=daemons_are_here)
    return {"limiter": resource, "limiter_rule": BOTTLENECK_RULE}
