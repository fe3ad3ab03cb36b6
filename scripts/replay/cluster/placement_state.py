"""Where a cluster's placement groups are, and waits until they are where the monitors want them.

The manager learns about placement groups seconds late: right after a change it still reports everything as clean. So
its answer counts only if it agrees with the monitors' map, group by group, and if it knows every object.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import Any

from replay.base.errors import RefusedError
from replay.cluster import health
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.evidence.record import Wait

STABLE_WITHIN_SECONDS = 300.0
#: The manager still reports a rate of recovery for some seconds after recovery has ended.
CALM_WITHIN_SECONDS = 120.0
#: OSDs report every five seconds (mgr_stats_period), so movements are seen that late.
QUIET_SECONDS = 6.0


class Places:
    """Where a cluster's placement groups are, looked at again and again.

    Where the monitors want a group follows from their map of OSDs, so it is asked again only when that has changed:
    asking costs a question for each group.
    """

    def __init__(self, session: MonitorSession) -> None:
        self._session = session
        self._epoch: int | None = None
        self._wanted: dict[str, dict[str, Any] | None] = {}

    def unsettled(self) -> list[str]:
        """Return a line for each group that is not clean, or not where the monitors want it, and for recovery."""
        status = self._session.status()
        if (epoch := status["osdmap"]["epoch"]) != self._epoch:
            self._epoch, self._wanted = epoch, {}
        answer = self._session.command({"prefix": "pg dump", "dumpcontents": ["pgs_brief"]})
        found = []
        for group in answer["pg_stats"]:
            name, state = group["pgid"], group["state"]
            if not set(state.split("+")) >= {"active", "clean"} or "remapped" in state:
                found.append(f"{name} is {state}")
                continue
            wanted = self._place_of(name)
            if wanted is None:
                found.append(f"{name} is still listed, and its pool is gone")
            elif not (group["acting"] == group["up"] == wanted["acting"] == wanted["up"]):
                found.append(f"{name} moves from {group['acting']} to {wanted['up']}")
        if not found:
            found += [f"{code}: {message}" for code, message in health.classify(status).refuse]
        return found

    def _place_of(self, group: str) -> dict[str, Any] | None:
        """Return where the monitors want a group, None if its pool has been removed."""
        if group not in self._wanted:
            try:
                self._wanted[group] = self._session.command({"prefix": "pg map", "pgid": group})
            except CephCommandError as error:
                if error.exit_status_of_tool != errno.ENOENT:
                    raise
                self._wanted[group] = None
        return self._wanted[group]


def await_calm(
    session: MonitorSession,
    *,
    quiet_seconds: float = QUIET_SECONDS,
    timeout_seconds: float = CALM_WITHIN_SECONDS,
    poll_seconds: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None],
) -> str:
    """Wait until nothing has moved or recovered for `quiet_seconds`; return what still does at the timeout, else ""."""
    started = since = clock()
    places = Places(session)
    while True:
        rest, now = places.unsettled(), clock()
        if not rest and now - since >= quiet_seconds:
            return ""
        if rest and now - started > timeout_seconds:
            return rest[0]
        since = now if rest else since
        sleep(poll_seconds)


def objects_known(session: MonitorSession, pool: str) -> int:
    """Return how many objects of a pool the manager knows; it learns of changes seconds late."""
    answer = session.command({"prefix": "pg ls-by-pool", "poolstr": pool})
    return sum(int(group["stat_sum"]["num_objects"]) for group in answer["pg_stats"])


def await_stable(
    session: MonitorSession,
    pool: str,
    objects: int,
    *,
    quiet_seconds: float = 0.0,
    timeout_seconds: float = STABLE_WITHIN_SECONDS,
    poll_seconds: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None],
) -> Wait:
    """Wait until every placement group is clean where it should be, and the manager knows all objects of `pool`.

    Both must last for `quiet_seconds`; after a change that moves data, use QUIET_SECONDS. Raises RefusedError if
    that never happens: a measurement would then include the movement.
    """
    started = since = clock()
    most = known = 0
    places = Places(session)
    while True:
        rest = places.unsettled()
        most = max(most, len(rest))
        known = objects_known(session, pool) if not rest else known
        now, stable = clock(), not rest and known == objects
        if stable and now - since >= quiet_seconds:
            return Wait("placement_stable", now - started, "stable", {"most_reasons": most})
        if not stable and now - started > timeout_seconds:
            why = f"{len(rest)} reasons, such as: {rest[0]}" if rest else f"{known} of {objects} objects known"
            raise RefusedError(
                f"the placement did not become stable within {timeout_seconds:.0f} s: {why}",
                where=f"pool {pool}",
                next_step="finished sets are kept; look at: ceph pg dump_stuck",
            )
        since = since if stable else now
        sleep(poll_seconds)


def throttles(session: MonitorSession, osd: int) -> dict[str, int]:
    """Return the current limits of an OSD's throttles of clients' messages: `bytes` and `messages`."""
    found: dict[str, Any] = {}
    for name in ("bytes", "messages"):
        logger = f"throttle-osd_client_{name}"
        answer = session.command({"prefix": "perf dump", "logger": logger}, target=f"osd.{osd}")
        found[name] = int(answer[logger]["max"])
    return found
