"""Creates the clusters of a sandbox, and waits until they are fit for use.

A cluster is made with as few consecutive programs as possible. Whether it is ready, its current daemons say.
"""

from __future__ import annotations

import contextlib
import subprocess
import uuid
from collections.abc import Sequence
from typing import Any

from replay.base.clock import seconds_of
from replay.base.programs import NAMES, major_of
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import Layout, Sandbox, SandboxCluster, SandboxError
from replay.cluster.session import MonitorSession
from replay.sandbox import conf, daemons, processes
from replay.sandbox.processes import daemon_environment
from replay.sandbox.tools import Interrupt, Say, monitors_of, rbd, run


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
    warnings = "; ".join(
        f"{code}: {check['summary']['message']}" for code, check in checks.items() if not check.get("muted")
    )
    health = f"{status['health']['status']}{f' ({warnings})' if warnings else ''}"
    return f"{health}, {clean} of {pgs['num_pgs']} PGs active+clean"


def await_clean(
    monitors: MonitorSession,
    cluster: SandboxCluster,
    layout: Layout,
    interrupt: Interrupt,
    *,
    healthy: bool,
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
        return all_clean and all_up and (not healthy or is_well(latest))

    interrupt.wait_until(
        ready,
        what=f"{cluster.name} to be clean",
        where=layout.cluster(cluster.name) / "log",
        every=0.45,
        seen=lambda: describe(latest),
    )
    return describe(latest)


def await_manager(monitors: MonitorSession, cluster: SandboxCluster, layout: Layout, interrupt: Interrupt) -> None:
    """Wait until the current manager reports the placement groups.

    After a restart the monitors repeat the previous manager's last report, which may be "all active+clean". The current
    one became active after its process had started, and its own placement groups are unknown until the OSDs have
    reported. (Its address tells the two apart no longer: it contains the pid in release 16, a random number in 18.)
    """
    role = next(role for role in daemons.roles(cluster) if role.type == "mgr")

    def reports() -> bool:
        process = daemons.running(layout, role)
        known = monitors.command({"prefix": "mgr dump"})
        if process and known["available"] and seconds_of(known["active_change"]) >= processes.started_at(process):
            summary = monitors.command({"prefix": "pg stat"})["pg_summary"]
            clean = count_clean(summary["num_pg_by_state"], "name", "num")
            return 0 < clean == summary["num_pgs"]
        return False

    interrupt.wait_until(
        reports,
        what=f"{cluster.name}'s manager to see all placement groups active+clean",
        where=layout.log(cluster.name, role.name),
        every=0.45,
    )


def plan(name: str, port: int, osd_count: int, layout: Layout) -> SandboxCluster:
    """Return a cluster that does not exist yet, with fresh identities."""
    return SandboxCluster(
        name=name,
        fsid=str(uuid.uuid4()),
        conf=str(layout.conf(name)),
        keyring=str(layout.keyring(name)),
        monitor_port=port,
        osd_uuids=[str(uuid.uuid4()) for _ in range(osd_count)],
        run_dir=str(layout.run),
    )


def create(cluster: SandboxCluster, sandbox: Sandbox, interrupt: Interrupt, say: Say) -> None:
    """Make and start a cluster with its pool. Returns when all placement groups are active+clean.

    `ceph-osd --mkfs` gets the monitor map, so it needs no monitor: all OSDs are made while the monitors start.
    """
    layout, options = sandbox.layout, sandbox.options
    roles = daemons.roles(cluster)
    own_monitors, (manager,), osds = ([role for role in roles if role.type == kind] for kind in ("mon", "mgr", "osd"))
    write_files(cluster, sandbox)
    making = [_make_osd(cluster, layout, osd) for osd in osds]
    try:
        make_monitors(cluster, layout, own_monitors)
        for monitor in own_monitors:
            daemons.start(layout, monitor)
        for monitor in own_monitors:
            daemons.await_ready(layout, monitor, interrupt)
        with contextlib.ExitStack() as stack, monitors_of(cluster, layout) as monitors:
            for monitor in own_monitors:
                stack.enter_context(daemons.hurried(layout, monitor))
            # Before the manager starts: its device health module would otherwise create another pool.
            watching = {"who": "mgr", "name": "mgr/devicehealth/enable_monitoring", "value": "false", "force": True}
            monitors.command({"prefix": "config set", **watching})
            daemons.start(layout, manager)
            _enter_osds(monitors, cluster, options)
            _await_made(making, osds, layout, interrupt)
            for osd in osds:
                daemons.start(layout, osd)
            say(f"{cluster.name}: monitor, manager and {len(osds)} OSD{'s'[: len(osds) != 1]} started")
            for osd in osds:
                daemons.await_ready(layout, osd, interrupt)
            if options.stretch:
                conf.prepare_stretch_mode(monitors, cluster, layout, major_of(sandbox.ceph_version) or 0)
            _create_pool(monitors, cluster, layout)
            await_clean(monitors, cluster, layout, interrupt, healthy=not options.stretch)
            if options.stretch:
                conf.enable_stretch_mode(monitors)
                await_clean(monitors, cluster, layout, interrupt, healthy=True)
                say(f"{cluster.name}: stretch mode over both sites")
    finally:
        for process in making:
            if process.poll() is None:
                process.kill()
            process.wait()
    say(f"{cluster.name}: all placement groups active+clean")


def oldest_monitors(major: int) -> str:
    """Return the name of the oldest release whose monitors can work with a monitor of the release `major`.

    A monitor that is at most two releases ahead of the oldest one in its map starts; a newer one ends at once.
    """
    return NAMES[min(max(major - 2, min(NAMES)), max(NAMES))]


def write_files(cluster: SandboxCluster, sandbox: Sandbox) -> None:
    """Write configuration and keyrings, and create the daemons' folders: private to this user, as they contain keys."""
    name, layout = cluster.name, sandbox.layout
    programs, major = layout.programs, major_of(sandbox.ceph_version) or 0
    folder = layout.cluster(name)
    data = [layout.data(name, role.name) for role in daemons.roles(cluster)]
    for each in (folder / "log", folder / "crash", *data):
        each.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    classes = programs.folder_of("rados-classes")
    text = conf.render(cluster, layout, sandbox.options, major, classes)
    layout.conf(name).write_text(text, encoding="utf-8")
    names = [role.name for role in daemons.roles(cluster) if role.type != "mon"]
    make_key = ["ceph-authtool", "--gen-print-key"]  # of the kind that this release uses
    seed, files = conf.keyrings(name, layout, names, lambda: run(programs, make_key).strip())
    for path, text in {**files, folder / "seed.keyring": seed}.items():
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    run(
        programs,
        [
            *("monmaptool", "--create", "--clobber", "--fsid", cluster.fsid),
            *(word for each in conf.addresses_of_monitors(cluster, layout).items() for word in ("--addv", *each)),
            *("--set-min-mon-release", oldest_monitors(major), str(folder / "monmap")),
        ],
    )


def make_monitors(cluster: SandboxCluster, layout: Layout, monitors: Sequence[daemons.Role]) -> None:
    """Make each monitor's store with all keys."""
    folder = layout.cluster(cluster.name)
    for monitor in monitors:
        run(
            layout.programs_at(monitor.site),
            [
                *("ceph-mon", "--mkfs", "--conf", str(layout.conf(cluster.name)), "--cluster", cluster.name),
                *("--id", monitor.id, "--monmap", str(folder / "monmap"), "--keyring", str(folder / "seed.keyring")),
                *("--admin-socket", ""),
            ],
        )
    (folder / "seed.keyring").unlink()


def _make_osd(cluster: SandboxCluster, layout: Layout, osd: daemons.Role) -> subprocess.Popen[bytes]:
    with layout.output(cluster.name, osd.name).open("ab") as stream:
        return subprocess.Popen(
            layout.programs_at(osd.site).command(
                [
                    *("ceph-osd", "--mkfs", "--no-mon-config", "--conf", str(layout.conf(cluster.name))),
                    *("--cluster", cluster.name, "--id", osd.id, "--osd-uuid", cluster.osd_uuids[int(osd.id)]),
                    *("--monmap", str(layout.cluster(cluster.name) / "monmap"), "--admin-socket", ""),
                ]
            ),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=daemon_environment(),
        )


def _await_made(
    making: list[subprocess.Popen[bytes]], osds: Sequence[daemons.Role], layout: Layout, interrupt: Interrupt
) -> None:
    for osd, process in zip(osds, making, strict=True):
        log = layout.output(osd.cluster, osd.name)
        interrupt.wait_until(
            lambda process=process: process.poll() is not None,
            what=f"{osd.name} of {osd.cluster} to be made",
            where=log,
        )
        if process.returncode:
            interrupt.pause(0.0)
            raise daemons.ended(
                layout,
                osd,
                f"ceph-osd --mkfs ended with status {process.returncode}",
                log,
                "read this file; the usual reason is a full disk or a file system without sparse files",
            )


def _enter_osds(monitors: MonitorSession, cluster: SandboxCluster, options: SandboxOptions) -> None:
    """Register the OSDs, each with its weight (TiB, as in Ceph) and the device class that fits its settings."""
    size = options.left_osd_bytes if cluster.name == "left" else options.right_osd_bytes
    for osd, identity in enumerate(cluster.osd_uuids):
        if (given := monitors.command({"prefix": "osd new", "uuid": identity, "id": osd}).get("osdid")) != osd:
            raise SandboxError(f"Ceph gave number {given} to OSD {osd}", where=cluster.conf)
        place = {"weight": round(size / (1 << 40), 5), "args": conf.place_of(cluster, f"osd.{osd}")}
        monitors.command({"prefix": "osd crush add", "id": osd, **place})
        monitors.command({"prefix": "osd crush set-device-class", "class": "ssd", "ids": [f"osd.{osd}"]})


def _create_pool(monitors: MonitorSession, cluster: SandboxCluster, layout: Layout) -> None:
    groups = {"pg_num": conf.POOL_PGS, "pgp_num": conf.POOL_PGS}
    monitors.command({"prefix": "osd pool create", "pool": conf.POOL, **groups, "pool_type": "replicated"})
    monitors.command({"prefix": "osd pool application enable", "pool": conf.POOL, "app": "rbd"})
    if len(cluster.osd_uuids) == 1:
        # One OSD can hold only one replica. `ceph status` shows the mute.
        monitors.command({"prefix": "health mute", "code": "POOL_NO_REDUNDANCY", "sticky": True})
    rbd(layout, cluster.name, "pool", "init", conf.POOL)
