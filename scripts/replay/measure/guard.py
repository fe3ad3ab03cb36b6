"""Checks before each step whether Replay may go on: health, ceilings, time window; waits for a settled cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NoReturn

from replay.base.clock import elapsed_text
from replay.cluster import health
from replay.cluster.cluster import CephCommandError
from replay.cluster.placement_groups import (
    SCRUBS,
    STUCK_SECONDS,
    TRIMS,
    groups_at,
    states_in,
    stuck_groups,
    stuck_sentence,
)
from replay.cluster.site import RAISE_IT, ceilings_reached
from replay.evidence.record import Measured, Wait
from replay.measure.bench import Bench
from replay.measure.sentry import RunStoppedError, Sentry, stopped
from replay.ownership.pools import pools_in_use

#: How long a cell waits for a cluster that recovers, trims snapshots or scrubs, before the run stops.
SETTLE_TIMEOUT_SECONDS = 600.0
#: Placement groups in these states move data, which slows down every pool. A cell waits until it is done.
MOVING_STATES = ("recover", "backfill", "peering", "remapped", "degraded", "undersized")
#: How long a cluster that Replay started may take to become fit again before a set, since nobody repairs it.
FIT_WITHIN_SECONDS = 120.0
#: OSDs report every five seconds; a busy machine delays that.
STUCK_FOR_CERTAIN_SECONDS = 20.0
#: Within this time the groups of a pool that an administrator has just made are active, or something is wrong.
NEW_GROUPS_WITHIN_SECONDS = 30.0
KEPT = "finished sets are kept; repair the cluster, then run measure again"


class Guard:
    """Guards a run. Every answer is fresh; nothing is cached."""

    def __init__(
        self,
        bench: Bench,
        *,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        stuck_seconds: int = STUCK_SECONDS,
        sentry: Sentry | None = None,
    ) -> None:
        self.bench = bench
        self.sentry = sentry
        self.sleep = sleep
        self.now = now
        self.stuck_seconds = stuck_seconds
        self._start = health.classify({})
        #: Health codes, with messages, that appeared during the last cell.
        self.new: dict[str, str] = {}

    def health(self) -> health.Verdict:
        """Return the verdict on the cluster's current health."""
        return health.classify(self.bench.session.status())

    def before_block(self) -> None:
        """Wait for the time window. Raises RefusedError if the cluster is unfit, or a ceiling is reached."""
        self._await_window()
        verdict = self._await_fit("the sandbox to recover", SETTLE_TIMEOUT_SECONDS, wait_for_daemons=False)
        if not verdict.fit:
            stuck = stuck_sentence(self.bench.session, self.stuck_seconds)
            self._stop(
                "; ".join(filter(None, (verdict.sentence(), stuck))),
                "nothing was created; repair the cluster, then run measure again",
            )
        self._start = verdict
        if self.sentry is not None:
            self.sentry.start = verdict
        self._check_sentry()
        self._check_ceilings()

    def before_set(self, next_set: str = "", *, media_bytes: float = 0.0, added_bytes: float = 0.0) -> None:
        """Check health and ceilings, then wait for the time window. Raises RunStoppedError if the set must not start.

        The same goes for a ceiling that the next set would exceed: it will write `media_bytes` to media, and
        `added_bytes` of them take up free space.
        """
        with self.bench.costs.measure("health"):
            verdict = self._await_fit("the sandbox to be fit again", FIT_WITHIN_SECONDS, wait_for_daemons=True)
            if not verdict.fit:
                self._stop(verdict.sentence(), KEPT)
            self._check_sentry()
            self._check_ceilings(next_set, media_bytes, added_bytes)
        self._await_window()

    def before_cell(self) -> health.Verdict:
        """Return the cluster's health right before a cell, and forget what has settled by itself until now.

        A pool that Replay has just made has placement groups that are not active yet, which is no trouble of the cell.
        """
        verdict = self.health()
        if self.sentry is not None:
            self.sentry.forget(health.SETTLING_CODES - dict(verdict.refuse).keys())
        return verdict

    def after_cell(self, measured: Measured) -> health.Verdict:
        """Return the cluster's health after a cell, which is invalid if the cluster was unfit, even in between.

        What the cluster said is recorded even if the tool failed: the cause is a full pool, not "exit status 1".
        """
        try:
            verdict = self.health()
        except CephCommandError as error:
            verdict = health.no_answer(error.what)
        during = self.sentry.take() if self.sentry is not None else {}
        self.new = {**during, **health.new_since(self._start, verdict)}
        trouble = dict(verdict.refuse) if self.bench.daemons_are_here else {**dict(verdict.refuse), **self.new}
        if trouble:
            said = "; ".join(f"{code}: {health.nameless(text)}" for code, text in sorted(trouble.items()))
            reason, detail = measured.invalid or ("unhealthy", "")
            measured.invalid = (reason, f"{detail}; the cluster says {said}" if detail else said)
        return verdict

    def stop_after_cell(self) -> RunStoppedError | None:
        """Return why the run ends after this cell: the cluster has trouble that it did not have when the block began.

        A cluster that Replay started is given time to recover instead, because experiments stop its daemons.
        """
        if not self.new or self.bench.daemons_are_here:
            return None
        said = "; ".join(f"{code}: {text}" for code, text in sorted(self.new.items()))
        return RunStoppedError(f"since the block began: {said}", where=self._where(), next_step=KEPT)

    def settle(self) -> Iterator[Wait]:
        """Wait until no placement group is busy with background work; yield the wait if there was one.

        Data that move count wherever they are; scrubs and trims in Replay's own pools only.
        Raises RunStoppedError if the cluster does not settle.
        """
        started = time.monotonic()
        busy = self._busy()
        if not busy:
            return
        first = busy
        waiting = self.bench.waiting("the placement groups to settle", SETTLE_TIMEOUT_SECONDS, sleep=self.sleep)
        with self.bench.costs.measure("wait"):
            while busy:
                if time.monotonic() - started > SETTLE_TIMEOUT_SECONDS:
                    self._stop(
                        f"the cluster did not settle within {SETTLE_TIMEOUT_SECONDS:.0f} s: {', '.join(busy)}",
                        "finished sets are kept; run measure again once it has settled",
                    )
                waiting.pause(0.2)
                busy = self._busy()
        yield Wait("cluster_settled", time.monotonic() - started, "settled", {"states": first})

    def _busy(self) -> list[str]:
        session = self.bench.session
        status = session.status()
        moving = [
            f"{state['count']} {state['state_name']}"
            for state in states_in(status)
            if any(word in state["state_name"] for word in MOVING_STATES)
        ]
        own = groups_at(session, SCRUBS + TRIMS, pools_in_use(self.bench.site, self.bench.ledger), status)
        return moving + [f"{count} {state}" for state, count in sorted(own.items()) if state not in moving]

    def _check_sentry(self) -> None:
        """Raise RunStoppedError if there is something that would end a cell as soon as it ran."""
        if self.sentry is not None and (stop := self.sentry.look()) is not None:
            raise stopped(self.bench.site, stop)

    def _stop(self, what: str, next_step: str) -> NoReturn:
        raise RunStoppedError(what, where=self._where(), next_step=next_step)

    def _where(self) -> str:
        return f"site {self.bench.site.name}"

    def _await_fit(self, what: str, within_seconds: float, *, wait_for_daemons: bool) -> health.Verdict:
        """Return the verdict on the cluster; on one that Replay started, wait first until it is fit.

        On any cluster, the placement groups of a new pool are awaited, since administrators make one right before.
        Before a block, such a wait is only for what ends by itself, such as recovery. Within a block an experiment may
        have stopped daemons, which then come back: `wait_for_daemons`. A placement group that stays stuck ends the
        wait. One look is not enough: after a move Ceph calls a group stuck that was last reported as clean long ago,
        until it is reported again.
        """
        verdict = self.health()
        if verdict.fit:
            return verdict
        if not self.bench.daemons_are_here:
            return self._await_new_groups(verdict)
        started = since = time.monotonic()
        waiting = self.bench.waiting(what, within_seconds, sleep=self.sleep)
        with self.bench.costs.measure("wait"):
            while not verdict.fit and (verdict.settles or wait_for_daemons):
                now = time.monotonic()
                if now - started >= within_seconds:
                    break
                if wait_for_daemons or not stuck_groups(self.bench.session, self.stuck_seconds):
                    since = now
                elif now - since >= STUCK_FOR_CERTAIN_SECONDS:
                    break
                waiting.pause(0.5)
                verdict = self.health()
        return verdict

    def _await_new_groups(self, verdict: health.Verdict) -> health.Verdict:
        """Return the verdict after the placement groups of a new pool have become active, or have not in time."""
        started = time.monotonic()
        waiting = self.bench.waiting(
            "the placement groups of a new pool to be active", NEW_GROUPS_WITHIN_SECONDS, sleep=self.sleep
        )
        with self.bench.costs.measure("wait"):
            while verdict.new_groups and time.monotonic() - started < NEW_GROUPS_WITHIN_SECONDS:
                waiting.pause(0.5)
                verdict = self.health()
        return verdict

    def _check_ceilings(self, next_set: str = "", media_bytes: float = 0.0, added_bytes: float = 0.0) -> None:
        limits, session = self.bench.site.ceilings, self.bench.session
        stops = ceilings_reached(
            limits,
            status=session.status(),
            osd_df=self._ask({"prefix": "osd df"}),
            osd_perf=self._ask({"prefix": "osd perf"}) if limits.tenant_latency_seconds is not None else None,
            bytes_written_to_media=self.bench.budget.total(),
            bytes_of_next_set=media_bytes,
            bytes_added_by_next_set=added_bytes,
            next_set=next_set,
        )
        if stops:
            room = "finished sets are kept; run measure again when there is space, or raise the ceiling"
            raise RunStoppedError(
                "; ".join(stop.detail for stop in stops),
                where=f"site {self.bench.site.name}, ceiling {stops[0].reason}",
                next_step=RAISE_IT if stops[0].reason == "bytes_written" else room,
            )

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        with self.bench.costs.measure("health"):
            return self.bench.session.command(command)

    def _await_window(self) -> None:
        window = self.bench.site.time_window
        if window is None or window.is_open(self.now()):
            return
        hours = elapsed_text(window.seconds_until_open(self.now()))
        self.bench.say(f"outside the time window ({window}); waiting {hours} for it to open")
        with self.bench.costs.measure("wait"):
            while (remaining := window.seconds_until_open(self.now())) > 0:
                self.sleep(min(60.0, remaining))
