"""Inspects a site's pools and the space in them, without changing anything, and reports findings."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

from replay.base.disk import size_text
from replay.base.errors import RefusedError
from replay.cluster import admin_commands
from replay.cluster.admin_commands import POOL_DELETE_OPTION
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.running import last_line
from replay.cluster.session import MonitorSession
from replay.cluster.site import Pool, Site, ceilings_reached, fullest_osd, slowest_osd
from replay.ownership.pools import Room, pools_can_be_deleted, room_of
from replay.ownership.write_budget import WriteBudget
from replay.preflight.checks import OTHER_CAPABILITIES, TIMEOUT_SECONDS, Findings, check_user


def check_pools(site: Site, session: MonitorSession, findings: Findings) -> None:
    """Check each of the site's pools: it exists, is of the right kind, and this user can read it."""
    answer = session.command({"prefix": "osd pool ls", "detail": "detail"}, timeout_seconds=TIMEOUT_SECONDS)
    rules = session.command({"prefix": "osd crush rule dump"}, timeout_seconds=TIMEOUT_SECONDS)
    df = session.command({"prefix": "df"}, timeout_seconds=TIMEOUT_SECONDS)["pools"]
    objects = {pool["name"]: pool["stats"]["objects"] for pool in df}
    existing = {pool["pool_name"]: pool for pool in answer}
    for wanted in site.pools.all():
        is_data_pool = wanted is site.pools.data_pool
        pool = existing.get(wanted.name)
        if pool is None:
            if wanted.create:
                findings.add("pools", "note", f"pool {wanted.name} does not exist: Replay will create it")
                continue
            command = admin_commands.pool(session.cluster, wanted, is_data_pool=is_data_pool)
            findings.add("pools", "refused", f"pool {wanted.name} does not exist", commands=[command])
            continue
        _check_pool(wanted, pool, rules, is_data_pool, findings)
        _check_application(session.cluster, wanted, pool, objects.get(wanted.name, 0), is_data_pool, findings)
        if not is_data_pool:
            _check_reading(wanted, session.cluster, findings)
    if site.sandbox is None:
        check_user(session, findings)
    sharing = [name for name in existing if name not in {pool.name for pool in site.pools.all()}]
    if sharing:
        findings.add("risk", "note", f"{len(sharing)} other pools are on this cluster; measuring affects their users")


def _check_pool(
    wanted: Pool, pool: Mapping[str, Any], rules: list[Any], is_data_pool: bool, findings: Findings
) -> None:
    name, kind = wanted.name, "erasure-coded" if pool["type"] == 3 else "replicated"
    device_class = _device_class(rules, pool["crush_rule"])
    text = f"pool {name}: {kind}, size {pool['size']}, {pool['pg_num']} placement groups"
    findings.add("pools", "ok", text + (f", device class {device_class}" if device_class else ""))
    if kind == "erasure-coded" and not is_data_pool:
        findings.add("pools", "refused", f"pool {name} is erasure-coded: image metadata needs a replicated pool")
    if kind == "erasure-coded" and "ec_overwrites" not in pool["flags_names"].split(","):
        # Overwrites cannot be switched off again, so never enable them on somebody else's pool.
        text = f"pool {name} does not allow overwrites: name a separate pool in the site's file"
        findings.add("pools", "refused", text)
    if wanted.replicas and kind == "replicated" and pool["size"] != wanted.replicas:
        text = f"pool {name} has {pool['size']} replicas; the site's file says {wanted.replicas}"
        findings.add("pools", "warning", text)
    if wanted.device_class and device_class != wanted.device_class:
        on = device_class or "any"
        text = f"pool {name} is on device class {on}; the site's file says {wanted.device_class}"
        findings.add("pools", "warning", text)
    if pool.get("options", {}).get("compression_mode", "none") not in ("none", "passive"):
        text = f"pool {name} compresses data, and images are filled with bytes that compress well"
        findings.add("pools", "warning", text)
    if pool.get("quota_max_bytes") or pool.get("quota_max_objects"):
        findings.add("pools", "note", f"pool {name} has a quota: ceph osd pool get-quota {name}")


def _check_application(
    cluster: Cluster, wanted: Pool, pool: Mapping[str, Any], objects: int, is_data_pool: bool, findings: Findings
) -> None:
    """Check that the pool is for block devices; only an empty pool without an application may become one."""
    applications = sorted(pool.get("application_metadata", {}))
    if "rbd" in applications:
        return
    if applications or objects:
        holder = f"belongs to {', '.join(applications)}" if applications else f"holds {objects} objects"
        text = f"pool {wanted.name} is not initialised for block devices and {holder}: name a separate pool"
        findings.add("pools", "refused", text)
        return
    if is_data_pool:
        enable = f"ceph osd pool application enable {wanted.name} rbd"
        text = f"pool {wanted.name} is empty and has no application: if it is nobody's, an administrator runs: {enable}"
        findings.add("pools", "refused", text)
        return
    text = f"pool {wanted.name} is not initialised for block devices"
    findings.add("pools", "refused", text, commands=[admin_commands.initialise(cluster, wanted)])


def _check_reading(wanted: Pool, cluster: Cluster, findings: Findings) -> None:
    """List the images: every capability with `profile rbd` allows this read."""
    cannot = f"{cluster.client} cannot list {wanted.spec}"
    try:
        done = cluster.run("rbd", "ls", wanted.spec, check=False, timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError as error:
        # Without any capability for OSDs, a client waits for them for ever; the monitors have just answered.
        text = f"{cannot}: {error.what}. If the OSDs are well: {OTHER_CAPABILITIES}"
        findings.add("user", "refused", text)
        return
    if done.returncode == 0:
        findings.add(
            "user",
            "ok",
            f"{cluster.client} can read {wanted.spec}; creating the first image will show whether it can write",
        )
    elif done.returncode == errno.ENOENT and wanted.namespace:
        command = admin_commands.namespace(cluster, wanted)
        findings.add("pools", "refused", f"namespace {wanted.spec} does not exist", commands=[command])
    else:
        text = f"{cannot}: {last_line(done.stderr) or 'no message'}"
        if done.returncode in (errno.EPERM, errno.EACCES):
            text += f": {OTHER_CAPABILITIES}"
        findings.add("user", "refused", text)


def _device_class(rules: list[Any], rule_id: int) -> str | None:
    rule = next((rule for rule in rules if rule["rule_id"] == rule_id), None)
    taken = [step["item_name"] for step in (rule or {}).get("steps", ()) if step["op"] == "take"]
    return taken[0].split("~")[1] if taken and "~" in taken[0] else None


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


def check_space(site: Site, session: MonitorSession, findings: Findings) -> None:
    """Check how full the cluster is, and every ceiling of the site that can be checked before a run."""
    osd_df = session.command({"prefix": "osd df"}, timeout_seconds=TIMEOUT_SECONDS)
    osd_perf = session.command({"prefix": "osd perf"}, timeout_seconds=TIMEOUT_SECONDS)
    name, fraction = fullest_osd(osd_df)
    slowest, seconds = slowest_osd(osd_perf)
    findings.add(
        "space", "ok", f"fullest OSD: {name}, {fraction:.0%}; slowest: {slowest}, {seconds * 1e3:.0f} ms a commit"
    )
    pool = pool_of_images(site)
    findings.room = room_of(session, pool.name, TIMEOUT_SECONDS)
    if findings.room is not None:
        findings.add("space", "ok", f"pool {pool.name} {findings.room.sentence()}")
    for stop in ceilings_reached(site.ceilings, osd_df=osd_df, osd_perf=osd_perf):
        findings.add("ceilings", "refused", f"the ceiling {stop.reason} has been reached: {stop.detail}")


def pool_of_images(site: Site) -> Pool:
    """Return the pool that takes what clients write into images."""
    return site.pools.data_pool or site.pools.data


def without_room(pool: Pool, room: Room, needed: Mapping[str, float]) -> str:
    """Return which experiments, of those with the bytes that their images need at once, do not fit; "" if all do."""
    names = ", ".join(f"{name} ({size_text(size)})" for name, size in sorted(needed.items()) if size > room.bytes)
    return f"pool {pool.name} {room.sentence()}, and the images of a block need more: {names}" if names else ""


def refuse_without_room(site: Site, needed: Mapping[str, float]) -> None:
    """Raise RefusedError if the images of an experiment do not fit into their pool: a full pool stops every write."""
    pool = pool_of_images(site)
    with MonitorSession(site.primary) as session:
        room = room_of(session, pool.name)
    if room is not None and (why := without_room(pool, room, needed)):
        raise RefusedError(
            why,
            where=f"site {site.name}",
            next_step="free space or have the quota raised, or name other experiments or another scale",
        )


def check_room(site: Site, needed: Mapping[str, float], findings: Findings) -> None:
    """Warn of experiments whose images do not fit into their pool."""
    if findings.room is not None and (why := without_room(pool_of_images(site), findings.room, needed)):
        findings.add("space", "warning", why)


def check_account(site: Site, data_set: str, bytes_left: float, findings: Findings) -> None:
    """Compare what a run has written, and what it has left to write, with the site's ceiling for it.

    Raises EvidenceError if the run's account cannot be read.
    """
    limit = site.ceilings.bytes_written_to_media_per_run
    if limit is None:
        return
    written = WriteBudget.of(findings.fsid, site.name, data_set).total() if findings.fsid else 0.0
    text = f"the run {data_set} has written {written / 2**30:.3g} of {limit / 2**30:.3g} GiB to media"
    if written >= limit:
        findings.add("ceilings", "refused", f"{text}: raise the ceiling, or start a new run with another --data")
    elif written + bytes_left > limit:
        findings.add(
            "ceilings", "note", f"{text} and needs about {bytes_left / 2**30:.3g} GiB more: it will stop at the ceiling"
        )
    elif findings.fsid:
        findings.add("ceilings", "ok", text)
