"""A site: a cluster to measure, what Replay may use there, what it may do, and how much at most.

`site_file` reads it. Figures that are compared with a ceiling come from Ceph's own answers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from replay.base.errors import RefusedError
from replay.cluster import sandbox_record
from replay.cluster.cluster import Cluster
from replay.cluster.prometheus import PrometheusSource

WORDS = (
    "pool_create", "pool_delete", "second_site", "crush", "osd_config", "daemon_stop", "host_root", "kernel_rbd",
    "client_hosts",
)  # fmt: skip
#: What the sandbox has to be, not what Replay may do there: no file allows these. The reasons become part of a design.
SHAPES: Mapping[str, tuple[Callable[[sandbox_record.Sandbox], bool], str]] = {
    "link": (
        lambda sandbox: sandbox.link is not None,
        "this needs a sandbox with a line between its sites: replay sandbox up --rtt 0ms",
    ),
    "stretch": (
        lambda sandbox: sandbox.options.stretch,
        "this needs a sandbox of one cluster over both sites: replay sandbox up --stretch --rtt 0ms",
    ),
}
#: What a variant requires that stands in for those that set daemons: the cluster is measured as its owner has set it.
NO_OSD_CONFIG = "no_osd_config"
#: These change how a cluster places or throttles everybody's data, or whether it answers at all.
OWN_CLUSTER_ONLY = frozenset({"crush", "osd_config", "daemon_stop"})
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
#: What a pool gets where the site's file says nothing; the code, (k, m), is the data pool's.
DEFAULT_PG_NUM, DEFAULT_ERASURE_CODE = 32, (2, 1)


@dataclass(frozen=True)
class Pool:
    """A pool that Replay may use; with `create` it may also make it. `erasure_code` is (k, m)."""

    name: str
    namespace: str = ""
    create: bool = False
    pg_num: int | None = None
    replicas: int | None = None
    device_class: str | None = None
    erasure_code: tuple[int, int] | None = None

    @property
    def spec(self) -> str:
        """`pool` or `pool/namespace`, as the rbd program takes it."""
        return f"{self.name}/{self.namespace}" if self.namespace else self.name


@dataclass(frozen=True)
class Pools:
    """`data` is for images, `journal` for their journals, `data_pool` (erasure-coded) for their data."""

    data: Pool
    journal: Pool | None = None
    data_pool: Pool | None = None

    def all(self) -> list[Pool]:
        """Return the named pools, the data pool first."""
        return [pool for pool in (self.data, self.data_pool, self.journal) if pool is not None]


@dataclass(frozen=True)
class SecondSite:
    """The mirroring cluster; `mirror_daemon_admin_socket` is None if the daemon runs on another machine.

    Copies are in the pool of the same name as the data pool: rbd mirrors to no other.
    """

    cluster: Cluster
    mirror_daemon_admin_socket: Path | None = None


@dataclass(frozen=True)
class Ceilings:
    """What a run must not exceed. None means that the site sets no limit.

    `rate_bytes_per_second` limits one image's client, also while the image is filled;
    `bytes_written_to_media_per_run` what the run may write to all OSDs together; `fullest_osd_fraction` how full the
    fullest OSD may be (0 to 1); `tenant_latency_seconds` the slowest OSD's commit latency.
    """

    rate_bytes_per_second: float | None = None
    bytes_written_to_media_per_run: float | None = None
    fullest_osd_fraction: float = 0.7
    tenant_latency_seconds: float | None = None

    def client_options(self) -> dict[str, str]:
        """Return librbd's settings that limit an image to the rate; they are part of a cell's identity."""
        if self.rate_bytes_per_second is None:
            return {}
        return {"rbd_qos_bps_limit": str(max(1, int(self.rate_bytes_per_second)))}


@dataclass(frozen=True)
class Site:
    """A site as its file describes it. `fsid` comes from its ceph.conf, None if that names none."""

    name: str
    label: str
    limitation: str
    primary: Cluster
    pools: Pools
    allows: frozenset[str]
    second_site: SecondSite | None = None
    client_hosts: tuple[str, ...] = ()
    time_window: TimeWindow | None = None
    ceilings: Ceilings = field(default_factory=Ceilings)
    prometheus: PrometheusSource | None = None
    sandbox: str | None = None
    fsid: str | None = None

    @property
    def secondary(self) -> Cluster | None:
        return self.second_site.cluster if self.second_site else None


def missing(requires: Iterable[str], site: Site) -> list[tuple[str, str]]:
    """Return (word, why) for each required word that the site lacks, in the given order."""
    return [(word, why) for word in dict.fromkeys(requires) if (why := _why_missing(word, site))]


def require(site: Site, word: str, fsid: str) -> None:
    """Raise RefusedError unless `word` may be used on the live cluster `fsid` (from its monitors).

    Code that changes weights, affinity or a daemon's configuration, or stops daemons, calls this right before it acts:
    for those, a site file or a ceph.conf is not enough to identify the cluster.
    """
    why = _why_missing(word, site)
    if why is None and word in {*OWN_CLUSTER_ONLY, *SHAPES} and not sandbox_record.owns_fsid(fsid):
        why = f"the cluster {fsid} was not started by Replay"
    if why is not None:
        raise RefusedError(f"{word} is refused: {why}", where=f"site {site.name}")


def _why_missing(word: str, site: Site) -> str | None:
    if word == NO_OSD_CONFIG:
        return None if _why_missing("osd_config", site) else "here other variants set what this one takes as it is"
    if word in SHAPES:
        sandbox = sandbox_record.owner_of(site.fsid) if site.fsid else None
        is_shaped, why = SHAPES[word]
        return None if sandbox is not None and is_shaped(sandbox) else why
    if word not in WORDS:
        return f"{word!r} is not one of the words that a site can allow ({', '.join(WORDS)})"
    if word in OWN_CLUSTER_ONLY and not (site.fsid and sandbox_record.owns_fsid(site.fsid)):
        return "refused on a cluster that Replay did not start, whatever its file allows"
    if word not in site.allows:
        return "the site's file does not allow it"
    return next((why for possible, why in _CONDITIONS.get(word, ()) if not possible(site)), None)


@cache
def _kernel_has_rbd() -> bool:
    if Path("/sys/bus/rbd").exists():
        return True
    modprobe = shutil.which("modprobe", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if modprobe is None:
        return False
    done = subprocess.run([modprobe, "--dry-run", "--quiet", "rbd"], capture_output=True, timeout=10, check=False)
    return done.returncode == 0


_AS_ROOT = (lambda _: os.geteuid() == 0, "this process does not run as root")
_CONDITIONS: dict[str, tuple[tuple[Callable[[Site], bool], str], ...]] = {
    "second_site": ((lambda site: site.second_site is not None, "the site's file names no second cluster"),),
    "client_hosts": (
        (lambda site: bool(site.client_hosts), "the site's file names no client hosts"),
        (
            lambda site: set(site.client_hosts) <= LOCAL_HOSTS or shutil.which("ssh") is not None,
            "it names other hosts than localhost, and the program ssh is not installed",
        ),
    ),
    "host_root": (_AS_ROOT,),
    "kernel_rbd": (
        _AS_ROOT,
        (lambda _: _kernel_has_rbd(), "this machine's kernel has no rbd module"),
    ),
}


#: What to do where the bytes of a run are used up.
RAISE_IT = "finished sets are kept; raise the ceiling and run measure again, or start a new run with another --data"


@dataclass(frozen=True)
class Stop:
    """Why a run has to end, such as a ceiling that has been reached: a slug, and a sentence with the figures."""

    reason: str
    detail: str


def ceilings_reached(
    ceilings: Ceilings,
    *,
    osd_df: Mapping[str, Any] | None = None,
    osd_perf: Mapping[str, Any] | None = None,
    bytes_written_to_media: float = 0.0,
    bytes_of_next_set: float = 0.0,
    bytes_added_by_next_set: float = 0.0,
    next_set: str = "the next set",
) -> list[Stop]:
    """Return the ceilings that have been reached, from parsed answers (`osd df`, `osd perf`).

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
    latencies = commit_latencies(osd_perf)
    worst = max(latencies, key=latencies.__getitem__, default=None)
    return ("no OSD", 0.0) if worst is None else (f"osd.{worst}", latencies[worst])


def commit_latencies(osd_perf: Mapping[str, Any]) -> dict[int, float]:
    """Return each OSD's commit latency in the last seconds, in seconds, by number, from the answer to `osd perf`."""
    infos = osd_perf.get("osdstats", osd_perf).get("osd_perf_infos", ())
    return {info["id"]: info["perf_stats"]["commit_latency_ms"] / 1e3 for info in infos}


@dataclass(frozen=True)
class TimeWindow:
    """Open daily from `start` to `end` (local times in `zone`); over midnight if `end` is not later than `start`.

    When clocks change, the shorter interpretation counts: a start that happens twice (or not at all) means the later
    moment, an end the earlier one. A tenant's morning matters more than an hour of measuring.
    """

    start: time
    end: time
    zone: ZoneInfo

    def is_open(self, now: datetime) -> bool:
        """Whether measuring is allowed at `now` (an aware datetime)."""
        return self.seconds_until_close(now) > 0

    def seconds_until_open(self, now: datetime) -> float:
        """Seconds until the window opens; 0 when it is open."""
        if self.is_open(now):
            return 0.0
        return min((opens - now).total_seconds() for opens, _ in self._windows(now) if opens > now)

    def seconds_until_close(self, now: datetime) -> float:
        """Seconds that remain; 0 when the window is closed."""
        return max(
            ((closes - now).total_seconds() for opens, closes in self._windows(now) if opens <= now < closes),
            default=0.0,
        )

    def __str__(self) -> str:
        return f"{self.start:%H:%M} to {self.end:%H:%M} {self.zone.key}"

    def _windows(self, now: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Yield the windows of the days around `now` as UTC instants, which clock changes leave alone."""
        today = now.astimezone(self.zone).date()
        for days in range(-2, 4):
            first = today + timedelta(days=days)
            last = first if self.end > self.start else first + timedelta(days=1)
            opens = max(self._instant(datetime.combine(first, self.start), fold) for fold in (0, 1))
            closes = min(self._instant(datetime.combine(last, self.end), fold) for fold in (0, 1))
            if opens < closes:
                yield opens, closes

    def _instant(self, local: datetime, fold: int) -> datetime:
        return local.replace(tzinfo=self.zone, fold=fold).astimezone(UTC)
