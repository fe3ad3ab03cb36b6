"""Where a pool's placement groups, primaries and bytes are, by Ceph's JSON, compared with the OSDs' weights. Pure.

`groups` is `ceph pg ls-by-pool`, `tree` is `ceph osd tree`, `usage` is `ceph osd df`. An OSD's fair share is its CRUSH
weight divided by the sum of all weights. A deviation is what the OSD has divided by its fair share, minus 1: 0.1 means
10 % more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from replay.tools.base import Place, Reader, Result, Run, read_json
from replay.tools.rados_bench import TOOL as RADOS

ROLES = {"groups": "placement-groups.json", "tree": "osd-tree.json", "usage": "osd-df.json"}
_STABLE = {"active", "clean"}


@dataclass(frozen=True)
class PlacedOsd:
    """An OSD that holds data."""

    number: int
    weight: float
    primary_affinity: float
    used_bytes: float


@dataclass(frozen=True)
class Group:
    """A placement group: the OSDs that hold it, the one that clients talk to, and its objects."""

    name: str
    osds: tuple[int, ...]
    primary: int
    objects: float
    bytes: float


def last_osd(numbers: Iterable[int]) -> int:
    """Return the OSD whose weight or affinity a placement experiment changes: the one with the highest number."""
    return max(numbers)


def read_placement(outputs: Mapping[str, str], names: Mapping[str, str]) -> tuple[list[PlacedOsd], list[Group]]:
    """Return the OSDs, by number, and the pool's placement groups. Raises OutputError unless the pool is stable."""
    tree, usage, groups = (
        read_json(outputs.get(role, ""), names.get(role, role)) for role in ("tree", "usage", "groups")
    )
    # A bucket of the tree has no number, and every node of `osd df` is an OSD.
    placed = {
        node.value["id"]: node
        for node in tree.rows("nodes")
        if node.at("type").value == "osd" and node.number("crush_weight")
    }
    used = {node.at("id").value: node for node in usage.rows("nodes")}
    if missing := placed.keys() - used.keys():
        usage.refuse(f"osd.{min(missing)} is in the tree, but not in osd df")
    osds = [
        PlacedOsd(
            number,
            node.number("crush_weight"),
            node.number("primary_affinity"),
            used[number].number("kb_used_data") * 1024,
        )
        for number, node in sorted(placed.items())
    ]
    rows = [_group(row, set(placed)) for row in groups.rows("pg_stats")]
    if not rows:
        groups.refuse("no placement group", reason="incomplete")
    return osds, rows


def values_of(osds: list[PlacedOsd], groups: list[Group]) -> dict[int, dict[str, float]]:
    """Return the values of each OSD by its number."""
    copies = Counter(osd for group in groups for osd in group.osds)
    primaries = Counter(group.primary for group in groups)
    held: Counter[int] = Counter()
    for group in groups:
        for osd in group.osds:
            held[osd] += group.bytes
    weights = math.fsum(osd.weight for osd in osds)
    by_osd = {}
    for osd in osds:
        share = osd.weight / weights
        values = {
            "crush_weight": osd.weight,
            "weight_share": share,
            "primary_affinity": osd.primary_affinity,
            "used_bytes": osd.used_bytes,
        }
        for name, counted in (("placement_groups", copies), ("primaries", primaries), ("bytes", held)):
            values[name] = float(counted[osd.number])
            if total := sum(counted.values()):
                values[f"{name}_deviation"] = counted[osd.number] / total / share - 1
        by_osd[osd.number] = values
    return by_osd


def placement_metrics(of_osds: Mapping[int, Mapping[str, float]]) -> dict[str, float]:
    """Return a cell's metrics: what the last OSD holds, and the largest deviations of any OSD."""
    chosen = of_osds[last_osd(of_osds)]
    metrics = {f"last_osd_{name}": chosen[name] for name in ("placement_groups", "primaries", "bytes", "weight_share")}
    for name in ("placement_groups", "primaries", "bytes"):
        deviations = [abs(of_osd[f"{name}_deviation"]) for of_osd in of_osds.values() if f"{name}_deviation" in of_osd]
        if deviations:
            metrics[f"{name}_deviation_worst"] = max(deviations)
    return metrics


def _group(row: Place, osds: set[int]) -> Group:
    stated = row.value
    name, state, acting = stated["pgid"], stated["state"], stated["acting"]
    if set(state.split("+")) != _STABLE:
        row.refuse(f"placement group {name} is {state}")
    if (acting, stated["acting_primary"]) != (stated["up"], stated["up_primary"]):
        row.refuse(f"placement group {name} is on its way to other OSDs")
    if not set(acting) <= osds:
        row.refuse(f"placement group {name} lies on OSDs {acting}, not all of them in the tree")
    held = row.object("stat_sum")
    return Group(name, tuple(acting), stated["acting_primary"], held.number("num_objects"), held.number("num_bytes"))


class Placement(Reader):
    """Reads a cell, whose tool is `rados bench`."""

    name = "placement"

    def read(self, run: Run) -> Result:
        """Parse the run's output, and `groups`, `tree` and `usage` into entities: `osd` and `placement_group`.

        Metrics besides the tool's: `last_osd_placement_groups`, `…_primaries`, `…_bytes` and `…_weight_share`, of the
        OSD with the highest number; `placement_groups_deviation_worst` and others, the largest deviation of any OSD.
        """
        of_tool = {role: text for role, text in run.texts.items() if role not in ROLES}
        result = RADOS.read(replace(run, texts=of_tool))
        osds, groups = read_placement(run.texts, run.names)
        of_osds = values_of(osds, groups)
        entities = [
            ("osd", str(number), metric, value)
            for number, values in of_osds.items()
            for metric, value in values.items()
        ]
        for group in groups:
            values = {"bytes": group.bytes, "objects": group.objects, "primary": float(group.primary)}
            entities += [("placement_group", group.name, metric, value) for metric, value in values.items()]
        metrics = {**result.metrics, **placement_metrics(of_osds)} if result.complete else {}
        return replace(result, metrics=metrics, entities=tuple(entities))


PLACEMENT = Placement()
