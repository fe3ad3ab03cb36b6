"""Inspects a site's second cluster: whether the data pool's images can be mirrored, and by whom. Read-only."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

from replay.base.errors import ReplayError
from replay.cluster import admin_commands
from replay.cluster.cluster import CephCommandError, Cluster, ask
from replay.cluster.mirroring import POLL_AGE
from replay.cluster.session import MonitorSession
from replay.cluster.site import SecondSite, Site
from replay.ownership.daemon_settings import configured_poll_age, mirror_daemons
from replay.preflight.checks import OTHER_CAPABILITIES, TIMEOUT_SECONDS, Findings, check_cluster, check_user
from replay.sandbox.link import round_trip_seconds

_WORD = "second_site"


def check_mirroring(site: Site, session: MonitorSession, findings: Findings) -> None:
    """Check the second cluster, its pool, the peer and the mirror daemon. Anything missing removes `second_site`."""
    second = site.second_site
    if second is None:
        findings.add("mirroring", "note", "the site's file names no second cluster")
        return
    status = check_cluster(session, findings)
    if status is None:
        return
    if site.sandbox is None:
        check_user(session, findings)
    pools = session.command({"prefix": "osd pool ls"}, timeout_seconds=TIMEOUT_SECONDS)
    if site.pools.data.name not in pools:
        commands = admin_commands.second_pool(site) + admin_commands.mirroring(site)
        text = f"the second cluster has no pool {site.pools.data.name}"
        findings.add("mirroring", "skip", text, commands=commands, word=_WORD)
        return
    first = _mirror_info(site.primary, site, findings)
    copy = _mirror_info(second.cluster, site, findings)
    if first is None or copy is None:
        return
    if not copy.get("peers"):
        text = "the second cluster's pool has no peer: nothing would be mirrored to it"
        findings.add("mirroring", "skip", text, commands=admin_commands.mirroring(site), word=_WORD)
    elif not first.get("peers"):
        text = (
            "the first cluster's pool has no peer yet, and takes no mirror snapshot without one. The second cluster's "
            "mirror daemon enters itself there half a minute after it has found the pool: run preflight again in a "
            "minute, and if that does not help, look at the daemon's log"
        )
        findings.add("mirroring", "skip", text, word=_WORD)
    else:
        findings.add("mirroring", "ok", "the pools of both clusters have their peers")
    _check_schedule(site, findings)
    _check_daemon(site, second, session, status, findings)
    if (rtt := round_trip_seconds(site)) is not None:
        findings.add("mirroring", "note", f"the second cluster is {rtt * 1e3:.3g} ms away: a TCP round trip")


def _mirror_info(cluster: Cluster, site: Site, findings: Findings) -> dict[str, Any] | None:
    """Return `rbd mirror pool info` if images can be mirrored individually, else add a finding and return None."""
    spec = site.pools.data.spec
    try:
        info = cluster.json("rbd", "mirror", "pool", "info", spec, timeout_seconds=TIMEOUT_SECONDS)
        if site.pools.data.namespace:  # peers belong to the pool, the mode to the namespace
            whole = cluster.json("rbd", "mirror", "pool", "info", site.pools.data.name, timeout_seconds=TIMEOUT_SECONDS)
            info["peers"] = whole.get("peers", [])
    except CephCommandError as error:
        commands = admin_commands.mirroring(site) if error.exit_status_of_tool == errno.ENOENT else []
        text = f"mirroring of {spec} ({cluster.name}) cannot be read: {error.what}"
        if error.exit_status_of_tool in (errno.EPERM, errno.EACCES):
            text += f": {OTHER_CAPABILITIES}"
        findings.add("mirroring", "skip", text, commands=commands, word=_WORD)
        return None
    if info["mode"] == "image":
        return info
    why = {
        "disabled": f"mirroring is not enabled on {spec} of the {cluster.name} cluster",
        "pool": f"{spec} of the {cluster.name} cluster mirrors every journaled image: variants would be alike",
    }.get(info["mode"], f"mirroring of {spec} is in mode {info['mode']}")
    commands = admin_commands.mirroring(site) if info["mode"] == "disabled" else []
    findings.add("mirroring", "skip", why, commands=commands, word=_WORD)
    return None


def _check_schedule(site: Site, findings: Findings) -> None:
    """Warn of a schedule of the cluster's own: Replay takes the snapshots of its images itself, and counts no others.

    Schedules have whole minutes; most cells last seconds.
    """
    asked = ("mirror", "snapshot", "schedule", "ls", "--pool", site.pools.data.name, "--recursive")
    try:
        rows = site.primary.json("rbd", *asked, timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError:  # nothing is printed where there is no schedule, or this user may not see it
        return
    places = {"-", "", site.pools.data.namespace}
    covering = [row for row in rows if row["image"] in ("-", "") and row["namespace"] in places]
    if intervals := [item["interval"] for row in covering for item in row["items"]]:
        advice = "name a pool without one"
        if any(row["pool"] in ("-", "") for row in covering):
            advice = "only schedules by pool, instead of one for all, leave it out"
        text = (
            f"the cluster takes mirror snapshots of all images of pool {site.pools.data.name} by its own schedule "
            f"(every {', '.join(intervals)}), beside those that Replay takes and counts: {advice}"
        )
        findings.add("mirroring", "warning", text)


def _check_work(second: SecondSite, spec: str, registered: int, findings: Findings) -> None:
    """Judge the mirror daemons by what they say of the pool, not by their number."""
    asked = ("mirror", "pool", "status", spec, "--verbose")
    try:
        verdict = judge_daemons(second.cluster.json("rbd", *asked, timeout_seconds=TIMEOUT_SECONDS))
    except CephCommandError as error:
        text = f"what the rbd-mirror daemons of the second cluster do cannot be read: {error.what}"
        findings.add("mirroring", "warning", text)
        return
    if verdict is None:
        # A restricted user gets an empty list. `rbd` says why on stderr alone, and ends with status 0.
        text = f"{second.cluster.client} may not see what the rbd-mirror daemons do ({registered} registered)"
        findings.add("mirroring", "note", f"{text}: --write-probe shows whether an image is mirrored")
        return
    level, text = verdict
    if level == "skip":
        text += "; look at the daemon's log, or, if it was just started, run preflight in half a minute"
    findings.add("mirroring", level, text, word=_WORD if level == "skip" else None)


def _check_poll_age(session: MonitorSession, findings: Findings) -> None:
    """Say which poll age cells of mirrored journals will record."""
    seconds = configured_poll_age(session)
    if seconds is None:
        text = (
            f"{POLL_AGE}, how often the daemon looks for journal entries, is not told to {session.cluster.client}, so "
            "no cell records it; the command that preflight prints for a new user allows it"
        )
    else:
        text = f"{POLL_AGE} is {seconds:g} s by the second cluster's configuration; cells record it"
    findings.add("mirroring", "note", text)


def judge_daemons(status: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return a finding's level and text about the daemons that serve a pool; None if there is none.

    One daemon leads a pool. The others stand by, and so does one that was killed, for a minute.
    """
    daemons = status.get("daemons", ())
    if not daemons:
        return None
    leading = [daemon for daemon in daemons if daemon.get("leader")]
    complaints = sorted({complaint for daemon in leading or daemons for complaint in daemon.get("callouts", ())})
    because = f": {'; '.join(complaints)}" if complaints else ""
    if not leading:
        return "skip", f"{len(daemons)} rbd-mirror daemon(s) are registered, but none leads the pool{because}"
    health = leading[0].get("health", "UNKNOWN")
    counts = sorted(status.get("summary", {}).get("states", {}).items())
    states = f" ({', '.join(f'{count} images {state}' for state, count in counts)})" if counts else ""
    if health == "OK":
        return "ok", f"rbd-mirror replays the pool{states}"
    level = "warning" if health in ("UNKNOWN", "WARNING") else "skip"
    return level, f"rbd-mirror leads the pool, and its health is {health}{because}{states}"


def _check_daemon(
    site: Site, second: SecondSite, session: MonitorSession, status: Mapping[str, Any], findings: Findings
) -> None:
    if not (daemons := mirror_daemons(status)):
        text = "no rbd-mirror daemon is registered with the second cluster; start one as root on a host of that cluster"
        commands = admin_commands.mirror_daemon(second.cluster, status["fsid"])
        findings.add("mirroring", "skip", text, commands=commands, word=_WORD)
        return
    _check_work(second, site.pools.data.spec, len(daemons), findings)
    if second.mirror_daemon_admin_socket is None:
        findings.add(
            "mirroring",
            "warning",
            "the site's file names no admin socket of the mirror daemon: the end of replay cannot be seen exactly",
        )
        _check_poll_age(session, findings)
        return
    try:
        ask(second.mirror_daemon_admin_socket, "version", timeout_seconds=TIMEOUT_SECONDS)
    except ReplayError as error:
        findings.add("mirroring", "skip", f"the mirror daemon's admin socket: {error.what}", word=_WORD)
    else:
        findings.add("mirroring", "ok", "the mirror daemon's admin socket answers")
