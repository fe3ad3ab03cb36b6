"""What a cell ran out of first: its bottleneck, by rules for one machine and for several. Pure.

Measuring records it in the sidecar as `limiter`, over the whole run of the tool. If the machine was sampled while the
load was steady, derive judges that sample instead: while a tool starts and ends, little is busy, and neither is part of
the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: A resource is the bottleneck if it is at least this busy during a cell. Every sidecar states this as `limiter_rule`.
CPU_BUSY_FRACTION = 0.85
DISK_BUSY_FRACTION = 0.80
BOTTLENECK_RULE = f"cpu when busy >= {CPU_BUSY_FRACTION}, else disk when busy >= {DISK_BUSY_FRACTION}, else none"
#: The same for the busiest of several machines. The sidecar states it as `limiter_rule`.
HOSTS_BOTTLENECK_RULE = (
    f"cpu when the busiest OSD host was busy >= {CPU_BUSY_FRACTION}, else disk when the busiest OSD's disk was "
    f"busy >= {DISK_BUSY_FRACTION}, else none; unknown where a host or a disk was not seen"
)

#: The facts of a cell that nobody knows unless the machines that run the OSDs were observed.
FACTS_OF_MACHINES = ("idle_cpu_fraction", "limiter")
#: What is missing where they were not, and what adds it.
UNSEEN_MACHINES = "that of the OSDs' machines is missing, and one line in the site's file, `prometheus`, would add it"

#: The stretch of time that decides: the part in which the load was steady, or the whole run of the tool.
STEADY, WHOLE = "steady part", "whole run"


class Bottleneck(NamedTuple):
    """`resource` is cpu, disk, network, none or unknown. `rule` may be None. `over` is STEADY or WHOLE."""

    resource: str
    rule: str | None
    over: str


#: Of a cell whose sidecar does not say.
UNKNOWN = Bottleneck("unknown", None, WHOLE)


def bottleneck_of(sidecar: Mapping[str, Any]) -> Bottleneck:
    """Return a cell's bottleneck: by `samples.daemons.machine` if that states the CPU, otherwise as it was recorded.

    If a Prometheus server observed other machines, the recorded one counts.
    """
    samples = sidecar.get("samples") or {}
    steady = (samples.get("daemons") or {}).get("machine") or {}
    if steady.get("cpu_idle_fraction") is not None and "prometheus" not in samples:
        load = {"disk_busy_fraction": None, **steady}
        return Bottleneck(bottleneck_here(load, daemons_are_here=True), BOTTLENECK_RULE, STEADY)
    return Bottleneck(str(sidecar.get("limiter") or "unknown"), sidecar.get("limiter_rule"), WHOLE)


def bottleneck_here(load: dict[str, float | None], *, daemons_are_here: bool) -> str:
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


def bottleneck_of_hosts(sample: Mapping[str, Any]) -> str:
    """Return `cpu`, `disk`, `none` or `unknown` by HOSTS_BOTTLENECK_RULE.

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
