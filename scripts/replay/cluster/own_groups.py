"""Placement groups of some pools that scrub or trim: on a shared cluster, a neighbour's scrubs never end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from replay.cluster.session import MonitorSession

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
