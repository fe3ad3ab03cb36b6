"""What limited a cell, and which of its samples shows that. Pure. The rules themselves are in `evidence/bottleneck.py`.

The `limiter` in a sidecar covers the whole run of the tool. If the machine was sampled while the load was steady, that
sample decides instead: while a tool starts and ends, little is busy, and neither is part of the measurement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from replay.base.tables import level_text
from replay.evidence.bottleneck import LIMITER_RULE, limiting_resource

if TYPE_CHECKING:
    from replay.derive.cells import AttemptRecord, CellRow
    from replay.derive.designs import Design

#: The stretch of time that decides: the part in which the load was steady, or the whole run of the tool.
STEADY, WHOLE = "steady part", "whole run"
#: The name of the workload if an experiment has only one.
EVERY_WORKLOAD = "all"


class Limit(NamedTuple):
    """`resource` is cpu, disk, network, none or unknown. `rule` may be None. `over` is STEADY or WHOLE."""

    resource: str
    rule: str | None
    over: str


def limit_of(sidecar: Mapping[str, Any]) -> Limit:
    """Return what limited a cell: from `samples.daemons.machine` if that states the CPU, otherwise as it was recorded.

    If a Prometheus server watched other machines, the runner's own verdict counts.
    """
    samples = sidecar.get("samples") or {}
    steady = (samples.get("daemons") or {}).get("machine") or {}
    if steady.get("cpu_idle_fraction") is not None and "prometheus" not in samples:
        load = {"disk_busy_fraction": None, **steady}
        return Limit(limiting_resource(load, daemons_are_here=True), LIMITER_RULE, STEADY)
    return Limit(str(sidecar.get("limiter") or "unknown"), sidecar.get("limiter_rule"), WHOLE)


def limiters(rows: Iterable[CellRow]) -> dict[str, int]:
    """Return the number of cells that each resource limited."""
    return dict(sorted(Counter(limit_of(row.sidecar).resource for row in rows).items()))


def limits(design: Design, used: Iterable[tuple[AttemptRecord, CellRow]]) -> dict[str, Any]:
    """Return `rule` and `over`, each None if cells differ, and `points`: what limited each workload, variant and x.

    A point reads `cpu` if all of its runs agree, otherwise `cpu 4, none 2`. Without an axis, there is no level of x.
    """
    found: dict[tuple[str, ...], Counter[str]] = {}
    rules, overs = set(), set()
    for _, row in used:
        cell, limit = design.cells[row.cell_id], limit_of(row.sidecar)
        workload = "-".join(level_text(level) for level in design.workload(cell.levels)) or EVERY_WORKLOAD
        axis = () if design.x_factor is None else (level_text(design.x(cell.levels)),)
        found.setdefault((workload, cell.variant, *axis), Counter())[limit.resource] += 1
        rules.add(limit.rule)
        overs.add(limit.over)
    points: dict[str, Any] = {}
    for (*path, last), counts in found.items():
        here = points
        for word in path:
            here = here.setdefault(word, {})
        here[last] = _words(counts)
    return {"rule": _only(rules), "over": _only(overs), "points": _in_order(points, design)}


def _words(counts: Counter[str]) -> str:
    """Return `cpu`, or `cpu 4, none 2` with the most frequent first."""
    if len(counts) == 1:
        return next(iter(counts))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ranked)


def _only(values: set[Any]) -> Any:
    return next(iter(values)) if len(values) == 1 else None


def _in_order(points: Mapping[str, Any], design: Design) -> dict[str, Any]:
    """Return the points with workloads sorted by name, and variants and levels of the axis in the design's order."""
    variants = [one["name"] for one in design.variants]
    axis = [level_text(level) for level in design.factors.get(design.x_factor or "", ())]
    return {
        workload: {
            name: dict(sorted(here[name].items(), key=lambda pair: axis.index(pair[0])))
            if isinstance(here[name], dict)
            else here[name]
            for name in sorted(here, key=variants.index)
        }
        for workload, here in sorted(points.items())
    }
