"""Guards a block: waits before each step until it may begin, and ends a cell that must not go on.

While a cell runs, a thread of the block's process checks the cluster through the connection that is already open. To
end the cell, it interrupts the main thread as Ctrl-C does: the tool is killed, and what the block made is removed.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NoReturn

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
from replay.cluster.site import RAISE_IT, Stop, ceilings_reached
from replay.evidence.record import Measured, Wait
from replay.measure.bench import Bench
from replay.measure.job import Halted, RunStoppedError, stopped
from replay.ownership.pools import pools_in_use
from replay.sandbox.link import lost_line

CHECK_EVERY_SECONDS = 2.0
#: Without Ceph's Python module, each question starts a program.
CHECK_EVERY_SECONDS_BY_PROGRAM = 8.0
#: A monitor that is being replaced answers again within this time.
SILENT_FOR_SECONDS = 20.0
#: How long a cell waits for a cluster that recovers, trims snapshots or scrubs, before the run stops.
SETTLE_TIMEOUT_SECONDS = 600.0
#: Placement groups in these states move data, which slows down every pool. A cell waits until it is done.
MOVING_STATES = ("recover", "backfill", "peering", "remapped", "degraded", "undersized")
#: How long a cluster that Replay started may take to become fit again before a set, since nobody repairs it.
FIT_WITHIN_SECONDS = 120.0
#: How long a recovery may last on any other cluster: about that of an OSD that has just come back.
RECOVERS_WITHIN_SECONDS = 120.0
#: OSDs report every five seconds; a busy machine delays that.
STUCK_FOR_CERTAIN_SECONDS = 20.0
#: Within this time the groups of a pool that an administrator has just made are active, or something is wrong.
NEW_GROUPS_WITHIN_SECONDS = 30.0
KEPT = "finished sets are kept; repair the cluster, then run measure again"


class Guard:
    """Guards a block, and checks its cluster all the while its context is open. The main thread must open it."""

    def __init__(
        self,
        bench: Bench,
        *,
        check_every_seconds: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        stuck_seconds: int = STUCK_SECONDS,
    ) -> None:
        self.bench, self.watch = bench, bench.watch
        self.sleep, self.now, self.stuck_seconds = sleep, now, stuck_seconds
        by_program = getattr(bench.session, "transport", "rados") != "rados"
        self.check_every_seconds = check_every_seconds or (
            CHECK_EVERY_SECONDS_BY_PROGRAM if by_program else CHECK_EVERY_SECONDS
        )
        self.silent_for_seconds = SILENT_FOR_SECONDS
        #: How often the cluster was checked, and how many seconds that took.
        self.checks, self.check_seconds = 0, 0.0
        #: Health codes, with messages, that appeared during the last cell.
        self.new: dict[str, str] = {}
        self._halt: Halted | None = None
        self._has_ended_cell = False
        self._waits_for_window = False
        self._main = threading.main_thread().ident
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._check_until_the_end, name="guard", daemon=True)

    # While a cell runs ------------------------------------------------------------------------------------------------

    def __enter__(self) -> Guard:
        self._previous = signal.signal(signal.SIGUSR1, self._raise)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        # A signal that arrives from now on must not end the process.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        self._thread.join()
        signal.signal(signal.SIGUSR1, self._previous)

    def check(self) -> Stop | None:
        """Note new trouble; return why a cell must end. Raises CephCommandError if the cluster does not answer."""
        # First, since a stretch cluster without its line does not answer.
        if (stop := lost_line(self.bench.site)) is not None:
            return stop
        # The clusters that Replay starts have no tenants, and experiments stop and throttle their daemons. A run that
        # waits for its time window disturbs no tenant.
        has_tenants = not (self.bench.daemons_are_here or self._waits_for_window)
        return self.watch.check(self.bench.site.ceilings, has_tenants=has_tenants, say=self.bench.say)

    def _check_until_the_end(self) -> None:
        answered = time.monotonic()
        while not self._ended.wait(self.check_every_seconds):
            began, stop = time.monotonic(), None
            try:
                stop = self.check()
                answered = time.monotonic()
            except (CephCommandError, OSError) as error:
                # OSError: this machine starts no other process, or opens no other file. The checks have to go on,
                # because they renew the lock, and see the stop switch.
                if time.monotonic() - answered >= self.silent_for_seconds:
                    here = isinstance(error, OSError)
                    self.watch.note("NO_ANSWER", f"it was not asked: {error.strerror}" if here else error.what)
            self.checks += 1
            self.check_seconds += time.monotonic() - began
            if stop is not None and not self._has_ended_cell:
                # The checks go on, because cleaning up may take longer than the lock lasts.
                self._end_cell(stop)

    def _end_cell(self, stop: Stop) -> None:
        self._has_ended_cell = True
        self._halt = Halted(stop.reason, stopped(self.bench.site, stop))
        # The error itself is told at the end of the cleaning up, which may wait long for what is out of reach.
        self.bench.say(f"ending the cell: {stop.detail}")
        signal.pthread_kill(self._main, signal.SIGUSR1)

    def _raise(self, *_: object) -> None:
        if self._halt is not None:
            halt, self._halt = self._halt, None
            raise halt

    def cost(self) -> dict[str, float]:
        """Return how often the cluster was checked, and how many seconds that took, for the block's receipt."""
        return {"looks": self.checks, "cost_seconds": round(self.check_seconds, 4)}

    # Before and after each step ---------------------------------------------------------------------------------------

    def before_block(self) -> None:
        """Wait for the time window. Raises RefusedError if the cluster is unfit, or a ceiling is reached."""
        self._await_window()
        verdict = self._await_fit("to recover", SETTLE_TIMEOUT_SECONDS, wait_for_daemons=False)
        if not verdict.fit:
            stuck = stuck_sentence(self.bench.session, self.stuck_seconds)
            self._stop(
                "; ".join(filter(None, (verdict.sentence(), stuck))),
                "nothing was created; repair the cluster, then run measure again",
            )
        self.watch.begin(verdict)
        self._refuse_what_would_end_a_cell()
        self._check_ceilings()

    def before_set(self, next_set: str = "", *, media_bytes: float = 0.0, added_bytes: float = 0.0) -> None:
        """Wait for the time window, then check health and ceilings. Raises RunStoppedError if the set must not start.

        The same goes for a ceiling that the next set would exceed: it will write `media_bytes` to media, and
        `added_bytes` of them take up free space.
        """
        has_waited = self._await_window()
        with self.bench.costs.measure("health"):
            verdict = self._await_fit("to be fit again", FIT_WITHIN_SECONDS, wait_for_daemons=True)
            if not verdict.fit:
                self._stop(verdict.sentence(), KEPT)
            if has_waited:
                self.watch.begin(verdict)
            self._refuse_what_would_end_a_cell()
            self._check_ceilings(next_set, media_bytes, added_bytes)

    def before_cell(self) -> health.Verdict:
        """Return the cluster's health right before a cell, and forget what has settled by itself until now.

        A pool that Replay has just made has placement groups that are not active yet, which is no trouble of the cell.
        """
        verdict = self.watch.verdict()
        self.watch.forget(health.SETTLING_CODES - dict(verdict.refuse).keys())
        return verdict

    def after_cell(self, measured: Measured) -> health.Verdict:
        """Return the cluster's health after a cell, which is invalid if the cluster was unfit, even in between.

        What the cluster said is recorded even if the tool failed: the cause is a full pool, not "exit status 1".
        """
        try:
            verdict = self.watch.verdict()
        except CephCommandError as error:
            verdict = health.no_answer(error.what)
        self.new = {**self.watch.take(), **self.watch.new_in(verdict)}
        trouble = dict(verdict.refuse) if self.bench.daemons_are_here else {**dict(verdict.refuse), **self.new}
        if trouble:
            why = "; ".join(f"{code}: {health.nameless(text)}" for code, text in sorted(trouble.items()))
            reason, detail = measured.invalid or ("unhealthy", "")
            measured.invalid = (reason, f"{detail}; the cluster says {why}" if detail else why)
        return verdict

    def stop_after_cell(self) -> RunStoppedError | None:
        """Return why the run ends after this cell: the cluster has trouble that it did not have when the block began.

        A cluster that Replay started is given time to recover instead, because experiments stop its daemons.
        """
        if not self.new or self.bench.daemons_are_here:
            return None
        why = "; ".join(f"{code}: {text}" for code, text in sorted(self.new.items()))
        return RunStoppedError(f"since the block began: {why}", where=self._where(), next_step=KEPT)

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

    def _refuse_what_would_end_a_cell(self) -> None:
        """Raise RunStoppedError if there is something that would end a cell as soon as it ran."""
        if (stop := self.check()) is not None:
            raise stopped(self.bench.site, stop)

    def _stop(self, what: str, next_step: str) -> NoReturn:
        raise RunStoppedError(what, where=self._where(), next_step=next_step)

    def _where(self) -> str:
        return f"site {self.bench.site.name}"

    def _await_fit(self, what: str, within_seconds: float, *, wait_for_daemons: bool) -> health.Verdict:
        """Return the verdict on the cluster, after waiting for what ends by itself.

        On any cluster that is the placement groups of a new pool, since administrators make one right before, and
        before a block a recovery; within a block, a recovery ends the run of somebody else's cluster. On a cluster that
        Replay started, it is whatever a recovery ends; within a block also daemons, which an experiment may have
        stopped and which then come back: `wait_for_daemons`. There a placement group that stays stuck ends the wait.
        One look is not enough: after a move Ceph calls a group stuck that was last reported as clean long ago, until
        it is reported again.
        """
        here, verdict = self.bench.daemons_are_here, self.watch.verdict()

        def ends_by_itself() -> bool:
            if here:
                return verdict.settles or wait_for_daemons
            return verdict.new_groups or (verdict.recovers and not wait_for_daemons)

        if here:
            what = f"the sandbox {what}"
        elif verdict.new_groups:
            what, within_seconds = "the placement groups of a new pool to be active", NEW_GROUPS_WITHIN_SECONDS
        else:
            what, within_seconds = "the cluster to recover", RECOVERS_WITHIN_SECONDS
        waiting = self.bench.waiting(what, within_seconds, sleep=self.sleep)
        began = unstuck = time.monotonic()
        with self.bench.costs.measure("wait"):
            while not verdict.fit and ends_by_itself():
                now = time.monotonic()
                if now - began >= within_seconds:
                    break
                if not here or wait_for_daemons or not stuck_groups(self.bench.session, self.stuck_seconds):
                    unstuck = now
                elif now - unstuck >= STUCK_FOR_CERTAIN_SECONDS:
                    break
                waiting.pause(0.5)
                verdict = self.watch.verdict()
        return verdict

    def _check_ceilings(self, next_set: str = "", media_bytes: float = 0.0, added_bytes: float = 0.0) -> None:
        limits, ask = self.bench.site.ceilings, self.bench.session.command
        with self.bench.costs.measure("health"):
            osd_df = ask({"prefix": "osd df"})
            osd_perf = ask({"prefix": "osd perf"}) if limits.tenant_latency_seconds is not None else None
        stops = ceilings_reached(
            limits,
            osd_df=osd_df,
            osd_perf=osd_perf,
            bytes_written_to_media=self.bench.budget.total(),
            bytes_of_next_set=media_bytes,
            bytes_added_by_next_set=added_bytes,
            next_set=next_set,
        )
        if stops:
            room = "finished sets are kept; run measure again when there is space, or raise the ceiling"
            raise RunStoppedError(
                "; ".join(stop.detail for stop in stops),
                where=f"{self._where()}, ceiling {stops[0].reason}",
                next_step=RAISE_IT if stops[0].reason == "bytes_written" else room,
            )

    def _await_window(self) -> bool:
        """Wait until the site's time window is open; return whether it was closed."""
        window = self.bench.site.time_window
        if window is None or window.is_open(self.now()):
            return False
        hours = elapsed_text(window.seconds_until_open(self.now()))
        self.bench.say(f"outside the time window ({window}); waiting {hours} for it to open")
        self._waits_for_window = True
        with self.bench.costs.measure("wait"):
            while (remaining := window.seconds_until_open(self.now())) > 0:
                self.sleep(min(60.0, remaining))
        self._waits_for_window = False
        return True
