"""`rados bench` in the target's pools: a cell's instances start together; short sequential reads are repeated."""

from __future__ import annotations

import math
from typing import Any

from replay.base.errors import ConfigurationError
from replay.design.design import Cell
from replay.design.media import Write
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Driver, WhileRunning, writes
from replay.protocols.drivers.rados_rounds import Rounds, run_rounds
from replay.tools import Result, rados_bench


class RadosRounds(Driver):
    """Runs one instance for each of the target's run names. No seed is used: the tool chooses its reads itself."""

    tool = rados_bench.TOOL

    def check(self) -> None:
        """Refuse a site that limits its clients' rate."""
        if self.bench.site.ceilings.rate_bytes_per_second is not None:
            raise ConfigurationError(
                "Replay cannot limit rados bench to the site's rate",
                where=f"config/sites/{self.bench.site.name}.yaml, ceilings.rate_bytes_per_second",
                next_step=f"leave {self.design.name} out there: name the other experiments with --experiment",
            )

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Run the cell's rounds. They read the machine's load themselves, so `while_running` is not called."""
        target, names = self.protocol.target, self.protocol.target.run_names(cell)
        template = self.tool.argv_template(cell.levels, self._options(cell, len(names)))
        seconds = math.ceil(self.design.sizing.target_seconds)  # the tool takes whole seconds only
        between: list[Wait] = []
        with self.bench.costs.measure("tool"):
            rounds = run_rounds(
                self.tool,
                cell.levels,
                template,
                [target.objects.values(target.pool_of(cell), name) for name in names],
                seconds=seconds,
                target_seconds=self.design.sizing.target_seconds,
                programs=self.bench.programs,
                slot=self.bench.slot,
                sampler=self.bench.sampler,
                between=lambda: between.extend(self.between_passes()),
            )
        measured = Measured(
            argv=[argument.replace("{seconds}", str(seconds)) for argument in template],
            results={**rounds.printed(), **rounds.results},
            exit_status=rounds.exit_status,
            started_at=min(run.started_at for run in rounds.all),
            ended_at=max(run.ended_at for run in rounds.all),
            tool_seconds=rounds.tool_seconds,
            load=rounds.load(),
            facts=self.facts(cell, rounds),
            invalid=rounds.failure(),
        )
        if between:
            spent = sum(wait.seconds for wait in between)
            measured.waits.append(Wait("osd_caches_dropped", spent, "dropped", {"times": len(between)}))
        return measured

    def between_passes(self) -> list[Wait]:
        """Prepare the next pass of a sequential read; return the waits for the record."""
        return []

    def facts(self, cell: Cell, rounds: Rounds) -> dict[str, Any]:
        """Return facts about a cell's rounds for its record."""
        return {}

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return the bytes that a writing cell wrote."""
        return result.metrics.get("bytes", 0.0) if writes(cell) else 0.0

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the most that a writing cell may write, or the objects that must be written before a read."""
        target = self.protocol.target
        if not writes(cell):
            return target.unfilled(cell)
        instances = len(target.run_names(cell))
        most = self._most_objects(cell, instances) * instances * int(cell.levels["object_size_bytes"])
        seconds = math.ceil(self.design.sizing.target_seconds)
        return [target.write_of(cell, min(most, ASSUMED_BYTES_PER_SECOND * seconds))]

    def _options(self, cell: Cell, instances: int) -> dict[str, Any]:
        options = {**self.protocol.target.options, "client_options": dict(cell.variant.client_options)}
        return {**options, "max_objects": self._most_objects(cell, instances)}

    def _most_objects(self, cell: Cell, instances: int) -> int:
        """Return the most objects that each instance of a cell may write."""
        option, size = self.protocol.option, int(cell.levels["object_size_bytes"])
        return max(1, min(option("write_most_objects"), option("write_most_bytes") // size) // instances)
