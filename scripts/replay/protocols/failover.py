"""Giving up the first site: one trial per cell, on its own image. The site is left, or its loss is simulated.

The writing ends at a random moment.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import ReplayError
from replay.cluster.cluster import Cluster
from replay.design.design import Cell, Design
from replay.design.needs import NUMBER, Factor, Needs, Option
from replay.design.sizing import UNASKED, Terms, Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Driver, Protocol, WhileRunning
from replay.protocols.drivers.tool import is_journaled, longest_gap
from replay.protocols.drivers.trial import Trial, TrialPlan
from replay.protocols.drivers.trial_client import BLOCK_BYTES
from replay.protocols.observers.mirror import snapshot_interval
from replay.protocols.targets.mirrored_pair import FreshPair
from replay.sandbox.interventions import SiteLoss
from replay.tools import Result

WRITES_PER_SECOND = Option("writes_per_second", NUMBER, "operations/s", "the most that the client writes", varies=True)


class Trials(Protocol):
    """One trial per cell. Its image is filled, and then written to at the requested rate."""

    writes_are_known = True

    @classmethod
    def longest_seconds(cls, cell: Cell, design: Design) -> float:
        """Return for how many seconds the client of a cell writes at most."""
        raise NotImplementedError

    @classmethod
    def most_writes(cls, cell: Cell, design: Design) -> float:
        """Return how many writes the client of a cell does at the requested rate for the longest possible time."""
        rate = {**design.options, **cell.levels}[WRITES_PER_SECOND.name]
        return rate * cls.longest_seconds(cell, design)

    @classmethod
    def client_bytes(cls, cell: Cell, design: Design, terms: Terms = UNASKED) -> float:
        return BLOCK_BYTES * cls.most_writes(cell, design)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the fill of the trial's image, and its writes at the requested rate for the longest possible time."""
        written = Write(self.client_bytes(cell, self.design), journaled=is_journaled(cell))
        return [Write(cell.variant.image.size_bytes, adds=True), written]

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Mark a trial of a snapshot-mirrored image as invalid if no snapshot was taken in it."""
        # A snapshot that the loss cut off may have been taken after all. The second cluster then holds some of the
        # writes.
        without = not measured.facts.get("snapshots_taken") and not result.metrics["writes_present"]
        if cell.variant.image.mirroring == "snapshot" and without:
            measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the trial's writer wrote")

    def headline(self, metrics: Mapping[str, float]) -> str:
        lost = metrics.get("recovery_point_seconds", metrics["lost_seconds"])
        return f"{lost:.2f} s lost, first write after {metrics['seconds_to_first_write']:.2f} s"


class TrialDriver(Driver):
    """Runs a trial on the cell's pair. A protocol's own driver says what the trial does, and how the site is lost."""

    def plan_of(self, cell: Cell, seed: int) -> TrialPlan:
        raise NotImplementedError

    def loss(self) -> AbstractContextManager[SiteLoss | None]:
        """Return a context that loses the first site in a forced trial; it gives None if the daemons keep running."""
        return nullcontext()

    def second(self, plan: TrialPlan) -> Cluster:
        """Return the cluster that takes over, as clients on the second site reach it."""
        return self.bench.site.secondary

    def facts_of(self, plan: TrialPlan) -> dict[str, Any]:
        return {}

    def after_trial(self, plan: TrialPlan) -> list[Wait]:
        """Wait until the clusters are as they were before the trial; return the waits for the record."""
        return []

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Run the trial. Its log is the output."""
        plan = self.plan_of(cell, seed)
        started_at = utc_now()
        problem: ReplayError | None = None
        with self.bench.costs.measure("tool"), self.loss() as loss:
            trial = Trial(self.bench, self.protocol.target.pair, plan, self.second(plan), loss)
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
            facts=_facts(plan, trial) | self.facts_of(plan),
            waits=self.after_trial(plan),
            invalid=None if problem is None else ("failed", problem.what),
        )


def _facts(plan: TrialPlan, trial: Trial) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "content_seed": str(plan.seed),
        "write_seconds": round(plan.write_seconds, 3),
        "writes_per_second": plan.writes_per_second,
    }
    if trial.daemons_stopped:
        facts["daemons_stopped"] = trial.daemons_stopped
    times = [float(line.partition(b",")[2]) for line in trial.acknowledgements.splitlines()[1:] if b"," in line]
    if (gap := longest_gap(times)) is not None:
        facts["longest_gap_seconds"] = gap
    return facts | trial.snapshot_facts


def _argv(plan: TrialPlan) -> list[str]:
    interval = plan.snapshot_interval_seconds
    return [
        "failover",
        f"--kind={plan.kind}",
        f"--write-seconds={plan.write_seconds:.3f}",
        f"--writes-per-second={plan.writes_per_second:g}",
        *([] if interval is None else [f"--snapshot-interval-seconds={interval:g}"]),
    ]


# Fail-over: the site is left, or its loss is simulated ----------------------------------------------------------------


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


class FailoverProtocol(Trials):
    """Runs one trial per cell: `levels["kind"]` is planned (demote, promote) or forced (promote after a loss)."""

    needs = Needs(
        tools=("failover",),
        factors=(Factor("kind", "how the site is given up", words=("planned", "forced"), required=True),),
        options=(
            Option("write_seconds", NUMBER, "seconds", "how long the client writes before the site is given up"),
            Option(
                "write_spread_seconds", NUMBER, "seconds", "the client writes for a random part of this in addition"
            ),
            WRITES_PER_SECOND,
        ),
        programs=("rbd",),
        mirroring="always",
        image_per_cell=True,
    )
    target = FreshPair()
    driver = FailoverTrial()
    overhead_seconds = 3.0

    @classmethod
    def longest_seconds(cls, cell: Cell, design: Design) -> float:
        """Return the time of a trial whose random part is as long as it can be."""
        return design.options["write_seconds"] + design.options["write_spread_seconds"]


PROTOCOL = FailoverProtocol
