"""What the OSDs' hosts and disks did while a cell ran, by the site's Prometheus.

Only scrapes from while the cell ran count, at their own times. Nothing is interpolated, and a host that was scraped
fewer than two times is left out and named. Hosts are numbered in the order of their names, so no host name gets into a
record.

Series: node_exporter's `node_cpu_seconds_total`, `node_disk_{io_time_seconds,written_bytes,read_bytes}_total` and
`node_uname_info`; the manager's `ceph_osd_metadata` (an OSD's host) and `ceph_disk_occupation` (its disk), see
https://docs.ceph.com/en/latest/mgr/prometheus/.
"""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from replay.base.clock import Costs
from replay.cluster.prometheus import PrometheusClient, PrometheusError, Series, selector

#: The key in a disk's record to node_exporter's counter.
DISK_COUNTERS: Mapping[str, str] = {
    "busy_seconds": "node_disk_io_time_seconds_total",
    "written_bytes": "node_disk_written_bytes_total",
    "read_bytes": "node_disk_read_bytes_total",
}
CPU = "node_cpu_seconds_total"
#: After this many failures in a row, the server is not asked again during the run.
MOST_FAILURES = 3
#: The modes in which a CPU has nothing to do. Waiting for a disk is not work.
IDLE_MODES = ("idle", "iowait")


@dataclass(frozen=True)
class OsdPlace:
    """Where an OSD is: its host's short name, node_exporter's `instance` there, its disk (None if unknown)."""

    host: str
    instance: str
    device: str | None


@dataclass(frozen=True)
class CounterChange:
    """What a counter did between the first and the last scrape of a stretch of time."""

    seconds: float
    value: float
    scrapes: int


class LeftOutError(Exception):
    """A counter that says nothing about a stretch of time; the text says why."""


class HostSampler:
    """Asks Prometheus what the OSDs' hosts did. If it does not answer, the record says so and the cell stays valid."""

    def __init__(
        self,
        client: PrometheusClient,
        costs: Costs,
        *,
        say: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.client = client
        self.costs = costs
        self.say = say
        self.clock = clock
        self._failures = 0
        self._places: dict[str, OsdPlace] | None = None

    def places(self) -> dict[str, OsdPlace]:
        """Return each OSD's place, asked for once. Raises PrometheusError."""
        if self._places is None:
            labels = self.client.source.labels
            metadata = self.client.instant(selector("ceph_osd_metadata", labels))
            disks = self.client.instant(selector("ceph_disk_occupation", labels))
            self._places = osd_places(metadata, disks, self.client.instant("node_uname_info"))
        return self._places

    def clock_ahead_seconds(self) -> float:
        """Return how far the server's clock is ahead of this machine's, to half the time of an answer."""
        asked = self.clock()
        server_clock = self.client.now()
        return server_clock - (asked + self.clock()) / 2

    def between(self, begin: float, end: float) -> dict[str, Any]:
        """Return what happened between two moments of this machine's clock (seconds since 1970), for a sidecar.

        `hosts`: host to `seconds` between its first and last scrape, `scrapes`, `cpus`, `cpu_idle_seconds` of all CPUs
        together, and its `osds`. `osds`: OSD to its `host`, its `disk` (`seconds`, and what DISK_COUNTERS counts) and,
        where the site names such series, its `cpu`. `left_out` says why something is missing. A server that failed
        three times in a row is not asked again, because each cell would wait for it.
        """
        with self.costs.measure("sample"):
            started = time.monotonic()
            sample: dict[str, Any] = {"seconds": round(end - begin, 3)}
            if self._failures == MOST_FAILURES:
                return sample | {"unanswered": f"it failed {MOST_FAILURES} times in a row and was not asked again"}
            try:
                ahead = self.clock_ahead_seconds()
                sample["clock_ahead_seconds"] = round(ahead, 3)
                sample |= self._seen(begin + ahead, end + ahead)
                self._failures = 0
            except PrometheusError as error:
                self._failures += 1
                self.say(f"Prometheus: {error}")
                sample["unanswered"] = error.reason
            return sample | {"cost_seconds": round(time.monotonic() - started, 4)}

    def _seen(self, begin: float, end: float) -> dict[str, Any]:
        places = self.places()
        instances = sorted({place.instance for place in places.values()})
        seconds = math.ceil(end - begin) + 1

        def ask(name: str, *more: str) -> list[Series]:
            matchers = ",".join((f"instance=~{_any_of(instances)}", *more))
            return self.client.scrapes(f"{name}{{{matchers}}}", end=end, seconds=seconds)

        cpu = ask(CPU, f"mode=~{_any_of(IDLE_MODES)}")
        disks = {word: ask(name) for word, name in DISK_COUNTERS.items()}
        own = self.client.source.osd_cpu
        of_osds = self.client.scrapes(own.selector, end=end, seconds=seconds) if own else []
        pattern = (own.label, own.pattern) if own else ("", "")
        return what_hosts_did(places, cpu, disks, osd_cpu(of_osds, *pattern), begin, end)


def osd_places(metadata: Iterable[Series], disks: Iterable[Series], unames: Iterable[Series]) -> dict[str, OsdPlace]:
    """Return each OSD's place from three kinds of series. Raises PrometheusError if there is none, or more than one."""
    instances: dict[str, str] = {}
    for series in unames:
        instances[short_name(series.labels.get("nodename", ""))] = series.labels.get("instance", "")
    devices_of, hosts_of = defaultdict(set), defaultdict(set)
    for series in disks:
        devices_of[series.labels.get("ceph_daemon", "")].add(series.labels.get("device", ""))
    for series in metadata:
        hosts_of[series.labels.get("ceph_daemon", "")].add(short_name(series.labels.get("hostname", "")))
    places = {}
    for osd in sorted(hosts_of, key=lambda name: (len(name), name)):
        hosts, devices = hosts_of[osd], devices_of[osd]
        if len(hosts) > 1 or len(devices) > 1:
            raise PrometheusError(
                f"knows more than one {osd}: series of several clusters",
                next_step="set prometheus.labels in the site's file, such as `cluster: <fsid>`",
            )
        (host,) = hosts
        device = next(iter(devices), "").removeprefix("/dev/")
        if host in instances and re.fullmatch(r"osd\.\d+", osd):
            places[osd] = OsdPlace(host, instances[host], device or None)
    if not places:
        raise PrometheusError(
            "knows no OSD together with its host: ceph_osd_metadata and node_uname_info have no host in common",
            next_step="let it scrape the manager's module prometheus and node_exporter on the OSDs' hosts",
        )
    return places


def osd_cpu(series: Iterable[Series], label: str, pattern: str) -> dict[str, list[Series]]:
    """Return an exporter's CPU seconds by OSD, without series of other programs, whose label does not match."""
    by_osd = defaultdict(list)
    for each in series:
        match = re.search(pattern, each.labels.get(label, ""))
        if match and match[1] and match[1].isdecimal():
            by_osd[f"osd.{int(match[1])}"].append(each)
    return by_osd


def what_hosts_did(
    places: Mapping[str, OsdPlace],
    cpu: Iterable[Series],
    disks: Mapping[str, Iterable[Series]],
    cpu_of_osds: Mapping[str, Sequence[Series]],
    begin: float,
    end: float,
) -> dict[str, Any]:
    """Return `hosts`, `osds` and `left_out` of HostSampler.between; times are by the server's clock."""
    names = {host: f"host-{number}" for number, host in enumerate(sorted({p.host for p in places.values()}), start=1)}
    idle = defaultdict(list)
    for series in cpu:
        idle[series.labels.get("instance", "")].append(series)
    counters = {
        word: {(series.labels.get("instance", ""), series.labels.get("device", "")): series for series in counted}
        for word, counted in disks.items()
    }
    hosts: dict[str, Any] = {}
    osds: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for osd, place in places.items():
        host = names[place.host]
        osds[osd] = {"host": host}
        if host in hosts:
            hosts[host]["osds"].append(osd)
        elif host not in left_out:
            try:
                hosts[host] = {**_cpu_record(idle[place.instance], begin, end), "osds": [osd]}
            except LeftOutError as error:
                left_out[host] = str(error)
        try:
            osds[osd]["disk"] = _disk_record(counters, place, begin, end)
        except LeftOutError as error:
            left_out[f"{osd} disk"] = str(error)
        if osd in cpu_of_osds:
            try:
                changes = [change_between(series, begin, end) for series in cpu_of_osds[osd]]
                osds[osd]["cpu"] = {
                    "seconds": round(max(change.seconds for change in changes), 3),
                    "cpu_seconds": round(sum(change.value for change in changes), 4),
                }
            except LeftOutError as error:
                left_out[f"{osd} cpu"] = str(error)
    return {"hosts": hosts, "osds": osds} | ({"left_out": left_out} if left_out else {})


def change_between(series: Series, begin: float, end: float) -> CounterChange:
    """Return what a counter did between its first and last scrape from `begin` to `end`.

    Raises LeftOutError if there are fewer than two, or if the counter went down.
    """
    inside = [sample for sample in series.samples if begin <= sample[0] <= end]
    if len(inside) < 2:
        raise LeftOutError(f"{len(inside)} scrape{'' if len(inside) == 1 else 's'} in {end - begin:.1f} s")
    if any(later[1] < earlier[1] for earlier, later in pairwise(inside)):
        raise LeftOutError("its counter started again")
    return CounterChange(inside[-1][0] - inside[0][0], inside[-1][1] - inside[0][1], len(inside))


def short_name(host: str) -> str:
    """Return a host's name without its domain; an address stays whole."""
    return host if re.fullmatch(r"[\d.]+|.*:.*", host) else host.partition(".")[0].lower()


def _cpu_record(series: Sequence[Series], begin: float, end: float) -> dict[str, Any]:
    if not series:
        raise LeftOutError("node_exporter does not report its CPUs")
    changes = [change_between(mode, begin, end) for mode in series]
    return {
        "seconds": round(fmean(change.seconds for change in changes), 3),
        "scrapes": min(change.scrapes for change in changes),
        "cpus": len({mode.labels.get("cpu") for mode in series}),
        "cpu_idle_seconds": round(sum(change.value for change in changes), 4),
    }


def _disk_record(
    counters: Mapping[str, Mapping[tuple[str, str], Series]], place: OsdPlace, begin: float, end: float
) -> dict[str, Any]:
    if place.device is None:
        raise LeftOutError("the manager does not report its disk")
    record: dict[str, Any] = {}
    for word, by_place in counters.items():
        series = by_place.get((place.instance, place.device))
        if series is None:
            raise LeftOutError(f"node_exporter does not report its disk {place.device}")
        change = change_between(series, begin, end)
        record |= {"seconds": round(change.seconds, 3), word: round(change.value, 4)}
    return record


def _any_of(words: Iterable[str]) -> str:
    """Return a quoted regular expression that matches these words. RE2 understands the escapes of `re.escape`."""
    text = "|".join(re.escape(word) for word in words).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
