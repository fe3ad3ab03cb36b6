"""Metrics of a cell that its tool does not print, computed from the samples and facts in its sidecar. Pure.

- *Per write and per byte*: what one client write turned into, from the ledger of daemons' counters (`samples.ledger`).
  The ledger spans the whole cell, from before the tool ran until the cluster was quiet again. So it also holds what the
  tool did besides writing, such as opening and closing its image. If a daemon is missing, there is no sum over daemons,
  but what each of the others did is still given.
- *Above idle*: what one write cost each side above what its daemons do at rest, from the ledgers of a cell and of its
  block. A mode with more to do after the load is observed for longer, and idle daemons take CPU time too, so only what
  exceeds that belongs to the writes. For a daemon that had nothing to do with them, it may be a little below 0.
- *Round trips*: how many of them between the sites of a sandbox a write takes on average, if a line joins them.
- *Utilisation*: how busy daemons and their hosts were while the load was steady, as the mean over OSDs and for the
  busiest one.
- *The slowest OSD*: the one that took longest to commit when the tool ended, which may hold up every client.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from replay.base import stats as statistics
from replay.base.tables import rounded
from replay.evidence.record import busy_fractions
from replay.tools.base import number

#: Moments of an entity's value: right before the tool ran, a difference over the whole cell, or when the tool ended.
BEFORE, OVER_CELL, AT_END = "before", "cell", "end"
#: A write that is acknowledged once both sites have it pays one round trip, or two if its primary is on the other site.
LEAST_ROUND_TRIPS, MOST_ROUND_TRIPS = 1.0, 2.5
#: The prefix of each cluster's kinds of entities.
_SECOND = {"primary": "", "secondary": "second_"}

#: Metric: (cluster, stage, counters to add up, what to divide by). All sums, `osd_cpu` included, are over OSDs only.
_PER_WRITE: Mapping[str, tuple[str, str, tuple[str, ...], str]] = {
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
    "second_osd_writes_per_write": ("secondary", "client", ("write_operations", "read_write_operations"), "operations"),
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


def computed_metrics(sidecar: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, float]:
    """Return further metrics of a cell, empty if nothing was sampled. `metrics` holds the tool's and the facts."""
    samples = sidecar.get("samples") or {}
    result: dict[str, float] = {}
    if ledger := samples.get("ledger"):
        counted = {**metrics, **of_whole_run(metrics)}
        result |= per_write(ledger, counted)
        if idle := samples.get("idle"):
            result |= write_costs(ledger, idle, counted)
    if daemons := samples.get("daemons"):
        result |= utilisation(daemons)
    if hosts := samples.get("prometheus"):
        result |= utilisation_of_hosts(hosts)
    result |= slowest_osd(samples.get("osd_commit_latency_seconds") or {})
    result |= round_trips(metrics)
    offered, done = metrics.get("offered_operations_per_second"), metrics.get("operations_per_second")
    if offered and done is not None:
        # Below 1, the clients could not keep up with the offered rate, and latency grew with the length of the run.
        result["offered_share_met"] = done / offered
    return result


def round_trips(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return how many round trips a write takes on average; empty if no line between the sites was asked for.

    The other two are 1 if that is fewer than one, or more than two and a half, else 0. The time of the write itself
    counts as well, so the round trip has to be long compared with it.
    """
    latency, rtt = metrics.get("latency_mean_seconds"), metrics.get("measured_link_rtt_seconds")
    if latency is None or not rtt or not metrics.get("link_rtt_seconds"):
        return {}
    trips = latency / rtt
    return {
        "round_trips_per_write": trips,
        "below_one_round_trip": float(trips < LEAST_ROUND_TRIPS),
        "beyond_two_and_a_half_round_trips": float(trips > MOST_ROUND_TRIPS),
    }


def of_whole_run(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return `operations` and `bytes` of the whole run: what fio did in its ramp is added at the rate that it reports.

    If no ramp is known, they are those of the report.
    """
    ramp, seconds = metrics.get("ramp_seconds", 0.0), metrics.get("duration_seconds")
    share = 1 + ramp / seconds if seconds else 1.0
    return {name: metrics[name] * share for name in ("operations", "bytes") if name in metrics}


def per_write(ledger: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics that the ledger allows. `metrics` holds the tool's `operations` and `bytes`."""
    result = {}
    for name, (cluster, stage, counters, divisor) in _PER_WRITE.items():
        if not is_whole(ledger, cluster) or not metrics.get(divisor):
            continue
        total = total_of(ledger.get(cluster, {}), stage, counters)
        if total is not None:
            result[name] = total / metrics[divisor]
    return result


def is_whole(ledger: Mapping[str, Any], cluster: str) -> bool:
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


def latency_entities(sidecar: Mapping[str, Any]) -> list[Entity]:
    """Return how fast each OSD committed when the cell's tool ended, as `commit_latency_seconds`."""
    latencies = (sidecar.get("samples") or {}).get("osd_commit_latency_seconds") or {}
    return [
        Entity("osd", name.removeprefix("osd."), "commit_latency_seconds", float(seconds), AT_END)
        for name, seconds in latencies.items()
    ]


def slowest_osd(latencies: Mapping[str, float]) -> dict[str, float]:
    """Return the number and commit latency of the slowest of a cell's OSDs; no number if several are as slow."""
    if not latencies:
        return {}
    worst = max(latencies.values())
    names = [name for name, seconds in latencies.items() if seconds == worst]
    number = {"slowest_osd": float(names[0].removeprefix("osd."))} if len(names) == 1 else {}
    return {**number, "slowest_osd_commit_latency_seconds": float(worst)}


def _of_daemon(
    cluster: str, prefix: str, name: str, stages: Mapping[str, Any], metrics: Mapping[str, float]
) -> Iterator[Entity]:
    is_osd = name.startswith("osd.")
    kind, identity = f"{prefix}osd" if is_osd else f"{prefix}daemon", name.removeprefix("osd.")
    for stage, counters in stages.items():
        for counter, value in counters.items():
            yield Entity(kind, identity, f"{stage}_{counter}", float(value), OVER_CELL)
    for metric, part in per_write({cluster: {name: stages}}, metrics).items():
        yield Entity(kind, identity, metric, part, OVER_CELL)


def utilisation(daemons: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics that a sample (`DaemonSampler.between`) allows. What it does not hold is left out.

    CPU is in cores (seconds of CPU per second), storage in bytes per second, `machine_…` in fractions of the machine.
    """
    seconds = daemons.get("seconds")
    if not seconds:
        return {}
    primary: Mapping[str, Any] = daemons.get("primary", {})
    osds = {name: daemon for name, daemon in primary.items() if name.startswith("osd.")}
    result: dict[str, float] = {}
    result |= _mean_and_worst("osd_cores", [osd["cpu"]["seconds"] / seconds for osd in osds.values() if "cpu" in osd])
    for counter, name in (("write_bytes", "written"), ("read_bytes", "read")):
        rates = [osd["media"][counter] / seconds for osd in osds.values() if "media" in osd]
        result |= _mean_and_worst(f"osd_media_{name}_bytes_per_second", rates)
    others = [
        daemon["cpu"]["seconds"] / seconds for name, daemon in primary.items() if name not in osds and "cpu" in daemon
    ]
    if others:
        result["monitor_and_manager_cores"] = math.fsum(others)
    machine = daemons.get("machine") or {}
    if machine.get("cpu_idle_fraction") is not None:
        result["machine_cpu_fraction"] = 1 - machine["cpu_idle_fraction"]
    if machine.get("disk_busy_fraction") is not None:
        result["machine_disk_fraction"] = machine["disk_busy_fraction"]
    return result


def utilisation_of_hosts(sample: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics that a sample of a site's Prometheus (`HostSampler.between`) allows, over the whole cell.

    `osd_host_cpu_fraction_…` and `osd_disk_busy_fraction_…` are fractions of the time between scrapes. Bytes are those
    of the OSDs' disks, whoever wrote them. A mean is about the whole cluster, so it is left out if an OSD is missing.
    """
    result: dict[str, float] = {}
    cpus, disks = busy_fractions(sample)
    osds: Mapping[str, Any] = sample.get("osds", {})
    left_out: Mapping[str, str] = sample.get("left_out", {})
    if not any(name.startswith("host-") for name in left_out):
        result |= _mean_and_worst("osd_host_cpu_fraction", cpus)
    if disks and len(disks) == len(osds):
        result |= _mean_and_worst("osd_disk_busy_fraction", disks)
        for word in ("written", "read"):
            rates = [osd["disk"][f"{word}_bytes"] / osd["disk"]["seconds"] for osd in osds.values()]
            result |= _mean_and_worst(f"osd_media_{word}_bytes_per_second", rates)
    cores = [osd["cpu"]["cpu_seconds"] / osd["cpu"]["seconds"] for osd in osds.values() if "cpu" in osd]
    if len(cores) == len(osds):
        result |= _mean_and_worst("osd_cores", cores)
    return result


def _mean_and_worst(name: str, values: Sequence[float]) -> dict[str, float]:
    return {f"{name}_mean": fmean(values), f"{name}_worst": max(values)} if values else {}


#: Stage and counters of a daemon.
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
    costs: dict[str, float] = {}
    if (client := metrics.get("client_cpu_seconds")) is not None:
        costs["client_cpu_seconds_per_write"] = client / operations
    for name, (cluster, daemon) in _ROLES.items():
        used, at_rest = _cpu_seconds(ledger, cluster, daemon), _cpu_seconds(idle, cluster, daemon)
        if used is not None and at_rest is not None:
            costs[name] = (used - at_rest / idle["seconds"] * ledger["seconds"]) / operations
    if costs.keys() == {"client_cpu_seconds_per_write", *_ROLES}:
        costs["cpu_seconds_above_idle_per_write"] = math.fsum(costs.values())
    for name, cluster in (("stored_writes_per_write", "primary"), ("second_stored_writes_per_write", "secondary")):
        if is_whole(ledger, cluster) and (stored := total_of(ledger.get(cluster, {}), *_STORED)) is not None:
            costs[name] = stored / operations
    return costs


def _cpu_seconds(ledger: Mapping[str, Any], cluster: str, daemon: str | None) -> float | None:
    """Return the CPU time of a cluster's OSDs or of one daemon; None if one of them is not known."""
    daemons = ledger.get(cluster, {})
    if daemon is not None:
        return daemons.get(daemon, {}).get("cpu", {}).get("seconds")
    return total_of(daemons, *_CPU) if is_whole(ledger, cluster) else None


# What sampling cost: the time that samplers' readings took, as sidecars and tables record it -------------------------


#: Samplers that observe while a cell is measured. The others read before it begins or after it has ended.
BESIDE = ("daemons", "machine", "mirror", "replica", "trims")
#: Those of them that continue after the tool has ended, as long as the wait of this name lasts.
_OBSERVING_ON = {"mirror": "replay_level", "replica": "replay_level"}
#: The row of a table of samples in which the probe of a replica states the CPU time that it has used so far.
_PROBE_ROW = ",probe,cost_seconds,"


def sampler_seconds(sidecar: Mapping[str, Any], outputs: Mapping[str, str]) -> dict[str, float]:
    """Return the cost of each sampler of a cell in seconds, if it states one.

    This is the wall time of its readings. For `replica`, a process of its own, it is the CPU time from the table of
    samples.
    """
    samples = {"machine": sidecar.get("load"), **(sidecar.get("samples") or {})}
    seconds = {
        name: cost
        for name, sample in sorted(samples.items())
        if isinstance(sample, Mapping) and (cost := number(sample.get("cost_seconds"))) is not None
    }
    if (probe := _probe_seconds(outputs.get("counters", ""))) is not None:
        seconds["replica"] = probe
    return seconds


def sampler_shares(seconds: Mapping[str, float], sidecar: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of the observed time that each sampler took, for samplers that observe while a cell runs."""
    shares = {}
    for name in BESIDE:
        observed = _observed_seconds(name, sidecar)
        if name in seconds and observed > 0:
            shares[name] = seconds[name] / observed
    return shares


def sampling_metrics(seconds: Mapping[str, float], sidecar: Mapping[str, Any]) -> dict[str, float]:
    """Return `sampler_cost_seconds` and `sampler_cost_share` over these samplers; empty if none states its cost."""
    shares = sampler_shares(seconds, sidecar)
    if not shares:
        return {}
    return {
        "sampler_cost_seconds": math.fsum(seconds[name] for name in shares),
        "sampler_cost_share": math.fsum(shares.values()),
    }


def sampling_entry(cells: Iterable[tuple[Mapping[str, float], Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return what each sampler cost, for the manifest. Each cell is given as (its samplers' seconds, its sidecar).

    An entry has `cells` (how many state the cost), `median_seconds`, `largest_seconds`, and `share`, the largest share
    of the observed time. A sampler that reads before or after the measurement has no share.
    """
    seconds_of: dict[str, list[float]] = {}
    shares_of: dict[str, list[float]] = {}
    for seconds, sidecar in cells:
        for name, value in seconds.items():
            seconds_of.setdefault(name, []).append(value)
        for name, share in sampler_shares(seconds, sidecar).items():
            shares_of.setdefault(name, []).append(share)
    return {
        name: {
            "cells": len(values),
            "median_seconds": rounded(statistics.median(values)),
            "largest_seconds": rounded(max(values)),
            **({"share": rounded(max(shares_of[name]))} if name in shares_of else {}),
        }
        for name, values in sorted(seconds_of.items())
    }


def costliest(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the largest share of all experiments, with its experiment and sampler; empty if none has one."""
    shares = [
        (sampler["share"], experiment, name)
        for experiment, entry in sorted(entries.items())
        for name, sampler in entry.get("samplers", {}).items()
        if "share" in sampler
    ]
    if not shares:
        return {}
    share, experiment, name = max(shares, key=lambda triple: triple[0])
    return {"share": share, "experiment": experiment, "sampler": name}


def _observed_seconds(name: str, sidecar: Mapping[str, Any]) -> float:
    """Return how long a sampler observed, in seconds: while the tool ran, and in its wait after that."""
    waits = [wait for wait in sidecar.get("waits") or () if wait.get("for") == _OBSERVING_ON.get(name, "")]
    return float(sidecar.get("tool_seconds") or 0) + math.fsum(float(wait.get("seconds") or 0) for wait in waits)


def _probe_seconds(counters: str) -> float | None:
    """Return the seconds in the probe's last row; None without one. The reader of the table has judged it."""
    at = counters.rfind(_PROBE_ROW)
    if at < 0:
        return None
    return number(counters[at + len(_PROBE_ROW) :].partition("\n")[0])
