"""The ceph.conf of a tool that takes Ceph's options from nowhere else, such as fio's rbd engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath

from replay.cluster.cluster import Cluster


def client_conf(site_conf: str, client: str, keyring: PurePath | None, options: Mapping[str, str]) -> str:
    """Return the site's configuration with a client's section after it.

    Ceph joins sections of one name, the last word counts, and the section of the client's full name wins over
    `[client]` and `[global]`.
    """
    lines = [f"{name} = {value}" for name, value in sorted(options.items())]
    if keyring is not None:
        lines.insert(0, f"keyring = {keyring}")
    return "\n".join([site_conf.rstrip("\n"), "", f"[{client}]", *lines, ""])


def write_client_conf(path: Path, cluster: Cluster, options: Mapping[str, str]) -> Path:
    """Write the configuration of a cluster's client, readable by its owner alone; return its path."""
    text = client_conf(cluster.conf.read_text(encoding="utf-8"), cluster.client, cluster.keyring, options)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path
