"""Fail-over of a mirrored image to the second cluster: one trial a cell, on an image of its own."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base.clock import utc_now
from replay.base.errors import ConfigurationError, ReplayError
from replay.design.design import Cell, CellSet
from replay.design.media import Write
from replay.measure.bench import Bench
from replay.measure.procedure import Protocol, is_journaled
from replay.owned.images import BlockImage, create_image
from replay.procedures.parts.mirror_cells import MirrorCells
from replay.procedures.trial.client import BLOCK_BYTES
from replay.procedures.trial.pair import MirroredPair
from replay.procedures.trial.procedure import Trial, TrialPlan, client_argv, client_spec
from replay.raw.record import Measured, Wait
from replay.tools import OutputError, adapter
from replay.tools.running.background import Background

FILL_SECONDS_AT_MOST = 300.0
SIMULATED_LOSS = (
    "the writer was frozen and the first cluster not used any more; it and the mirror daemon went on, so that what the "
    "daemon still fetched before the promotion is not lost here, while it would be if the site had gone"
)


class Failover(Protocol):
    """Runs one trial per cell: `levels["kind"]` is planned (demote, promote) or forced (promote after a loss)."""

    program = "rbd"
    writes_are_known = True
    overhead_seconds = 3.0

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.mirror = MirrorCells(bench, design.configuration.get("snapshot_interval_seconds"))
        self.pairs: list[MirroredPair] = []
        self.content_seed = 0
        self._check()

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Create nothing: each trial has an image of its own."""

    def close_block(self) -> None:
        """Remove what an interrupted trial left, on both clusters."""
        while self.pairs:
            self.pairs[-1].remove()
            self.pairs.pop()

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the fill of the trial's image, and its writes at the rate that is asked for, for as long as can be."""
        options = self.design.options
        seconds = options["write_seconds"] + options["write_spread_seconds"]
        written = BLOCK_BYTES * options["writes_per_second"] * seconds
        return [Write(cell.variant.image.size_bytes, adds=True), Write(written, journaled=is_journaled(cell))]

    def prepare(self, cell: Cell) -> list[Wait]:
        """Create, fill and mirror an image, and wait until the second cluster has it."""
        self.close_block()
        self.content_seed = random.SystemRandom().getrandbits(31)

        def fill(bench: Bench, made: BlockImage) -> None:
            # Known here before the contents are: an interruption from now on removes it.
            self.pairs.append(MirroredPair(bench, made))
            self._fill(cell, made)

        create_image(self.bench, f"{cell.variant.name}-{cell.levels['kind']}", cell.variant.image, fill_with=fill)
        self.mirror.await_first_copy(self.pairs[-1].made)
        self.pairs[-1].own_copy()
        return []

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the trial and judge it by its own log."""
        options, mode = self.design.options, cell.variant.image.mirroring
        interval = self.mirror.snapshot_interval_seconds
        plan = TrialPlan(
            kind=str(cell.levels["kind"]),
            seed=self.content_seed,
            # The end of writing falls on any moment between two snapshots, or two looks at the journal.
            write_seconds=options["write_seconds"] + options["write_spread_seconds"] * random.Random(seed).random(),
            writes_per_second=float(options["writes_per_second"]),
            client_options=dict(cell.variant.client_options),
            snapshot_interval_seconds=interval if mode == "snapshot" else None,
        )
        trial = Trial(self.bench, self.pairs[-1], plan)
        started_at = utc_now()
        problem: ReplayError | None = None
        with self.bench.costs.measure("tool"):
            before = self.bench.sampler.read()
            try:
                trial.run()
            except ReplayError as error:
                problem = error
            after = self.bench.sampler.read()
        measured = Measured(
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
            facts=self._facts(plan, trial),
        )
        self._judge(cell, measured, problem, trial)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove the image from both clusters."""
        self.close_block()
        return []

    def _check(self) -> None:
        where = f"config/experiments/{self.design.name}.yaml"
        for name in ("write_seconds", "write_spread_seconds", "writes_per_second"):
            value = self.design.options.get(name)
            if not isinstance(value, int | float) or value <= 0:
                raise ConfigurationError(f"options.{name} is {value!r}, no number above 0", where=where)
        kinds = set(self.design.factors.get("kind", ())) - {"planned", "forced"}
        if kinds or "kind" not in self.design.factors:
            raise ConfigurationError("failover needs the factor `kind`: planned, forced", where=where)
        plain = [variant.name for variant in self.design.variants if not variant.image.mirroring]
        if plain:
            raise ConfigurationError(f"failover needs mirrored variants: {', '.join(plain)}", where=where)

    def _fill(self, cell: Cell, made: BlockImage) -> None:
        size = made.image.size_bytes
        self.bench.charge(f"filling {made.name}", Write(size, pool=made.pool, adds=True))
        patience = max(
            FILL_SECONDS_AT_MOST, 60 + 2 * size / (self.bench.site.ceilings.rate_bytes_per_second or math.inf)
        )
        options = dict(cell.variant.client_options)
        spec = client_spec(self.bench.primary_cluster, made, options, seed=self.content_seed)
        filling = Background(client_argv("fill", spec), slot=self.bench.slot, ready_within_seconds=patience)
        try:
            if filling.end(patience) != 0:
                raise ReplayError(f"the image could not be filled: {filling.complaint()}", where=made.spec)
        finally:
            filling.kill()

    def _facts(self, plan: TrialPlan, trial: Trial) -> dict[str, Any]:
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

    def _judge(self, cell: Cell, measured: Measured, problem: ReplayError | None, trial: Trial) -> None:
        if problem is not None:
            measured.invalid = ("failed", problem.what)
            return
        outputs = {role: content.decode(errors="replace") for role, (_, content) in measured.results.items()}
        try:
            result = self.adapter.parse(outputs, measured.exit_status, cell.levels)
        except OutputError as error:
            measured.invalid = (error.reason, str(error).splitlines()[0])
            return
        metrics = result.metrics
        # One that the loss cut off may have been taken all the same: then the second cluster holds some of the writes.
        without = not trial.snapshots_taken and not metrics["writes_present"]
        if cell.variant.image.mirroring == "snapshot" and without:
            measured.invalid = ("no_snapshot", "no mirror snapshot was taken while the trial's writer wrote")
        measured.headline = (
            f"first write after {metrics['seconds_to_first_write']:.2f} s, {metrics['lost_seconds']:.2f} s lost"
        )


def _argv(plan: TrialPlan) -> list[str]:
    public = replace(plan, seed=0, client_options={})
    return [
        "failover",
        f"--kind={public.kind}",
        f"--write-seconds={public.write_seconds:.3f}",
        f"--writes-per-second={public.writes_per_second:g}",
        *(
            [f"--snapshot-interval-seconds={public.snapshot_interval_seconds:g}"]
            if public.snapshot_interval_seconds is not None
            else []
        ),
    ]


PROTOCOL = Failover
