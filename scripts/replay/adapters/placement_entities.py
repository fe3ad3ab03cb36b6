"""Where a pool's placement groups, primaries and bytes lie: from Ceph's own JSON, against the OSDs' weights. Pure.

`groups` is `ceph pg ls-by-pool`, `tree` is `ceph osd tree`, `usage` is `ceph osd df`. An OSD's fair share is its CRUSH
weight over the sum of all weights; a deviation is what it has over its fair share, less 1: 0.1 is a tenth too much.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from replay.adapters.base import OutputError, number

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
    """A placement group: the OSDs that hold it, the one that clients talk to, what its objects are."""

    name: str
    osds: tuple[int, ...]
    primary: int
    objects: float
    bytes: float


def last_osd(numbers: Iterable[int]) -> int:
    """Return which OSD is the one that a placement experiment makes heavier, or no primary: the last by number."""
    return max(numbers)


def read_placement(outputs: Mapping[str, str], names: Mapping[str, str]) -> tuple[list[Osd], list[Group]]:
    """Return the OSDs by number and the pool's placement groups. Raises OutputError on anything but a stable pool."""
    tree, usage, groups = (_document(outputs, role, names) for role in ("tree", "usage", "groups"))
    used = {
        _whole(one, "id", names.get("usage", "usage")): _number(one, "kb_used_data", names.get("usage", "usage")) * 1024
        for one in _list(usage, "nodes", names.get("usage", "usage"))
    }
    file = names.get("tree", "tree")
    osds = []
    for node in _list(tree, "nodes", file):
        if node.get("type") != "osd" or _number(node, "crush_weight", file) == 0:
            continue
        number_of = _whole(node, "id", file)
        if number_of not in used:
            raise OutputError(f"osd.{number_of} is in the tree, and not in osd df", file=file)
        osds.append(
            Osd(
                number_of, _number(node, "crush_weight", file), _number(node, "primary_affinity", file), used[number_of]
            )
        )
    if not osds:
        raise OutputError("no OSD holds data", file=file)
    if len({one.number for one in osds}) != len(osds):
        raise OutputError("an OSD occurs twice: output of two moments is mixed", file=file)
    osds.sort(key=lambda one: one.number)
    return osds, _groups(groups, {one.number for one in osds}, names.get("groups", "groups"))


def entities_of(osds: list[Osd], groups: list[Group]) -> list[Entity]:
    """Return every OSD's and placement group's values."""
    copies = Counter(osd for group in groups for osd in group.osds)
    primaries = Counter(group.primary for group in groups)
    held: Counter[int] = Counter()
    for group in groups:
        for osd in group.osds:
            held[osd] += group.bytes
    weights = sum(one.weight for one in osds)
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
    """Return a cell's own numbers: what lies on the last OSD, and the largest deviations of any OSD."""
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


def _groups(document: Any, osds: set[int], file: str) -> list[Group]:
    rows = _list(document, "pg_stats", file)
    groups = []
    for row in rows:
        name, state = row.get("pgid"), row.get("state")
        if not isinstance(name, str) or not isinstance(state, str):
            raise OutputError("a placement group without a name or a state", file=file)
        if set(state.split("+")) != _STABLE:
            raise OutputError(f"placement group {name} is {state}", file=file)
        acting, up, primary = row.get("acting"), row.get("up"), row.get("acting_primary")
        if acting != up or not isinstance(acting, list) or not acting or primary not in acting:
            raise OutputError(f"placement group {name} is on its way to other OSDs", file=file)
        if len(set(acting)) != len(acting) or not set(acting) <= osds:
            raise OutputError(f"placement group {name} lies on OSDs {acting}, not all of them in the tree", file=file)
        stat = row.get("stat_sum")
        if not isinstance(stat, dict):
            raise OutputError(f"placement group {name} says nothing of its objects", file=file)
        groups.append(
            Group(name, tuple(acting), primary, _number(stat, "num_objects", file), _number(stat, "num_bytes", file))
        )
    if not groups:
        raise OutputError("no placement group", file=file, reason="incomplete")
    if len({group.name for group in groups}) != len(groups):
        raise OutputError("a placement group occurs twice", file=file)
    if len({len(group.osds) for group in groups}) != 1:
        raise OutputError("placement groups of one pool have different numbers of copies", file=file)
    return groups


def _document(outputs: Mapping[str, str], role: str, names: Mapping[str, str]) -> Any:
    file = names.get(role, role)
    try:
        return json.loads(outputs[role])
    except KeyError:
        raise OutputError(f"no {ROLES[role]}", file=file, reason="incomplete") from None
    except (ValueError, RecursionError) as error:
        raise OutputError(f"not JSON: {error}", file=file) from None


def _list(document: Any, key: str, file: str) -> list[dict[str, Any]]:
    found = document.get(key) if isinstance(document, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise OutputError(f"no list {key!r}", file=file)
    return found


def _number(source: Mapping[str, Any], key: str, file: str) -> float:
    value = number(source.get(key))
    if value is None or value < 0:
        raise OutputError(f"no number {key!r}", file=file)
    return value


def _whole(source: Mapping[str, Any], key: str, file: str) -> int:
    value = source.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise OutputError(f"no whole number {key!r}", file=file)
    return value
