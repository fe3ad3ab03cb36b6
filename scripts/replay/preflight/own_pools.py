"""Whether pools of Replay's own can be removed again; otherwise none is made. Read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.cluster.pools import POOL_DELETE_OPTION, pools_can_be_deleted
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.preflight.findings import Findings


def check_own_pools(site: Site, session: MonitorSession, status: Mapping[str, Any], findings: Findings) -> None:
    """Check, for a site that allows pool_delete, whether the monitors delete pools at all."""
    if "pool_delete" not in site.allows:
        return
    can = pools_can_be_deleted(session, status)
    if can is False:
        change = f"ceph config set mon {POOL_DELETE_OPTION} true"
        text = (
            f"the monitors delete no pool ({POOL_DELETE_OPTION} is false), so Replay makes none; to allow it: {change}"
        )
        level = "refused" if any(pool.create for pool in site.pools.all()) else "skip"
        findings.add("pools", level, text, word="pool_delete")
    elif can is None:
        text = f"{session.cluster.client} may not ask whether the monitors delete pools ({POOL_DELETE_OPTION})"
        findings.add("pools", "warning", f"{text}: clean might have to leave pools")
    else:
        findings.add("pools", "ok", "the monitors delete pools, so those that Replay makes can be removed")
