"""Reads every daemon of the cluster once a tool's load has become steady, and again before the tool ends."""

from __future__ import annotations

from typing import Any

from replay.design.design import Cell
from replay.measure.parts import Look, Watch
from replay.raw.record import Measured
from replay.samplers.daemons import DaemonSampler, Reading

#: The daemons are read this long after the ramp begins, and this long before the runtime ends. That leaves out fio's
#: start and the opening and closing of images. The ramp counts as load.
AFTER_START_SECONDS = 1.0
BEFORE_END_SECONDS = 0.2


class SteadyDaemons(Watch):
    """Adds, as `samples.daemons`, what each daemon did in the steady part of a cell."""

    def begin(self) -> None:
        """Set up the sampler, without the second cluster, which takes no part in these cells and costs CPU to ask."""
        self.daemons = DaemonSampler(self.bench, self.bench.sampler, secondary=False)

    def started(self, cell: Cell) -> None:
        """Plan the two readings of a cell."""
        end = float(self.procedure.option("ramp_seconds", cell)) + self.design.sizing.target_seconds
        end -= BEFORE_END_SECONDS
        self.steady = SteadyWatch(self.daemons, begin_seconds=min(AFTER_START_SECONDS, end / 2), end_seconds=end)

    def look_of(self, cell: Cell) -> Look:
        """Return a function that takes each reading when it is due."""
        return self.steady

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add what the daemons did."""
        if sample := self.steady.sample():
            measured.samples["daemons"] = sample


class SteadyWatch:
    """Takes two readings while a tool runs, at these times after its start. The tool may end earlier."""

    def __init__(self, daemons: DaemonSampler, *, begin_seconds: float, end_seconds: float) -> None:
        self.daemons = daemons
        self.begin_seconds = begin_seconds
        self.end_seconds = end_seconds
        self.first: Reading | None = None
        self.last: Reading | None = None

    def __call__(self, elapsed_seconds: float) -> None:
        """Read if it is due. The thread that waits for the tool calls this repeatedly."""
        if self.first is None:
            if elapsed_seconds >= self.begin_seconds:
                self.first = self.daemons.read()
        elif self.last is None and elapsed_seconds >= self.end_seconds:
            self.last = self.daemons.read()

    def sample(self) -> dict[str, Any]:
        """Return what the daemons did between the two readings; empty if there are not two."""
        if self.first is None or self.last is None:
            return {}
        return self.daemons.between(self.first, self.last)
