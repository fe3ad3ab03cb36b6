"""Makes a cell's sidecar, `<variant>.json` beside the tool's output. docs/data-formats.md lists its keys."""

from __future__ import annotations

from typing import Any

from replay.design.design import Cell, Design
from replay.evidence.provenance import host, measuring_code
from replay.evidence.record import Measured, Wait
from replay.evidence import bottleneck


def sidecar_of(
    design: Design,
    cell: Cell,
    measured: Measured,
    waits: list[Wait],
    health: dict[str, Any],
    *,
    versions: dict[str, Any],
    daemons_are_here: bool,
    block: int,
    **identity: int,
) -> dict[str, Any]:
    """Return a cell's sidecar. `identity` holds its attempt, set_index, position and seed."""
    return {
        "schema_version": 1,
        "experiment": design.name,
        "block": block,
        **identity,
        "point": cell.point,
        "variant": cell.variant.name,
        "label": cell.variant.label,
        "cell_id": cell.cell_id,
        "levels": dict(cell.levels),
        "protocol": design.configuration["protocol"],
        "tool": design.configuration["tool"],
        "argv": measured.argv,
        "files": {role: f"{cell.variant.name}.{suffix}" for role, (suffix, _) in measured.results.items()},
        "exit_status": measured.exit_status,
        "started_at": measured.started_at,
        "ended_at": measured.ended_at,
        "tool_seconds": round(measured.tool_seconds, 4),
        "valid": measured.invalid is None,
        "invalid": (
            None if measured.invalid is None else dict(zip(("reason", "detail"), measured.invalid, strict=True))
        ),
        "versions": versions,
        **measuring_code(),
        "host": host(),
        "health": health,
        "load": measured.load,
        **_limiter(measured, daemons_are_here),
        "waits": [wait.public() for wait in waits],
        "samples": measured.samples,
        "facts": measured.facts,
    }


def _limiter(measured: Measured, daemons_are_here: bool) -> dict[str, str]:
    """Return what limited a cell, and by which rule: the one for the site's hosts, if they were observed."""
    if (seen := measured.samples.get("prometheus")) is not None:
        return {"limiter": bottleneck.limiting_resource_of_hosts(seen), "limiter_rule": bottleneck.HOSTS_LIMITER_RULE}
    found = bottleneck.limiting_resource(measured.load, daemons_are_here=daemons_are_here)
    return {"limiter": found, "limiter_rule": bottleneck.LIMITER_RULE}
