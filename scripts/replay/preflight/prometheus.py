"""Checks a site's Prometheus server: it answers, knows the OSDs, and scrapes often enough. Read-only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from replay.base.clock import Costs
from replay.cluster.prometheus import PrometheusClient, PrometheusError, Series
from replay.cluster.site import Site
from replay.measure.samplers.hosts import CPU, HostSampler
from replay.preflight.findings import Findings

TOPIC = "prometheus"
#: How far back scrapes are looked at, to find how often there is one.
LOOK_BACK_SECONDS = 180
#: Cells that publish latency last this long at talk scale.
CELL_SECONDS = 8.0
_LARGEST_OFFSET_SECONDS = 1.0


def check_prometheus(site: Site, findings: Findings) -> None:
    """Add findings about the server, if the site names one. Never stops a run."""
    if site.prometheus is None:
        return
    client = PrometheusClient(site.prometheus)
    sampler = HostSampler(client, Costs())
    try:
        ahead = sampler.clock_ahead_seconds()
        places = sampler.places()
        scrapes = client.scrapes(
            f'{CPU}{{mode="idle",cpu="0"}}', end=sampler.clock() + ahead, seconds=LOOK_BACK_SECONDS
        )
    except PrometheusError as error:
        text = f"{error.what}: cells will not show what limited them"
        findings.add(TOPIC, "warning", text)
        return
    if abs(ahead) > _LARGEST_OFFSET_SECONDS:
        findings.add(
            TOPIC, "note", f"its clock differs from this machine's by {ahead:+.1f} s; Replay corrects the samples"
        )
    disks = sum(place.device is not None for place in places.values())
    hosts = len({place.host for place in places.values()})
    complete = disks == len(places) and findings.osds in (None, len(places))
    known = len(places) if findings.osds is None else f"{len(places)} of {findings.osds}"
    text = f"knows {known} OSDs on {hosts} host{'' if hosts == 1 else 's'}, and the disk of {disks}"
    findings.add(TOPIC, "ok" if complete else "warning", text)
    interval = scrape_interval(scrapes)
    if interval is None:
        findings.add(
            TOPIC, "warning", f"no CPU was scraped twice within {LOOK_BACK_SECONDS} s: the scrape interval is unknown"
        )
    elif 2 * interval > CELL_SECONDS:
        text = (
            f"scrapes every {interval:.0f} s: a cell shows what was busy only if it contains two scrapes, and a cell of"
        )
        findings.add(TOPIC, "warning", f"{text} {CELL_SECONDS:.0f} s does not; scrape every 2 s while measuring")
    else:
        findings.add(TOPIC, "ok", f"scrapes every {interval:.1f} s")


def scrape_interval(series: Sequence[Series]) -> float | None:
    """Return the longest of the series' median intervals in seconds; None if no series has two scrapes."""
    medians = []
    for one in series:
        moments = [moment for moment, _ in one.samples]
        if gaps := [later - earlier for earlier, later in pairwise(moments)]:
            medians.append(median(gaps))
    return max(medians, default=None)
