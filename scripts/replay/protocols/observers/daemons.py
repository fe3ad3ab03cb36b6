"""Reads every daemon while a tool's load is steady: soon after the tool's start, halfway, and before it ends."""

from __future__ import annotations

from typing import Any

from replay.design.design import Cell
from replay.evidence.record import Measured
from replay.measure.protocol import Observer, WhileRunning
from replay.measure.samplers.daemons import ClusterReading, DaemonSampler
from replay.tools import Result

#: The daemons are first read this long after the tool's start, and last this long before its ramp and runtime would be
#: over if it wrote at once. That leaves out fio's start and the opening and closing of images. The ramp counts as load.
AFTER_START_SECONDS = 1.0
BEFORE_END_SECONDS = 0.2


class SteadyDaemons(Observer):
    """Adds, as `samples.daemons`, what each daemon did in the steady part of a cell."""

    def begin(self) -> None:
        """Set up the sampler, without the second cluster, which takes no part in these cells and costs CPU to ask."""
        self.daemons = DaemonSampler(self.bench, self.bench.sampler, secondary=False)

    def started(self, cell: Cell) -> None:
        """Plan the readings of a cell."""
        load_seconds = float(self.protocol.option("ramp_seconds", cell)) + self.design.sizing.target_seconds
        self.steady = SteadyWatch(self.daemons, load_seconds)

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that takes each reading when it is due."""
        return self.steady

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add what the daemons did, if two readings were under load."""
        if sample := self.steady.sample(measured.tool_seconds):
            measured.samples["daemons"] = sample

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Tell the person about a valid cell without a sample."""
        if measured.invalid is None and "daemons" not in measured.samples:
            self.bench.say(self.steady.unknown(measured.tool_seconds))


def moments(load_seconds: float) -> tuple[float, float, float]:
    """Return when the daemons are read, in seconds after the start of a tool whose load lasts this long."""
    last = load_seconds - BEFORE_END_SECONDS
    first = min(AFTER_START_SECONDS, last / 2)
    return first, (first + last) / 2, last


class SteadyWatch:
    """Takes readings while a tool runs whose load lasts for `load_seconds`. The tool may end earlier."""

    def __init__(self, daemons: DaemonSampler, load_seconds: float) -> None:
        self.daemons = daemons
        self.load_seconds = load_seconds
        self.due_seconds = moments(load_seconds)
        #: Each reading, and how long after the tool's start it began.
        self.readings: list[tuple[float, ClusterReading]] = []

    def __call__(self, elapsed_seconds: float) -> None:
        """Read if it is due. The thread that waits for the tool calls this repeatedly."""
        taken = len(self.readings)
        if taken < len(self.due_seconds) and elapsed_seconds >= self.due_seconds[taken]:
            self.readings.append((elapsed_seconds, self.daemons.read()))

    def sample(self, tool_seconds: float) -> dict[str, Any]:
        """Return what the daemons did between the first and the last reading that are certain to lie within the load.

        The tool ran for `tool_seconds`, and its load lasted for `load_seconds` of them. The rest is its start and its
        end, and only their sum is known. So the load began after `tool_seconds - load_seconds` at the latest, and it
        ended after `load_seconds` at the earliest. On a machine that stalls, a tool may still be starting when it is
        first read. Empty if fewer than two readings are within the load.
        """
        latest_start = tool_seconds - self.load_seconds
        within = [
            reading
            for began, reading in self.readings
            if latest_start <= began and began + reading.cost_seconds <= self.load_seconds
        ]
        if len(within) < 2:
            return {}
        sample = self.daemons.between(within[0], within[-1])
        return {**sample, "cost_seconds": round(sum(reading.cost_seconds for _, reading in self.readings), 4)}

    def unknown(self, tool_seconds: float) -> str:
        """Say why there is no sample."""
        return (
            f"what the daemons did under load is not known: of {len(self.readings)} readings, fewer than two were "
            f"certain to be under load, which lasts {self.load_seconds:.1f} of the {tool_seconds:.1f} s that the tool "
            "ran for"
        )
