"""A sandbox's cluster as its administrator sees it, with the programs of the sandbox's release."""

from __future__ import annotations

from pathlib import Path

from replay.cluster.cluster import Cluster
from replay.sandbox import Sandbox


def administrator_of(sandbox: Sandbox, name: str) -> Cluster:
    """Return the cluster `left` or `right` of a sandbox, with all rights."""
    one = sandbox.clusters[name]
    return Cluster(Path(one.conf), one.client, Path(one.keyring), name, sandbox.layout.programs)
