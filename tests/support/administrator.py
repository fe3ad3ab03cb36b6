"""A sandbox's cluster as its administrator sees it, with the programs of the sandbox's release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession
from replay.sandbox import Sandbox


class AdministratorSession(MonitorSession):
    """A connection that also answers questions about block devices; `administrator_server.py` lists them."""

    server = Path(__file__).with_name("administrator_server.py")


_sessions: dict[Cluster, AdministratorSession] = {}


def administrator_of(sandbox: Sandbox, name: str) -> Cluster:
    """Return the cluster `left` or `right` of a sandbox, with all rights."""
    one = sandbox.clusters[name]
    return Cluster(Path(one.conf), one.client, Path(one.keyring), name, sandbox.layout.programs)


def session_of(cluster: Cluster) -> AdministratorSession:
    """Return this process' one connection to a cluster, which stays open: each `ceph` takes 0.4 s of CPU to start."""
    return _sessions.setdefault(cluster, AdministratorSession(cluster))


def tell(cluster: Cluster, prefix: str, *, target: str = "mon", **arguments: Any) -> Any:
    """Run a command of Ceph and return its answer, parsed. Raises CephCommandError."""
    return session_of(cluster).command({"prefix": prefix, **arguments}, target=target)


def make_user(cluster: Cluster, name: str, *capabilities: str) -> str:
    """Make a user unless there is one, and return the text of its keyring file."""
    [user] = tell(cluster, "auth get-or-create", entity=name, caps=list(capabilities))
    return f"[{user['entity']}]\n\tkey = {user['key']}\n"


def delete_pool(cluster: Cluster, name: str) -> None:
    """Delete a pool with all that is in it."""
    tell(cluster, "osd pool delete", pool=name, pool2=name, yes_i_really_really_mean_it=True)


def image_names(cluster: Cluster, pool: str) -> list[str]:
    """Return the names of a pool's images, including those in the trash."""
    return tell(cluster, "names", target="rbd", pool=pool)


def close_sessions() -> None:
    """End every connection, before the clusters are gone."""
    while _sessions:
        _sessions.popitem()[1].close()
