"""The configuration of a sandbox: its monitors' ports, `ceph.conf`, keyrings, and a stretch cluster's places.

Every deviation from Ceph's defaults is here, with its reason.
"""

from __future__ import annotations

import errno
import random
import socket
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import LOOPBACK, Layout, SandboxCluster, SandboxError
from replay.cluster.session import MonitorSession
from replay.sandbox.tools import run

# Below the ports that Linux gives to outgoing connections (32768 and up), above those of OSDs and managers
# (6800 to 7300).
_FIRST, _LAST = 20000, 29999


def is_free(port: int) -> bool:
    """Return whether a daemon could listen on this port of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As Ceph does: a port in TIME_WAIT is free, one with a listener is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
        return True


def choose(count: int) -> list[int]:
    """Return `count` distinct free ports.

    They are looked for in random order, because two sandboxes that start together would otherwise choose the same port.
    Raises SandboxError if the whole range is taken.
    """
    ports = random.sample(range(_FIRST, _LAST + 1), _LAST + 1 - _FIRST)
    chosen = list(islice(filter(is_free, ports), count))
    if len(chosen) < count:
        raise SandboxError(f"fewer than {count} free ports between {_FIRST} and {_LAST}", where=LOOPBACK)
    return chosen


HEADER = "# Written by Replay's sandbox. `replay sandbox down` removes it.\n"
POOL = "replay"
POOL_PGS = 32
MIRROR_CLIENT = "client.rbd-mirror.right"
YEAR_SECONDS = 365 * 24 * 3600
NETWORK_OF_HOST, NETWORK_OF_LINK = "127.0.0.0/8", "10.77.0.0/24"
_CAPABILITIES = {
    "mgr": {"mon": "allow profile mgr", "osd": "allow *", "mds": "allow *"},
    "osd": {"mon": "allow profile osd", "mgr": "allow profile osd", "osd": "allow *"},
}

# An OSD derives many settings from the kernel's "rotational" flag of the disk, which is arbitrary for virtual disks.
# These are Ceph's own values for solid-state disks, set explicitly so that detection does not matter.
SOLID_STATE = {
    "bluestore_debug_enforce_settings": "ssd",
    "bluestore_min_alloc_size": 4096,
    "bluestore_prefer_deferred_size": 0,
    "bluestore_prefer_deferred_size_hdd": 0,
    "bluestore_prefer_deferred_size_ssd": 0,
    "bluestore_throttle_cost_per_io": 4000,
    "osd_op_num_shards": 8,
    "osd_op_num_threads_per_shard": 2,
    "osd_recovery_sleep_hdd": 0,
    "osd_recovery_max_active_hdd": 10,
    "osd_snap_trim_sleep_hdd": 0,
    "osd_delete_sleep_hdd": 1,
}

# From this release on, an OSD schedules by what it believes that its disk can do. Its release knows these settings.
SCHEDULES_BY_CAPACITY = 18
SOLID_STATE_CAPACITY = {
    "osd_mclock_max_capacity_iops_hdd": 21500,
    "osd_mclock_max_sequential_bandwidth_hdd": 1200 * 1024 * 1024,
}

# A manager loads every module that it finds, whether enabled or not. Nothing in a sandbox uses these; without them a
# manager of 16.2 starts in 1.2 instead of 2.8 seconds of processor time, with 160 instead of 300 MiB of memory.
UNUSED_MGR_MODULES = (
    *("alerts", "cephadm", "dashboard", "diskprediction_local", "feedback", "influx", "insights", "k8sevents"),
    *("localpool", "mds_autoscaler", "mirroring", "nfs", "nvmeof", "osd_perf_query", "osd_support", "prometheus"),
    *("restful", "rgw", "rook", "selftest", "smb", "snap_schedule", "stats", "telegraf", "test_orchestrator", "zabbix"),
)


def render(
    cluster: SandboxCluster, layout: Layout, options: SandboxOptions, major: int, classes: Path | None = None
) -> str:
    """Return a cluster's `ceph.conf`, for its daemons and its clients. All paths are absolute.

    `major` is the number of the release, such as 18. `classes` is the folder of the OSDs' object classes: some builds
    search for it below their working directory.
    """
    name, monitors = cluster.name, addresses_of_monitors(cluster, layout)
    is_left = name == "left"
    replicas = 4 if options.stretch else min(3, options.left_osds if is_left else options.right_osds)
    network = NETWORK_OF_LINK if layout.link else NETWORK_OF_HOST
    # Where a cluster's daemons are on both sites, the network says which address each one has.
    address = {} if options.stretch and layout.link else {"public_addr": layout.address(name)}
    folder, run = layout.cluster(name), layout.run
    sections: dict[str, dict[str, object]] = {
        "global": {
            "fsid": cluster.fsid,
            "mon_host": ",".join(monitors.values()),
            "ms_bind_msgr1": "false",
            "ms_bind_ipv6": "false",
            "public_network": network,
            "cluster_network": network,
            "run_dir": run,
            "crash_dir": folder / "crash",
            "osd_pool_default_size": replicas,
            "osd_pool_default_min_size": min(2, replicas),
            "osd_pool_default_pg_num": POOL_PGS,
            "osd_pool_default_pgp_num": POOL_PGS,
            "osd_pool_default_pg_autoscale_mode": "off",
            # All OSDs are on one host, so replicas are spread over OSDs.
            "osd_crush_chooseleaf_type": 0,
            "auth_allow_insecure_global_id_reclaim": "false",
        },
        "mon": {
            "mon_data": f"{folder}/mon.$id",
            "log_file": f"{folder}/log/mon.$id.log",
            "admin_socket": f"{run}/{name}-mon.$id.asok",
            "mon_cluster_log_file": f"{folder}/log/cluster.log",
            "mon_initial_members": ",".join(monitors),
            "mon_allow_pool_delete": "true",
            "mon_allow_pool_size_one": "true",
            "mon_data_avail_warn": 2,
            "mon_data_avail_crit": 1,
        },
        "mgr": {
            "mgr_data": f"{folder}/mgr.$id",
            "log_file": f"{folder}/log/mgr.$id.log",
            "admin_socket": f"{run}/{name}-mgr.$id.asok",
            **address,
            "mgr_initial_modules": "iostat",
            "mgr_disabled_modules": ",".join(UNUSED_MGR_MODULES),
        },
        "osd": {
            "osd_data": f"{folder}/osd.$id",
            "log_file": f"{folder}/log/osd.$id.log",
            "admin_socket": f"{run}/{name}-osd.$id.asok",
            **address,
            **({"cluster_addr": layout.address(name)} if address else {}),
            **({"osd_class_dir": classes} if classes else {}),
            "osd_objectstore": "bluestore",
            "bluestore_block_create": "true",
            "bluestore_block_size": options.left_osd_bytes if is_left else options.right_osd_bytes,
            "osd_memory_target": options.osd_memory_target_bytes,
            # Weights and device classes are set once, at creation: a restart must not undo an experiment's.
            "osd_crush_update_on_start": "false",
            "osd_class_update_on_start": "false",
            # Scrubbing would disturb measurements, and a sandbox lives for hours only: it never becomes due.
            "osd_scrub_min_interval": YEAR_SECONDS,
            "osd_scrub_max_interval": 2 * YEAR_SECONDS,
            "osd_deep_scrub_interval": 2 * YEAR_SECONDS,
            **SOLID_STATE,
            **(SOLID_STATE_CAPACITY if major >= SCHEDULES_BY_CAPACITY else {}),
        },
        "client": {"keyring": layout.keyring(name)},
    }
    if not is_left:
        sections[MIRROR_CLIENT] = {
            "log_file": layout.log(name, "rbd-mirror"),
            "admin_socket": f"{run}/$cluster-$name.$pid.$cctid.asok",
            # How soon the daemon notices a pool that an experiment has added (default 30 s).
            "rbd_mirror_pool_replayers_refresh_interval": 5,
            # How soon another daemon replaces a killed one (by default three missed beats of 5 s, three times).
            "rbd_mirror_leader_heartbeat_interval": 1,
        }
    return HEADER + "".join(_section(title, settings) for title, settings in sections.items())


def render_peer(layout: Layout) -> str:
    """Return the configuration file that rbd-mirror reads for its remote cluster: only the paths of log and socket.

    The bootstrap gives the peer's address and key. Without this file the socket would be created in /var/run/ceph.
    """
    return HEADER + _section(
        "global",
        {
            "run_dir": layout.run,
            "log_file": layout.log("right", "rbd-mirror-peer"),
            "admin_socket": f"{layout.run}/$cluster-$name.$pid.$cctid.asok",
        },
    )


def _section(title: str, settings: dict[str, object]) -> str:
    return f"\n[{title}]\n" + "".join(f"{key} = {value}\n" for key, value in settings.items())


def addresses_of_monitors(cluster: SandboxCluster, layout: Layout) -> dict[str, str]:
    """Return the address of each monitor, as ceph.conf and the monitors' map have it, by its id."""
    if not cluster.monitor_ports:
        return {cluster.name: f"[v2:{layout.address(cluster.name)}:{cluster.monitor_port}/0]"}
    return {
        monitor: f"[v2:{layout.address(cluster.sites[f'mon.{monitor}'])}:{port}/0]"
        for monitor, port in cluster.monitor_ports.items()
    }


def keyrings(
    name: str, layout: Layout, daemons: Sequence[str], new_key: Callable[[], str]
) -> tuple[str, dict[Path, str]]:
    """Return the keyring with which monitors are created, and the keyring files of other daemons and of clients.

    `daemons` are Ceph's names of the managers and OSDs. The monitors' keyring contains every key with its capabilities,
    so no `ceph auth` command is needed afterwards. `new_key` makes a key.
    """
    capabilities = {
        "mon.": {"mon": "allow *"},
        "client.admin": {"mon": "allow *", "mgr": "allow *", "osd": "allow *", "mds": "allow *"},
    }
    for daemon in daemons:
        capabilities[daemon] = dict(_CAPABILITIES[daemon.partition(".")[0]])
    clients = ["client.admin"]
    if name == "right":
        capabilities[MIRROR_CLIENT] = {"mon": "profile rbd-mirror", "mgr": "profile rbd", "osd": "profile rbd"}
        clients.append(MIRROR_CLIENT)
    keys = {entity: new_key() for entity in capabilities}
    seed = "".join(
        f"[{entity}]\n\tkey = {keys[entity]}\n" + "".join(f'\tcaps {on} = "{what}"\n' for on, what in caps.items())
        for entity, caps in capabilities.items()
    )
    files = {layout.keyring(name): "".join(f"[{each}]\n\tkey = {keys[each]}\n" for each in clients)}
    for daemon in daemons:
        files[layout.data(name, daemon) / "keyring"] = f"[{daemon}]\n\tkey = {keys[daemon]}\n"
    return seed, files


# A stretch cluster: one cluster over both sites that writes synchronously, with a tiebreaker monitor ------------------
#
# Each site has a monitor and half of the OSDs; the tiebreaker and the manager are on the second site, which survives
# the loss of the first. Every write is acknowledged by OSDs of both sites. See
# https://docs.ceph.com/en/latest/rados/operations/stretch-mode/.

_SITES = ("left", "right")
_TIEBREAKER = "tiebreaker"
_RULE, _RULE_ID = "stretch_rule", 1
#: Up to this release a rule says for how many copies it is.
_RULES_HAVE_SIZES = 16
_END = "# end crush map"


def spread(cluster: SandboxCluster, ports: list[int]) -> SandboxCluster:
    """Spread a cluster that does not exist yet over both sites; `ports` are for its three monitors."""
    monitors = dict(zip((*_SITES, _TIEBREAKER), ports, strict=True))
    per_site = len(cluster.osd_uuids) // len(_SITES)
    cluster.monitor_ports = monitors
    cluster.sites = {f"mon.{name}": "left" if name == "left" else "right" for name in monitors}
    cluster.sites |= {"mgr.right": "right"}
    cluster.sites |= {f"osd.{osd}": _SITES[osd // per_site] for osd in cluster.osd_ids}
    return cluster


def place_of(cluster: SandboxCluster, osd: str) -> list[str]:
    """Return where an OSD is in the CRUSH map. On a stretch cluster each is a host of its own in its data centre."""
    if osd not in cluster.sites:
        return [f"host={cluster.name}", "root=default"]
    site = cluster.sites[osd]
    return [f"host={site}-{osd.replace('.', '-')}", f"datacenter={site}", "root=default"]


def prepare_stretch_mode(monitors: MonitorSession, cluster: SandboxCluster, layout: Layout, major: int) -> None:
    """Make the rule that keeps two copies on each site, and say where the monitors are."""
    programs, folder = layout.programs_at(cluster.name), layout.cluster(cluster.name)
    ceph = ["ceph", "--conf", cluster.conf, "osd"]
    compiled, text = folder / "crush.map", folder / "crush.txt"
    run(programs, [*ceph, "getcrushmap", "-o", str(compiled)])
    run(programs, ["crushtool", "--decompile", str(compiled), "--outfn", str(text)])
    text.write_text(with_rule(text.read_text(encoding="utf-8"), major), encoding="utf-8")
    run(programs, ["crushtool", "--compile", str(text), "--outfn", str(compiled)])
    run(programs, [*ceph, "setcrushmap", "-i", str(compiled)])
    for path in (compiled, text):
        path.unlink()
    rule = {"who": "global", "name": "osd_pool_default_crush_rule", "value": str(_RULE_ID)}
    monitors.command({"prefix": "config set", **rule})
    monitors.command({"prefix": "mon set election_strategy", "strategy": "connectivity"})
    for name in cluster.monitor_ports:
        monitors.command({"prefix": "mon set_location", "name": name, "args": [f"datacenter={name}"]})


def with_rule(crush_map: str, major: int) -> str:
    """Return the text of a CRUSH map with the rule: two copies in each data centre, on different hosts."""
    sizes = ["min_size 1", "max_size 10"] if major <= _RULES_HAVE_SIZES else []
    steps = ["take default", "choose firstn 0 type datacenter", "chooseleaf firstn 2 type host", "emit"]
    lines = [f"id {_RULE_ID}", "type replicated", *sizes, *(f"step {step}" for step in steps)]
    rule = f"rule {_RULE} {{\n" + "".join(f"\t{line}\n" for line in lines) + "}\n\n"
    # The compiler wants this line to be the last one.
    return crush_map.replace(_END, rule + _END)


def enable_stretch_mode(monitors: MonitorSession) -> None:
    """Switch stretch mode on: pools get four copies, and a write needs an OSD of each site."""
    how = {"tiebreaker_mon": _TIEBREAKER, "new_crush_rule": _RULE, "dividing_bucket": "datacenter"}
    monitors.command({"prefix": "mon enable_stretch_mode", **how})
