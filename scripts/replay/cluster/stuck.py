"""Placement groups that are stuck, and those of some pools that scrub or trim: asked, never changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession

#: After this time in a state, Ceph itself calls a group stuck (`mon_pg_stuck_threshold`).
STUCK_SECONDS = 60
#: The worst first: no reads and writes; unknown; fewer copies than requested.
WAYS = ("inactive", "stale", "unclean")
_SHOWN = 3
#: Ceph counts a group that the manager does not know yet, such as a new one, as stuck since 1970.
_UNHEARD = frozenset({"unknown", "creating"})


@dataclass(frozen=True)
class Stuck:
    """Placement groups that are stuck in one way."""

    way: str
    seconds: int
    groups: tuple[str, ...]

    def sentence(self) -> str:
        """Return it as text: `4 placement groups unclean for more than 60 s (3.0, 3.1, 3.2, …)`."""
        more = ", …" if len(self.groups) > _SHOWN else ""
        names = ", ".join(self.groups[:_SHOWN]) + more
        return f"{len(self.groups)} placement groups {self.way} for more than {self.seconds} s ({names})"


def stuck_groups(session: MonitorSession, seconds: int = STUCK_SECONDS) -> list[Stuck]:
    """Return the groups that are stuck for this long, by way; a group that is stuck in two ways is in both.

    A group that the manager does not know yet is left out: nobody knows since when. A cluster with one is not fit
    because of its state.
    """
    found = []
    for way in WAYS:
        answer = session.command({"prefix": "pg dump_stuck", "stuckops": [way], "threshold": seconds})
        rows = answer.get("stuck_pg_stats", ())
        names = tuple(sorted(one["pgid"] for one in rows if one.get("state") not in _UNHEARD))
        if names:
            found.append(Stuck(way, seconds, names))
    return found


def stuck_sentence(session: MonitorSession, seconds: int = STUCK_SECONDS) -> str:
    """Return what is stuck in one line, "" if nothing is. The line also says if this user may not ask."""
    try:
        return "; ".join(one.sentence() for one in stuck_groups(session, seconds))
    except CephCommandError as error:
        return f"which placement groups are stuck cannot be seen as {session.cluster.client}: {error.what}"


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
    found: Counter[str] = Counter()
    status = session.status() if status is None else status
    if not any(set(wanted) & words(one["state_name"]) for one in states_in(status)):
        return found
    for pool in pools:
        answer = session.command({"prefix": "pg ls-by-pool", "poolstr": pool, "states": list(wanted)})
        # Where no group is in one of the states, the list itself is missing.
        found.update(one["state"] for one in answer.get("pg_stats", ()) if set(wanted) & words(one["state"]))
    return found


def states_in(status: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return the `pgs_by_state` of `ceph status`."""
    return status.get("pgmap", {}).get("pgs_by_state", ())


def words(state: str) -> set[str]:
    """Return the words of a state: `active+clean+snaptrim` has three."""
    return set(state.split("+"))
