"""Counts the removed snapshots that are yet to be trimmed while a client writes, and waits for them afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from replay.base.errors import ReplayError
from replay.cluster.session import MonitorSession
from replay.design.design import Cell
from replay.evidence.record import Measured, Wait
from replay.measure.bench import Bench
from replay.measure.protocol import Observer, WhileRunning
from replay.measure.samplers.trims import TrimSampler, wait_until_trimmed
from replay.protocols.observers.mirror import FirstCopies

TRIMMED_WITHIN_SECONDS = 300.0


class Trims(FirstCopies):
    """Records the trim queue in the driver's table. After a cell, waits until nothing is left to copy or to trim."""

    def open(self) -> None:
        """Wait for the images' first copies, and until nothing is left to trim."""
        super().open()
        with self.bench.costs.measure("wait"):
            await_trimmed(self.bench)

    def started(self, cell: Cell) -> None:
        """Set up the cell's sampler."""
        writer = self.protocol.driver
        self.trims = TrimSampler(self.bench.session, _pools(self.bench), writer.table, writer.log.now)

    def while_running(self, cell: Cell) -> WhileRunning:
        """Return a function that reads the queue when it is due."""
        return lambda elapsed_seconds: self.trims.read_when_due()

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Record the sampler's cost."""
        measured.samples["trims"] = self.trims.cost()

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until a last snapshot is copied and nothing is left to trim. Raises ReplayError if it is not copied."""
        [made] = self.protocol.target.of(cell)
        if made.image.mirroring is None:
            return []
        with self.bench.costs.measure("wait"):
            copied = self.copies.wait_for(made, self.copies.take_snapshot(made))
            if copied.outcome != "copied":
                raise ReplayError(
                    f"the mirror daemon did not copy the last snapshot within {copied.seconds:.0f} s",
                    where=made.spec,
                    next_step="look at the daemon's log; finished sets are kept",
                )
            trimmed = await_trimmed(self.bench)
        measured.facts["seconds_until_copied"] = round(copied.seconds, 3)
        measured.facts["seconds_until_trimmed"] = round(trimmed.seconds, 3)
        return [copied, trimmed]


class TrimmedAfterwards(Observer):
    """Waits after a cell that took mirror snapshots until nothing is left to trim on either cluster.

    Declare it after the observer that waits for the copy: snapshots are removed once they are copied.
    """

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until nothing is left to trim."""
        if cell.variant.image.mirroring != "snapshot":
            return []
        with self.bench.costs.measure("wait"):
            return [await_trimmed(self.bench)]


def await_trimmed(bench: Bench) -> Wait:
    """Wait until nothing is left to trim in the pools that Replay writes to, on either cluster."""
    sides: list[tuple[MonitorSession, Sequence[str]]] = [(bench.session, _pools(bench))]
    if bench.secondary is not None:
        sides.append((bench.secondary, [bench.site.second_site.pool]))
    waiting = bench.waiting("snapshots to be trimmed", TRIMMED_WITHIN_SECONDS, mirrored=bench.secondary is not None)
    return wait_until_trimmed(sides, timeout_seconds=TRIMMED_WITHIN_SECONDS, pause=waiting.pause)


def _pools(bench: Bench) -> list[str]:
    return [pool.name for pool in bench.site.pools.all()]
