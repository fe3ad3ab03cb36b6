"""What is on a cluster and would be missed, or would surprise somebody: to compare before with after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession

# Keys that Ceph's daemons and modules rewrite by themselves.
VOLATILE_CONFIG_KEYS = ("mgr/", "config-history/", "device/", "mon-last-")


def snapshot(cluster: Cluster) -> dict[str, Any]:
    """Return pools, images with their ids (every namespace), snapshots, users with capabilities, configuration, keys.

    Also mirroring: each pool's mode and peers; the site's name is among the keys.

    `cluster` needs an administrator's user. The answer is plain JSON; equal answers mean an unchanged cluster.
    """
    with MonitorSession(cluster) as session:
        pools = session.command({"prefix": "osd pool ls", "detail": "detail"})
        tree = session.command({"prefix": "osd tree"})["nodes"]
        found = {
            "pools": {
                pool["pool_name"]: [pool["pool_id"], pool["size"], pool["pg_num"], sorted(pool["application_metadata"])]
                for pool in pools
            },
            "crush_rules": dict.fromkeys(session.command({"prefix": "osd crush rule ls"}), "there"),
            "erasure_code_profiles": dict.fromkeys(session.command({"prefix": "osd erasure-code-profile ls"}), "there"),
            "auth": {
                user["entity"]: user["caps"] | {"key": user["key"]}
                for user in session.command({"prefix": "auth ls"})["auth_dump"]
            },
            "config": {
                f"{entry['section']}{entry['mask']}/{entry['name']}": entry["value"]
                for entry in session.command({"prefix": "config dump"})
            },
            "config_keys": {
                key: value
                for key, value in session.command({"prefix": "config-key dump"}).items()
                if not key.startswith(VOLATILE_CONFIG_KEYS)
            },
            "osds": {
                node["name"]: [node["crush_weight"], node["reweight"], node["primary_affinity"]]
                for node in tree
                if node["type"] == "osd"
            },
        }
    block_pools = [pool["pool_name"] for pool in pools if "rbd" in pool["application_metadata"] and pool["type"] != 3]
    namespaces = {name: [each["name"] for each in cluster.json("rbd", "namespace", "ls", name)] for name in block_pools}
    return found | {
        "namespaces": namespaces,
        "mirroring": {
            spec: _mirroring(cluster, spec)
            for name in block_pools
            for spec in [name, *(f"{name}/{each}" for each in namespaces[name])]
        },
        "images": {spec: facts for name in block_pools for spec, facts in _images(cluster, name, namespaces[name])},
        "trash": {
            name: [each["id"] for each in cluster.json("rbd", "trash", "ls", "--all", name)] for name in block_pools
        },
    }


def taken(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a line for each thing that is gone or altered; new things are left out."""
    return [line for line in difference(before, after) if " is new: " not in line]


def difference(before: dict[str, Any], after: dict[str, Any], path: str = "") -> list[str]:
    """Return a line for each thing that differs, so that a failing test names it."""
    if isinstance(before, dict) and isinstance(after, dict):
        lines = []
        for key in sorted({*before, *after}):
            if key not in before:
                lines.append(f"{path}/{key} is new: {after[key]}")
            elif key not in after:
                lines.append(f"{path}/{key} is gone: {before[key]}")
            else:
                lines += difference(before[key], after[key], f"{path}/{key}")
        return lines
    return [] if before == after else [f"{path}: {before} became {after}"]


def _mirroring(cluster: Cluster, spec: str) -> list[Any]:
    info = cluster.json("rbd", "mirror", "pool", "info", spec)
    return [info["mode"], sorted(peer["uuid"] for peer in info.get("peers", []))]


def _images(cluster: Cluster, pool: str, namespaces: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for where in [pool, *(f"{pool}/{namespace}" for namespace in namespaces)]:
        for name in cluster.json("rbd", "ls", where):
            spec = f"{where}/{name}"
            info = cluster.json("rbd", "info", spec)
            snapshots = cluster.json("rbd", "snap", "ls", "--all", spec) if info["snapshot_count"] else []
            yield (
                spec,
                {
                    "id": info["id"],
                    "size": info["size"],
                    "features": sorted(info["features"]),
                    "mirroring": info.get("mirroring", {}).get("state", "disabled"),
                    "snapshots": [each["name"] for each in snapshots],
                },
            )
