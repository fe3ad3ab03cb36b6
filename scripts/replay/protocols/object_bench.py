"""RADOS objects: `rados bench` in the block's own pools, one for each number of copies.

A cell writes objects, or reads what was written for it, with one instance of the tool or several that start together.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from replay.base.errors import ReplayError
from replay.design.design import Cell, CellSet, Skip
from replay.design.needs import WHOLE, Factor, Needs, Option
from replay.design.sizing import Write
from replay.evidence.record import Wait
from replay.measure.bench import Caches
from replay.measure.protocol import Protocol
from replay.ownership.pools import PoolSizeRefusedError, PoolSpec, await_pools, create_pool, remove_leftover_pools
from replay.protocols.drivers.rados_bench import RADOS_FACTORS, RADOS_OPTIONS, RadosRounds, Rounds
from replay.protocols.drivers.tool import writes
from replay.protocols.targets.objects import Fill, ObjectPools

FILL_OPTIONS = (
    Option("fill_most_objects", WHOLE, "objects", "the most that is written beforehand for reads"),
    Option("fill_most_bytes", WHOLE, "bytes", "the most that is written beforehand for reads"),
)
#: A fill has at least this many objects for each operation in flight. With fewer, a pass never runs at full depth.
LEAST_OBJECTS_PER_THREAD = 2


class ReplicaPools(ObjectPools):
    """A pool for each number of copies, and the objects that cells read from it."""

    def begin(self) -> None:
        """Start without pools."""
        super().begin()
        #: Names of pools, by the number of copies.
        self.pools: dict[int, str] = {}
        #: For each object size, the operations in flight of its reads, by (copies, instances).
        self.readers: dict[int, dict[tuple[int, int], int]] = {}

    def replicas_of(self, levels: Mapping[str, Any]) -> int | None:
        return int(levels["replicas"])

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create the pools. If the monitors refuse one, its variants are unavailable."""
        cells = [cell for cell_set in sets for cell in cell_set.cells]
        for replicas in sorted({self.replicas_of(cell.levels) for cell in cells}):
            self.bench.say(f"creating a pool with {replicas} {'copy' if replicas == 1 else 'copies'} of each object")
            try:
                name = create_pool(self.bench, f"replicas-{replicas}", PoolSpec(replicas), application="rados")
            except PoolSizeRefusedError as error:
                self.bench.say(str(error))
                self.protocol.unavailable += [
                    Skip(variant.name, "pool_create", error.what)
                    for variant in self.design.variants
                    if self.replicas_of(variant.levels) == replicas
                ]
            else:
                self.pools[replicas] = name
        await_pools(self.bench, self.pools.values())
        for cell in cells:
            if not writes(cell) and self.replicas_of(cell.levels) in self.pools:
                depths = self.readers.setdefault(_size(cell), {})
                key = (self.replicas_of(cell.levels), _instances(cell))
                depths[key] = max(depths.get(key, 0), int(self.protocol.option("threads", cell)))

    def prepare(self, cell: Cell) -> list[Wait]:
        """Before the first read of a size: remove other sizes' objects, and write this size's into every pool."""
        if writes(cell):
            return []
        with self.bench.costs.measure("prepare"):
            waits = self.remove_fills(other_than_bytes=_size(cell))
            started = time.monotonic()
            written = [fill for fill in self._fills(_size(cell)) if not self.holds(fill)]
            for fill in written:
                self.fill(fill)
            if written:
                seconds = time.monotonic() - started
                objects, size = sum(fill.objects for fill in written), sum(fill.bytes for fill in written)
                waits.append(Wait("objects_written", seconds, "written", {"objects": objects, "bytes": size}))
        return waits

    def close(self) -> None:
        """Remove the objects by run name, then the pools, including one whose creation was cut short."""
        with self.bench.costs.measure("prepare"):
            try:
                self.remove_fills()
            except ReplayError as error:
                self.bench.say(f"could not remove the objects alone, so they go with their pools: {error.what}")
        remove_leftover_pools(self.bench)

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return new objects in the cell's pool, with its own number of copies."""
        return Write(size_bytes, pool=self.pool_of(cell), copies=self.replicas_of(cell.levels), adds=True)

    def unfilled(self, cell: Cell) -> list[Write]:
        """Return the objects that a cell will read and that do not exist yet."""
        pool, names = self.pool_of(cell), self.run_names(cell)
        return [
            fill.write
            for fill in self._fills(_size(cell))
            if fill.pool == pool and fill.run_name in names and not self.holds(fill)
        ]

    def pool_of(self, cell: Cell) -> str:
        return self.pools[self.replicas_of(cell.levels)]

    def run_names(self, cell: Cell) -> list[str]:
        kind, instances = "write" if writes(cell) else "read", _instances(cell)
        return [_run_name(kind, instance, instances) for instance in range(1, instances + 1)]

    def objects_each(self, size_bytes: int, replicas: int, instances: int) -> int:
        """Return how many objects of a size each instance reads. Together they read as many as a single one would."""
        most = self.protocol.option("fill_most_bytes") // size_bytes
        most = min(self.protocol.option("fill_most_objects"), most)
        threads = max(self.protocol.option("threads"), self.readers[size_bytes][replicas, instances])
        return max(most // instances, LEAST_OBJECTS_PER_THREAD * threads)

    def _fills(self, size_bytes: int) -> list[Fill]:
        return [
            Fill(
                self.pools[replicas],
                replicas,
                _run_name("read", instance, instances),
                size_bytes,
                self.objects_each(size_bytes, replicas, instances),
            )
            for replicas, instances in sorted(self.readers[size_bytes])
            for instance in range(1, instances + 1)
        ]


class Instances(RadosRounds):
    """Several instances at once. A pass must not find the previous one's data in memory."""

    def begin(self) -> None:
        self.caches = Caches(self.bench)

    def between_passes(self) -> list[Wait]:
        return self.caches.before_cell()[1]

    def facts(self, cell: Cell, rounds: Rounds) -> dict[str, Any]:
        """Return the number of instances and passes, and of objects to read."""
        known: dict[str, Any] = {
            "replicas": self.protocol.target.replicas_of(cell.levels),
            "instances": _instances(cell),
            "passes": len(rounds.runs),
            "start_spread_seconds": round(rounds.start_spread_seconds, 3),
            "load_over": "the busiest stretch of each pass that is as long as the tool measured",
        }
        if not writes(cell):
            each = self.protocol.target.objects_each(_size(cell), known["replicas"], _instances(cell))
            known["objects_to_read"] = _instances(cell) * each
        return known


class ObjectBench(Protocol):
    """Runs `levels["instances"]` processes of `rados bench` at once in the pool with `levels["replicas"]` copies."""

    needs = Needs(
        tools=("rados-bench",),
        factors=(
            *RADOS_FACTORS,
            Factor(
                "replicas", "copies of each object; they decide which pool is used", required=True, of_variants=True
            ),
            Factor("instances", "how many instances of the tool start together; one by default"),
        ),
        options=(*RADOS_OPTIONS, *FILL_OPTIONS),
        programs=("rados",),
    )
    target = ReplicaPools()
    driver = Instances()
    overhead_seconds = 5.5


def _size(cell: Cell) -> int:
    return int(cell.levels["object_size_bytes"])


def _instances(cell: Cell) -> int:
    return int(cell.levels.get("instances", 1))


def _run_name(kind: str, instance: int, instances: int) -> str:
    return f"replay-{kind}-{instance}-of-{instances}"


PROTOCOL = ObjectBench
