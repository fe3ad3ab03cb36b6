"""Checks before each step whether Replay may go on: health, ceilings, time window; waits for a settled cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from replay.base.errors import RefusedError
from replay.cluster import ceilings, health
from replay.cluster.stuck import STUCK_SECONDS, stuck_groups, stuck_sentence
from replay.measure.bench import Bench
from replay.raw.record import Wait

#: How long a cell waits for a cluster that recovers, trims snapshots or scrubs, before the run stops.
SETTLE_TIMEOUT_SECONDS = 600.0
#: Placement groups in these states do work that no client asked for. A cell waits until it is done.
BUSY_STATES = ("snaptrim", "recover", "backfill", "peering", "remapped", "degraded", "undersized", "scrubbing")


class Guard:
    """Guards a run. Every answer is fresh; nothing is cached."""

    def __init__(
        self,
        bench: Bench,
        *,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        stuck_seconds: int = STUCK_SECONDS,
    ) -> None:
        self.bench = bench
        self.sleep = sleep
        self.now = now
        self.stuck_seconds = stuck_seconds

    def health(self) -> health.Verdict:
        """Return the verdict on the cluster's current health."""
        return health.classify(self.bench.session.status())

    def before_block(self) -> None:
        """Wait for the time window. Raises RefusedError if the cluster is unfit, or a ceiling is reached."""
        self._await_window()
        verdict = self.health()
        if not verdict.fit and not self._may_settle():
            stuck = stuck_sentence(self.bench.session, self.stuck_seconds)
            raise RefusedError(
                "; ".join(filter(None, (verdict.sentence(), stuck))),
                where=f"site {self.bench.site.name}",
                next_step="nothing was created; repair the cluster, then run measure again",
            )
        self._check_ceilings()

    def before_set(self, next_set: str = "", *, media_bytes: float = 0.0, added_bytes: float = 0.0) -> None:
        """Check the ceilings, then wait for the time window. Raises RefusedError if a ceiling is reached.

        The same goes for a ceiling that the next set would exceed: it will write `media_bytes` to media, and
        `added_bytes` of them take up free space.
        """
        with self.bench.costs.measure("health"):
            self._check_ceilings(next_set, media_bytes, added_bytes)
        self._await_window()

    def settle(self) -> Iterator[Wait]:
        """Wait until no placement group is busy with background work; yield the wait if there was one.

        Raises RefusedError if the cluster does not settle.
        """
        started = time.monotonic()
        busy = self._busy()
        if not busy:
            return
        first = busy
        with self.bench.costs.measure("wait"):
            while busy:
                if time.monotonic() - started > SETTLE_TIMEOUT_SECONDS:
                    raise RefusedError(
                        f"the cluster did not settle within {SETTLE_TIMEOUT_SECONDS:.0f} s: {', '.join(busy)}",
                        where=f"site {self.bench.site.name}",
                        next_step="finished sets are kept; run measure again once it has settled",
                    )
                self.sleep(0.2)
                busy = self._busy()
        yield Wait("cluster_settled", time.monotonic() - started, "settled", {"states": first})

    def _busy(self) -> list[str]:
        states = self.bench.session.status().get("pgmap", {}).get("pgs_by_state", ())
        return [
            f"{state['count']} {state['state_name']}"
            for state in states
            if any(word in state["state_name"] for word in BUSY_STATES)
        ]

    def _may_settle(self) -> bool:
        """Return whether an unfit cluster may become fit by itself, which `settle` then waits for.

        That is so only while a sandbox that was just started recovers, and not if a placement group is stuck.
        """
        if not self.bench.daemons_are_here or not self._busy():
            return False
        return not stuck_groups(self.bench.session, self.stuck_seconds)

    def _check_ceilings(self, next_set: str = "", media_bytes: float = 0.0, added_bytes: float = 0.0) -> None:
        limits, session = self.bench.site.ceilings, self.bench.session
        stops = ceilings.check(
            limits,
            status=session.status(),
            osd_df=self._ask({"prefix": "osd df"}),
            osd_perf=self._ask({"prefix": "osd perf"}) if limits.tenant_latency_seconds is not None else None,
            bytes_written_to_media=self.bench.spending.total(),
            bytes_of_next_set=media_bytes,
            bytes_added_by_next_set=added_bytes,
            next_set=next_set,
        )
        if stops:
            room = "finished sets are kept; run measure again when there is space, or raise the ceiling"
            raise RefusedError(
                "; ".join(stop.detail for stop in stops),
                where=f"site {self.bench.site.name}, ceiling {stops[0].reason}",
                next_step=ceilings.RAISE_IT if stops[0].reason == "bytes_written" else room,
            )

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        with self.bench.costs.measure("health"):
            return self.bench.session.command(command)

    def _await_window(self) -> None:
        window = self.bench.site.time_window
        if window is None or window.is_open(self.now()):
            return
        self.bench.say(f"outside the time window ({window}); waiting for it to open")
        with self.bench.costs.measure("wait"):
            while (remaining := window.seconds_until_open(self.now())) > 0:
                self.sleep(min(60.0, remaining))
