"""Objects of RADOS itself: `rados bench` in pools of a block's own, one per number of copies.

A cell writes objects, or reads what was written for it, by one instance of the tool or by several that start together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.design.design import Cell, CellSet, Skip
from replay.design.media import Write
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND
from replay.measure.caches import Caches
from replay.measure.procedure import Protocol, parse_and_judge
from replay.owned.experiment_pools import (
    ExperimentPool,
    PoolSizeRefusedError,
    PoolSpec,
    await_pools,
    create_pool,
    remove_leftover_pools,
)
from replay.procedures.parts.rados_objects import BenchObjects, Fill
from replay.procedures.parts.rados_rounds import run_rounds
from replay.raw.record import Measured, Wait
from replay.tools import adapter
from replay.tools.rados_bench import RadosBench, mode_of

#: A fill has at least this many objects for each operation in flight: with fewer a pass has no middle.
LEAST_OBJECTS_PER_THREAD = 2
_WHOLE_OPTIONS = ("threads", "fill_most_objects", "fill_most_bytes", "write_most_objects", "write_most_bytes")


class ObjectBench(Protocol):
    """Runs `levels["instances"]` of `rados bench` at once in the pool with `levels["replicas"]` copies."""

    overhead_seconds = 5.5

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.program = self.adapter.program
        self._check()
        self.pools: dict[int, ExperimentPool] = {}
        self.caches = Caches(bench)
        self.objects = BenchObjects(bench, self.adapter, self._options(design.configuration.get("client_options", {})))
        #: By object size: which numbers of copies are read, by how many instances.
        self.readers: dict[int, set[tuple[int, int]]] = {}

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Make a pool for each number of copies; where the monitors refuse one, its variants are unavailable."""
        cells = [cell for one in sets for cell in one.cells]
        for replicas in sorted({_replicas(cell) for cell in cells}):
            self.bench.say(f"pool with {replicas} {'copy' if replicas == 1 else 'copies'} of each object: create")
            try:
                made = create_pool(self.bench, f"replicas-{replicas}", PoolSpec(replicas), application="rados")
            except PoolSizeRefusedError as error:
                self.bench.say(str(error))
                here = [one.name for one in self.design.variants if int(one.levels["replicas"]) == replicas]
                self.unavailable += [Skip(name, "pool_create", error.what) for name in here]
            else:
                self.pools[replicas] = made
        await_pools(self.bench, self.pools.values())
        for cell in cells:
            if not _is_write(cell) and _replicas(cell) in self.pools:
                self.readers.setdefault(_size(cell), set()).add((_replicas(cell), _instances(cell)))

    def close_block(self) -> None:
        """Remove the objects by run name, then the pools, and what a creation that was cut short left of one."""
        self.pools.clear()
        with self.bench.costs.measure("prepare"):
            try:
                self.objects.remove_fills()
            except ReplayError as error:
                self.bench.say(f"objects go with their pools: {error.what}")
        remove_leftover_pools(self.bench)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what a write may write at the most; of a read, the objects that it will find and are not there yet."""
        if _is_write(cell):
            most = self._options_of(cell)["max_objects"] * _instances(cell) * _size(cell)
            seconds = math.ceil(self.design.sizing.target_seconds)
            return [self._write(_replicas(cell), min(most, ASSUMED_BYTES_PER_SECOND * seconds))]
        own = {_fill_key(self._pool(cell), instance, _instances(cell)) for instance in range(1, _instances(cell) + 1)}
        return [
            self._write(_replicas(cell), fill.bytes)
            for fill in self._fills(_size(cell))
            if (fill.pool, fill.run_name) in own and not self.objects.holds(fill)
        ]

    def prepare(self, cell: Cell) -> list[Wait]:
        """Before the first read of a size: remove other sizes' objects, and write this size's into every pool."""
        if _is_write(cell):
            return []
        waits = []
        with self.bench.costs.measure("prepare"):
            started = time.monotonic()
            removed = self.objects.remove_fills(other_than_bytes=_size(cell))
            if removed.objects or removed.purged:
                waits.append(_wait("objects_removed", started, removed.outcome, objects=removed.objects))
            started = time.monotonic()
            written = [fill for fill in self._fills(_size(cell)) if self._fill(fill)]
            if written:
                objects, size = sum(fill.objects for fill in written), sum(fill.bytes for fill in written)
                waits.append(_wait("objects_written", started, "written", objects=objects, bytes=size))
        return waits

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the cell's instances together, again while a sequential read is not long enough.

        `rados bench` takes no seed: it draws its random reads by itself.
        """
        dropping: list[Wait] = []
        template = self.adapter.argv_template(cell.levels, self._options_of(cell))
        seconds = math.ceil(self.design.sizing.target_seconds)  # it takes whole seconds only
        with self.bench.costs.measure("tool"):
            rounds = run_rounds(
                self.adapter,
                cell.levels,
                template,
                [self.objects.values(self._pool(cell), name) for name in _run_names(cell)],
                seconds=seconds,
                target_seconds=self.design.sizing.target_seconds,
                slot=self.bench.slot,
                sampler=self.bench.sampler,
                # Each pass is a run of its own, and must not find what the one before left in memory.
                between=lambda: dropping.extend(self.caches.before_cell()[1]),
            )
        measured = Measured(
            argv=[argument.replace("{seconds}", str(seconds)) for argument in template],
            results={**rounds.printed(), **rounds.results},
            exit_status=rounds.exit_status,
            started_at=min(run.started_at for run in rounds.all),
            ended_at=max(run.ended_at for run in rounds.all),
            tool_seconds=rounds.tool_seconds,
            load=rounds.load(),
            facts={
                "replicas": _replicas(cell),
                "instances": _instances(cell),
                "passes": len(rounds.runs),
                "start_spread_seconds": round(rounds.start_spread_seconds, 3),
                "load_over": "the busiest stretch of each pass that is as long as the tool measured",
            },
            invalid=rounds.failure(),
        )
        if dropping:
            spent = sum(wait.seconds for wait in dropping)
            measured.waits.append(Wait("osd_caches_dropped", spent, "dropped", {"times": len(dropping)}))
        if not _is_write(cell):
            measured.facts["objects_to_read"] = _instances(cell) * self._objects(_size(cell), _instances(cell))
        self._judge(cell, measured)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what a write cell wrote, and see that it is gone."""
        if not _is_write(cell):
            return []
        started = time.monotonic()
        with self.bench.costs.measure("wait"):
            removed = self.objects.remove(self._pool(cell), _run_names(cell))
        return [_wait("objects_removed", started, removed.outcome, objects=removed.objects)]

    def _check(self) -> None:
        """Refuse what this protocol cannot do, before anything is created."""
        where = f"config/experiments/{self.design.name}.yaml"
        if not isinstance(self.adapter, RadosBench):
            raise ConfigurationError(f"object_bench runs rados-bench, not {self.adapter.name}", where=where)
        if lacking := {"mode", "object_size_bytes"} - set(self.design.factors):
            raise ConfigurationError(f"object_bench needs the factors {', '.join(sorted(lacking))}", where=where)
        if unknown := set(self.design.factors["mode"]) - {"write", "seq", "rand"}:
            raise ConfigurationError(f"mode: rados bench knows no {', '.join(sorted(unknown))}", where=where)
        for key in _WHOLE_OPTIONS:
            if not isinstance(self.design.options.get(key), int):
                raise ConfigurationError(f"options.{key} is {self.design.options.get(key)!r}", where=where)
        if without := [one.name for one in self.design.variants if not isinstance(one.levels.get("replicas"), int)]:
            raise ConfigurationError(f"variants without levels.replicas: {', '.join(without)}", where=where)
        if self.bench.site.ceilings.rate_bytes_per_second is not None:
            raise ConfigurationError(
                "rados bench cannot be held to the site's rate",
                where=f"config/sites/{self.bench.site.name}.yaml, ceilings.rate_bytes_per_second",
                next_step=f"measure other experiments than {self.design.name} there, each with --experiment",
            )

    def _options(self, client_options: Any) -> dict[str, Any]:
        """Return the adapter's options. The pools are Replay's own: a namespace of the site's pool is not theirs."""
        keyring = self.bench.primary_cluster.keyring is not None
        return {**self.design.options, "client_options": dict(client_options), "keyring": keyring, "namespace": False}

    def _options_of(self, cell: Cell) -> dict[str, Any]:
        """Return the options of a cell, with what a write may write at the most, shared by its instances."""
        options = self.design.options
        most = min(options["write_most_objects"], options["write_most_bytes"] // _size(cell))
        return {**self._options(cell.variant.client_options), "max_objects": max(1, most // _instances(cell))}

    def _objects(self, size_bytes: int, instances: int) -> int:
        """Return how many objects of a size each of some instances reads: all of them together as many as one alone."""
        options = self.design.options
        most = min(options["fill_most_objects"], options["fill_most_bytes"] // size_bytes)
        return max(most // instances, LEAST_OBJECTS_PER_THREAD * options["threads"])

    def _fills(self, size_bytes: int) -> list[Fill]:
        return [
            Fill(
                self.pools[replicas].name,
                _run_name("read", instance, instances),
                size_bytes,
                self._objects(size_bytes, instances),
            )
            for replicas, instances in sorted(self.readers[size_bytes])
            for instance in range(1, instances + 1)
        ]

    def _pool(self, cell: Cell) -> str:
        return self.pools[_replicas(cell)].name

    def _judge(self, cell: Cell, measured: Measured) -> None:
        """Set `measured.invalid` where the output cannot stand; charge what was written to the account."""
        if measured.invalid:
            return
        result = parse_and_judge(self.adapter, cell, measured, self.design.sizing.minimum_seconds)
        if result is None:
            return
        if result.complete:
            measured.headline = f"{result.metrics['bytes_per_second'] / 2**20:,.1f} MiB/s"
            if _is_write(cell):
                self.bench.account(self._write(_replicas(cell), result.metrics["bytes"]))

    def _fill(self, fill: Fill) -> bool:
        """Write a fill's objects unless they are there; tell whether they had to be written."""
        if self.objects.holds(fill):
            return False
        copies = next(one.spec.replicas for one in self.pools.values() if one.name == fill.pool)
        self.bench.charge(f"filling {fill.pool}", self._write(copies, fill.bytes))
        return self.objects.fill(fill)

    def _write(self, copies: int, size_bytes: float) -> Write:
        return Write(size_bytes, pool=self.pools[copies].name, copies=copies, adds=True)


def _size(cell: Cell) -> int:
    return int(cell.levels["object_size_bytes"])


def _replicas(cell: Cell) -> int:
    return int(cell.levels["replicas"])


def _instances(cell: Cell) -> int:
    return int(cell.levels.get("instances", 1))


def _is_write(cell: Cell) -> bool:
    return mode_of(cell.levels) == "write"


def _run_name(kind: str, instance: int, instances: int) -> str:
    return f"replay-{kind}-{instance}-of-{instances}"


def _fill_key(pool: str, instance: int, instances: int) -> tuple[str, str]:
    return pool, _run_name("read", instance, instances)


def _run_names(cell: Cell) -> list[str]:
    kind, instances = "write" if _is_write(cell) else "read", _instances(cell)
    return [_run_name(kind, instance, instances) for instance in range(1, instances + 1)]


def _wait(reason: str, started: float, outcome: str, **details: Any) -> Wait:
    return Wait(reason, time.monotonic() - started, outcome, details)


PROTOCOL = ObjectBench
