"""A site's limits for a run, and whether one has been reached. Pure; figures come from Ceph's own answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replay.cluster.health import recovering, slow_operations


@dataclass(frozen=True)
class Ceilings:
    """What a run must not exceed. None means that the site sets no limit.

    `rate_bytes_per_second` limits one image's client, also while the image is filled;
    `bytes_written_to_media_per_run` what the run may write to all OSDs together; `fullest_osd_fraction` how full the
    fullest OSD may be (0 to 1); `tenant_latency_seconds` the slowest OSD's commit latency, `slow_operations` their
    number; `recovery` tolerates recovery while a set runs.
    """

    rate_bytes_per_second: float | None = None
    bytes_written_to_media_per_run: float | None = None
    fullest_osd_fraction: float = 0.7
    tenant_latency_seconds: float | None = None
    slow_operations: int = 0
    recovery: bool = False

    def client_options(self) -> dict[str, str]:
        """Return librbd's settings that limit an image to the rate; they are part of a cell's identity."""
        if self.rate_bytes_per_second is None:
            return {}
        return {"rbd_qos_bps_limit": str(max(1, int(self.rate_bytes_per_second)))}


#: What to do where the bytes of a run are used up.
RAISE_IT = "finished sets are kept; raise the ceiling and run measure again, or start a new run with another --data"


@dataclass(frozen=True)
class Stop:
    """A ceiling that has been reached: a slug, and a sentence with the figure and the limit."""

    reason: str
    detail: str


def check(
    ceilings: Ceilings,
    *,
    status: Mapping[str, Any] | None = None,
    osd_df: Mapping[str, Any] | None = None,
    osd_perf: Mapping[str, Any] | None = None,
    bytes_written_to_media: float = 0.0,
    bytes_of_next_set: float = 0.0,
    bytes_added_by_next_set: float = 0.0,
    next_set: str = "the next set",
) -> list[Stop]:
    """Return the ceilings that have been reached, from parsed answers (`ceph status`, `osd df`, `osd perf`).

    `bytes_written_to_media` is what this run wrote so far, `bytes_of_next_set` what it is about to write to media: a
    set that would exceed the ceiling is not started. `bytes_added_by_next_set` is the part of it that takes free space
    (overwriting an image does not). Missing arguments are not checked.
    """
    stops = []
    limit = ceilings.bytes_written_to_media_per_run
    if limit is not None and bytes_written_to_media + bytes_of_next_set > limit:
        text = f"this run has written {bytes_written_to_media / 2**30:.3g} GiB to media"
        if bytes_of_next_set:
            text += f", and {next_set} would write about {bytes_of_next_set / 2**30:.3g} GiB"
        stops.append(Stop("bytes_written", f"{text}; the site allows {limit / 2**30:.3g} GiB"))
    if osd_df is not None:
        name, fraction = fullest_osd(osd_df, bytes_added_by_next_set)
        if fraction > ceilings.fullest_osd_fraction:
            text = f"{name} is (or would be) {fraction:.0%} full; the site allows {ceilings.fullest_osd_fraction:.0%}"
            stops.append(Stop("fullest_osd", text))
    if status is not None:
        slow = slow_operations(status)
        if slow > ceilings.slow_operations:
            stops.append(Stop("slow_operations", f"{slow} slow operations; the site allows {ceilings.slow_operations}"))
        if recovering(status) and not ceilings.recovery:
            stops.append(Stop("recovery", "the cluster is recovering"))
    if osd_perf is not None and ceilings.tenant_latency_seconds is not None:
        name, seconds = slowest_osd(osd_perf)
        if seconds > ceilings.tenant_latency_seconds:
            allowed = ceilings.tenant_latency_seconds * 1e3
            text = f"{name} commits in {seconds * 1e3:.0f} ms; the site allows {allowed:.0f} ms"
            stops.append(Stop("tenant_latency", text))
    return stops


def fullest_osd(osd_df: Mapping[str, Any], more_bytes: float = 0.0) -> tuple[str, float]:
    """Return the name and fraction of the fullest OSD, after `more_bytes` were spread over all OSDs by capacity."""
    nodes = [node for node in osd_df.get("nodes", ()) if node.get("kb")]
    capacity = sum(node["kb"] for node in nodes) * 1024
    extra = more_bytes / capacity if capacity else 0.0
    worst = max(nodes, key=lambda node: node["kb_used"] / node["kb"], default=None)
    if worst is None:
        return "no OSD", 0.0
    return worst.get("name", f"osd.{worst.get('id')}"), worst["kb_used"] / worst["kb"] + extra


def slowest_osd(osd_perf: Mapping[str, Any]) -> tuple[str, float]:
    """Return the name and commit latency (seconds) of the slowest OSD: what the cluster's tenants wait for."""
    infos = osd_perf.get("osdstats", osd_perf).get("osd_perf_infos", ())
    worst = max(infos, key=lambda info: info["perf_stats"]["commit_latency_ms"], default=None)
    if worst is None:
        return "no OSD", 0.0
    return f"osd.{worst['id']}", worst["perf_stats"]["commit_latency_ms"] / 1e3
