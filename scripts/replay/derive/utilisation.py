"""How busy each daemon was while the load was steady: CPU and storage, mean over the OSDs and the busiest one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any


def utilisation(daemons: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics that a sample (`DaemonSampler.between`) allows; what it does not hold is left out.

    CPU in cores (seconds of CPU per second), storage in bytes per second, `machine_…` as fractions of the machine.
    """
    seconds = daemons.get("seconds")
    if not seconds:
        return {}
    primary: Mapping[str, Any] = daemons.get("primary", {})
    osds = {name: one for name, one in primary.items() if name.startswith("osd.")}
    result: dict[str, float] = {}
    cores = [one["cpu"]["seconds"] / seconds for one in osds.values() if "cpu" in one]
    if cores:
        result |= {"osd_cores_mean": fmean(cores), "osd_cores_worst": max(cores)}
    for counter, name in (("write_bytes", "written"), ("read_bytes", "read")):
        rates = [one["media"][counter] / seconds for one in osds.values() if "media" in one]
        if rates:
            result |= {
                f"osd_media_{name}_bytes_per_second_mean": fmean(rates),
                f"osd_media_{name}_bytes_per_second_worst": max(rates),
            }
    others = [one["cpu"]["seconds"] / seconds for name, one in primary.items() if name not in osds and "cpu" in one]
    if others:
        result["monitor_and_manager_cores"] = sum(others)
    machine = daemons.get("machine") or {}
    if machine.get("cpu_idle_fraction") is not None:
        result["machine_cpu_fraction"] = 1 - machine["cpu_idle_fraction"]
    if machine.get("disk_busy_fraction") is not None:
        result["machine_disk_fraction"] = machine["disk_busy_fraction"]
    if "cost_seconds" in daemons:
        result["sampler_cost_seconds"] = daemons["cost_seconds"]
    return result
