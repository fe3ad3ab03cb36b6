"""Runs one block of one experiment: every set that has no valid attempt yet, in the block's random order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base.clock import seconds_of, utc_now
from replay.base.errors import ReplayError, during
from replay.base.progress import Progress
from replay.cluster.versions import versions
from replay.design.design import (
    Cell,
    CellSet,
    Design,
    block_seed,
    digest_of,
    order_of_cells,
    order_of_sets,
    plan_digest,
)
from replay.design.procedures import protocol_for
from replay.design.registration import claims_to_register, registered_throughout
from replay.evidence.evidence import Attempt, BlockWriter, record_design
from replay.evidence.provenance import host, measuring_code
from replay.evidence.record import Measured, Wait
from replay.evidence.seal import seal
from replay.measure.bench import Bench, Caches
from replay.measure.guard import Guard
from replay.measure.protocol import Protocol
from replay.measure.sentry import Halted, without_interruption
from replay.measure.sidecar import sidecar_of
from replay.ownership.images import remove_owned_leftovers
from replay.sandbox.absent import naming_absent_daemons

MOST_ATTEMPTS = 3


class BlockRunner:
    """One block, from its plan to its pack."""

    def __init__(
        self,
        bench: Bench,
        design: Design,
        block: int,
        raw: Path,
        progress: Progress,
        *,
        guard: Guard,
        protocol_of: Callable[[Bench, Design], Protocol] = protocol_for,
    ) -> None:
        self.bench = bench
        self.design = design
        self.block = block
        self.raw = raw
        self.writer = BlockWriter(raw, block)
        self.progress = progress
        self.guard = guard
        self.seed = block_seed(bench.data_set, design.name, block)
        self.protocol = protocol_of(bench, design)
        self.caches = Caches(bench)
        self._started_at = utc_now()
        self._claims = claims_to_register(design.name)

    def run(self) -> Path:
        """Measure what is missing, write the block's receipt, and seal the block; return the path of its pack.

        Raises ReplayError if a set is still void after three attempts, if the cluster's health or a ceiling stops the
        run, or if mirroring does not catch up. Everything that was finished is kept.
        """
        plan = plan_digest(self.design, self.block)
        if (pack := self.writer.pack(plan)).exists():
            self.progress.note(f"{self.design.name} block {self.block} has been sealed already: {pack.name}")
            return pack
        record_design(self.raw, self.design.public(), self.design.digest)
        todo = [(index, one) for index, one in enumerate(order_of_sets(self.design, self.seed)) if self._lacks(one)]
        self.progress.start(
            self.design.title_of_block(self.block),
            sum(len(one.cells) for _, one in todo),
            sum(len(one.cells) for one in self.design.sets),
        )
        void: list[str] = []
        if todo:
            clean = (self._say_closing, self.protocol.close_block, self._remove_leftovers)
            with without_interruption(*clean), self._saying_why():
                with during(self._name):
                    self.guard.before_block()
                    self.caches.before_block()
                    self.protocol.open_block(self.writer, [one for _, one in todo])
                for index, one in self._available(todo):
                    if not self._measure_set(index, one):
                        void.append(one.point)
        if void:
            raise ReplayError(
                f"{len(void)} set(s) are still void after {MOST_ATTEMPTS} attempts: {', '.join(void)}",
                where=self._name,
                next_step="each attempt.json gives the reasons; fix the cause, then run measure again",
            )
        self._write_receipt(plan, len(todo))
        return seal(self.raw, self.block, plan)

    @property
    def _name(self) -> str:
        return f"{self.design.name}, block {self.block}"

    @contextlib.contextmanager
    def _saying_why(self) -> Iterator[None]:
        """Say at once why the block ends: it is told in full afterwards, and removing what it made may take minutes."""
        try:
            with naming_absent_daemons(self.bench.site):
                yield
        except ReplayError as error:
            because = f" ({error.because})" if error.because else ""
            self.progress.line(f"{self._name} ends: {error.what}{because}; first it removes what it made")
            raise

    def _say_closing(self) -> None:
        self.progress.doing("removing what the block made")

    def _remove_leftovers(self) -> None:
        """Remove what only the ledger names: an image whose creation was cut short."""
        remove_owned_leftovers(self.bench)

    def _lacks(self, one: CellSet) -> bool:
        """Return whether the set still has to be measured: no attempt by this host is valid for exactly these cells.

        A block that moved to another host is measured there from its beginning.
        """
        wanted = {cell.variant.name: cell.cell_id for cell in one.cells}
        return not self.writer.is_measured(one.point, wanted, host())

    def _available(self, todo: list[tuple[int, CellSet]]) -> list[tuple[int, CellSet]]:
        """Return the sets that still have to be measured, without the variants that this cluster refuses."""
        refused = {skip.variant for skip in self.protocol.unavailable}
        if not refused:
            return todo
        rest = [
            (index, replace(one, cells=tuple(cell for cell in one.cells if cell.variant.name not in refused)))
            for index, one in todo
        ]
        return [(index, one) for index, one in rest if one.cells and self._lacks(one)]

    def _measure_set(self, index: int, one: CellSet) -> bool:
        """Run a set until an attempt is valid, at most three times; return whether one was."""
        for _ in range(MOST_ATTEMPTS):
            what = f"{self._name}, set {one.point}"
            expected, added = self.protocol.expected_bytes(one)
            self.guard.before_set(what, media_bytes=sum(expected.values()), added_bytes=added)
            number = self.writer.next_attempt(one.point)
            cells = order_of_cells(one, self.seed, number)
            problems: list[dict[str, Any]] = []
            measured_here: list[str] = []
            stop: BaseException | None = None
            with self.bench.spending.reserve(f"{what}, attempt {number}", expected) as reservation:
                attempt = self.writer.begin_attempt(one.point, number)
                started = utc_now()
                for position, cell in enumerate(cells):
                    reservation.begin(cell.cell_id)
                    name = f"{self._name}, {cell.point} {cell.variant.label}, attempt {number}"
                    try:
                        with during(name):
                            measured = self._measure_cell(attempt, index, position, cell)
                    except Halted as halt:
                        halt.error.during = name
                        problems.append(_problem(cell, halt.reason, halt.error.what))
                        self._seal(attempt, index, one, measured_here, problems, started, "stopped")
                        raise
                    reservation.end(void=measured.invalid is not None)
                    measured_here.append(cell.variant.name)
                    if measured.invalid:
                        problems.append(_problem(cell, *measured.invalid))
                        self.progress.note(f"{cell.point} {cell.variant.label}: void, {': '.join(measured.invalid)}")
                    if (stop := self.guard.stop_after_cell()) is not None:
                        break
                    if measured.invalid:
                        self.protocol.after_invalid(self.writer, cell, measured)
            whole = len(measured_here) == len(cells)
            self._seal(attempt, index, one, measured_here, problems, started, "complete" if whole else "stopped")
            if stop is not None:
                raise stop
            if not problems:
                return True
            self.progress.repeat(len(cells))
        return False

    def _seal(
        self,
        attempt: Attempt,
        index: int,
        one: CellSet,
        order: list[str],
        problems: list[dict[str, Any]],
        started: str,
        status: str,
    ) -> None:
        """Seal an attempt with the variants that were measured, in that order."""
        with self.bench.costs.measure("record"):
            attempt.seal(
                {
                    "schema_version": 1,
                    "experiment": self.design.name,
                    "block": self.block,
                    "point": one.point,
                    "attempt": attempt.number,
                    "set_index": index,
                    "seed": self.seed,
                    "order": order,
                    "cells": {cell.variant.name: cell.cell_id for cell in one.cells},
                    "status": status,
                    "valid": status == "complete" and not problems,
                    "invalid": problems,
                    "claims": self._claims,
                    "started_at": started,
                    "ended_at": utc_now(),
                }
            )

    def _measure_cell(self, attempt: Attempt, index: int, position: int, cell: Cell) -> Measured:
        self.progress.begin(f"{cell.point} {cell.variant.label}")
        seed = int(digest_of([self.seed, cell.point, attempt.number, cell.variant.name], 8), 16) & 0x7FFFFFFF
        waits: list[Wait] = list(self.guard.settle())
        waits += self.protocol.prepare(cell)
        caches, dropping = self.caches.before_cell()
        waits += dropping
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
        waits += measured.waits
        waits += self.protocol.restore(cell, measured)
        with self.bench.costs.measure("record"):
            attempt.write_cell(
                cell.variant.name,
                measured.results,
                sidecar_of(
                    self.design,
                    cell,
                    measured,
                    waits,
                    {
                        "before": health_before.summary,
                        **({"during": sorted(self.guard.new)} if self.guard.new else {}),
                        "after": health_after.summary,
                    },
                    versions=self._versions(),
                    daemons_are_here=self.bench.daemons_are_here,
                    block=self.block,
                    attempt=attempt.number,
                    set_index=index,
                    position=position,
                    seed=seed,
                ),
            )
        self.progress.end(measured.headline if not measured.invalid else measured.invalid[0])
        return measured

    def _versions(self) -> dict[str, Any]:
        """Return the versions that are running now: daemons may be upgraded while a block is measured."""
        return versions(self.bench.session, self.protocol.program, self.bench.secondary)

    def _write_receipt(self, plan: str, measured_sets: int) -> None:
        self.writer.record_receipt(
            plan,
            {
                "schema_version": 1,
                "experiment": self.design.name,
                "block": self.block,
                "plan": plan,
                "design": self.design.digest,
                "scale": self.design.scale,
                "seed": self.seed,
                "sets": [one.point for one in order_of_sets(self.design, self.seed)],
                "sets_measured_in_this_sitting": measured_sets,
                "skipped": [vars(one) for one in self.protocol.unavailable],
                "claims": registered_throughout([self._claims, *self.writer.registered()]),
                "versions": self._versions(),
                "host": host(),
                **measuring_code(),
                "started_at": self._started_at,
                "ended_at": utc_now(),
                "costs_seconds": self.bench.costs.summary(),
                **({"sentry": self.guard.sentry.cost()} if self.guard.sentry else {}),
            },
        )


def _problem(cell: Cell, reason: str, detail: str) -> dict[str, str]:
    return {"variant": cell.variant.name, "reason": reason, "detail": detail}
