"""Ceph's JSON about the placement of data, made up for a test, in the form of release 16.2."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

MIB = 2**20


def placement_files(
    groups: Sequence[Sequence[int]],
    weights: Mapping[int, float],
    *,
    affinity: Mapping[int, float] | None = None,
    objects: int = 10,
    **changes,
) -> dict[str, str]:
    """Return `groups`, `tree` and `usage`: a placement group for each list of OSDs, its primary first.

    `changes` are keys of the first placement group.
    """
    rows = [
        {
            "pgid": f"2.{number:x}",
            "state": "active+clean",
            "up": list(osds),
            "acting": list(osds),
            "up_primary": osds[0],
            "acting_primary": osds[0],
            "stat_sum": {"num_objects": objects, "num_bytes": objects * MIB},
        }
        for number, osds in enumerate(groups)
    ]
    rows[0].update(changes)
    for row in rows:
        if row["stat_sum"] is not None:
            row["stat_sum"] = {"num_object_copies": objects * len(row["acting"]), **row["stat_sum"]}
    buckets = [{"id": -1, "name": "default", "type": "root", "children": [-2]}]
    osds = [
        {
            "id": number,
            "name": f"osd.{number}",
            "type": "osd",
            "crush_weight": weight,
            "reweight": 1,
            "primary_affinity": (affinity or {}).get(number, 1),
        }
        for number, weight in weights.items()
    ]
    usage = [{"id": number, "crush_weight": weight, "kb_used_data": 1024} for number, weight in weights.items()]
    return {
        "groups": json.dumps({"pg_ready": True, "pg_stats": rows}),
        "tree": json.dumps({"nodes": buckets + osds, "stray": []}),
        "usage": json.dumps({"nodes": usage, "stray": []}),
    }
