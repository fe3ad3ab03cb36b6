"""Inspects a site's clusters without changing anything, and reports findings. Every query has a timeout."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from replay.cluster import admin_commands, health
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.placement_groups import stuck_sentence
from replay.cluster.session import MonitorSession
from replay.cluster.site import Pool, Site, ceilings_reached, fullest_osd, slowest_osd
from replay.design.procedures import needs_of, protocol_names
from replay.ownership.write_budget import Account
from replay.preflight.findings import Findings
from replay.preflight.keys import why_refused

TIMEOUT_SECONDS = 10.0
_LARGEST_SKEW_SECONDS = 0.05
#: For a user that exists. Ceph would replace its caps with the missing ones, and somebody else may depend on them.
OTHER_CAPABILITIES = (
    "this user has other caps; give Replay a user of its own: name a new client and a new keyring in the site's file, "
    "and preflight prints the command that creates them"
)


def check_files(site: Site, findings: Findings) -> bool:
    """Check that the site's files can be read; return False if the primary cluster cannot be contacted at all."""
    usable = True
    for cluster in (site.primary, site.secondary):
        if cluster is None:
            continue
        for path, what in ((cluster.conf, "conf"), (cluster.keyring, "keyring")):
            if path is None or os.access(path, os.R_OK):
                continue
            why = "cannot be read by this user" if path.exists() else "there is no such file"
            commands: list[str] = []
            if what == "keyring" and not os.path.lexists(path) and cluster is site.primary:
                commands = admin_commands.everything(site)
            level, word = ("refused", None) if cluster is site.primary else ("skip", "second_site")
            findings.add(
                "files", level, f"{what} of the {cluster.name} cluster: {path}: {why}", commands=commands, word=word
            )
            usable = usable and cluster is not site.primary
        if cluster.keyring is not None and cluster.keyring.exists() and cluster.keyring.stat().st_mode & 0o077:
            findings.add("files", "warning", f"{cluster.keyring} can be read by other users of this machine")
    return usable


def check_cluster(session: MonitorSession, findings: Findings) -> dict[str, Any] | None:
    """Check whether the cluster answers, its versions and its health; return its status, None without an answer."""
    name, primary = session.cluster.name, session.cluster.name == "primary"
    bad, word = ("refused", None) if primary else ("skip", "second_site")
    try:
        status = session.status(timeout_seconds=TIMEOUT_SECONDS)
        versions = session.command({"prefix": "versions"}, timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError as error:
        findings.add("cluster", bad, why_no_answer(session.cluster, error), word=word)
        return None
    osds = status["osdmap"].get("osdmap", status["osdmap"])
    text = f"the {name} cluster {status['fsid']} answers: {osds['num_up_osds']} of {osds['num_osds']} OSDs up"
    findings.add("cluster", "ok", f"{text}, {len(status['quorum'])} monitors in quorum")
    if primary:
        findings.fsid, findings.osds = status["fsid"], osds["num_osds"]
    running = sorted({_short(version) for kind in ("mon", "mgr", "osd") for version in versions.get(kind, {})})
    mixed = len(running) > 1
    findings.add("cluster", "warning" if mixed else "ok", f"Ceph {', '.join(running)}{' (mixed)' if mixed else ''}")
    verdict = health.classify(status)
    for code, message in verdict.refuse:
        findings.add("health", bad, f"measuring is refused: {code}: {message}", word=word)
    if not verdict.fit and (stuck := stuck_sentence(session)):
        findings.add("health", bad, f"measuring is refused: stuck: {stuck}", word=word)
    for code, message in verdict.unknown:
        findings.add("health", "warning", f"unknown to Replay, recorded but does not stop measuring: {code}: {message}")
    for code, message in verdict.harmless:
        findings.add("health", "note", f"harmless, recorded: {code}: {message}")
    if verdict.fit:
        findings.add("health", "ok", f"the {name} cluster is fit to be measured ({verdict.summary['status']})")
    return status


def check_counters(session: MonitorSession, experiments: Iterable[Mapping[str, Any]], findings: Findings) -> None:
    """Note if OSDs do not return their counters to this user: then nothing is known of what they do for a write."""
    reading = {word: _experiments_whose_needs(experiments, osd_counters=word) for word in ("must", "may")}
    if not any(reading.values()):
        return
    osds = session.command({"prefix": "osd dump"}, timeout_seconds=TIMEOUT_SECONDS)["osds"]
    running = [f"osd.{one['osd']}" for one in osds if one["up"]]
    if not running:
        return
    try:
        session.command({"prefix": "perf dump"}, target=running[0], timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError as error:
        effects = []
        if names := reading["must"]:
            effects.append(f"not measured: {', '.join(names)}")
        if names := reading["may"]:
            effects.append(f"without what OSDs did: {', '.join(names)}")
        text = (
            f"{running[0]} does not return its counters ({error.what}). OSDs return them to a user with osd 'allow *'"
        )
        findings.add("counters", "note", f"{text}; {'; '.join(effects)}")


def _experiments_whose_needs(experiments: Iterable[Mapping[str, Any]], *, osd_counters: str) -> list[str]:
    known = protocol_names()
    return [
        str(one["name"])
        for one in experiments
        if one.get("protocol") in known and needs_of(one["protocol"]).osd_counters == osd_counters
    ]


def why_no_answer(cluster: Cluster, error: CephCommandError) -> str:
    """Return why a cluster cannot be inspected: it refused the key, did not answer, or does not let the user ask."""
    found = re.search(r"\[errno (\d+)\]", error.what)
    number = int(found[1]) if found else None
    about_key = why_refused(cluster, number) if number else ""
    if number == errno.EIO and about_key:
        return about_key
    if number in (errno.EPERM, errno.EACCES):
        key = f"the key in {cluster.keyring}" if cluster.keyring else "the key that ceph finds here"
        text = f"key rejected: the {cluster.name} cluster does not accept {key} for {cluster.client}"
        return f"{text}; {about_key}" if about_key else text
    if number == errno.ETIMEDOUT or error.what.startswith("no answer within"):
        return f"no monitor answered at {monitors_in(cluster.conf)} ({cluster.name} cluster)"
    text = f"the {cluster.name} cluster does not answer as {cluster.client}: {error.what}"
    return f"{text}: {OTHER_CAPABILITIES}" if error.exit_status_of_tool in (errno.EPERM, errno.EACCES) else text


def monitors_in(conf: Path) -> str:
    """Return the monitors' addresses in a ceph.conf, or a reference to it."""
    text = conf.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^\s*mon[ _]host\s*=\s*(\S.*?)\s*$", text, re.MULTILINE)
    return found[1] if found else f"the monitors of {conf}"


def check_pools(site: Site, session: MonitorSession, findings: Findings) -> None:
    """Check each of the site's pools: it exists, is of the right kind, and this user can read it."""
    answer = session.command({"prefix": "osd pool ls", "detail": "detail"}, timeout_seconds=TIMEOUT_SECONDS)
    rules = session.command({"prefix": "osd crush rule dump"}, timeout_seconds=TIMEOUT_SECONDS)
    df = session.command({"prefix": "df"}, timeout_seconds=TIMEOUT_SECONDS)["pools"]
    objects = {pool["name"]: pool["stats"]["objects"] for pool in df}
    there = {pool["pool_name"]: pool for pool in answer}
    for wanted in site.pools.all():
        is_data_pool = wanted is site.pools.data_pool
        found = there.get(wanted.name)
        if found is None:
            if wanted.create:
                findings.add("pools", "note", f"pool {wanted.name} does not exist: Replay will create it")
                continue
            commands = admin_commands.pool(session.cluster, wanted, is_data_pool=is_data_pool)
            findings.add("pools", "refused", f"pool {wanted.name} does not exist", commands=commands)
            continue
        _check_pool(wanted, found, rules, is_data_pool, findings)
        _check_application(session.cluster, wanted, found, objects.get(wanted.name, 0), is_data_pool, findings)
        if not is_data_pool:
            _check_reading(wanted, session.cluster, findings)
    if site.sandbox is None:
        check_user(session, findings)
    sharing = [name for name in there if name not in {pool.name for pool in site.pools.all()}]
    if sharing:
        findings.add("risk", "note", f"{len(sharing)} other pools are on this cluster; measuring affects their users")


def check_user(session: MonitorSession, findings: Findings) -> None:
    """Check that the user has no unnecessary permissions: a bug in Replay must not harm other tenants."""
    name = f"{session.cluster.client} of the {session.cluster.name} cluster"
    try:
        session.command({"prefix": "auth ls"}, timeout_seconds=TIMEOUT_SECONDS)
    except CephCommandError:
        findings.add("user", "ok", f"{name} is a restricted user")
    else:
        findings.add("user", "warning", f"{name} may read all keys; Replay needs `profile rbd` only")


def check_space(site: Site, session: MonitorSession, status: Mapping[str, Any], findings: Findings) -> None:
    """Check how full the cluster is, and every ceiling of the site that can be checked before a run."""
    osd_df = session.command({"prefix": "osd df"}, timeout_seconds=TIMEOUT_SECONDS)
    osd_perf = session.command({"prefix": "osd perf"}, timeout_seconds=TIMEOUT_SECONDS)
    pools = session.command({"prefix": "df"}, timeout_seconds=TIMEOUT_SECONDS)["pools"]
    name, fraction = fullest_osd(osd_df)
    slowest, seconds = slowest_osd(osd_perf)
    findings.add(
        "space", "ok", f"fullest OSD: {name}, {fraction:.0%}; slowest: {slowest}, {seconds * 1e3:.0f} ms a commit"
    )
    for pool in pools:
        if pool["name"] == site.pools.data.name:
            findings.add(
                "space", "ok", f"pool {pool['name']} can take {pool['stats']['max_avail'] / 2**30:.1f} GiB more"
            )
    for stop in ceilings_reached(site.ceilings, status=status, osd_df=osd_df, osd_perf=osd_perf):
        findings.add("ceilings", "refused", f"the ceiling {stop.reason} has been reached: {stop.detail}")


def check_account(site: Site, data_set: str, bytes_left: float, findings: Findings) -> None:
    """Compare what a run has written, and what it has left to write, with the site's ceiling for it.

    Raises EvidenceError if the run's account cannot be read.
    """
    limit = site.ceilings.bytes_written_to_media_per_run
    if limit is None:
        return
    written = Account.of(findings.fsid, site.name, data_set).total() if findings.fsid else 0.0
    text = f"the run {data_set} has written {written / 2**30:.3g} of {limit / 2**30:.3g} GiB to media"
    if written >= limit:
        findings.add("ceilings", "refused", f"{text}: raise the ceiling, or start a new run with another --data")
    elif written + bytes_left > limit:
        findings.add(
            "ceilings", "note", f"{text} and needs about {bytes_left / 2**30:.3g} GiB more: it will stop at the ceiling"
        )
    elif findings.fsid:
        findings.add("ceilings", "ok", text)


def check_clocks(session: MonitorSession, findings: Findings) -> None:
    """Check the clock skew between the monitors."""
    answer = session.command({"prefix": "time-sync-status"}, timeout_seconds=TIMEOUT_SECONDS)
    skews = {name: abs(float(each["skew"])) for name, each in answer.get("time_skew_status", {}).items()}
    if not skews:
        findings.add("clocks", "note", "one monitor: there is no other clock to compare with")
        return
    name = max(skews, key=lambda key: skews[key])
    level = "warning" if skews[name] > _LARGEST_SKEW_SECONDS else "ok"
    findings.add("clocks", level, f"largest skew between monitors: {skews[name] * 1e3:.1f} ms (mon.{name})")


def check_bindings(session: MonitorSession, findings: Findings) -> None:
    """Check that Ceph's Python module is installed."""
    if session.transport != "rados":
        text = "python3-rados is missing: each query of the cluster costs a third of a second of this machine's CPU"
        findings.add("tools", "warning", text, commands=["apt-get install python3-rados"])


def _check_pool(
    wanted: Pool, found: Mapping[str, Any], rules: list[Any], is_data_pool: bool, findings: Findings
) -> None:
    kind = "erasure-coded" if found["type"] == 3 else "replicated"
    device_class = _device_class(rules, found["crush_rule"])
    text = f"pool {wanted.name}: {kind}, size {found['size']}, {found['pg_num']} placement groups"
    findings.add("pools", "ok", text + (f", device class {device_class}" if device_class else ""))
    if kind == "erasure-coded" and not is_data_pool:
        findings.add("pools", "refused", f"pool {wanted.name} is erasure-coded: image metadata needs a replicated pool")
    if kind == "erasure-coded" and "ec_overwrites" not in found["flags_names"].split(","):
        # Overwrites cannot be switched off again, so never enable them on somebody else's pool.
        text = f"pool {wanted.name} does not allow overwrites: name a separate pool in the site's file"
        findings.add("pools", "refused", text)
    if wanted.replicas and kind == "replicated" and found["size"] != wanted.replicas:
        findings.add(
            "pools",
            "warning",
            f"pool {wanted.name} has {found['size']} replicas; the site's file says {wanted.replicas}",
        )
    if wanted.device_class and device_class != wanted.device_class:
        said = device_class or "any"
        findings.add(
            "pools",
            "warning",
            f"pool {wanted.name} is on device class {said}; the site's file says {wanted.device_class}",
        )
    if found.get("options", {}).get("compression_mode", "none") not in ("none", "passive"):
        findings.add(
            "pools",
            "warning",
            f"pool {wanted.name} compresses data, and images are filled with bytes that compress well",
        )
    if found.get("quota_max_bytes") or found.get("quota_max_objects"):
        findings.add(
            "pools",
            "note",
            f"pool {wanted.name} has a quota: {found['quota_max_bytes']} bytes, {found['quota_max_objects']} objects",
        )


def _check_application(
    cluster: Cluster, wanted: Pool, found: Mapping[str, Any], objects: int, is_data_pool: bool, findings: Findings
) -> None:
    """Check that the pool is for block devices; only an empty pool without an application may become one."""
    applications = sorted(found.get("application_metadata", {}))
    if "rbd" in applications:
        return
    if applications or objects or is_data_pool:
        holder = f"belongs to {', '.join(applications)}" if applications else f"holds {objects} objects"
        text = f"pool {wanted.name} is not initialised for block devices and {holder}: name a separate pool"
        findings.add("pools", "refused", text)
        return
    text = f"pool {wanted.name} is not initialised for block devices"
    findings.add("pools", "refused", text, commands=admin_commands.initialise(cluster, wanted))


def _check_reading(wanted: Pool, cluster: Cluster, findings: Findings) -> None:
    """List the images: every capability with `profile rbd` allows this read."""
    done = cluster.run("rbd", "ls", wanted.spec, check=False, timeout_seconds=TIMEOUT_SECONDS)
    if done.returncode == 0:
        findings.add(
            "user",
            "ok",
            f"{cluster.client} can read {wanted.spec}; creating the first image will show whether it can write",
        )
    elif done.returncode == errno.ENOENT and wanted.namespace:
        commands = admin_commands.namespace(cluster, wanted)
        findings.add("pools", "refused", f"namespace {wanted.spec} does not exist", commands=commands)
    else:
        said = done.stderr.strip().splitlines()[-1:] or ["no message"]
        text = f"{cluster.client} cannot list {wanted.spec}: {said[0]}"
        if done.returncode in (errno.EPERM, errno.EACCES):
            text += f": {OTHER_CAPABILITIES}"
        findings.add("user", "refused", text)


def _device_class(rules: list[Any], rule_id: int) -> str | None:
    rule = next((rule for rule in rules if rule["rule_id"] == rule_id), None)
    taken = [step["item_name"] for step in (rule or {}).get("steps", ()) if step["op"] == "take"]
    return taken[0].split("~")[1] if taken and "~" in taken[0] else None


def _short(version: str) -> str:
    found = re.match(r"ceph version (\S+)", version)
    return found[1] if found else version
