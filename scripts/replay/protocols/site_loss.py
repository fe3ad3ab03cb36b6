"""The loss of the first site of a sandbox: one trial per cell, on its own image.

Its daemons stop at moments spread over the interval of its snapshots, or of the mirror daemon's looks at the journal.
In a stretch cluster they are killed, at moments spread over the time of writing.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.base.clock import Waiting, poll
from replay.cluster import sandbox_record
from replay.cluster.cluster import Cluster
from replay.cluster.health import Verdict, classify
from replay.cluster.site import Site, require
from replay.design.design import Cell, CellSet, Design
from replay.design.needs import NUMBER, Factor, Needs, Option
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Wait
from replay.protocols.drivers.trial import TrialPlan
from replay.protocols.drivers.trial_client import BLOCK_BYTES, spread
from replay.protocols.failover import WRITES_PER_SECOND, TrialDriver, Trials
from replay.protocols.observers.copies import Copies, check_modes, lacking_mirror_daemon
from replay.protocols.observers.snapshots import INTERVAL
from replay.protocols.targets.mirrored_pair import POLL_AGE_FACTOR, PolledPair
from replay.sandbox.daemons import up_command
from replay.sandbox.interventions import SiteLoss

WORD = "daemon_stop"
#: The mode of an image in a cluster over both sites, and the word that such a sandbox has.
STRETCH = "stretch"
BACK_WITHIN_SECONDS = 120.0
#: The daemons of a stretch cluster start anew, and their data are brought up to date.
STRETCH_BACK_WITHIN_SECONDS = 300.0
#: When the first snapshot is requested, in seconds after the writer's start.
FIRST_SECONDS = 1.0


def phase_of(trial: int, trials: int, seed: int) -> float:
    """Return the part of an interval after which the site is lost, from 0 to 1.

    The interval is cut into as many strata as there are trials. Each trial (from 1) has a stratum of its own, and its
    seed draws a moment within it; trials beyond `trials` start over with the first stratum. The first trials are spread
    over the whole interval as well.
    """
    return (spread(trial - 1, trials) + random.Random(seed).random()) / trials


def write_seconds_of(interval_seconds: float | None, at_least_seconds: float, phase: float) -> float:
    """Return for how many seconds the writer writes: whole intervals after the first snapshot, and a part of one.

    There are as many whole intervals as `at_least_seconds` needs, and at least one, so that the copy that a loss finds
    was made by the interval. Without an interval, `at_least_seconds` takes its place.
    """
    interval = interval_seconds or at_least_seconds
    whole = max(1, math.ceil(at_least_seconds / interval))
    return FIRST_SECONDS + (whole + phase) * interval


def interval_of(cell: Cell) -> float | None:
    """Return how many seconds apart the cell's copy is updated: the interval of its snapshots, or the poll age.

    None in a stretch cluster, where both sites have each write before it is acknowledged, and if the level is none that
    the protocol takes.
    """
    seconds = cell.levels.get(interval_level(cell))
    return float(seconds) if cell.levels["mode"] != STRETCH and isinstance(seconds, int | float) else None


def interval_level(cell: Cell) -> str:
    """Return the name of the level that says how many seconds apart the cell's copy is updated."""
    return INTERVAL.name if cell.variant.image.mirroring == "snapshot" else POLL_AGE_FACTOR.name


class LostSite(TrialDriver):
    """Loses the first site of a sandbox in each trial, and waits until it is back."""

    trial = 1

    def lacking(self, site: Site) -> dict[str, str]:
        return lacking_mirror_daemon(site)

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Remember which trial this is: a block has one of each kind."""
        self.trial = raw.block

    def plan_of(self, cell: Cell, seed: int) -> TrialPlan:
        """Return a forced trial whose site is lost within the stratum of this block."""
        interval, snapshots = interval_of(cell), cell.variant.image.mirroring == "snapshot"
        phase = phase_of(self.trial, self.design.blocks, seed)
        return TrialPlan(
            kind=str(cell.levels["kind"]),
            seed=self.protocol.target.content_seed,
            write_seconds=write_seconds_of(interval, self.protocol.option("write_seconds"), phase),
            writes_per_second=float(self.protocol.option("writes_per_second", cell)),
            client_options=dict(cell.variant.client_options),
            snapshot_interval_seconds=interval if snapshots else None,
            first_snapshot_seconds=FIRST_SECONDS if snapshots else None,
            promote_patience_seconds=float(self.protocol.option("promote_patience_seconds")),
            stretch=cell.levels["mode"] == STRETCH,
        )

    def second(self, plan: TrialPlan) -> Cluster:
        """Return the second cluster, or the stretch cluster as it is reached from its second site.

        Raises RefusedError if the site is no stretch cluster.
        """
        if not plan.stretch:
            return super().second(plan)
        bench = self.bench
        fsid = bench.session.fsid()
        require(bench.site, STRETCH, fsid)
        link, first = sandbox_record.owner_of(fsid).link, bench.primary_cluster
        return replace(first, programs=first.programs.inside(link.entry("right"))) if link else first

    @contextmanager
    def loss(self) -> Iterator[SiteLoss]:
        """Give the loss of the first site. Raises RefusedError on a cluster that Replay did not start.

        A mirror daemon that was killed meanwhile has another socket afterwards, by which it is asked from then on.
        """
        bench = self.bench
        fsid = bench.session.fsid()
        require(bench.site, WORD, fsid)
        sandbox = sandbox_record.owner_of(fsid)
        name = next(name for name, cluster in sandbox.clusters.items() if cluster.fsid == fsid)
        try:
            with SiteLoss(sandbox, name) as loss:
                yield loss
        finally:
            self._know_mirror_daemon(fsid)

    def facts_of(self, plan: TrialPlan) -> dict[str, Any]:
        """Return the poll age that the mirror daemon had, if the cell sets one."""
        poll_age = self.protocol.target.poll_age
        return {} if poll_age is None else {POLL_AGE_FACTOR.name: poll_age.seconds()}

    def after_trial(self, plan: TrialPlan) -> list[Wait]:
        """Wait until the first site is healthy again. Raises ReplayError if it does not come back."""
        started, what = time.monotonic(), "the first site to recover"
        seconds = STRETCH_BACK_WITHIN_SECONDS if plan.stretch else BACK_WITHIN_SECONDS
        # Nothing is hopeless here: the site was lost on purpose, and comes back.
        waiting = Waiting(what, seconds, say=self.bench.say)
        poll(
            lambda: self._health().fit or None,
            what=f"{what}, {self.bench.site.name}",
            seconds=seconds,
            every=0.2,
            seen=lambda: self._health().sentence(),
            next_step=f"{up_command(self.bench.site)} lets its daemons continue; then run measure again",
            pause=waiting.pause,
        )
        return [Wait("first_site_back", time.monotonic() - started, "fit")]

    def _health(self) -> Verdict:
        return classify(self.bench.session.status())

    def _know_mirror_daemon(self, fsid: str) -> None:
        site, mirror = self.bench.site, sandbox_record.owner_of(fsid).mirror
        if mirror is None or site.second_site is None:
            return
        second = replace(site.second_site, mirror_daemon_admin_socket=Path(mirror.asok))
        self.bench.site = replace(site, second_site=second)
        self.protocol.target.copies = Copies(self.bench)


class LossOfSite(Trials):
    """Loses the first site while a client writes, and goes on at the second; one trial per cell, on its own image."""

    needs = Needs(
        tools=("failover",),
        factors=(
            Factor("kind", "how the site is given up", words=("forced",), required=True),
            Factor(
                "mode",
                "how the second site gets the writes: by a mirrored journal or snapshots, or as a part of one cluster",
                words=("journal", "snapshot", STRETCH),
                required=True,
            ),
            INTERVAL,
            POLL_AGE_FACTOR,
        ),
        options=(
            Option(
                "write_seconds", NUMBER, "seconds", "how long the client writes at least; part of an interval is added"
            ),
            Option(
                "promote_patience_seconds",
                NUMBER,
                "seconds",
                "how long a promotion may take before the mirror daemon, which waits for the lost site, is killed",
            ),
            WRITES_PER_SECOND,
        ),
        programs=("rbd",),
        mirroring="may be",
        image_per_cell=True,
    )
    target = PolledPair()
    driver = LostSite()
    overhead_seconds = 7.0

    @classmethod
    def longest_seconds(cls, cell: Cell, design: Design) -> float:
        """Return the time of a trial whose site is lost at the end of the last interval."""
        return write_seconds_of(interval_of(cell), design.options["write_seconds"], 1.0)

    def check(self) -> None:
        """Refuse variants without the interval of their mode, and images that are too small for the longest trial."""
        check_modes(self, unmirrored=STRETCH)
        for cell in (cell for cell_set in self.design.sets for cell in cell_set.cells):
            if cell.levels["mode"] != STRETCH and interval_of(cell) is None:
                level = interval_level(cell)
                self.refuse(
                    f"{cell.variant.name}: its level {level} is None",
                    next_step=f"give it `levels: {{ {level}: … }}`, in seconds",
                )
            writes = self.most_writes(cell, self.design)
            if (blocks := cell.variant.image.size_bytes // BLOCK_BYTES - 1) < writes:
                self.refuse(
                    f"{cell.variant.name}: its longest trial writes {writes:.0f} blocks, but the image has {blocks}",
                    next_step="raise image.size_bytes, or image_size_bytes of this scale, or lower writes_per_second",
                )


PROTOCOL = LossOfSite
