"""What one client write turned into, per write and per byte, from a sidecar's ledger of daemons' counters. Pure.

The ledger (`samples.ledger`) spans the whole cell, from before the tool ran until the cluster was quiet again. So it
also holds what the tool did besides writing, such as opening and closing its image. If a daemon is missing, there is no
sum over daemons, but what each of the others did is still given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

#: Moments of an entity's value: right before the tool ran, or a difference over the whole cell.
BEFORE, OVER_CELL = "before", "cell"
#: The prefix of each cluster's kinds of entities.
_SECOND = {"primary": "", "secondary": "second_"}

#: Metric: (cluster, stage, counters to add up, what to divide by). All sums, `osd_cpu` included, are over OSDs only.
_METRICS: Mapping[str, tuple[str, str, tuple[str, ...], str]] = {
    "osd_writes_per_write": ("primary", "client", ("write_operations", "read_write_operations"), "operations"),
    "osd_plain_writes_per_write": ("primary", "client", ("write_operations",), "operations"),
    "osd_reads_per_write": ("primary", "client", ("read_operations",), "operations"),
    "copies_per_write": ("primary", "replication", ("operations",), "operations"),
    "osd_bytes_per_byte": ("primary", "client", ("in_bytes",), "bytes"),
    "copied_bytes_per_byte": ("primary", "replication", ("in_bytes",), "bytes"),
    "stored_bytes_per_byte": ("primary", "store", ("big_bytes", "small_bytes"), "bytes"),
    "deferred_bytes_per_byte": ("primary", "store", ("deferred_bytes",), "bytes"),
    "database_bytes_per_byte": ("primary", "database", ("log_bytes", "table_bytes", "journal_bytes"), "bytes"),
    "media_bytes_per_byte": ("primary", "media", ("write_bytes",), "bytes"),
    "osd_cpu_seconds_per_write": ("primary", "cpu", ("seconds",), "operations"),
    "second_osd_writes_per_write": (
        "secondary",
        "client",
        ("write_operations", "read_write_operations"),
        "operations",
    ),
    "second_media_bytes_per_byte": ("secondary", "media", ("write_bytes",), "bytes"),
    "second_osd_cpu_seconds_per_write": ("secondary", "cpu", ("seconds",), "operations"),
}


class Entity(NamedTuple):
    """A value of one thing: `kind` such as `osd`, its `id`, and its `moment`."""

    kind: str
    id: str
    metric: str
    value: float
    moment: str = BEFORE


def per_write(ledger: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics that the ledger allows. `metrics` holds the tool's `operations` and `bytes`."""
    result = {}
    for name, (cluster, stage, counters, divisor) in _METRICS.items():
        if not is_whole(ledger, cluster) or not metrics.get(divisor):
            continue
        total = total_of(ledger.get(cluster, {}), stage, counters)
        if total is not None:
            result[name] = total / metrics[divisor]
    return result


def is_whole(ledger: Mapping[str, Any], cluster: str) -> bool:
    """Return whether every OSD of a cluster is in the ledger."""
    left_out = [*ledger.get("left_out", ()), *ledger.get("unanswered", ())]
    return not any(word.startswith(f"{cluster} osd.") for word in left_out)


def total_of(daemons: Mapping[str, Any], stage: str, counters: tuple[str, ...]) -> float | None:
    """Return the sum of counters over a cluster's OSDs; None if one of them lacks a counter."""
    values = [
        daemon.get(stage, {}).get(counter)
        for name, daemon in daemons.items()
        if name.startswith("osd.")
        for counter in counters
    ]
    return math.fsum(values) if values and None not in values else None


def ledger_entities(sidecar: Mapping[str, Any], metrics: Mapping[str, float]) -> list[Entity]:
    """Return a cell's ledger daemon by daemon: every counter as `<stage>_<counter>`, and each OSD's share per write.

    An OSD's share has the name of the sum: `media_bytes_per_byte` of all OSDs adds up to the cell's. The kinds are
    `osd`, with a number, and `daemon`, with a name; for the second cluster, they are `second_osd` and `second_daemon`,
    whose shares have the names of its metrics.
    """
    ledger = (sidecar.get("samples") or {}).get("ledger") or {}
    return [
        entity
        for cluster, prefix in _SECOND.items()
        for name, stages in ledger.get(cluster, {}).items()
        for entity in _of_daemon(cluster, prefix, name, stages, metrics)
    ]


def _of_daemon(
    cluster: str, prefix: str, name: str, stages: Mapping[str, Any], metrics: Mapping[str, float]
) -> Iterator[Entity]:
    is_osd = name.startswith("osd.")
    kind, identity = f"{prefix}osd" if is_osd else f"{prefix}daemon", name.removeprefix("osd.")
    for stage, counters in stages.items():
        for counter, value in counters.items():
            yield Entity(kind, identity, f"{stage}_{counter}", float(value), OVER_CELL)
    if not is_osd:
        return
    for metric, (of_cluster, stage, counters, divisor) in _METRICS.items():
        if of_cluster == cluster and metrics.get(divisor):
            part = total_of({name: stages}, stage, counters)
            if part is not None:
                yield Entity(kind, identity, metric, part / metrics[divisor], OVER_CELL)
