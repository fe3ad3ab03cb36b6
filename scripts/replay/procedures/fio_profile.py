"""fio clients with every daemon of the cluster watched while their load is steady."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from replay.procedures.multi_client import MultiClient
from replay.raw.record import Measured
from replay.samplers.daemons import DaemonSampler, Reading

#: The daemons are read this long after the ramp began and before the runtime ends: fio's start, the opening of the
#: images and their closing lie outside. The ramp is load like any other.
AFTER_START_SECONDS = 1.0
BEFORE_END_SECONDS = 0.2


class FioProfile(MultiClient):
    """Runs `multi_client`'s cells and adds, as `samples.daemons`, what each daemon did in the steady part."""

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        # The second cluster takes no part in these cells, and asking it would cost CPU.
        self.daemons = DaemonSampler(bench, bench.sampler, secondary=False)

    def _observe(self, template: Sequence[str], values: Mapping[str, str | None], **how: Any) -> Measured:
        ramp = float(self.design.options.get("ramp_seconds", 1))
        end = ramp + self.design.sizing.target_seconds - BEFORE_END_SECONDS
        watch = SteadyWatch(self.daemons, begin_seconds=min(AFTER_START_SECONDS, end / 2), end_seconds=end)
        measured = super()._observe(template, values, while_running=watch, **how)
        if sample := watch.sample():
            measured.samples["daemons"] = sample
        return measured


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


PROTOCOL = FioProfile
