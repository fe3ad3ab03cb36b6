"""The output of `status`: the daemons' current answers, for people and as JSON."""

from __future__ import annotations

import concurrent.futures
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from replay.base.errors import ReplayError
from replay.cluster.sandbox_record import Sandbox, SandboxCluster
from replay.sandbox import conf, create, daemons
from replay.sandbox.tools import rbd, run


@dataclass
class DaemonStatus:
    """A daemon that should run: `pid` is None if it does not, `state` is ready, not ready or stopped."""

    cluster: str
    name: str
    pid: int | None
    state: str


@dataclass
class Report:
    """Everything that `status` shows. `ok` if every daemon is ready, all PGs are clean and mirroring is connected."""

    directory: str
    ceph_version: str
    daemons: list[DaemonStatus]
    health: dict[str, str] = field(default_factory=dict)
    mirroring: str = "none"
    ok: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return asdict(self)


def report(sandbox: Sandbox) -> Report:
    """Query every daemon and both clusters; never raises for a daemon that is down, and never waits long."""
    layout = sandbox.layout
    found = []
    for role in daemons.all_roles(sandbox):
        process = daemons.running(layout, role)
        state = "stopped" if process is None else "ready" if daemons.is_ready(layout, role) else "not ready"
        found.append(DaemonStatus(role.cluster, role.name, process.pid if process else None, state))
    result = Report(sandbox.directory, sandbox.ceph_version, found)
    ready = {(each.cluster, each.name) for each in found if each.state == "ready"}
    reachable = [c for c in sandbox.clusters.values() if (c.name, f"mon.{c.name}") in ready]
    with concurrent.futures.ThreadPoolExecutor(max_workers=3) as pool:
        asked = {cluster.name: pool.submit(_health, sandbox, cluster) for cluster in reachable}
        mirroring = pool.submit(_mirroring, sandbox) if ("right", daemons.MIRROR.name) in ready else None
        told = {name: one.result() for name, one in asked.items()}
        result.health = {
            name: told[name].said if name in told else "the monitor does not answer" for name in sandbox.clusters
        }
        if "right" in sandbox.clusters:
            result.mirroring = mirroring.result() if mirroring else "not connected"
    result.ok = len(ready) == len(found) and all(name in told and told[name].is_well for name in sandbox.clusters)
    return result


@dataclass
class _Health:
    said: str
    is_well: bool


def _health(sandbox: Sandbox, cluster: SandboxCluster) -> _Health:
    argv = ["ceph", "--conf", cluster.conf, "--connect-timeout", "5", "status", "--format", "json"]
    try:
        text = run(sandbox.layout.programs, argv, timeout_seconds=15.0)
        status = json.loads(text)
        return _Health(create.describe(status), create.is_well(status))
    except (ReplayError, ValueError) as error:
        return _Health(f"no answer ({error})", is_well=False)


def _mirroring(sandbox: Sandbox) -> str:
    asked = ("mirror", "pool", "status", conf.POOL, "--verbose", "--format", "json")
    try:
        text = rbd(sandbox.layout, "right", *asked, timeout_seconds=15.0)
        status = json.loads(text)
        summary = status["summary"]
    except (ReplayError, ValueError, KeyError) as error:
        return f"connected, but its status could not be read ({error})"
    images = ", ".join(f"{count} {state}" for state, count in summary.get("states", {}).items()) or "no images"
    # A killed daemon stays listed for a minute; the one that leads is the one that works.
    leads = [daemon["health"] for daemon in status.get("daemons", []) if daemon.get("leader")]
    daemon_health = leads[0] if leads else "not reported yet"
    return f"connected, left to right; daemon {daemon_health}, images {summary.get('image_health')}; {images}"


def render(found: Report) -> str:
    """Return the report as a table for people."""
    lines = [f"sandbox in {found.directory}, Ceph {found.ceph_version}", ""]
    rows = [(each.cluster, each.name, str(each.pid or "-"), each.state) for each in found.daemons]
    header = ("cluster", "daemon", "pid", "state")
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(4)]
    for row in [header, *rows]:
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    lines.append("")
    lines += [f"{name}: {said}" for name, said in found.health.items()]
    lines.append(f"mirroring: {found.mirroring}")
    return "\n".join(lines)
