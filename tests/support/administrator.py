"""A sandbox's cluster as its administrator sees it, with the programs of the sandbox's release."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from replay.cluster.admin_commands import AdminCommand
from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession
from replay.sandbox import Sandbox
from support.patience import patient


class AdministratorSession(MonitorSession):
    """A connection that also answers questions about block devices; `administrator_server.py` lists them."""

    server = Path(__file__).with_name("administrator_server.py")


_sessions: dict[Cluster, AdministratorSession] = {}


def administrator_of(sandbox: Sandbox, name: str) -> Cluster:
    """Return the cluster `left` or `right` of a sandbox, with all rights."""
    one = sandbox.clusters[name]
    return Cluster(Path(one.conf), one.client, Path(one.keyring), name, sandbox.layout.programs_at(name))


def site_text(sandbox: Sandbox, name: str, user: str, keyrings: Path, *more: str) -> str:
    """Return a site's file for both clusters and their mirror daemon, as `user` with the keyrings `left` and `right`.

    `more` are further lines, such as what the site allows.
    """
    assert sandbox.mirror is not None
    left, right = (sandbox.clusters[side].conf for side in ("left", "right"))
    lines = [
        f"name: {name}",
        f"label: {name.capitalize()}",
        "limitation: A test.",
        f"cluster: {{conf: {left}, client: {user}, keyring: {keyrings}/left}}",
        "pools: {data: {name: replay}}",
        "second_cluster:",
        f"  conf: {right}",
        f"  client: {user}",
        f"  keyring: {keyrings}/right",
        f"  mirror_daemon_admin_socket: {sandbox.mirror.asok}",
        *more,
    ]
    return "".join(f"{line}\n" for line in lines)


def paste(sandbox: Sandbox, folder: Path, commands: Iterable[AdminCommand]) -> None:
    """Run printed commands as an administrator whose `ceph`, put in `folder`, is that of the clusters' release.

    Raises subprocess.CalledProcessError if one fails.
    """
    program = folder / "bin" / "ceph"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(sandbox.layout.programs.command(["ceph"]))} "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    for command in commands:
        subprocess.run(["sh", "-c", command.text], check=True, timeout=patient(60), env=environment)


def session_of(cluster: Cluster) -> AdministratorSession:
    """Return this process' one connection to a cluster, which stays open: each `ceph` takes 0.4 s of CPU to start."""
    if cluster not in _sessions:
        _sessions[cluster] = AdministratorSession(cluster)
    return _sessions[cluster]


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
