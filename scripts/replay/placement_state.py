"""Where a cluster's placement groups are, and waiting until they are where the monitors want them.

The manager learns of placement groups seconds late: right after a change it still calls everything clean. So its answer
counts only where it agrees with the monitors' map, group by group, and where it knows of every object.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from replay.adapters.placement_entities import ROLES
from replay.ceph.session import MonitorSession
from replay.context import Wait
from replay.errors import RefusedError

STABLE_WITHIN_SECONDS = 300.0


def unsettled(session: MonitorSession) -> list[str]:
    """Return a line for each placement group that is not clean, or not where the monitors want it."""
    answer = session.command({"prefix": "pg dump", "dumpcontents": ["pgs_brief"]})
    found = []
    for group in answer["pg_stats"]:
        name, state = group["pgid"], group["state"]
        if not set(state.split("+")) >= {"active", "clean"} or "remapped" in state:
            found.append(f"{name} is {state}")
            continue
        wanted = session.command({"prefix": "pg map", "pgid": name})
        if not (group["acting"] == group["up"] == wanted["acting"] == wanted["up"]):
            found.append(f"{name} moves from {group['acting']} to {wanted['up']}")
    return found


def objects_known(session: MonitorSession, pool: str) -> int:
    """Return how many objects of a pool the manager knows of; it learns of changes seconds late."""
    answer = session.command({"prefix": "pg ls-by-pool", "poolstr": pool})
    return sum(int(group["stat_sum"]["num_objects"]) for group in answer["pg_stats"])


def await_stable(
    session: MonitorSession,
    pool: str,
    objects: int,
    *,
    timeout_seconds: float = STABLE_WITHIN_SECONDS,
    poll_seconds: float = 0.5,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Wait:
    """Wait until every placement group is clean where it should be, and the manager knows all objects of `pool`.

    Raises RefusedError when that does not come: what would be measured is then the moving.
    """
    started, moving, known = clock(), 0, 0
    while True:
        rest = unsettled(session)
        moving = max(moving, len(rest))
        known = objects_known(session, pool) if not rest else known
        if not rest and known == objects:
            return Wait("placement_stable", clock() - started, "stable", {"groups_seen_moving": moving})
        if clock() - started > timeout_seconds:
            why = f"{len(rest)} placement groups, such as: {rest[0]}" if rest else f"{known} of {objects} objects known"
            raise RefusedError(
                f"the placement did not become stable within {timeout_seconds:.0f} s: {why}",
                where=f"pool {pool}",
                next_step="finished sets are kept; look at: ceph pg dump_stuck",
            )
        sleep(poll_seconds)


def read_placement_files(session: MonitorSession, pool: str) -> dict[str, tuple[str, bytes]]:
    """Return Ceph's JSON of the pool's placement groups and of the OSDs, by role with the file's suffix.

    It is as Ceph says it but for the space between its words: asked over the open connection, which costs
    milliseconds where three starts of the `ceph` program cost a second of CPU.
    """
    commands = {
        "groups": {"prefix": "pg ls-by-pool", "poolstr": pool},
        "tree": {"prefix": "osd tree"},
        "usage": {"prefix": "osd df"},
    }
    return {
        role: (ROLES[role], json.dumps(session.command(command), separators=(",", ":")).encode() + b"\n")
        for role, command in commands.items()
    }


def throttles(session: MonitorSession, osd: int) -> dict[str, int]:
    """Return what an OSD's throttles of clients' messages hold now: `bytes` and `messages` at the most."""
    found: dict[str, Any] = {}
    for name in ("bytes", "messages"):
        logger = f"throttle-osd_client_{name}"
        answer = session.command({"prefix": "perf dump", "logger": logger}, target=f"osd.{osd}")
        found[name] = int(answer[logger]["max"])
    return found
