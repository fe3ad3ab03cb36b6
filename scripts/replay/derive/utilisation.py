"""How busy daemons and their hosts were: CPU and storage, as the mean over OSDs and for the busiest one. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from replay.evidence.bottleneck import busy_fractions


def utilisation(daemons: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics that a sample (`DaemonSampler.between`) allows. What it does not hold is left out.

    CPU is in cores (seconds of CPU per second), storage in bytes per second, `machine_…` in fractions of the machine.
    """
    seconds = daemons.get("seconds")
    if not seconds:
        return {}
    primary: Mapping[str, Any] = daemons.get("primary", {})
    osds = {name: one for name, one in primary.items() if name.startswith("osd.")}
    result: dict[str, float] = {}
    cores = [one["cpu"]["seconds"] / seconds for one in osds.values() if "cpu" in one]
    if cores:
        result |= _mean_and_worst("osd_cores", cores)
    for counter, name in (("write_bytes", "written"), ("read_bytes", "read")):
        rates = [one["media"][counter] / seconds for one in osds.values() if "media" in one]
        if rates:
            result |= _mean_and_worst(f"osd_media_{name}_bytes_per_second", rates)
    others = [one["cpu"]["seconds"] / seconds for name, one in primary.items() if name not in osds and "cpu" in one]
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
    if cpus and not any(name.startswith("host-") for name in left_out):
        result |= _mean_and_worst("osd_host_cpu_fraction", cpus)
    if disks and len(disks) == len(osds):
        result |= _mean_and_worst("osd_disk_busy_fraction", disks)
        for word in ("written", "read"):
            rates = [one["disk"][f"{word}_bytes"] / one["disk"]["seconds"] for one in osds.values()]
            result |= _mean_and_worst(f"osd_media_{word}_bytes_per_second", rates)
    cores = [one["cpu"]["cpu_seconds"] / one["cpu"]["seconds"] for one in osds.values() if "cpu" in one]
    if cores and len(cores) == len(osds):
        result |= _mean_and_worst("osd_cores", cores)
    return result


def _mean_and_worst(name: str, values: Sequence[float]) -> dict[str, float]:
    return {f"{name}_mean": fmean(values), f"{name}_worst": max(values)}
