"""Drops caches before a cell, but only on clusters that Replay started, where that harms nobody."""

from __future__ import annotations

import os
import time
from pathlib import Path

from replay.cluster import asok, sandbox_record
from replay.evidence.record import Wait
from replay.measure.bench import Bench

DROP_CACHES = Path("/proc/sys/vm/drop_caches")


class Caches:
    """Drops the OSDs' caches before a cell, and this machine's page cache before a block.

    It does neither on somebody else's cluster, whose tenants need these caches. Each sidecar records what it did.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.sockets: list[Path] = []
        self.page_cache = "kept: the cluster is not Replay's"
        if bench.daemons_are_here and bench.site.sandbox:
            owned = sandbox_record.load(bench.primary_cluster.conf.parent.parent)
            clusters = [one for one in owned.clusters.values() if Path(one.conf) == bench.primary_cluster.conf]
            self.sockets = [
                Path(daemon.asok) for one in clusters for daemon in one.daemons if daemon.type == "osd" and daemon.asok
            ]

    def before_block(self) -> None:
        """Write dirty pages and drop the page cache, which needs root."""
        if not self.bench.daemons_are_here:
            return
        if os.geteuid() != 0 or "host_root" not in self.bench.allowed:
            self.page_cache = "kept: needs root"
            return
        with self.bench.costs.measure("prepare"):
            os.sync()
            try:
                DROP_CACHES.write_text("3\n")
                self.page_cache = "dropped before the block"
            except OSError as error:
                self.page_cache = f"kept: {error.strerror}"

    def before_cell(self) -> tuple[dict[str, str], list[Wait]]:
        """Drop the OSDs' caches; return the state of each cache and the wait, for the sidecar."""
        started, waits = time.monotonic(), []
        with self.bench.costs.measure("wait"):
            for socket in self.sockets:
                asok.ask(socket, "cache drop", timeout_seconds=10)
        if self.sockets:
            waits.append(Wait("osd_caches_dropped", time.monotonic() - started, "dropped"))
        osds = "dropped before the cell" if self.sockets else "kept: the cluster is not Replay's"
        return {"osd_caches": osds, "page_cache": self.page_cache}, waits
