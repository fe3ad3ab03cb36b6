"""A cluster's placement groups: where they are and whether they stay there, which are stuck, which scrub or trim.

They are asked, never changed. The manager learns about placement groups seconds late: right after a change it still
reports everything as clean. So its answer counts only if it agrees with the monitors' map, group by group, and if it
knows every object.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from replay.base.errors import RefusedError
from replay.cluster import health
from replay.cluster.cluster import CephCommandError, unless_gone
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
        reasons = []
        for group in answer["pg_stats"]:
            name, state = group["pgid"], group["state"]
            if not health.words(state) >= {"active", "clean"} or "remapped" in state:
                reasons.append(f"{name} is {state}")
                continue
            wanted = self._place_of(name)
            if wanted is None:
                reasons.append(f"{name} is still listed, and its pool is gone")
            elif not (group["acting"] == group["up"] == wanted["acting"] == wanted["up"]):
                reasons.append(f"{name} moves from {group['acting']} to {wanted['up']}")
        if not reasons:
            reasons += [f"{code}: {message}" for code, message in health.classify(status).refuse]
        return reasons

    def _place_of(self, group: str) -> dict[str, Any] | None:
        """Return where the monitors want a group, None if its pool has been removed."""
        if group not in self._wanted:
            command = {"prefix": "pg map", "pgid": group}
            self._wanted[group] = unless_gone(lambda: self._session.command(command))
        return self._wanted[group]


def await_calm(
    session: MonitorSession,
    *,
    quiet_seconds: float = QUIET_SECONDS,
    timeout_seconds: float = CALM_WITHIN_SECONDS,
    **pace: Any,
) -> str:
    """Wait until nothing has moved or recovered for `quiet_seconds`; return what still does at the timeout, else "".

    `pace` is for `_await_quiet`.
    """
    places = Places(session)
    return _await_quiet(lambda: next(iter(places.unsettled()), ""), quiet_seconds, timeout_seconds, **pace)[0]


def await_stable(
    session: MonitorSession,
    pool: str,
    objects: int,
    *,
    quiet_seconds: float = 0.0,
    timeout_seconds: float = STABLE_WITHIN_SECONDS,
    **pace: Any,
) -> Wait:
    """Wait until every placement group is clean where it should be, and the manager knows all objects of `pool`.

    Both must last for `quiet_seconds`; after a change that moves data, use QUIET_SECONDS. Raises RefusedError if
    that never happens: a measurement would then include the movement. `pace` is for `_await_quiet`.
    """
    places, most = Places(session), 0

    def unstable() -> str:
        nonlocal most
        if unsettled := places.unsettled():
            most = max(most, len(unsettled))
            return f"{len(unsettled)} reasons, such as: {unsettled[0]}"
        known = objects_known(session, pool)
        return "" if known == objects else f"{known} of {objects} objects known"

    reason, seconds = _await_quiet(unstable, quiet_seconds, timeout_seconds, **pace)
    if reason:
        raise RefusedError(
            f"the placement did not become stable within {timeout_seconds:.0f} s: {reason}",
            where=f"pool {pool}",
            next_step="finished sets are kept; look at: ceph pg dump_stuck",
        )
    return Wait("placement_stable", seconds, "stable", {"most_reasons": most})


def _await_quiet(
    ask: Callable[[], str],
    quiet_seconds: float,
    timeout_seconds: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None],
) -> tuple[str, float]:
    """Ask until the answer has been empty for `quiet_seconds`, or is not at the timeout; return it, and the seconds."""
    started = since = clock()
    while True:
        reason, now = ask(), clock()
        if (reason and now - started > timeout_seconds) or (not reason and now - since >= quiet_seconds):
            return reason, now - started
        since = now if reason else since
        sleep(0.5)


def objects_known(session: MonitorSession, pool: str) -> int:
    """Return how many objects of a pool the manager knows; it learns of changes seconds late."""
    answer = session.command({"prefix": "pg ls-by-pool", "poolstr": pool})
    return sum(int(group["stat_sum"]["num_objects"]) for group in answer["pg_stats"])


def throttles(session: MonitorSession, osd: int) -> dict[str, int]:
    """Return the current limits of an OSD's throttles of clients' messages: `bytes` and `messages`."""
    limits: dict[str, Any] = {}
    for name in ("bytes", "messages"):
        logger = f"throttle-osd_client_{name}"
        answer = session.command({"prefix": "perf dump", "logger": logger}, target=f"osd.{osd}")
        limits[name] = int(answer[logger]["max"])
    return limits


#: After this time in a state, Ceph itself calls a group stuck (`mon_pg_stuck_threshold`).
STUCK_SECONDS = 60
#: The worst first: no reads and writes; unknown; fewer copies than requested.
WAYS = ("inactive", "stale", "unclean")
_SHOWN = 3
#: Ceph counts a group that the manager does not know yet, such as a new one, as stuck since 1970.
_UNHEARD = frozenset({"unknown", "creating"})


def stuck_groups(session: MonitorSession, seconds: int = STUCK_SECONDS) -> dict[str, list[str]]:
    """Return the groups that are stuck for this long, by way; a group that is stuck in two ways is in both.

    A group that the manager does not know yet is left out: nobody knows since when. A cluster with one is not fit
    because of its state.
    """
    stuck = {}
    for way in WAYS:
        answer = session.command({"prefix": "pg dump_stuck", "stuckops": [way], "threshold": seconds})
        rows = answer.get("stuck_pg_stats", ())
        if groups := sorted(row["pgid"] for row in rows if row.get("state") not in _UNHEARD):
            stuck[way] = groups
    return stuck


def stuck_sentence(session: MonitorSession, seconds: int = STUCK_SECONDS) -> str:
    """Return what is stuck in one line, "" if nothing is. The line also says if this user may not ask."""
    try:
        stuck = stuck_groups(session, seconds)
    except CephCommandError as error:
        return f"which placement groups are stuck cannot be seen as {session.cluster.client}: {error.what}"
    return "; ".join(
        f"{len(groups)} placement groups {way} for more than {seconds} s "
        f"({', '.join(groups[:_SHOWN])}{', …' if len(groups) > _SHOWN else ''})"
        for way, groups in stuck.items()
    )


#: What a placement group does for its own pool alone, with the states that Ceph names it by.
SCRUBS, TRIMS = ("scrubbing",), ("snaptrim", "snaptrim_wait")


def groups_at(
    session: MonitorSession,
    states: Iterable[str],
    pools: Iterable[str],
    status: Mapping[str, Any] | None = None,
) -> Counter[str]:
    """Return how many placement groups of the pools are in any of the states, by the whole name of their state.

    The pools are asked only if the cluster's `status`, which is cheap, reports such a group at all.
    """
    wanted = tuple(states)
    counts: Counter[str] = Counter()
    status = session.status() if status is None else status
    if not any(set(wanted) & health.words(state["state_name"]) for state in states_in(status)):
        return counts
    for pool in pools:
        answer = session.command({"prefix": "pg ls-by-pool", "poolstr": pool, "states": list(wanted)})
        # Where no group is in one of the states, the list itself is missing.
        found = (group["state"] for group in answer.get("pg_stats", ()))
        counts.update(state for state in found if set(wanted) & health.words(state))
    return counts


def states_in(status: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return status.get("pgmap", {}).get("pgs_by_state", ())
