"""Fail-over of a mirrored image to the second cluster: one trial per cell, on its own image."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import ReplayError
from replay.design.design import Cell
from replay.design.media import Write
from replay.design.needs import NUMBER, Factor, Needs, Option
from replay.measure.parts import Driver, Look, Target, is_journaled
from replay.measure.procedure import Procedure
from replay.owned.images import BlockImage, create_image
from replay.owned.open_site import OpenSite
from replay.procedures.drivers.trial.client import BLOCK_BYTES
from replay.procedures.drivers.trial.pair import MirroredPair
from replay.procedures.drivers.trial.trial import Trial, TrialPlan, client_argv, client_spec
from replay.procedures.watches.mirror import Copies, snapshot_interval
from replay.raw.record import Measured, Wait
from replay.tools import Result
from replay.tools.running.background import Background

FILL_SECONDS_AT_MOST = 300.0
SIMULATED_LOSS = (
    "the writer was frozen and the first cluster not used any more; it and the mirror daemon went on, so that what the "
    "daemon still fetched before the promotion is not lost here, while it would be if the site had gone"
)


class FreshPair(Target):
    """For each cell, an image with known contents and its copy. Both are removed after the cell."""

    def begin(self) -> None:
        """Start without a pair."""
        self.copies = Copies(self.bench)
        self.pairs: list[MirroredPair] = []
        self.content_seed = 0

    def prepare(self, cell: Cell) -> list[Wait]:
        """Create, fill and mirror an image, and wait until the second cluster has it."""
        self.close()
        self.content_seed = random.SystemRandom().getrandbits(31)

        def fill(bench: OpenSite, made: BlockImage) -> None:
            # Remembered before it is filled, so an interruption from now on removes it.
            self.pairs.append(MirroredPair(self.bench, made))
            self._fill(cell, made)

        create_image(self.bench, f"{cell.variant.name}-{cell.levels['kind']}", cell.variant.image, fill_with=fill)
        self.copies.await_first(self.pairs[-1].made)
        self.pairs[-1].own_copy()
        return []

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove the image from both clusters."""
        self.close()
        return []

    def close(self) -> None:
        """Remove what an interrupted trial left on both clusters."""
        while self.pairs:
            self.pairs[-1].remove()
            self.pairs.pop()

    def _fill(self, cell: Cell, made: BlockImage) -> None:
        size = made.image.size_bytes
        self.bench.charge(f"filling {made.name}", Write(size, pool=made.pool, adds=True))
        patience = max(
            FILL_SECONDS_AT_MOST, 60 + 2 * size / (self.bench.site.ceilings.rate_bytes_per_second or math.inf)
        )
        options = dict(cell.variant.client_options)
        spec = client_spec(self.bench.primary_cluster, made, options, seed=self.content_seed)
        filling = Background(
            client_argv("fill", spec),
            programs=self.bench.programs,
            slot=self.bench.slot,
            ready_within_seconds=patience,
        )
        try:
            if filling.end(patience) != 0:
                raise ReplayError(f"the image could not be filled: {filling.complaint()}", where=made.spec)
        finally:
            filling.kill()


class FailoverTrial(Driver):
    """Runs a trial on the cell's pair. The cell is void if a step does not end as it must."""

    def run(self, cell: Cell, seed: int, *, look: Look | None = None) -> Measured:
        """Run the trial; its own log is the output."""
        target, option = self.procedure.target, self.procedure.option
        interval = snapshot_interval(self.design) if cell.variant.image.mirroring == "snapshot" else None
        plan = TrialPlan(
            kind=str(cell.levels["kind"]),
            seed=target.content_seed,
            # Writing ends at a random moment between two snapshots, or two looks at the journal.
            write_seconds=option("write_seconds") + option("write_spread_seconds") * random.Random(seed).random(),
            writes_per_second=float(option("writes_per_second", cell)),
            client_options=dict(cell.variant.client_options),
            snapshot_interval_seconds=interval,
        )
        trial = Trial(self.bench, target.pairs[-1], plan)
        started_at = utc_now()
        problem: ReplayError | None = None
        with self.bench.costs.measure("tool"):
            before = self.bench.sampler.read()
            try:
                trial.run()
            except ReplayError as error:
                problem = error
            after = self.bench.sampler.read()
        return Measured(
            argv=_argv(plan),
            results={
                "stdout": ("stdout", trial.log.content()),
                "stderr": ("stderr", b"" if problem is None else trial.log.hide(f"{problem}\n").encode()),
                "acknowledgements": ("acknowledgements.csv", trial.acknowledgements),
            },
            exit_status=0 if problem is None else 1,
            started_at=started_at,
            ended_at=utc_now(),
            tool_seconds=trial.log.now(),
            load=self.bench.sampler.load(before, after),
            facts=_facts(plan, trial),
            invalid=None if problem is None else ("failed", problem.what),
        )


class Failover(Procedure):
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
        """Void a trial without a snapshot if snapshots are mirrored."""
        # A snapshot that the loss cut off may still have been taken. Then the second cluster holds some of the writes.
        without = not measured.facts.get("snapshots_taken") and not result.metrics["writes_present"]
        if cell.variant.image.mirroring == "snapshot" and without:
            measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the trial's writer wrote")

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return how long nobody could write, and how much was lost."""
        return f"first write after {metrics['seconds_to_first_write']:.2f} s, {metrics['lost_seconds']:.2f} s lost"


def _facts(plan: TrialPlan, trial: Trial) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "content_seed": str(plan.seed),
        "write_seconds": round(plan.write_seconds, 3),
        "writes_per_second": plan.writes_per_second,
    }
    if plan.snapshot_interval_seconds is not None:
        facts["snapshots_taken"] = trial.snapshots_taken
        facts["snapshot_interval_seconds"] = plan.snapshot_interval_seconds
    if plan.kind == "forced":
        facts["simulated_loss"] = SIMULATED_LOSS
    return facts


def _argv(plan: TrialPlan) -> list[str]:
    interval = plan.snapshot_interval_seconds
    return [
        "failover",
        f"--kind={plan.kind}",
        f"--write-seconds={plan.write_seconds:.3f}",
        f"--writes-per-second={plan.writes_per_second:g}",
        *([] if interval is None else [f"--snapshot-interval-seconds={interval:g}"]),
    ]


PROTOCOL = Failover
