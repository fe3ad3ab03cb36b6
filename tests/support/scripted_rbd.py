"""Measures blocks with a scripted `rbd`, for examples on pages: no cluster, no time, and figures that are known."""

from __future__ import annotations

import os
import stat
import sys
from types import SimpleNamespace

from replay.base.progress import Progress
from replay.cluster.cluster import Cluster
from replay.design.needs import protocol_for
from replay.measure.block import measure_sets
from replay.ownership.images import BlockImage
from replay.protocols.targets import images
from support.bench import bench_of

#: An `rbd` that reports 100 operations a second for each of its threads, without taking that time.
RBD = """\
#!{python}
import sys
words = dict(zip(sys.argv[1:], sys.argv[2:]))
size, threads, total = (int(words[name]) for name in ("--io-size", "--io-threads", "--io-total"))
operations, rate = -(-total // size), 100.0 * threads
print(f"bench  type {{words['--io-type']}} io_size {{size}} io_threads {{threads}} bytes {{total}} pattern random")
print("  SEC       OPS   OPS/SEC   BYTES/SEC")
print(f"elapsed: {{int(operations / rate)}}   ops: {{operations}}   ops/sec: {{rate:.2f}}   "
      f"bytes/sec: {{rate * size:.2f}}")
"""


class ScriptedRbd:
    """The scripted `rbd` as the only tool. `removed` names the images that were removed."""

    def __init__(self, folder, monkeypatch):
        program = folder / "bin" / "rbd"
        program.parent.mkdir()
        program.write_text(RBD.format(python=sys.executable))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        self.removed: list[str] = []

        def create(bench, suffix, image):
            return BlockImage("replay", "", suffix, image, suffix)

        monkeypatch.setattr(images, "create_image", create)
        monkeypatch.setattr(
            images, "remove_images", lambda bench, those: self.removed.extend(one.name for one in those)
        )
        monkeypatch.setattr("replay.measure.sets.remove_owned_leftovers", lambda bench: None)
        # Versions are cached for the whole process, and other tests need the real ones.
        monkeypatch.setattr(
            "replay.measure.sets.versions", lambda session, program, secondary: {"tool": f"{program} of a test"}
        )

    def measure(self, design, block, raw, *, cluster=None, ledger=None):
        """Measure a block of a design into a folder of raw output; return the protocol that did."""
        pools = SimpleNamespace(data=SimpleNamespace(name="replay", namespace=""))
        site = SimpleNamespace(name=raw.parents[1].name, sandbox=None, second_site=None, pools=pools)
        session = SimpleNamespace(cluster=cluster or Cluster("c"), command=lambda command: {})
        load = {"cpu_idle_fraction": 0.5, "disk_busy_fraction": 0.1, "load_1min": 1.0}
        sampler = SimpleNamespace(read=lambda: None, load=lambda before, after: load)
        bench = bench_of(site, session, ledger=ledger, sampler=sampler)
        healthy = SimpleNamespace(refuse=(), summary={"status": "HEALTH_OK"})
        guard = SimpleNamespace(
            before_block=lambda: None,
            before_set=lambda what, **ahead: None,
            settle=lambda: iter(()),
            before_cell=lambda: healthy,
            after_cell=lambda measured: healthy,
            stop_after_cell=lambda: None,
            new={},
            cost=dict,
        )
        protocol = protocol_for(bench, design)
        measure_sets(protocol, block, raw, Progress(), guard)
        return protocol
