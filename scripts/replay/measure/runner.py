"""Runs one block of one experiment: every set that has no valid attempt yet, in the block's random order."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base.clock import seconds_of, utc_now
from replay.base.errors import ReplayError, cleaning_up, during
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
from replay.measure.bench import Bench
from replay.measure.caches import Caches
from replay.measure.guard import Guard
from replay.measure.procedure import Procedure
from replay.owned.images import remove_owned_leftovers
from replay.raw.evidence import Attempt, BlockWriter, record_design
from replay.raw.provenance import host, measuring_code
from replay.raw.record import Measured, Wait
from replay.raw.seal import seal
from replay.samplers import limiter
from replay.samplers.limiter import LIMITER_RULE, limiting_resource

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
        protocol_of: Callable[[Bench, Design], Procedure] = protocol_for,
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
            with _without_interruption(self._say_closing, self.protocol.close_block, self._remove_leftovers):
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

    def _say_closing(self) -> None:
        self.progress.doing("removing what the block made")

    def _remove_leftovers(self) -> None:
        """Remove what only the ledger names: an image whose creation was cut short."""
        remove_owned_leftovers(self.bench)

    def _lacks(self, one: CellSet) -> bool:
        """Return whether the set still has to be measured, because no attempt is valid for exactly these cells."""
        wanted = {cell.variant.name: cell.cell_id for cell in one.cells}
        return not self.writer.is_measured(one.point, wanted)

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
            with self.bench.spending.reserve(f"{what}, attempt {number}", expected) as reservation:
                attempt = self.writer.begin_attempt(one.point, number)
                started = utc_now()
                for position, cell in enumerate(cells):
                    reservation.begin(cell.cell_id)
                    with during(f"{self._name}, {cell.point} {cell.variant.label}, attempt {number}"):
                        measured = self._measure_cell(attempt, index, position, cell)
                    reservation.end(void=measured.invalid is not None)
                    if measured.invalid:
                        reason, detail = measured.invalid
                        problems.append({"variant": cell.variant.name, "reason": reason, "detail": detail})
                        self.progress.note(f"{cell.point} {cell.variant.label}: void, {reason}: {detail}")
                        self.protocol.after_invalid(self.writer, cell, measured)
            with self.bench.costs.measure("record"):
                attempt.seal(
                    {
                        "schema_version": 1,
                        "experiment": self.design.name,
                        "block": self.block,
                        "point": one.point,
                        "attempt": number,
                        "set_index": index,
                        "seed": self.seed,
                        "order": [cell.variant.name for cell in cells],
                        "cells": {cell.variant.name: cell.cell_id for cell in one.cells},
                        "status": "complete",
                        "valid": not problems,
                        "invalid": problems,
                        "claims": self._claims,
                        "started_at": started,
                        "ended_at": utc_now(),
                    }
                )
            if not problems:
                return True
            self.progress.repeat(len(cells))
        return False

    def _measure_cell(self, attempt: Attempt, index: int, position: int, cell: Cell) -> Measured:
        self.progress.begin(f"{cell.point} {cell.variant.label}")
        seed = int(digest_of([self.seed, cell.point, attempt.number, cell.variant.name], 8), 16) & 0x7FFFFFFF
        waits: list[Wait] = list(self.guard.settle())
        waits += self.protocol.prepare(cell)
        caches, dropping = self.caches.before_cell()
        waits += dropping
        with self.bench.costs.measure("health"):
            health_before = self.guard.health()
        measured = self.protocol.run(cell, seed)
        with self.bench.costs.measure("health"):
            health_after = self.guard.health()
        refusals = [f"{code}: {text}" for code, text in health_after.refuse]
        if refusals and measured.invalid is None:
            measured.invalid = ("unhealthy", "; ".join(refusals))
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
                self._sidecar(
                    cell,
                    measured,
                    waits,
                    {"before": health_before.summary, "after": health_after.summary},
                    attempt=attempt.number,
                    set_index=index,
                    position=position,
                    seed=seed,
                ),
            )
        self.progress.end(measured.headline if not measured.invalid else measured.invalid[0])
        return measured

    def _sidecar(
        self,
        cell: Cell,
        measured: Measured,
        waits: list[Wait],
        health: dict[str, Any],
        **identity: int,
    ) -> dict[str, Any]:
        """Return a cell's sidecar. `identity` holds its attempt, set_index, position and seed."""
        return {
            "schema_version": 1,
            "experiment": self.design.name,
            "block": self.block,
            **identity,
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
            **self._limiter(measured),
            "waits": [wait.public() for wait in waits],
            "samples": measured.samples,
            "facts": measured.facts,
        }

    def _versions(self) -> dict[str, Any]:
        """Return the versions that are running now: daemons may be upgraded while a block is measured."""
        return versions(self.bench.session, self.protocol.program, self.bench.secondary)

    def _limiter(self, measured: Measured) -> dict[str, str]:
        """Return what limited a cell, and by which rule: the one for the site's hosts, if they were observed."""
        if (seen := measured.samples.get("prometheus")) is not None:
            return {"limiter": limiter.limiting_resource_of_hosts(seen), "limiter_rule": limiter.HOSTS_LIMITER_RULE}
        found = limiting_resource(measured.load, daemons_are_here=self.bench.daemons_are_here)
        return {"limiter": found, "limiter_rule": LIMITER_RULE}

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
            },
        )


@contextlib.contextmanager
def _without_interruption(*steps: Callable[[], None]) -> Iterator[None]:
    """Run `steps` after the work inside, even if Ctrl-C is pressed again, because they remove what it created."""
    previous: dict[int, Any] = {}

    def ignore() -> None:
        previous.update({number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)})

    def heed() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    with cleaning_up(ignore, *steps, heed):
        yield
