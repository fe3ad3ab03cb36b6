"""The ceph.conf for a tool that has no other way to get Ceph's options, such as fio's rbd engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath

from replay.cluster.cluster import Cluster


def client_conf(site_conf: str, client: str, keyring: PurePath | None, options: Mapping[str, str]) -> str:
    """Return the site's configuration with a client's section after it.

    Ceph merges sections of the same name, the last value wins, and the section with the client's full name takes
    precedence over `[client]` and `[global]`.
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
