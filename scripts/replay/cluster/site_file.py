"""Reads a site from `config/sites/<name>.yaml`, and checks what the schema cannot."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.paths import config_directory, program_file
from replay.base.programs import HOST_PROGRAMS, Programs, parse_release
from replay.cluster import sandbox_record
from replay.cluster.cluster import Cluster, why_unreadable
from replay.cluster.prometheus import OsdCpuSeries, PrometheusSource
from replay.cluster.site import Ceilings, Pool, Pools, SecondSite, Site, TimeWindow
from replay.design.configuration import Document, load_validated_document


def load_site(name: str, *, check_files: bool = True) -> Site:
    """Read and check `config/sites/<name>.yaml`.

    Raises ConfigurationError naming file, line and key; `check_files` also refuses paths that do not exist. A sandbox
    site raises SandboxError if that sandbox was never started.
    """
    path = config_directory() / "sites" / f"{name}.yaml"
    document = load_validated_document(path, program_file("schemas", "site.schema.json"))
    raw: dict[str, Any] = document.data
    allows = frozenset(raw["allows"])
    if raw["name"] != path.stem:
        raise ConfigurationError(
            f"name: {raw['name']!r} is not the file's name {path.stem!r}", where=document.where("name")
        )
    reader = _SiteReader(document, check_files)
    pools = Pools(**{role: _pool(entry) for role, entry in raw["pools"].items()})
    _check_pools(document, pools, allows)
    if "sandbox" in raw:
        primary, second, fsid = _of_sandbox(raw["sandbox"], document, reader.client_programs())
        second = second if "second_site" in allows else None
    else:
        primary, second = reader.primary(), reader.second_site(pools.data.name)
        fsid = fsid_in(primary.conf)
    return Site(
        name=raw["name"],
        label=raw["label"],
        limitation=raw["limitation"],
        primary=primary,
        pools=pools,
        allows=allows,
        second_site=second,
        client_hosts=tuple(raw.get("client_hosts", ())),
        time_window=_time_window(document),
        ceilings=Ceilings(**raw.get("ceilings", {})),
        prometheus=reader.prometheus(),
        sandbox=raw.get("sandbox"),
        fsid=fsid,
    )


@dataclass(frozen=True)
class _SiteReader:
    """Turns the file's paths into clusters."""

    document: Document
    check_files: bool

    def primary(self) -> Cluster:
        return self._cluster("cluster", "primary")

    def second_site(self, data_pool: str) -> SecondSite | None:
        """Return the second cluster; None if the file names none, or does not allow its use."""
        raw = self.document.data.get("second_cluster")
        if raw is None:
            return None
        socket = raw.get("mirror_daemon_admin_socket")
        if raw.get("pool", data_pool) != data_pool:
            raise ConfigurationError(
                f"second_cluster.pool: {raw['pool']!r} differs from pools.data.name {data_pool!r}",
                where=self.document.where("second_cluster", "pool"),
                next_step="rbd mirrors a pool to the pool of the same name on the other cluster",
            )
        if "second_site" not in self.document.data["allows"]:
            return None
        return SecondSite(
            cluster=self._cluster("second_cluster", "secondary"),
            mirror_daemon_admin_socket=self._path("second_cluster", "mirror_daemon_admin_socket") if socket else None,
        )

    def client_programs(self) -> Programs | None:
        """Return the programs of the release that the file names for clients, None if it names none."""
        if (named := self.document.data.get("client_release")) is None:
            return None
        where = self.document.where("client_release")
        try:
            number = parse_release(named)
            return Programs.of(number) if self.check_files else Programs.wanted(number)
        except ReplayError as error:
            raise ConfigurationError(f"client_release: {error.what}", where=where, next_step=error.next_step) from error

    def prometheus(self) -> PrometheusSource | None:
        raw = self.document.data.get("prometheus")
        if raw is None:
            return None
        where = self.document.where("prometheus")
        if "sandbox" in self.document.data:
            raise ConfigurationError(
                "prometheus: a sandbox's daemons are on this machine, which is read directly",
                where=where,
                next_step="leave it out",
            )
        try:
            address = urlsplit(raw["url"])
        except ValueError:  # brackets that hold no IPv6 address
            address = urlsplit("")
        if not address.hostname or "@" in address.netloc or address.query or address.fragment:
            raise ConfigurationError(
                f"prometheus.url: {raw['url']!r} is not an address such as http://monitor.example.org:9095",
                where=self.document.where("prometheus", "url"),
                next_step="name a user as prometheus.user, and the file with the password as prometheus.password_file",
            )
        series = raw.get("osd_cpu")
        if series is not None:
            self._check_pattern(series["pattern"])
        return PrometheusSource(
            url=raw["url"],
            labels=raw.get("labels", {}),
            user=raw.get("user"),
            password_file=self._path("prometheus", "password_file") if "password_file" in raw else None,
            ca_file=self._path("prometheus", "ca_file") if "ca_file" in raw else None,
            osd_cpu=OsdCpuSeries(**series) if series else None,
        )

    def _check_pattern(self, pattern: str) -> None:
        why = ""
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            groups, why = 0, f": {error}"
        if groups != 1:
            raise ConfigurationError(
                f"prometheus.osd_cpu.pattern: {pattern!r} has to have one group, the OSD's number{why}",
                where=self.document.where("prometheus", "osd_cpu", "pattern"),
                next_step=r"write for example osd[.-](\d+)$",
            )

    def _cluster(self, key: str, name: str) -> Cluster:
        raw = self.document.data[key]
        keyring = self._path(key, "keyring") if "keyring" in raw else None
        programs = self.client_programs() or HOST_PROGRAMS
        conf = self._path(key, "conf")
        return Cluster(conf=conf, client=raw["client"], keyring=keyring, name=name, programs=programs)

    def _path(self, *keys: str) -> Path:
        value: Any = self.document.data
        for key in keys:
            value = value[key]
        try:
            path = self.document.path.parent / Path(value).expanduser()
        except RuntimeError as error:
            raise ConfigurationError(
                f"{'.'.join(keys)}: {value}: no home folder is known for the ~ in it",
                where=self.document.where(*keys),
                next_step="write the whole path",
            ) from error
        if self.check_files and (why := why_unreadable(path)):
            raise ConfigurationError(
                f"{'.'.join(keys)}: {path}: {why}",
                where=self.document.where(*keys),
                next_step="correct the path, or run as a user that may read it",
            )
        return path


def _pool(raw: dict[str, Any]) -> Pool:
    code = raw.get("erasure_code")
    return Pool(**{**raw, "erasure_code": (code["k"], code["m"]) if code else None})


def _check_pools(document: Document, pools: Pools, allows: frozenset[str]) -> None:
    for role in ("data", "journal", "data_pool"):
        pool: Pool | None = getattr(pools, role)
        if pool is None:
            continue
        if pool.create and "pool_create" not in allows:
            raise ConfigurationError(
                f"pools.{role}.create: true needs pool_create among allows",
                where=document.where("pools", role, "create"),
                next_step="add pool_create to allows, or let an administrator make the pool",
            )
        if pool.pg_num is not None and pool.pg_num & (pool.pg_num - 1):
            raise ConfigurationError(
                f"pools.{role}.pg_num: {pool.pg_num} is not a power of 2", where=document.where("pools", role, "pg_num")
            )
    names = [pool.name for pool in pools.all()]
    if len(set(names)) != len(names):
        raise ConfigurationError("pools: two of them have the same name", where=document.where("pools"))


def _time_window(document: Document) -> TimeWindow | None:
    raw = document.data.get("time_window")
    if raw is None:
        return None
    try:
        zone = ZoneInfo(raw["timezone"])
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: `Europe` is a folder of zones
        raise ConfigurationError(
            f"time_window.timezone: there is no time zone {raw['timezone']!r}",
            where=document.where("time_window", "timezone"),
            next_step="write an IANA name such as Europe/Berlin (package tzdata)",
        ) from error
    if raw["from"] == raw["to"]:
        raise ConfigurationError(
            "time_window: from and to are the same moment",
            where=document.where("time_window"),
            next_step="leave time_window out to allow the whole day",
        )
    return TimeWindow(time.fromisoformat(raw["from"]), time.fromisoformat(raw["to"]), zone)


def _of_sandbox(
    name: str, document: Document, client_programs: Programs | None
) -> tuple[Cluster, SecondSite | None, str]:
    if "second_cluster" in document.data:
        raise ConfigurationError(
            "second_cluster: a sandbox brings its own", where=document.where("second_cluster"), next_step="leave it out"
        )
    sandbox = sandbox_record.load(sandbox_record.default_directory(name))
    left, right = sandbox.clusters["left"], sandbox.clusters.get("right")
    second, programs = None, client_programs or sandbox.layout.programs

    def at(site: str) -> Programs:
        return programs.inside(sandbox.link.entry(site)) if sandbox.link else programs

    if right is not None and sandbox.mirror is not None:
        cluster = Cluster(Path(right.conf), right.client, Path(right.keyring), "secondary", at("right"))
        second = SecondSite(cluster, Path(sandbox.mirror.asok))
    return Cluster(Path(left.conf), left.client, Path(left.keyring), "primary", at("left")), second, left.fsid


def fsid_in(conf: Path) -> str | None:
    """Return the fsid that a ceph.conf names, in lower case, None if it names none or cannot be read."""
    try:
        fsid = re.search(r"^\s*fsid\s*=\s*([0-9a-fA-F-]{36})", conf.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return fsid[1].lower() if fsid else None
