"""Creates one cluster from scratch, with as few consecutive programs as possible."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Callable

from replay.base.programs import Programs
from replay.base.releases import NAMES, major_of
from replay.cluster.sandbox_record import Layout, SandboxCluster, SandboxError
from replay.cluster.session import MonitorSession
from replay.design.sandbox_options import SandboxOptions
from replay.sandbox import conf, daemons
from replay.sandbox.conf import ADDRESS
from replay.sandbox.health import await_clean
from replay.sandbox.processes import daemon_environment
from replay.sandbox.tools import Interrupt, monitors_of, rbd, run

Say = Callable[[str], None]


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


def create(
    cluster: SandboxCluster,
    layout: Layout,
    options: SandboxOptions,
    ceph_version: str,
    interrupt: Interrupt,
    say: Say,
) -> None:
    """Make and start a cluster with its pool. Returns when all placement groups are active+clean.

    `ceph-osd --mkfs` gets the monitor map, so it needs no monitor: all OSDs are made while the monitor starts.
    """
    write_files(cluster, layout, options, ceph_version)
    making = [_make_osd(cluster, layout, osd) for osd in cluster.osd_ids]
    try:
        monitor, manager, *osds = daemons.roles(cluster)
        make_monitor(cluster, layout)
        daemons.start(layout, monitor)
        daemons.await_ready(layout, monitor, interrupt)
        with daemons.hurried(layout, monitor), monitors_of(cluster, layout) as monitors:
            # Before the manager starts: its device health module would otherwise create another pool.
            watching = {"who": "mgr", "name": "mgr/devicehealth/enable_monitoring", "value": "false", "force": True}
            monitors.command({"prefix": "config set", **watching})
            daemons.start(layout, manager)
            _enter_osds(monitors, cluster, options)
            _await_made(making, cluster, layout, interrupt)
            for osd in osds:
                daemons.start(layout, osd)
            say(f"{cluster.name}: monitor, manager and {len(osds)} OSD{'s'[: len(osds) != 1]} started")
            for osd in osds:
                daemons.await_ready(layout, osd, interrupt)
            _create_pool(monitors, cluster, layout)
            await_clean(monitors, cluster, layout, interrupt, healthy=True)
    finally:
        for process in making:
            if process.poll() is None:
                process.kill()
            process.wait()
    say(f"{cluster.name}: all placement groups active+clean")


def new_key(programs: Programs) -> str:
    """Return a new key of the kind that this release uses. Raises SandboxError."""
    return run(programs, ["ceph-authtool", "--gen-print-key"]).strip()


def oldest_monitors(ceph_version: str) -> str:
    """Return the name of the oldest release whose monitors can work with a monitor of this version.

    A monitor that is at most two releases ahead of the oldest one in its map starts; a newer one ends at once.
    """
    major = major_of(ceph_version) or 0
    return NAMES[max((number for number in NAMES if number <= major - 2), default=min(NAMES))]


def write_files(cluster: SandboxCluster, layout: Layout, options: SandboxOptions, ceph_version: str) -> None:
    """Write configuration and keyrings, and create the daemons' folders: private to this user, as they contain keys."""
    name, programs = cluster.name, layout.programs
    folder = layout.cluster(name)
    for each in (
        folder,
        folder / "log",
        folder / "crash",
        *(layout.data(name, r.name) for r in daemons.roles(cluster)),
    ):
        each.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    layout.conf(name).write_text(
        conf.render(
            name=name,
            fsid=cluster.fsid,
            port=cluster.monitor_port,
            layout=layout,
            options=options,
            major=major_of(ceph_version) or 0,
            classes=programs.folder_of("rados-classes"),
        ),
        encoding="utf-8",
    )
    seed, files = conf.keyrings(name, layout, len(cluster.osd_uuids), lambda: new_key(programs))
    for path, text in {**files, folder / "seed.keyring": seed}.items():
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    run(
        programs,
        [
            *("monmaptool", "--create", "--clobber", "--fsid", cluster.fsid),
            *("--addv", name, f"[v2:{ADDRESS}:{cluster.monitor_port}/0]"),
            *("--set-min-mon-release", oldest_monitors(ceph_version), str(folder / "monmap")),
        ],
    )


def make_monitor(cluster: SandboxCluster, layout: Layout) -> None:
    """Make the monitor's store with all keys."""
    folder = layout.cluster(cluster.name)
    run(
        layout.programs,
        [
            *("ceph-mon", "--mkfs", "--conf", str(layout.conf(cluster.name)), "--cluster", cluster.name),
            *("--id", cluster.name, "--monmap", str(folder / "monmap"), "--keyring", str(folder / "seed.keyring")),
            *("--admin-socket", ""),
        ],
    )
    (folder / "seed.keyring").unlink()


def _make_osd(cluster: SandboxCluster, layout: Layout, osd: int) -> subprocess.Popen[bytes]:
    with layout.output(cluster.name, f"osd.{osd}").open("ab") as stream:
        return subprocess.Popen(
            layout.programs.command(
                [
                    *("ceph-osd", "--mkfs", "--no-mon-config", "--conf", str(layout.conf(cluster.name))),
                    *("--cluster", cluster.name, "--id", str(osd), "--osd-uuid", cluster.osd_uuids[osd]),
                    *("--monmap", str(layout.cluster(cluster.name) / "monmap"), "--admin-socket", ""),
                ]
            ),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=daemon_environment(),
        )


def _await_made(
    making: list[subprocess.Popen[bytes]], cluster: SandboxCluster, layout: Layout, interrupt: Interrupt
) -> None:
    for osd, process in enumerate(making):
        log = layout.output(cluster.name, f"osd.{osd}")
        interrupt.wait_until(
            lambda process=process: process.poll() is not None,
            what=f"osd.{osd} of {cluster.name} to be made",
            where=log,
            timeout_seconds=120.0,
        )
        if process.returncode:
            interrupt.pause(0.0)
            told = daemons.told_by(layout, daemons.Role(cluster.name, "osd", str(osd)))
            said, next_step = daemons.explain(told) or (
                daemons.last_words(told),
                "read this file; the usual reason is a full disk or a file system without sparse files",
            )
            raise SandboxError(
                f"ceph-osd --mkfs ended with status {process.returncode}: {said}", where=log, next_step=next_step
            )


def _enter_osds(monitors: MonitorSession, cluster: SandboxCluster, options: SandboxOptions) -> None:
    """Register the OSDs, each with its weight (TiB, as in Ceph) and the device class that fits its settings."""
    size = options.left_osd_bytes if cluster.name == "left" else options.right_osd_bytes
    for osd, identity in enumerate(cluster.osd_uuids):
        if (given := monitors.command({"prefix": "osd new", "uuid": identity, "id": osd}).get("osdid")) != osd:
            raise SandboxError(f"Ceph gave number {given} to OSD {osd}", where=cluster.conf)
        place = {"weight": round(size / (1 << 40), 5), "args": [f"host={cluster.name}", "root=default"]}
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
