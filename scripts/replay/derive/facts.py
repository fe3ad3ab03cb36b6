"""The facts of a cell: what its evidence says about it, for claims that presuppose it (`fact_vocabulary`). Pure."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from replay.derive.fact_vocabulary import FACTS
from replay.derive.limits import STEADY, limit_of
from replay.derive.write_costs import of_whole_run
from replay.evidence.bottleneck import busy_fractions
from replay.tools.logs.samples import moments, progress, read_samples
from replay.tools.logs.snapshots import snapshots_taken
from replay.tools.logs.steps import Steps

_IMAGE = "image-1"

Value = float | str


def facts_of(sidecar: Mapping[str, Any], outputs: Mapping[str, str], metrics: Mapping[str, float]) -> dict[str, Value]:
    """Return a valid cell's facts, from its sidecar, its tool's files by role, and its metrics.

    Units are those of `fact_vocabulary`. What is not known is left out. Raises OutputError if samples are malformed.
    """
    limit = limit_of(sidecar)
    found: dict[str, Value | None] = {
        "idle_cpu_fraction": _idle_cpu(sidecar),
        "limiter": None if limit.resource == "unknown" else limit.resource,
        "load_seconds": metrics.get("duration_seconds"),
        "offered_share_met": metrics.get("offered_share_met"),
        "snapshots_taken_in_cell": metrics.get("snapshots_taken"),
        "daemons_stopped": metrics.get("daemons_stopped"),
        "snapshots_synced_in_cell": metrics.get("snapshots_copied_in_cell"),
        "poll_ages_in_cell": _quotient(metrics, "duration_seconds", "journal_poll_age_seconds"),
        "snapshot_intervals_in_cell": _quotient(metrics, "duration_seconds", "snapshot_interval_seconds"),
        "replayed_fraction_during_cell": _quotient(
            {**metrics, **of_whole_run(metrics)}, "replayed_bytes_in_cell", "bytes"
        ),
        **_cpu_costs(sidecar, metrics),
    }
    found |= _over_time(sidecar, outputs)
    return {name: found[name] for name in FACTS if found.get(name) is not None}


def _quotient(metrics: Mapping[str, float], over: str, under: str) -> float | None:
    numerator, denominator = metrics.get(over), metrics.get(under)
    return None if numerator is None or not denominator else numerator / denominator


def _idle_cpu(sidecar: Mapping[str, Any]) -> float | None:
    """Return the idle share of the busiest machine; None if no machine with OSDs was observed."""
    samples, load = sidecar.get("samples") or {}, sidecar.get("load") or {}
    limit = limit_of(sidecar)
    if limit.over == STEADY:
        return samples["daemons"]["machine"]["cpu_idle_fraction"]
    if "prometheus" in samples:
        busy, _ = busy_fractions(samples["prometheus"])
        return 1 - max(busy) if busy else None
    return None if limit.resource == "unknown" else load.get("cpu_idle_fraction")


def _cpu_costs(sidecar: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the CPU time per operation and per byte; empty unless the machine was sampled under the steady load."""
    cores = (sidecar.get("host") or {}).get("cores")
    if limit_of(sidecar).over != STEADY or not cores:
        return {}
    used = cores * (1 - sidecar["samples"]["daemons"]["machine"]["cpu_idle_fraction"])
    rates = {"operation": metrics.get("operations_per_second"), "byte": metrics.get("bytes_per_second")}
    return {f"machine_cpu_seconds_per_{unit}": used / rate for unit, rate in rates.items() if rate}


def _over_time(sidecar: Mapping[str, Any], outputs: Mapping[str, str]) -> dict[str, float]:
    """Return what the samples over time of a steady load say about replay; empty for other protocols.

    Raises OutputError if the samples are malformed, as the adapter does.
    """
    if sidecar.get("tool") != "mirror-lag" or "counters" not in outputs:
        return {}
    rows, steps = read_samples(outputs["counters"], "counters"), Steps(outputs.get("steps", ""), "steps")
    write = steps.one("write")
    began, ended = steps.start(write), steps.end(write)
    levels = sidecar.get("levels") or {}
    if levels.get("mode") == "journal":
        return _replay_facts(progress(moments(rows, _IMAGE, "replay_bytes"), started_seconds=began), ended, levels)
    ids = [one.number for one in snapshots_taken(steps)]
    copied = [value for at, value in moments(rows, _IMAGE, "copied_snapshot_id") if began <= at <= ended]
    return {"snapshots_synced_in_cell": float(bisect_right(ids, max(copied, default=0)))}


def _replay_facts(replayed: list[tuple[float, float]], ended: float, levels: Mapping[str, Any]) -> dict[str, float]:
    if not replayed or replayed[-1][1] <= 0:
        return {}
    at_end = bisect_right(replayed, ended, key=lambda one: one[0])
    found = {"replayed_fraction_during_cell": replayed[at_end - 1][1] / replayed[-1][1] if at_end else 0.0}
    # Only the time in which the counter advanced: a daemon that waits for its next look at the journal is not slow.
    moved = [(after - before, done - had) for (before, had), (after, done) in pairwise(replayed) if done > had]
    seconds = math.fsum(one for one, _ in moved)
    offered = levels.get("writes_per_second"), levels.get("io_size_bytes")
    if seconds > 0 and all(offered):
        found["offered_to_replay_ratio"] = offered[0] * offered[1] / (math.fsum(done for _, done in moved) / seconds)
    return found
