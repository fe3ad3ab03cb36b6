"""Fail-over of a mirrored image to the second cluster: one trial per cell, on its own image."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from replay.design.design import Cell
from replay.design.needs import NUMBER, Factor, Needs, Option
from replay.design.sizing import Write
from replay.evidence.record import Measured
from replay.measure.protocol import Protocol, is_journaled
from replay.protocols.drivers.trial import TrialDriver, TrialPlan, invalid_without_snapshot
from replay.protocols.drivers.trial_client import BLOCK_BYTES
from replay.protocols.observers.mirror import snapshot_interval
from replay.protocols.targets.mirrored_pair import FreshPair
from replay.tools import Result

SIMULATED_LOSS = (
    "the writer was frozen and the first cluster no longer used; that cluster and the mirror daemon kept running, so "
    "what the daemon fetched before the promotion is not lost here, although it would be if the site had gone"
)


class FailoverTrial(TrialDriver):
    """Ends the writing at a random moment between two snapshots, or two looks at the journal."""

    def plan_of(self, cell: Cell, seed: int) -> TrialPlan:
        """Return a trial whose writer continues for a random part of `write_spread_seconds`."""
        option = self.protocol.option
        return TrialPlan(
            kind=str(cell.levels["kind"]),
            seed=self.protocol.target.content_seed,
            write_seconds=option("write_seconds") + option("write_spread_seconds") * random.Random(seed).random(),
            writes_per_second=float(option("writes_per_second", cell)),
            client_options=dict(cell.variant.client_options),
            snapshot_interval_seconds=(
                snapshot_interval(self.design) if cell.variant.image.mirroring == "snapshot" else None
            ),
        )

    def facts_of(self, plan: TrialPlan) -> dict[str, Any]:
        """Return how a forced trial simulates the loss of the first site."""
        return {"simulated_loss": SIMULATED_LOSS} if plan.kind == "forced" else {}


class FailoverProtocol(Protocol):
    """Runs one trial per cell: `levels["kind"]` is planned (demote, promote) or forced (promote after a loss)."""

    needs = Needs(
        tools=("failover",),
        factors=(Factor("kind", "how the site is given up", words=("planned", "forced"), required=True),),
        options=(
            Option("write_seconds", NUMBER, "seconds", "how long the client writes before the site is given up"),
            Option(
                "write_spread_seconds", NUMBER, "seconds", "the client writes for a random part of this in addition"
            ),
            Option("writes_per_second", NUMBER, "operations/s", "the most that the client writes", varies=True),
        ),
        programs=("rbd",),
        mirroring="always",
        image_per_cell=True,
    )
    target = FreshPair()
    driver = FailoverTrial()
    overhead_seconds = 3.0
    writes_are_known = True

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the fill of the trial's image, and its writes at the requested rate for the longest possible time."""
        seconds = self.option("write_seconds") + self.option("write_spread_seconds")
        written = BLOCK_BYTES * self.option("writes_per_second", cell) * seconds
        return [Write(cell.variant.image.size_bytes, adds=True), Write(written, journaled=is_journaled(cell))]

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Mark a trial of a snapshot-mirrored image as invalid if no snapshot was taken in it."""
        invalid_without_snapshot(cell, measured, result)

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the seconds until the first write on the other side, and the seconds of writes that were lost."""
        return f"first write after {metrics['seconds_to_first_write']:.2f} s, {metrics['lost_seconds']:.2f} s lost"


PROTOCOL = FailoverProtocol
