"""A site: a cluster to measure, what Replay may use there, and what it may do. `site_file` reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from replay.cluster.capabilities import WORDS, missing, require
from replay.cluster.ceilings import Ceilings
from replay.cluster.cluster import Cluster
from replay.cluster.prometheus import PrometheusSource
from replay.cluster.time_window import TimeWindow

__all__ = ["WORDS", "Pool", "Pools", "SecondSite", "Site", "missing", "require"]


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
    """The mirroring cluster; `mirror_daemon_admin_socket` is None if the daemon runs on another machine."""

    cluster: Cluster
    pool: str
    mirror_daemon_admin_socket: Path | None = None


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
        """The mirroring cluster, if there is one."""
        return self.second_site.cluster if self.second_site else None

    def capabilities(self) -> set[str]:
        """Return the words of `requires` that hold here: allowed by the file, and possible."""
        return set(WORDS) - {word for word, _ in missing(WORDS, self)}
