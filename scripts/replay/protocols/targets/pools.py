"""A block's own pools for the objects of `rados bench`. What a cell wrote is removed by run name."""

from __future__ import annotations

import time

from replay.design.design import Cell
from replay.design.media import Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Target
from replay.protocols.targets.rados_objects import BenchObjects
from replay.tools import rados_bench
from replay.tools.rados_bench import mode_of


class ObjectPools(Target):
    """What `rados bench` needs from its pools. A protocol's own target says which pools there are."""

    def begin(self) -> None:
        """Start without objects. The pools are Replay's own, so the namespace of a site's pool does not apply."""
        self.options = {
            **self.design.options,
            "client_options": dict(self.design.configuration.get("client_options", {})),
            "keyring": self.bench.primary_cluster.keyring is not None,
            "namespace": False,
        }
        self.objects = BenchObjects(self.bench, rados_bench.TOOL, self.options)

    def pool_of(self, cell: Cell) -> str:
        """Return the pool that a cell uses."""
        raise NotImplementedError

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return new objects in the cell's pool."""
        return Write(size_bytes, pool=self.pool_of(cell), adds=True)

    def unfilled(self, cell: Cell) -> list[Write]:
        """Return the objects that must be written before a cell can read."""
        return []

    def run_names(self, cell: Cell) -> list[str]:
        """Return the run name of each instance of a cell. Run names keep objects apart and let reads find them."""
        raise NotImplementedError

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what a writing cell wrote, and verify that it is gone."""
        if mode_of(cell.levels) != "write":
            return []
        started = time.monotonic()
        with self.bench.costs.measure("wait"):
            removed = self.objects.remove(self.pool_of(cell), self.run_names(cell))
        return [Wait("objects_removed", time.monotonic() - started, removed.outcome, {"objects": removed.objects})]
