"""What a cluster holds that a person would miss or be surprised by: for comparing before with after."""

from __future__ import annotations

import json
from typing import Any

from replay.ceph.cluster import CephCommandError, Cluster

# Keys that Ceph's own daemons and modules rewrite by themselves while nobody does anything.
VOLATILE_CONFIG_KEYS = ("mgr/", "config-history/", "device/", "mon-last-")


def snapshot(cluster: Cluster) -> dict[str, Any]:
    """Return pools, images with their ids (every namespace), snapshots, users with capabilities, configuration, keys.

    `cluster` needs an administrator's user. The answer is plain JSON; equal answers mean an unchanged cluster.
    """
    pools = cluster.json("ceph", "osd", "pool", "ls", "detail")
    return {
        "pools": {
            pool["pool_name"]: [pool["pool_id"], pool["size"], pool["pg_num"], sorted(pool["application_metadata"])]
            for pool in pools
        },
        "namespaces": {pool["pool_name"]: _namespaces(cluster, pool) for pool in pools},
        "images": {spec: facts for pool in pools for spec, facts in _images(cluster, pool).items()},
        "trash": {pool["pool_name"]: _trash(cluster, pool) for pool in pools},
        "crush_rules": sorted(cluster.json("ceph", "osd", "crush", "rule", "ls")),
        "erasure_code_profiles": sorted(cluster.json("ceph", "osd", "erasure-code-profile", "ls")),
        "auth": {
            user["entity"]: user["caps"] | {"key": user["key"]}
            for user in cluster.json("ceph", "auth", "ls")["auth_dump"]
        },
        "config": sorted(
            [e["section"], e["mask"], e["name"], e["value"]] for e in cluster.json("ceph", "config", "dump")
        ),
        "config_keys": _config_keys(cluster),
        "osds": [[o["id"], o["crush_weight"], o["reweight"], o["primary_affinity"]] for o in _osds(cluster)],
    }


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


def _namespaces(cluster: Cluster, pool: dict[str, Any]) -> list[str]:
    if "rbd" not in pool["application_metadata"] or pool["type"] == 3:
        return []
    return [each["name"] for each in cluster.json("rbd", "namespace", "ls", pool["pool_name"])]


def _images(cluster: Cluster, pool: dict[str, Any]) -> dict[str, Any]:
    if "rbd" not in pool["application_metadata"] or pool["type"] == 3:
        return {}
    found = {}
    for namespace in ["", *_namespaces(cluster, pool)]:
        where = f"{pool['pool_name']}/{namespace}" if namespace else pool["pool_name"]
        for name in cluster.json("rbd", "ls", where):
            info = cluster.json("rbd", "info", f"{where}/{name}")
            snapshots = cluster.json("rbd", "snap", "ls", "--all", f"{where}/{name}")
            mirroring = info.get("mirroring", {}).get("state", "disabled")
            found[f"{where}/{name}"] = {
                "id": info["id"],
                "size": info["size"],
                "features": sorted(info["features"]),
                "mirroring": mirroring,
                "snapshots": [each["name"] for each in snapshots],
            }
    return found


def _trash(cluster: Cluster, pool: dict[str, Any]) -> list[str]:
    if "rbd" not in pool["application_metadata"] or pool["type"] == 3:
        return []
    return [each["id"] for each in cluster.json("rbd", "trash", "ls", "--all", pool["pool_name"])]


def _config_keys(cluster: Cluster) -> dict[str, str]:
    keys = json.loads(cluster.run("ceph", "config-key", "ls").stdout)
    found = {}
    for key in keys:
        if key.startswith(VOLATILE_CONFIG_KEYS):
            continue
        try:
            found[key] = cluster.run("ceph", "config-key", "get", key).stdout
        except CephCommandError:  # it went away between the two questions
            found[key] = "unreadable"
    return found


def _osds(cluster: Cluster) -> list[dict[str, Any]]:
    tree = cluster.json("ceph", "osd", "tree")["nodes"]
    return sorted((node for node in tree if node["type"] == "osd"), key=lambda node: node["id"])
