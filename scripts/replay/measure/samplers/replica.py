"""Samples one mirrored image during a cell: the size of its journal, or which snapshots its copy holds."""

from __future__ import annotations

import json
from typing import Any

from replay.base.errors import ReplayError
from replay.base.programs import SYSTEM_PYTHON
from replay.cluster.cluster import Cluster
from replay.cluster.running.background import Background
from replay.evidence.record import SampleTable
from replay.measure.samplers import replica_probe
from replay.ownership.images import BlockImage
from replay.ownership.open_site import OpenSite


class ReplicaSampler:
    """Runs `replica_probe.py` from `start` until `finish`, which adds its samples to the table.

    Times count from `origin`, a reading of the monotonic clock.
    """

    def __init__(self, bench: OpenSite, made: BlockImage, entity: str, *, origin: float, every_seconds: float) -> None:
        self.bench = bench
        self.spec: dict[str, Any] = {"origin": origin, "every_seconds": every_seconds}
        if made.image.mirroring == "journal":
            cluster = _cluster(bench.primary_cluster, made.pool)
            self.spec["journal"] = {"entity": entity, "image_id": made.rbd_id, "cluster": cluster}
        else:
            cluster = _cluster(bench.site.secondary, bench.site.second_site.pool)
            self.spec["copy"] = {"entity": entity, "image": made.name, "cluster": cluster}
        self._child: Background | None = None

    def start(self) -> None:
        """Start it and wait for its first sample. Raises ReplayError if there is none."""
        argv = [SYSTEM_PYTHON, "-E", replica_probe.__file__, json.dumps(self.spec)]
        self._child = Background(argv, programs=self.bench.programs, slot=self.bench.slot)
        self._child.await_that(lambda: bool(self.lines()), "its first look")

    def lines(self) -> list[str]:
        """Return the complete rows that were printed so far."""
        if self._child is None:
            return []
        return self._child.stdout().decode(errors="replace").split("\n")[:-1]

    def latest(self, metric: str) -> int | None:
        """Return the latest value of a metric, a whole number; None if there is none yet."""
        values = [line.rsplit(",", 1)[1] for line in self.lines() if f",{metric}," in line]
        return int(values[-1]) if values else None

    def finish(self, table: SampleTable) -> None:
        """End it and add its samples to the table. Raises ReplayError if it failed."""
        if self._child is None:
            return
        status = self._child.end()
        table.add_lines(self.lines())
        complaint = self._child.complaint() if status != 0 else ""
        self.close()
        if complaint:
            raise ReplayError(f"the sampler of the replica failed: {complaint}", where="replica_probe.py")

    def close(self) -> None:
        """Kill it. May be called again."""
        if self._child is not None:
            self._child.kill()
            self._child = None


def _cluster(cluster: Cluster, pool: str) -> dict[str, str | None]:
    return {
        "conf": str(cluster.conf),
        "client": cluster.client,
        "keyring": str(cluster.keyring) if cluster.keyring else None,
        "pool": pool,
    }
