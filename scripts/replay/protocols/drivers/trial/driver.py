"""Runs a fail-over trial as a cell. The trial's log is the output, and the cell is void if a step fails."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import ReplayError
from replay.design.design import Cell
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Driver, WhileRunning
from replay.protocols.drivers.trial.trial import Trial, TrialPlan
from replay.sandbox.site_loss import SiteLoss
from replay.tools import Result


class TrialDriver(Driver):
    """Runs a trial on the cell's pair. A protocol's own driver says what the trial does, and how the site is lost."""

    def plan_of(self, cell: Cell, seed: int) -> TrialPlan:
        """Return what the cell's trial does."""
        raise NotImplementedError

    def loss(self) -> AbstractContextManager[SiteLoss | None]:
        """Return a context that loses the first site in a forced trial; it gives None if the daemons keep running."""
        return nullcontext()

    def facts_of(self, plan: TrialPlan) -> dict[str, Any]:
        """Return further facts of a trial."""
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
            trial = Trial(self.bench, self.protocol.target.pairs[-1], plan, loss)
            before = self.bench.sampler.read()
            try:
                trial.run()
            except ReplayError as error:
                problem = error
            after = self.bench.sampler.read()
        ended_at = utc_now()
        return Measured(
            argv=_argv(plan),
            results={
                "stdout": ("stdout", trial.log.content()),
                "stderr": ("stderr", b"" if problem is None else trial.log.hide(f"{problem}\n").encode()),
                "acknowledgements": ("acknowledgements.csv", trial.acknowledgements),
            },
            exit_status=0 if problem is None else 1,
            started_at=started_at,
            ended_at=ended_at,
            tool_seconds=trial.log.now(),
            load=self.bench.sampler.load(before, after),
            facts=_facts(plan, trial) | self.facts_of(plan),
            waits=self.after_trial(plan),
            invalid=None if problem is None else ("failed", problem.what),
        )


def void_without_snapshot(cell: Cell, measured: Measured, result: Result) -> None:
    """Void a trial of a snapshot-mirrored image in which no snapshot was taken."""
    # A snapshot that the loss cut off may have been taken after all. Then the second cluster holds some of the writes.
    without = not measured.facts.get("snapshots_taken") and not result.metrics["writes_present"]
    if cell.variant.image.mirroring == "snapshot" and without:
        measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the trial's writer wrote")


def _facts(plan: TrialPlan, trial: Trial) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "content_seed": str(plan.seed),
        "write_seconds": round(plan.write_seconds, 3),
        "writes_per_second": plan.writes_per_second,
    }
    if plan.snapshot_interval_seconds is not None:
        facts["snapshots_taken"] = trial.snapshots_taken
        facts["snapshot_interval_seconds"] = plan.snapshot_interval_seconds
    if trial.daemons_stopped:
        facts["daemons_stopped"] = trial.daemons_stopped
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
