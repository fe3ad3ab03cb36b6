"""`rados bench` in the target's pools: a cell's instances start together; short sequential reads are repeated."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from replay.base.errors import ConfigurationError
from replay.cluster.running import ToolRun, last_line, run_together
from replay.design.design import Cell
from replay.design.needs import WHOLE, Factor, Option
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND, Write
from replay.evidence.record import Measured, Wait
from replay.measure.bench import MachineReading, MachineSampler
from replay.measure.protocol import Driver, WhileRunning
from replay.protocols.drivers.tool import hidden, writes
from replay.tools import OutputError, Result, render
from replay.tools.base import role_of
from replay.tools.rados_bench import TOOL, mode_of

RADOS_FACTORS = (
    Factor("mode", "what rados bench does", words=("write", "seq", "rand"), required=True),
    Factor("object_size_bytes", "bytes of each object", required=True),
)
RADOS_OPTIONS = (
    Option("threads", WHOLE, "operations", "operations in flight per instance", default=16, varies=True),
    Option("write_most_objects", WHOLE, "objects", "the most that a cell may write"),
    Option("write_most_bytes", WHOLE, "bytes", "the most that a cell may write"),
)


class RadosRounds(Driver):
    """Runs one instance for each of the target's run names. No seed is used: the tool chooses its reads itself."""

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
        instances = len(self.protocol.target.run_names(cell))
        template = TOOL.argv_template(cell.levels, self._options(cell, instances))
        seconds = math.ceil(self.design.sizing.target_seconds)  # the tool takes whole seconds only
        with self.bench.costs.measure("tool"):
            rounds = self.run_rounds(cell, template, seconds)
        runs = [run for together in rounds.runs for run in together]
        measured = Measured(
            argv=[argument.replace("{seconds}", str(seconds)) for argument in template],
            results={
                "stdout": ("stdout", b"".join(run.stdout for run in runs)),
                "stderr": ("stderr", b"".join(run.stderr for run in runs)),
                **rounds.results,
            },
            exit_status=next((run.exit_status for run in runs if run.exit_status != 0), 0),
            started_at=min(run.started_at for run in runs),
            ended_at=max(run.ended_at for run in runs),
            tool_seconds=sum(max(run.seconds for run in together) for together in rounds.runs),
            load=MachineSampler.load(*joined(rounds.stretches)),
            facts=self.facts(cell, rounds),
            invalid=rounds.failure(),
        )
        if between := rounds.waits:
            spent = sum(wait.seconds for wait in between)
            measured.waits.append(Wait("osd_caches_dropped", spent, "dropped", {"times": len(between)}))
        # The names of its objects have that of this host.
        return hidden(measured, {f"benchmark_data_{socket.gethostname()}_": "benchmark_data_{host}_"})

    def run_rounds(self, cell: Cell, template: list[str], seconds: int) -> Rounds:
        """Run all instances at once, for `seconds`, and return the rounds.

        A sequential read ends with its last object, so it is repeated until its passes together last long enough.
        """
        target, rounds, spent = self.protocol.target, Rounds(), 0.0
        values = [target.values(target.pool_of(cell), name) for name in target.run_names(cell)]
        while True:
            readings = [self.bench.sampler.read()]
            with TemporaryDirectory(prefix="replay-") as folder:
                outputs = [Path(folder) / f"output-{instance}" for instance, _ in enumerate(values, start=1)]
                commands = [
                    render(template, {**of_instance, "seconds": str(seconds), "output": str(output)})
                    for of_instance, output in zip(values, outputs, strict=True)
                ]
                runs = run_together(
                    commands,
                    timeout_seconds=seconds + PATIENCE_SECONDS,
                    programs=self.bench.programs,
                    slot=self.bench.slot,
                    while_running=lambda _, seen=readings: seen.append(self.bench.sampler.read()),
                )
                rounds.add(runs, [output.read_bytes() if output.exists() else None for output in outputs])
            readings.append(self.bench.sampler.read())
            last = rounds.last_seconds(cell.levels)
            rounds.stretches.append(busiest(readings, last))
            if mode_of(cell.levels) != "seq" or last is None or len(rounds.runs) >= MOST_PASSES:
                return rounds
            spent += last
            if spent >= self.design.sizing.target_seconds:
                return rounds
            rounds.waits += self.between_passes()

    def between_passes(self) -> list[Wait]:
        """Prepare the next pass of a sequential read; return the waits for the record."""
        return []

    def facts(self, cell: Cell, rounds: Rounds) -> dict[str, Any]:
        """Return facts about a cell's rounds for its record."""
        return {}

    def written_bytes(self, cell: Cell, result: Result) -> float:
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
        own = {"client_options": dict(cell.variant.client_options), "max_objects": self._most_objects(cell, instances)}
        return {**self.protocol.target.options, **own}

    def _most_objects(self, cell: Cell, instances: int) -> int:
        option, size = self.protocol.option, int(cell.levels["object_size_bytes"])
        return max(1, min(option("write_most_objects"), option("write_most_bytes") // size) // instances)


#: Time on top of a run's seconds: for connecting, and for operations in flight when the time is over.
PATIENCE_SECONDS = 60.0
#: A cell that is still too short after this many passes has too few objects.
MOST_PASSES = 200


@dataclass
class Rounds:
    """The runs of a cell and their results. A round starts every instance once."""

    runs: list[list[ToolRun]] = field(default_factory=list)
    #: Result files by role, as `Measured.results` holds them.
    results: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    #: The machine's counters around the measured stretch of each round.
    stretches: list[tuple[MachineReading, MachineReading]] = field(default_factory=list)
    #: The waits before each further round.
    waits: list[Wait] = field(default_factory=list)

    def add(self, runs: list[ToolRun], outputs: list[bytes | None]) -> None:
        """Add a round's runs and the contents of their result files, None for a missing file."""
        self.runs.append(runs)
        for instance, content in enumerate(outputs, start=1):
            role = role_of(instance, len(self.runs))
            if content is not None:
                self.results[role] = (f"{role.replace('output', 'result')}.json", content)

    @property
    def start_spread_seconds(self) -> float:
        """The longest time between the first and the last start of a round's instances."""
        starts = [[datetime.fromisoformat(run.started_at) for run in runs] for runs in self.runs]
        return max((max(moments) - min(moments)).total_seconds() for moments in starts)

    def failure(self) -> tuple[str, str] | None:
        """Return why the cell is invalid, as (reason, detail); None if all runs succeeded."""
        for number, runs in enumerate(self.runs, start=1):
            for instance, run in enumerate(runs, start=1):
                which = f"instance {instance}, pass {number}"
                if run.exit_status is None:
                    return "timed_out", f"{which}: killed after {run.seconds:.0f} s"
                if run.exit_status != 0:
                    why = last_line(run.stderr)[:200] or "silent"
                    return "failed", f"{which}: exit status {run.exit_status}: {why}"
        return None

    def last_seconds(self, levels: Mapping[str, Any]) -> float | None:
        """Return how long the last round's shortest run lasted, by the tool's clock; None if one failed.

        When the whole cell is judged, the same parser finds out why it failed.
        """
        levels = {name: level for name, level in levels.items() if name != "instances"}
        seconds = []
        for instance, run in enumerate(self.runs[-1], start=1):
            _, content = self.results.get(role_of(instance, len(self.runs)), ("", b""))
            try:
                result = TOOL.parse({"output": content.decode(errors="replace")}, run.exit_status, levels)
            except OutputError:
                return None
            if not result.complete:
                return None
            seconds.append(result.metrics["duration_seconds"])
        return min(seconds)


def busiest(readings: Sequence[MachineReading], seconds: float | None) -> tuple[MachineReading, MachineReading]:
    """Return the two readings, `seconds` apart or a little more, between which the CPU idled least.

    Returns the first and the last if no two are that far apart, or if `seconds` is None.
    """
    first, last = readings[0], readings[-1]
    if seconds is None:
        return first, last
    ends, least, end = (first, last), 1.1, 0
    for start in readings:
        while end < len(readings) and readings[end].clock - start.clock < seconds:
            end += 1
        if end == len(readings):
            break
        ticks = readings[end].all_ticks - start.all_ticks
        idle = (readings[end].idle_ticks - start.idle_ticks) / ticks if ticks > 0 else 1.0
        if idle < least:
            ends, least = (start, readings[end]), idle
    return ends


def joined(stretches: Iterable[tuple[MachineReading, MachineReading]]) -> tuple[MachineReading, MachineReading]:
    """Return one stretch for one or more others: the sum of their ticks, busy milliseconds and seconds."""
    pairs = list(stretches)
    disks = len(pairs[0][0].disk_busy_milliseconds)
    total = MachineReading(
        idle_ticks=sum(after.idle_ticks - before.idle_ticks for before, after in pairs),
        all_ticks=sum(after.all_ticks - before.all_ticks for before, after in pairs),
        disk_busy_milliseconds=tuple(
            sum(after.disk_busy_milliseconds[disk] - before.disk_busy_milliseconds[disk] for before, after in pairs)
            for disk in range(disks)
        ),
        clock=sum(after.clock - before.clock for before, after in pairs),
    )
    return MachineReading(0, 0, (0,) * disks, 0.0), total
