"""What one write cost each side above what its daemons do at rest, from the ledgers of a cell and its block. Pure.

The ledger lasts until everything that the cell set in motion has finished, so a mode with more to do afterwards is
observed for longer. Idle daemons take CPU time too. Only what exceeds that belongs to the writes; for a daemon that had
nothing to do with them, the result may be a little below 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from replay.derive.amplification import is_whole, total_of

_CPU = ("cpu", ("seconds",))
#: Writes of object data to BlueStore. Those that it defers count twice, because they go to the database first.
_STORED = ("store", ("big_writes", "small_writes", "deferred_writes"))
MIRROR_DAEMON = "rbd-mirror"

#: For each metric of CPU time above idle, the cluster and the daemon; None stands for the OSDs.
_ROLES = {
    "osd_cpu_seconds_above_idle_per_write": ("primary", None),
    "second_osd_cpu_seconds_above_idle_per_write": ("secondary", None),
    "mirror_daemon_cpu_seconds_above_idle_per_write": ("secondary", MIRROR_DAEMON),
}


def write_costs(ledger: Mapping[str, Any], idle: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics that the ledgers allow. `metrics` has `operations` of the whole run and `client_cpu_seconds`.

    `cpu_seconds_above_idle_per_write` is the sum over the client, the OSDs of both clusters and the mirror daemon; it
    is left out if one of them is not known.
    """
    operations = metrics.get("operations")
    if not operations or not idle.get("seconds") or "seconds" not in ledger:
        return {}
    found: dict[str, float] = {}
    if (client := metrics.get("client_cpu_seconds")) is not None:
        found["client_cpu_seconds_per_write"] = client / operations
    for name, (cluster, daemon) in _ROLES.items():
        used, at_rest = (_cpu_seconds(one, cluster, daemon) for one in (ledger, idle))
        if used is not None and at_rest is not None:
            found[name] = (used - at_rest / idle["seconds"] * ledger["seconds"]) / operations
    if found.keys() == {"client_cpu_seconds_per_write", *_ROLES}:
        found["cpu_seconds_above_idle_per_write"] = math.fsum(found.values())
    for name, cluster in (("stored_writes_per_write", "primary"), ("second_stored_writes_per_write", "secondary")):
        if is_whole(ledger, cluster) and (stored := total_of(ledger.get(cluster, {}), *_STORED)) is not None:
            found[name] = stored / operations
    return found


def of_whole_run(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return `operations` and `bytes` of the whole run: what fio did in its ramp is added at the rate that it reports.

    If no ramp is known, they are those of the report.
    """
    ramp, seconds = metrics.get("ramp_seconds", 0.0), metrics.get("duration_seconds")
    share = 1 + ramp / seconds if seconds else 1.0
    return {name: metrics[name] * share for name in ("operations", "bytes") if name in metrics}


def _cpu_seconds(ledger: Mapping[str, Any], cluster: str, daemon: str | None) -> float | None:
    """Return the CPU time of a cluster's OSDs or of one daemon; None if one of them is not known."""
    daemons = ledger.get(cluster, {})
    if daemon is not None:
        return daemons.get(daemon, {}).get("cpu", {}).get("seconds")
    return total_of(daemons, *_CPU) if is_whole(ledger, cluster) else None
