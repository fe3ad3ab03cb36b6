"""Pools for a single experiment, such as one for each number of replicas: created for a block, removed after it.

They keep the unique name they are created with, so that they cannot be mistaken for anybody else's.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError
from replay.cluster.pools import OWN_KEY, OWN_VALUE, refuse_lasting_pools
from replay.cluster.site import require
from replay.ownership.ledger import Entry, unique_name
from replay.ownership.open_site import OpenSite
from replay.ownership.pools import DEFAULT_PG_NUM, await_clean, failure_domain, set_pool
from replay.ownership.remove_all import remove_all


class PoolSizeRefusedError(RefusedError):
    """The cluster's monitors allow no pool of that size, such as one copy without `mon_allow_pool_size_one`."""


@dataclass(frozen=True)
class PoolSpec:
    """A pool's properties: copies, placement groups, and device class (None: any)."""

    replicas: int
    pg_num: int = DEFAULT_PG_NUM
    device_class: str | None = None


@dataclass(frozen=True)
class ExperimentPool:
    """A pool that Replay created for an experiment."""

    name: str
    pool_id: int
    entry_id: str
    spec: PoolSpec


def create_pool(bench: OpenSite, suffix: str, spec: PoolSpec, *, application: str) -> ExperimentPool:
    """Make a replicated pool `replay-<random>-<suffix>`, which is in the ledger before it exists.

    `application` is `rados` or `rbd`; a pool for images is initialised. Call `await_pools` before using it. Raises
    RefusedError if the site does not allow making pools, PoolSizeRefusedError if the monitors allow no pool of that
    size (then nothing is left of it), CephCommandError if a command fails.
    """
    session, name = bench.session, unique_name(suffix)
    require(bench.site, "pool_create", session.fsid())
    require(bench.site, "pool_delete", session.fsid())
    refuse_lasting_pools(session, f"site {bench.site.name}")
    details = {"final_name": name} | ({"crush_rule": name} if spec.device_class else {})
    entry = bench.ledger.intend("pool", name, "", "", site=bench.site.name, data_set=bench.data_set, details=details)
    with bench.costs.measure("prepare"):
        command = {"prefix": "osd pool create", "pool": name, "pg_num": spec.pg_num, "pgp_num": spec.pg_num}
        command |= {"pool_type": "replicated"}
        if spec.device_class:
            rule = {"name": name, "root": "default", "type": failure_domain(session), "class": spec.device_class}
            session.command({"prefix": "osd crush rule create-replicated", **rule})
            command |= {"rule": name}
        session.command(command)
        pools = session.command({"prefix": "osd pool ls", "detail": "detail"})
        pool_id = next(each["pool_id"] for each in pools if each["pool_name"] == name)
        bench.ledger.confirm(entry, {"id": pool_id})
        try:
            set_pool(session, name, "size", str(spec.replicas), sure=spec.replicas == 1)
        except CephCommandError as error:
            if error.exit_status_of_tool != errno.EPERM:
                raise
            remove_pool_entries(bench, lambda one: one.id == entry)
            raise PoolSizeRefusedError(
                f"the monitors refuse a pool of size {spec.replicas}: {error.what}", where=f"site {bench.site.name}"
            ) from error
        session.command({"prefix": "osd pool application enable", "pool": name, "app": application})
        mark = {"pool": name, "app": application, "key": OWN_KEY, "value": OWN_VALUE}
        session.command({"prefix": "osd pool application set", **mark})
        if application == "rbd":
            session.cluster.run("rbd", "pool", "init", name, timeout_seconds=60)
    return ExperimentPool(name, pool_id, entry, spec)


def await_pools(bench: OpenSite, pools: Iterable[ExperimentPool]) -> None:
    """Wait until the manager knows the pools' placement groups and the cluster is fit again.

    Raises RefusedError if it stays unfit.
    """
    with bench.costs.measure("prepare"):
        await_clean(bench.session, [pool.name for pool in pools], say=bench.say)


def remove_pools(bench: OpenSite, pools: Iterable[ExperimentPool]) -> None:
    """Remove pools of this block with everything in them.

    Raises ReplayError naming one that could not be removed: it stays in the ledger for `replay clean`.
    """
    wanted = {pool.entry_id for pool in pools}
    remove_pool_entries(bench, lambda entry: entry.id in wanted)


def remove_pool_entries(bench: OpenSite, chosen: Callable[[Entry], bool]) -> int:
    """Remove the pools of the ledger's chosen entries; return how many there were.

    Raises ReplayError naming one that could not be removed.
    """
    with bench.costs.measure("prepare"):
        entries = [one for one in bench.ledger.owned() if one.kind == "pool" and chosen(one)]
        return remove_all(bench, entries, "pool(s) could not be removed", lambda entry: entry.pool)


def remove_leftover_pools(bench: OpenSite) -> int:
    """Remove the experiment pools that an interrupted run on this site left; a site's own pools stay."""
    kept = {pool.name for pool in bench.site.pools.all()}
    return remove_pool_entries(
        bench, lambda entry: entry.site == bench.site.name and entry.details.get("final_name") not in kept
    )
