"""Creates the pools that a site's file allows, and those of an experiment. Each is in the ledger before it exists.

A site's pool is created under a unique name and renamed once its id is on disk. So a crash never leaves a ledger entry
that could mean somebody else's pool of the same name. An experiment's pool, such as one for each number of replicas, is
created for a block and removed after it; it keeps its unique name, so that it cannot be mistaken for anybody else's.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replay.base.clock import Waiting, poll
from replay.base.disk import size_text
from replay.base.errors import RefusedError
from replay.cluster import admin_commands, health, sandbox_record
from replay.cluster.admin_commands import OWN_KEY, OWN_VALUE, POOL_DELETE_OPTION
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import DEFAULT_ERASURE_CODE, DEFAULT_PG_NUM, Pool, Site, require
from replay.ownership.ledger import Entry, Ledger, unique_name
from replay.ownership.open_site import OpenSite, intend
from replay.ownership.removal import remove_all

_SETTLE_SECONDS = 120.0
_SEEN_WITHIN_SECONDS = 30.0


def ensure_pools(
    site: Site, session: MonitorSession, ledger: Ledger, *, data_set: str = "", say: Callable[[str], None] = print
) -> list[str]:
    """Make the site's missing pools, wait until they are clean, and return the names of those made.

    Raises RefusedError if a pool is missing that Replay may not make, or if the new pools do not become clean.
    """
    existing = {pool["poolname"] for pool in session.command({"prefix": "osd lspools"})}
    own = {entry.details.get("final_name") for entry in ledger.owned() if entry.kind == "pool"}
    made = []
    for pool in site.pools.all():
        is_data_pool = pool is site.pools.data_pool
        if pool.name in existing:
            if pool.name in own and not is_data_pool:
                _initialise(session, pool)  # a crash may have prevented this after the pool was made
            continue
        if not pool.create:
            raise RefusedError(
                f"pool {pool.name} does not exist",
                where=f"site {site.name}",
                next_step="an administrator runs: "
                + admin_commands.pool(session.cluster, pool, is_data_pool=is_data_pool).text,
            )
        require(site, "pool_create", session.fsid())
        if "pool_delete" in site.allows:
            refuse_lasting_pools(session, f"site {site.name}")
        _make(site, session, ledger, pool, is_data_pool, data_set)
        made.append(pool.name)
    if made:
        await_clean(session, made, say=say)
    return made


def pools_in_use(site: Site, ledger: Ledger) -> Iterator[str]:
    """Yield the names of the site's pools, and of those that Replay made for an experiment and that still exist."""
    yield from (names := [pool.name for pool in site.pools.all()])
    made = [entry.details["final_name"] for entry in ledger.owned() if entry.kind == "pool" and entry.confirmed]
    yield from (name for name in made if name not in names)


def await_clean(session: MonitorSession, names: list[str], *, say: Callable[[str], None] = print) -> None:
    """Wait until the cluster is fit again after the pools `names` were made. Raises RefusedError if it stays unfit.

    A manager learns of new and of removed placement groups after some seconds; until then, its "all are clean" means
    others. So first its count is awaited, for a bounded time, since on a busy cluster others make pools meanwhile.
    """
    wanted = sum(pool["pg_num"] for pool in session.command({"prefix": "osd pool ls", "detail": "detail"}))
    began, unfit, what = time.monotonic(), "", "the new pools to be clean"

    def ask() -> bool | None:
        nonlocal unfit
        status = session.status()
        known, verdict = status["pgmap"]["num_pgs"], health.classify(status)
        if verdict.fit and (known == wanted or time.monotonic() - began > _SEEN_WITHIN_SECONDS):
            return True
        unfit = verdict.sentence() or f"the manager knows {known} placement groups of {wanted}"
        return None

    poll(
        ask,
        what=what,
        seconds=_SETTLE_SECONDS,
        every=0.2,
        seen=lambda: unfit,
        where=", ".join(names),
        next_step="check that the cluster has at least as many hosts as the pools have copies",
        error=RefusedError,
        pause=Waiting(what, _SETTLE_SECONDS, say=say, look=lambda: unfit).pause,
    )


def _make(site: Site, session: MonitorSession, ledger: Ledger, pool: Pool, is_data_pool: bool, data_set: str) -> None:
    name = unique_name("pool")
    details: dict[str, Any] = {"final_name": pool.name}
    if is_data_pool:
        details["erasure_code_profile"] = name
    if is_data_pool or pool.device_class:
        details["crush_rule"] = name  # Ceph makes an erasure-coded pool's rule by itself, under the pool's first name
    entry = ledger.intend("pool", name, "", "", site=site.name, data_set=data_set, details=details)
    if is_data_pool:
        k, m = pool.erasure_code or DEFAULT_ERASURE_CODE
        profile = [f"k={k}", f"m={m}", f"crush-failure-domain={failure_domain(session)}"]
        profile += [f"crush-device-class={pool.device_class}"] if pool.device_class else []
        session.command({"prefix": "osd erasure-code-profile set", "name": name, "profile": profile})
        how = {"pool_type": "erasure", "erasure_code_profile": name}
    else:
        how = _replicated(session, name, pool.device_class)
    _create(session, ledger, entry, name, pool.pg_num or DEFAULT_PG_NUM, how)
    if is_data_pool:
        set_pool(session, name, "allow_ec_overwrites", "true")
    elif pool.replicas:
        set_pool(session, name, "size", str(pool.replicas))
    session.command({"prefix": "osd pool application enable", "pool": name, "app": "rbd"})
    session.command({"prefix": "osd pool rename", "srcpool": name, "destpool": pool.name})
    if not is_data_pool:
        _initialise(session, pool)


def _replicated(session: MonitorSession, name: str, device_class: str | None) -> dict[str, str]:
    """Return what makes a new pool a replicated one. Makes the rule of its name that a device class needs."""
    if not device_class:
        return {"pool_type": "replicated"}
    rule = {"name": name, "root": "default", "type": failure_domain(session), "class": device_class}
    session.command({"prefix": "osd crush rule create-replicated", **rule})
    return {"pool_type": "replicated", "rule": name}


def _create(
    session: MonitorSession, ledger: Ledger, entry: str, name: str, pg_num: int, how: Mapping[str, str]
) -> None:
    """Create a pool, and confirm its entry in the ledger with its id."""
    session.command({"prefix": "osd pool create", "pool": name, "pg_num": pg_num, "pgp_num": pg_num, **how})
    pools = session.command({"prefix": "osd pool ls", "detail": "detail"})
    pool_id = next(each["pool_id"] for each in pools if each["pool_name"] == name)
    ledger.confirm(entry, {"id": pool_id})


def _initialise(session: MonitorSession, pool: Pool) -> None:
    """Initialise the pool for block devices. Repeating it is harmless. The user may only write under the final name."""
    session.cluster.run("rbd", "pool", "init", pool.name, timeout_seconds=60)
    if pool.namespace:
        namespaces = session.cluster.json("rbd", "namespace", "ls", pool.name)
        if pool.namespace not in {each["name"] for each in namespaces}:
            session.cluster.run("rbd", "namespace", "create", "--pool", pool.name, "--namespace", pool.namespace)


def set_pool(session: MonitorSession, pool: str, variable: str, value: str, *, sure: bool = False) -> None:
    """Set a pool's variable. `sure` gives the confirmation that Ceph asks for a size of one."""
    command = {"prefix": "osd pool set", "pool": pool, "var": variable, "val": value}
    session.command(command | ({"yes_i_really_mean_it": True} if sure else {}))


def failure_domain(session: MonitorSession) -> str:
    """Return what copies are spread over: hosts, or OSDs on a sandbox, which is a single host."""
    return "osd" if sandbox_record.owns_fsid(session.fsid()) else "host"


def pools_can_be_deleted(session: MonitorSession, status: Mapping[str, Any] | None = None) -> bool | None:
    """Return whether the monitors delete pools; None if this user may not ask, or no manager knows."""
    monitors = (status or session.status())["quorum_names"]
    asked = {"prefix": "config show", "who": f"mon.{monitors[0]}", "key": POOL_DELETE_OPTION}
    try:
        return bool(session.command(asked, target="mgr"))
    except CephCommandError as error:
        if error.exit_status_of_tool in (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EINVAL):
            return None
        raise


@dataclass(frozen=True)
class Room:
    """How many more bytes clients can write into a pool; `quota` is the one that limits them, empty if none does."""

    bytes: float
    quota: str = ""

    def sentence(self) -> str:
        return f"can take {size_text(self.bytes)} more" + (f", by its quota of {self.quota}" if self.quota else "")


def room_in(pool: Mapping[str, Any], stats: Mapping[str, Any]) -> Room:
    """Return the room in a pool of `osd pool ls detail`, whose `stats` are those of `df`. A quota is a limit too."""
    room = Room(float(stats["max_avail"]))
    if (most := pool.get("quota_max_bytes")) and (left := max(0.0, most - stats["stored"])) < room.bytes:
        room = Room(left, size_text(most))
    if (most := pool.get("quota_max_objects")) and stats["objects"] >= most:
        room = Room(0.0, f"{most} objects")
    return room


def room_of(session: MonitorSession, name: str, timeout_seconds: float = 30.0) -> Room | None:
    """Ask for the room in a pool; None if there is no such pool. Raises CephCommandError."""
    asked = {"prefix": "osd pool ls", "detail": "detail"}
    pools = {pool["pool_name"]: pool for pool in session.command(asked, timeout_seconds=timeout_seconds)}
    usage = session.command({"prefix": "df"}, timeout_seconds=timeout_seconds)["pools"]
    stats = {pool["name"]: pool["stats"] for pool in usage}
    return room_in(pools[name], stats[name]) if name in pools and name in stats else None


def refuse_lasting_pools(session: MonitorSession, where: str) -> None:
    """Raise RefusedError if a pool made now could not be removed again."""
    if pools_can_be_deleted(session) is False:
        raise RefusedError(
            f"no pool is made, because the monitors do not delete any: {POOL_DELETE_OPTION} is false",
            where=where,
            next_step=f"an administrator allows it: ceph config set mon {POOL_DELETE_OPTION} true",
        )


class PoolSizeRefusedError(RefusedError):
    """The cluster's monitors allow no pool of that size, such as one copy without `mon_allow_pool_size_one`."""


@dataclass(frozen=True)
class PoolSpec:
    """A pool's properties: copies, placement groups, and device class (None: any)."""

    replicas: int
    pg_num: int = DEFAULT_PG_NUM
    device_class: str | None = None


def create_pool(bench: OpenSite, suffix: str, spec: PoolSpec, *, application: str) -> str:
    """Make a replicated pool, which is in the ledger before it exists; return its name, `replay-<random>-<suffix>`.

    `application` is `rados` or `rbd`; a pool for images is initialised. Call `await_pools` before using it. Raises
    RefusedError if the site does not allow making pools, PoolSizeRefusedError if the monitors allow no pool of that
    size (then nothing is left of it), CephCommandError if a command fails.
    """
    session, name = bench.session, unique_name(suffix)
    require(bench.site, "pool_create", session.fsid())
    require(bench.site, "pool_delete", session.fsid())
    refuse_lasting_pools(session, f"site {bench.site.name}")
    details = {"final_name": name} | ({"crush_rule": name} if spec.device_class else {})
    entry = intend(bench, "pool", pool=name, **details)
    with bench.costs.measure("prepare"):
        how = _replicated(session, name, spec.device_class)
        _create(session, bench.ledger, entry, name, spec.pg_num, how)
        # First, because a restricted user may list only what is marked, and nothing is removed without that.
        session.command({"prefix": "osd pool application enable", "pool": name, "app": application})
        mark = {"pool": name, "app": application, "key": OWN_KEY, "value": OWN_VALUE}
        session.command({"prefix": "osd pool application set", **mark})
        try:
            set_pool(session, name, "size", str(spec.replicas), sure=spec.replicas == 1)
        except CephCommandError as error:
            if error.exit_status_of_tool != errno.EPERM:
                raise
            remove_pool_entries(bench, lambda owned: owned.id == entry)
            raise PoolSizeRefusedError(
                f"the monitors refuse a pool of size {spec.replicas}: {error.what}", where=f"site {bench.site.name}"
            ) from error
        if application == "rbd":
            session.cluster.run("rbd", "pool", "init", name, timeout_seconds=60)
    return name


def await_pools(bench: OpenSite, names: Iterable[str]) -> None:
    """Wait until the manager knows the pools' placement groups and the cluster is fit again.

    Raises RefusedError if it stays unfit.
    """
    with bench.costs.measure("prepare"):
        await_clean(bench.session, list(names), say=bench.say)


def remove_pool_entries(bench: OpenSite, chosen: Callable[[Entry], bool]) -> int:
    """Remove the pools of the ledger's chosen entries; return how many there were.

    Raises ReplayError naming one that could not be removed.
    """
    with bench.costs.measure("prepare"):
        entries = [entry for entry in bench.ledger.owned() if entry.kind == "pool" and chosen(entry)]
        return remove_all(bench, entries, "pool(s) could not be removed")


def remove_leftover_pools(bench: OpenSite) -> int:
    """Remove the experiment pools that an interrupted run on this site left; a site's own pools stay.

    They also stay if its file does not name them any more: they have been renamed, which an experiment's never is.
    """
    return remove_pool_entries(
        bench, lambda entry: entry.site == bench.site.name and entry.details.get("final_name") == entry.pool
    )
