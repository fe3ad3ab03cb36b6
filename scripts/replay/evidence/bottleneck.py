"""The rules for what limited a cell, on one machine and on several. The runner and derive use them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A resource is the limit if it is at least this busy during a cell. Every sidecar states this as `limiter_rule`.
CPU_BUSY_FRACTION = 0.85
DISK_BUSY_FRACTION = 0.80
LIMITER_RULE = f"cpu when busy >= {CPU_BUSY_FRACTION}, else disk when busy >= {DISK_BUSY_FRACTION}, else none"
#: The same for the busiest of several machines. The sidecar states it as `limiter_rule`.
HOSTS_LIMITER_RULE = (
    f"cpu when the busiest OSD host was busy >= {CPU_BUSY_FRACTION}, else disk when the busiest OSD's disk was "
    f"busy >= {DISK_BUSY_FRACTION}, else none; unknown where a host or a disk was not seen"
)


def limiting_resource(load: dict[str, float | None], *, daemons_are_here: bool) -> str:
    """Return `cpu`, `disk`, `none`, or `unknown` if the daemons run on machines that this one does not observe."""
    if not daemons_are_here or load["cpu_idle_fraction"] is None:
        return "unknown"
    if 1 - load["cpu_idle_fraction"] >= CPU_BUSY_FRACTION:
        return "cpu"
    if load["disk_busy_fraction"] is not None and load["disk_busy_fraction"] >= DISK_BUSY_FRACTION:
        return "disk"
    return "none"


def busy_fractions(sample: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return how busy the observed hosts' CPUs and the observed OSDs' disks were, from 0 to 1."""
    hosts: Mapping[str, Any] = sample.get("hosts", {})
    osds: Mapping[str, Any] = sample.get("osds", {})
    cpus = [1 - one["cpu_idle_seconds"] / (one["cpus"] * one["seconds"]) for one in hosts.values()]
    disks = [one["disk"]["busy_seconds"] / one["disk"]["seconds"] for one in osds.values() if "disk" in one]
    return [_fraction(one) for one in cpus], [_fraction(one) for one in disks]


def limiting_resource_of_hosts(sample: Mapping[str, Any]) -> str:
    """Return `cpu`, `disk`, `none` or `unknown` by HOSTS_LIMITER_RULE.

    One host that was busy enough decides, even if others were not observed. Otherwise all must be known.
    """
    cpus, disks = busy_fractions(sample)
    if cpus and max(cpus) >= CPU_BUSY_FRACTION:
        return "cpu"
    unseen = [name for name in sample.get("left_out", {}) if not name.endswith(" cpu")]
    if not cpus or not disks or unseen:
        return "unknown"
    return "disk" if max(disks) >= DISK_BUSY_FRACTION else "none"


def _fraction(value: float) -> float:
    return min(1.0, max(0.0, value))
