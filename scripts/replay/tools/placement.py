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

from replay.tools.base import OutputError, Place, Reader, Result, Run, read_json
from replay.tools.rados_bench import TOOL as RADOS

#: Entity: (kind, id, metric, value). Kinds: `osd`, `placement_group`.
Entity = tuple[str, str, str, float]

ROLES = {"groups": "placement-groups.json", "tree": "osd-tree.json", "usage": "osd-df.json"}
_STABLE = {"active", "clean"}


@dataclass(frozen=True)
class Osd:
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


def read_placement(outputs: Mapping[str, str], names: Mapping[str, str]) -> tuple[list[Osd], list[Group]]:
    """Return the OSDs, by number, and the pool's placement groups. Raises OutputError unless the pool is stable."""
    tree, usage, groups = (_document(outputs, role, names) for role in ("tree", "usage", "groups"))
    placed, in_use = _weighted(tree), _weighted(usage)
    for number, node in (placed | in_use).items():
        if number not in in_use:
            node.refuse(f"osd.{number} is in the tree, but not in osd df")
        if number not in placed:
            node.refuse(f"osd.{number} is in osd df, but not in the tree")
        if placed[number].number("crush_weight") != in_use[number].number("crush_weight"):
            node.refuse(f"osd.{number} has another weight in the other table")
    if not placed:
        tree.refuse("no OSD holds data")
    osds = [
        Osd(
            number,
            node.number("crush_weight"),
            node.number("primary_affinity"),
            in_use[number].number("kb_used_data") * 1024,
        )
        for number, node in sorted(placed.items())
    ]
    return osds, _groups(groups, set(placed))


def _weighted(document: Place) -> dict[int, Place]:
    """Return number to node for the OSDs in a table that may hold data. Refuse one that occurs twice."""
    found: dict[int, Place] = {}
    for node in document.rows("nodes"):
        # A bucket of the tree has no number, and every node of `osd df` is an OSD.
        if node.at("type").value not in ("osd", None) or node.number("crush_weight") == 0:
            continue
        number = node.whole("id")
        if number in found:
            node.refuse(f"osd.{number} occurs twice: output of two moments is mixed")
        found[number] = node
    return found


def entities_of(osds: list[Osd], groups: list[Group]) -> list[Entity]:
    """Return every OSD's and placement group's values."""
    copies = Counter(osd for group in groups for osd in group.osds)
    primaries = Counter(group.primary for group in groups)
    held: Counter[int] = Counter()
    for group in groups:
        for osd in group.osds:
            held[osd] += group.bytes
    weights = math.fsum(one.weight for one in osds)
    found: list[Entity] = []
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
        found += [("osd", str(osd.number), name, value) for name, value in values.items()]
    for group in groups:
        values = {"bytes": group.bytes, "objects": group.objects, "primary": float(group.primary)}
        found += [("placement_group", group.name, name, value) for name, value in values.items()]
    return found


def placement_metrics(entities: Iterable[Entity]) -> dict[str, float]:
    """Return a cell's metrics: what the last OSD holds, and the largest deviations of any OSD."""
    of_osds: dict[int, dict[str, float]] = {}
    for kind, name, metric, value in entities:
        if kind == "osd":
            of_osds.setdefault(int(name), {})[metric] = value
    chosen = of_osds[last_osd(of_osds)]
    metrics = {f"last_osd_{name}": chosen[name] for name in ("placement_groups", "primaries", "bytes", "weight_share")}
    for name in ("placement_groups", "primaries", "bytes"):
        deviations = [abs(one[f"{name}_deviation"]) for one in of_osds.values() if f"{name}_deviation" in one]
        if deviations:
            metrics[f"{name}_deviation_worst"] = max(deviations)
    return metrics


def _groups(document: Place, osds: set[int]) -> list[Group]:
    groups = [_group(row, osds) for row in document.rows("pg_stats")]
    if not groups:
        document.refuse("no placement group", reason="incomplete")
    return groups


def _group(row: Place, osds: set[int]) -> Group:
    stated = row.value if isinstance(row.value, dict) else {}
    name, state = stated.get("pgid"), stated.get("state")
    if not isinstance(name, str) or not isinstance(state, str):
        row.refuse("a placement group without a name or a state")
    if set(state.split("+")) != _STABLE:
        row.refuse(f"placement group {name} is {state}")
    acting, primary = stated.get("acting"), stated.get("acting_primary")
    moving = (acting, primary) != (stated.get("up"), stated.get("up_primary"))
    if moving or not isinstance(acting, list) or not acting or primary not in acting:
        row.refuse(f"placement group {name} is on its way to other OSDs")
    if not all(type(osd) is int for osd in acting) or not set(acting) <= osds:
        row.refuse(f"placement group {name} lies on OSDs {acting}, not all of them in the tree")
    held = row.object("stat_sum")
    return Group(name, tuple(acting), primary, held.number("num_objects"), held.number("num_bytes"))


def _document(outputs: Mapping[str, str], role: str, names: Mapping[str, str]) -> Place:
    file = names.get(role, role)
    if role not in outputs:
        raise OutputError(f"no {ROLES[role]}", file=file, reason="incomplete")
    return read_json(outputs[role], file)


class Placement(Reader):
    """Reads a cell, whose tool is `rados bench`."""

    name = "placement"

    def read(self, run: Run) -> Result:
        """Parse the run's output, and `groups`, `tree` and `usage` into entities.

        Metrics besides the tool's: `last_osd_placement_groups`, `…_primaries`, `…_bytes` and `…_weight_share`, of the
        OSD with the highest number; `placement_groups_deviation_worst` and others, the largest deviation of any OSD.
        """
        of_tool = {role: text for role, text in run.texts.items() if role not in ROLES}
        result = RADOS.read(replace(run, texts=of_tool))
        entities = entities_of(*read_placement(run.texts, run.names))
        metrics = {**result.metrics, **placement_metrics(entities)} if result.complete else {}
        return replace(result, metrics=metrics, entities=tuple(entities))


PLACEMENT = Placement()
