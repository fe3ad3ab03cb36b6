"""Every daemon of the cluster, read when a tool's load has become steady and before it ends."""

from __future__ import annotations

from typing import Any

from replay.design.design import Cell
from replay.measure.parts import Look, Watch
from replay.raw.record import Measured
from replay.samplers.daemons import DaemonSampler, Reading

#: The daemons are read this long after the ramp began and before the runtime ends: fio's start, the opening of the
#: images and their closing lie outside. The ramp is load like any other.
AFTER_START_SECONDS = 1.0
BEFORE_END_SECONDS = 0.2


class SteadyDaemons(Watch):
    """Adds, as `samples.daemons`, what each daemon did in the steady part of a cell."""

    def begin(self) -> None:
        """Set up the sampler. The second cluster takes no part in these cells, and asking it would cost CPU."""
        self.daemons = DaemonSampler(self.bench, self.bench.sampler, secondary=False)

    def started(self, cell: Cell) -> None:
        """Set up the two readings of a cell."""
        end = float(self.procedure.option("ramp_seconds", cell)) + self.design.sizing.target_seconds
        end -= BEFORE_END_SECONDS
        self.steady = SteadyWatch(self.daemons, begin_seconds=min(AFTER_START_SECONDS, end / 2), end_seconds=end)

    def look_of(self, cell: Cell) -> Look:
        """Read when it is time."""
        return self.steady

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add what was seen."""
        if sample := self.steady.sample():
            measured.samples["daemons"] = sample


class SteadyWatch:
    """Takes two readings while a tool runs, when it has run for so many seconds; none when it ends before."""

    def __init__(self, daemons: DaemonSampler, *, begin_seconds: float, end_seconds: float) -> None:
        self.daemons = daemons
        self.begin_seconds = begin_seconds
        self.end_seconds = end_seconds
        self.first: Reading | None = None
        self.last: Reading | None = None

    def __call__(self, elapsed_seconds: float) -> None:
        """Look on; called over and over from the thread that waits for the tool."""
        if self.first is None:
            if elapsed_seconds >= self.begin_seconds:
                self.first = self.daemons.read()
        elif self.last is None and elapsed_seconds >= self.end_seconds:
            self.last = self.daemons.read()

    def sample(self) -> dict[str, Any]:
        """Return what the daemons did between both readings; empty where there are not two."""
        if self.first is None or self.last is None:
            return {}
        return self.daemons.between(self.first, self.last)
