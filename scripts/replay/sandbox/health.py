"""When a cluster is ready for use: placement groups and health, as the current daemons report them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from replay.base.invocation import replay_command
from replay.cluster.sandbox_record import Layout, SandboxCluster, SandboxError
from replay.cluster.session import MonitorSession
from replay.sandbox import conf, daemons, processes
from replay.sandbox.tools import Interrupt


def count_clean(states: list[dict[str, Any]], name_key: str, count_key: str) -> int:
    """Return how many placement groups are active+clean, from a list of states and counts."""
    return sum(each[count_key] for each in states if each[name_key] == "active+clean")


#: Warnings that a new sandbox may have and that affect no measurement. MGR_MODULE_DEPENDENCY: Debian 13's manager of
#: release 18 cannot load thirteen optional modules with its Python ("PyO3 modules do not yet support subinterpreters").
KNOWN_WARNINGS = frozenset({"MGR_MODULE_DEPENDENCY"})


def is_well(status: dict[str, Any]) -> bool:
    """Return whether `ceph status` reports only warnings that are known and harmless here."""
    if status["health"]["status"] == "HEALTH_ERR":
        return False
    checks = status["health"].get("checks", {})
    return {code for code, check in checks.items() if not check.get("muted")} <= KNOWN_WARNINGS


def describe(status: dict[str, Any]) -> str:
    """Return health and placement groups of `ceph status` in one line."""
    pgs = status["pgmap"]
    clean = count_clean(pgs.get("pgs_by_state", []), "state_name", "count")
    checks = status["health"].get("checks", {})
    said = "; ".join(
        f"{code}: {check['summary']['message']}" for code, check in checks.items() if not check.get("muted")
    )
    return f"{status['health']['status']}{f' ({said})' if said else ''}, {clean} of {pgs['num_pgs']} PGs active+clean"


def await_clean(
    monitors: MonitorSession,
    cluster: SandboxCluster,
    layout: Layout,
    interrupt: Interrupt,
    *,
    healthy: bool,
    timeout_seconds: float = 120.0,
) -> str:
    """Wait until all OSDs are up and all placement groups active+clean; return health and counts in one line.

    `healthy` also waits until it is well: a new cluster has no warnings, but an old one may still have a flag set.
    Raises SandboxError with the reason.
    """
    latest: dict[str, Any] = {}

    def ready() -> bool:
        latest.update(monitors.status())
        pgs = latest["pgmap"]
        clean = count_clean(pgs.get("pgs_by_state", []), "state_name", "count")
        all_clean = pgs["num_pgs"] >= conf.POOL_PGS and clean == pgs["num_pgs"]
        all_up = latest["osdmap"].get("num_up_osds", 0) == len(cluster.osd_uuids)
        well = not healthy or is_well(latest)
        if all_clean and all_up and well:
            return True
        interrupt.pause(0.4)
        return False

    where = layout.cluster(cluster.name) / "log"
    try:
        interrupt.wait_until(ready, what="placement groups", where=where, timeout_seconds=timeout_seconds)
    except SandboxError as error:
        if not latest:
            raise
        raise SandboxError(
            f"{cluster.name} is not clean after {timeout_seconds:g} s: {describe(latest)}",
            where=where,
            next_step=f"read the logs in this folder, or start over: {replay_command('sandbox', 'down')}, then up",
        ) from error
    return describe(latest)


def became_active(manager: dict[str, Any]) -> float:
    """Return when the active manager of `mgr dump` became active, in seconds since the epoch."""
    return datetime.fromisoformat(manager["active_change"]).timestamp()


def await_manager(monitors: MonitorSession, cluster: SandboxCluster, layout: Layout, interrupt: Interrupt) -> None:
    """Wait until the current manager reports the placement groups.

    After a restart the monitors repeat the previous manager's last report, which may be "all active+clean". The current
    one became active after its process had started, and its own placement groups are unknown until the OSDs have
    reported. (Its address tells the two apart no longer: it contains the pid in release 16, a random number in 18.)
    """
    role = daemons.Role(cluster.name, "mgr", cluster.name)

    def reports() -> bool:
        process = daemons.running(layout, role)
        known = monitors.command({"prefix": "mgr dump"})
        if process is not None and known["available"] and became_active(known) >= processes.started_at(process):
            summary = monitors.command({"prefix": "pg stat"})["pg_summary"]
            clean = count_clean(summary["num_pg_by_state"], "name", "num")
            if clean and clean == summary["num_pgs"]:
                return True
        interrupt.pause(0.4)
        return False

    interrupt.wait_until(
        reports,
        what=f"{cluster.name}'s manager to see all placement groups active+clean",
        where=layout.log(cluster.name, role.name),
        timeout_seconds=120.0,
    )
