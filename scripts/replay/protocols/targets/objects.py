"""Objects of `rados bench` in Replay's pools: written for reads, removed by run name, counted afterwards."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from replay.base.errors import ReplayError
from replay.base.paths import replay_command
from replay.cluster.running import ToolRun, last_line, run_tool
from replay.design.design import Cell
from replay.design.sizing import Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Target
from replay.protocols.drivers.tool import cluster_values
from replay.tools import OutputError, render
from replay.tools.rados_bench import TOOL, mode_of, removed_objects

#: Anything slower counts as an error, so that nobody waits forever.
SLOWEST_BYTES_PER_SECOND = 1 << 20
SLOWEST_OBJECTS_PER_SECOND = 50
PATIENCE_SECONDS = 60.0
#: For a command on all objects of a pool, however many there are.
WHOLE_POOL_PATIENCE_SECONDS = 600.0
#: `rados bench` writes one more object per run name, which records what the run wrote.
RECORDS_PER_RUN_NAME = 1
#: How a removal ended that had to empty the whole pool.
POOL_EMPTIED = "pool_emptied"


@dataclass(frozen=True)
class Fill:
    """Objects that are written for reads, under a run name."""

    pool: str
    #: Of each object, in that pool.
    copies: int
    run_name: str
    object_size_bytes: int
    objects: int

    @property
    def bytes(self) -> int:
        return self.objects * self.object_size_bytes

    @property
    def write(self) -> Write:
        return Write(self.bytes, pool=self.pool, copies=self.copies, adds=True)


class ObjectPools(Target):
    """The pools that `rados bench` uses, all of them Replay's own, and the objects in them.

    A protocol's own target says which pools there are.
    """

    def begin(self) -> None:
        """Start without objects. The pools are Replay's own, so the namespace of a site's pool does not apply."""
        self.options = {
            **self.design.options,
            "client_options": dict(self.design.configuration.get("client_options", {})),
            "keyring": self.bench.primary_cluster.keyring is not None,
            "namespace": False,
        }
        #: What was written for reads, by pool and run name.
        self.fills: dict[tuple[str, str], Fill] = {}

    def pool_of(self, cell: Cell) -> str:
        raise NotImplementedError

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
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
        with self.bench.costs.measure("wait"):
            return [self.remove(self.pool_of(cell), self.run_names(cell))]

    def values(self, pool: str, run_name: str) -> dict[str, str | None]:
        """Return the values of the tool's placeholders for a run in a pool."""
        return {**cluster_values(self.bench.primary_cluster), "pool": pool, "run_name": run_name}

    def holds(self, wanted: Fill) -> bool:
        return self.fills.get((wanted.pool, wanted.run_name)) == wanted

    def fill(self, wanted: Fill) -> None:
        """Charge and write the objects of a fill. Raises ReplayError if fewer were written than wanted."""
        self.bench.budget.reserve(f"filling {wanted.pool}", wanted.write)
        seconds = math.ceil(
            PATIENCE_SECONDS + wanted.bytes / SLOWEST_BYTES_PER_SECOND + wanted.objects / SLOWEST_OBJECTS_PER_SECOND
        )
        levels = {"mode": "write", "object_size_bytes": wanted.object_size_bytes}
        template = TOOL.argv_template(levels, {**self.options, "max_objects": wanted.objects})
        with TemporaryDirectory(prefix="replay-") as folder:
            output = Path(folder) / "output"
            values = {**self.values(wanted.pool, wanted.run_name), "seconds": str(seconds), "output": str(output)}
            run = run_tool(
                render(template, values),
                timeout_seconds=seconds + PATIENCE_SECONDS,
                programs=self.bench.programs,
                slot=self.bench.slot,
            )
            text = output.read_text(errors="replace") if output.exists() else ""
        try:
            result = TOOL.parse({"output": text}, run.exit_status, levels)
        except OutputError as error:
            raise _failed(f"filling {wanted.pool} failed: {error.what}", wanted.pool, run) from error
        written = int(result.metrics.get("operations", 0))
        if written != wanted.objects:
            raise _failed(f"filling {wanted.pool} wrote {written} of {wanted.objects} objects", wanted.pool, run)
        self.fills[wanted.pool, wanted.run_name] = wanted

    def remove(self, pool: str, run_names: Iterable[str]) -> Wait:
        """Remove the objects of these run names, and verify by counting that none is left; return the wait.

        A run that was cut short leaves no record of its objects. In that case the whole pool is emptied, including its
        fills, and the outcome is `pool_emptied`. Raises ReplayError if objects are left even then.
        """
        started, objects, outcome = time.monotonic(), 0, "removed"
        for run_name in run_names:
            argv = render(TOOL.cleanup_argv_template(self.options), self.values(pool, run_name))
            run = run_tool(
                argv,
                timeout_seconds=WHOLE_POOL_PATIENCE_SECONDS,
                programs=self.bench.programs,
                slot=self.bench.slot,
            )
            objects += removed_objects(run.stdout.decode(errors="replace")) or 0
            self.fills.pop((pool, run_name), None)
        if self.count(pool) != self._expected(pool):
            outcome = POOL_EMPTIED
            self.bench.primary_cluster.run(
                "rados", "purge", pool, "--yes-i-really-really-mean-it", timeout_seconds=WHOLE_POOL_PATIENCE_SECONDS
            )
            self.fills = {key: fill for key, fill in self.fills.items() if fill.pool != pool}
            if left := self.count(pool):
                clean = replay_command("clean", "--site", self.bench.site.name)
                raise ReplayError(
                    f"the pool was emptied, but {left} objects are left in it",
                    where=pool,
                    next_step=f"the ledger still names it; run: {clean}",
                )
        return Wait("objects_removed", time.monotonic() - started, outcome, {"objects": objects})

    def remove_fills(self, *, other_than_bytes: int | None = None) -> list[Wait]:
        """Remove the fills; if a size is given, only those with objects of another size.

        Returns one wait for all of them, none if nothing was removed.
        """
        chosen = [fill for fill in self.fills.values() if fill.object_size_bytes != other_than_bytes]
        waits = [
            self.remove(pool, [fill.run_name for fill in chosen if fill.pool == pool])
            for pool in dict.fromkeys(fill.pool for fill in chosen)
        ]
        objects = sum(wait.details["objects"] for wait in waits)
        outcome = next((wait.outcome for wait in waits if wait.outcome == POOL_EMPTIED), "removed")
        if not objects and outcome != POOL_EMPTIED:
            return []
        return [Wait("objects_removed", sum(wait.seconds for wait in waits), outcome, {"objects": objects})]

    def count(self, pool: str) -> int:
        """Return how many objects a pool holds, in all its namespaces."""
        listed = self.bench.primary_cluster.run(
            "rados", "--pool", pool, "--all", "ls", timeout_seconds=WHOLE_POOL_PATIENCE_SECONDS
        )
        return sum(bool(line.strip()) for line in listed.stdout.splitlines())

    def _expected(self, pool: str) -> int:
        return sum(fill.objects + RECORDS_PER_RUN_NAME for fill in self.fills.values() if fill.pool == pool)


def _failed(what: str, pool: str, run: ToolRun) -> ReplayError:
    why = last_line(run.stderr)[:200]
    return ReplayError(what, where=pool, next_step=f"rados said: {why}" if why else "look at the cluster's health")
