"""What is on a cluster and would be missed, or would surprise somebody: to compare before with after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from replay.cluster.cluster import Cluster
from support.administrator import tell

# Keys that Ceph's daemons and modules rewrite by themselves.
VOLATILE_CONFIG_KEYS = ("mgr/", "config-history/", "device/", "mon-last-")


def snapshot(cluster: Cluster) -> dict[str, Any]:
    """Return pools, images with their ids (every namespace), snapshots, users with capabilities, configuration, keys.

    Also mirroring: each pool's mode and peers; the site's name is among the keys.

    `cluster` needs an administrator's user. The answer is plain JSON; equal answers mean an unchanged cluster.
    """
    pools = tell(cluster, "osd pool ls", detail="detail")
    block_pools = [pool["pool_name"] for pool in pools if "rbd" in pool["application_metadata"] and pool["type"] != 3]
    devices = {name: tell(cluster, "facts", target="rbd", pool=name) for name in block_pools}
    return {
        "pools": {
            pool["pool_name"]: [pool["pool_id"], pool["size"], pool["pg_num"], sorted(pool["application_metadata"])]
            for pool in pools
        },
        "crush_rules": dict.fromkeys(tell(cluster, "osd crush rule ls"), "there"),
        "erasure_code_profiles": dict.fromkeys(tell(cluster, "osd erasure-code-profile ls"), "there"),
        "auth": {user["entity"]: user["caps"] | {"key": user["key"]} for user in tell(cluster, "auth ls")["auth_dump"]},
        "config": {
            f"{entry['section']}{entry['mask']}/{entry['name']}": entry["value"]
            for entry in tell(cluster, "config dump")
        },
        "config_keys": {
            key: value
            for key, value in tell(cluster, "config-key dump").items()
            if not key.startswith(VOLATILE_CONFIG_KEYS)
        },
        "osds": {
            node["name"]: [node["crush_weight"], node["reweight"], node["primary_affinity"]]
            for node in tell(cluster, "osd tree")["nodes"]
            if node["type"] == "osd"
        },
        "namespaces": {name: found["namespaces"] for name, found in devices.items()},
        **{kind: _merged(found[kind] for found in devices.values()) for kind in ("mirroring", "images", "trash")},
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


def _merged(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {name: facts for part in parts for name, facts in part.items()}
