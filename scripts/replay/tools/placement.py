"""Where a pool's placement groups, primaries and bytes are, by Ceph's JSON, compared with the OSDs' weights. Pure.

`groups` is `ceph pg ls-by-pool`, `tree` is `ceph osd tree`, `usage` is `ceph osd df`. An OSD's fair share is its CRUSH
weight divided by the sum of all weights. A deviation is what the OSD has divided by its fair share, minus 1: 0.1 means
10 % more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from replay.tools.base import Place, Reader, Result, Run, read_json
from replay.tools.rados_bench import TOOL as RADOS

ROLES = {"groups": "placement-groups.json", "tree": "osd-tree.json", "usage": "osd-df.json"}
_STABLE = {"active", "clean"}

Values = dict[str, float]


def read_placement(outputs: Mapping[str, str], names: Mapping[str, str]) -> tuple[dict[int, Values], dict[str, Values]]:
    """Return the values of each OSD that holds data, by its number, and of the pool's placement groups, by name.

    Raises OutputError unless the pool is stable.
    """
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
    weights = math.fsum(node.number("crush_weight") for node in placed.values())
    of_osds = {
        number: {
            "crush_weight": node.number("crush_weight"),
            "weight_share": node.number("crush_weight") / weights,
            "primary_affinity": node.number("primary_affinity"),
            "used_bytes": used[number].number("kb_used_data") * 1024,
        }
        for number, node in sorted(placed.items())
    }
    rows = groups.rows("pg_stats")
    if not rows:
        groups.refuse("no placement group", reason="incomplete")
    copies: Counter[int] = Counter()
    primaries: Counter[int] = Counter()
    held: Counter[int] = Counter()
    of_groups = {}
    for row in rows:
        _check_stable(row, set(placed))
        stated, sums = row.value, row.object("stat_sum")
        values = {"bytes": sums.number("num_bytes"), "objects": sums.number("num_objects")}
        of_groups[stated["pgid"]] = {**values, "primary": float(stated["acting_primary"])}
        copies.update(stated["acting"])
        primaries[stated["acting_primary"]] += 1
        for osd in stated["acting"]:
            held[osd] += values["bytes"]
    for number, values in of_osds.items():
        for name, counted in (("placement_groups", copies), ("primaries", primaries), ("bytes", held)):
            values[name] = float(counted[number])
            if total := sum(counted.values()):
                values[f"{name}_deviation"] = counted[number] / total / values["weight_share"] - 1
    return of_osds, of_groups


def placement_metrics(of_osds: Mapping[int, Values]) -> dict[str, float]:
    """Return a cell's metrics: what the last OSD holds, and the largest deviations of any OSD."""
    chosen = of_osds[max(of_osds)]
    metrics = {f"last_osd_{name}": chosen[name] for name in ("placement_groups", "primaries", "bytes", "weight_share")}
    for name in ("placement_groups", "primaries", "bytes"):
        deviations = [abs(of_osd[f"{name}_deviation"]) for of_osd in of_osds.values() if f"{name}_deviation" in of_osd]
        if deviations:
            metrics[f"{name}_deviation_worst"] = max(deviations)
    return metrics


def _check_stable(row: Place, osds: set[int]) -> None:
    stated = row.value
    name, state, acting = stated["pgid"], stated["state"], stated["acting"]
    if set(state.split("+")) != _STABLE:
        row.refuse(f"placement group {name} is {state}")
    if (acting, stated["acting_primary"]) != (stated["up"], stated["up_primary"]):
        row.refuse(f"placement group {name} is on its way to other OSDs")
    if not set(acting) <= osds:
        row.refuse(f"placement group {name} lies on OSDs {acting}, not all of them in the tree")


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
        of_osds, of_groups = read_placement(run.texts, run.names)
        entities = [
            (kind, str(name), metric, value)
            for kind, several in (("osd", of_osds), ("placement_group", of_groups))
            for name, values in several.items()
            for metric, value in values.items()
        ]
        metrics = {**result.metrics, **placement_metrics(of_osds)} if result.complete else {}
        return replace(result, metrics=metrics, entities=tuple(entities))


PLACEMENT = Placement()
