"""What the disk under the OSDs and the network give without Ceph: the ceilings that other experiments stay below.

The disk is a file of Replay's own in the file system that holds a sandbox's OSDs; on other sites OSDs live on devices
of their own, which nobody may write to. The network is loopback, or lies between a site's client hosts.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.capabilities import LOCAL_HOSTS
from replay.design.design import Cell, CellSet, Design
from replay.design.media import Write
from replay.measure.bench import Bench
from replay.measure.procedure import Protocol
from replay.owned.owned_files import create_file, remove_leftover_files
from replay.procedures.parts.network_run import ends_of, run_network_test
from replay.procedures.parts.tool_run import run_observed
from replay.raw.record import Measured
from replay.tools import OutputError, Result, adapter, judge, render
from replay.tools.baseline import MEDIA, NETWORK
from replay.tools.fio import rw_of
from replay.tools.running.process import run_tool

if TYPE_CHECKING:
    from replay.cluster.site import Site

FILL = {"rw": "write", "io_size_bytes": 4 << 20, "io_depth": 4}
#: Slower than this is an error, not a wait for ever.
SLOWEST_FILL_BYTES_PER_SECOND = 1 << 20
PATIENCE_SECONDS = 60.0
#: So many times the file's size must be free where it is made: the OSDs share that file system.
FREE_TIMES = 4
_WHOLE_OPTIONS = ("file_size_bytes", "most_bytes")


class Baseline(Protocol):
    """Runs fio on a file of the OSDs' file system (`resource` media), or iperf3 (`resource` network)."""

    def __init__(self, bench: Bench, design: Design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.program = self.adapter.program
        self._check()
        self.file: Path | None = None

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Return why the disk or the network of a site is not measured."""
        if site.sandbox:
            return {}
        found = {"host_root": "its OSDs have no file system of this machine that Replay may write to"}
        if set(site.client_hosts) <= LOCAL_HOSTS:
            found["client_hosts"] = "it names no other host, so that there is no network to measure"
        if site.ceilings.rate_bytes_per_second is not None:
            found["client_hosts"] = "the site limits the rate of its clients, and a baseline takes all that there is"
        return found

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Make and fill the file, where any of the cells needs it."""
        if not any(_resource(cell) == MEDIA for one in sets for cell in one.cells):
            return
        folder, size = self.bench.primary_cluster.conf.parent, self._option("file_size_bytes")
        if (free := shutil.disk_usage(folder).free) < FREE_TIMES * size:
            raise ReplayError(
                f"{free / 2**30:.1f} GiB are free; a file of {size / 2**30:.2g} GiB is not made beside OSDs there",
                where=folder,
                next_step="make room, or set options.file_size_bytes of this experiment lower",
            )
        with self.bench.costs.measure("prepare"):
            self.file = create_file(self.bench, folder, "baseline", size_bytes=size)
            self._fill(self.file, size)

    def close_block(self) -> None:
        """Remove the file, also one whose making was cut short."""
        self.file = None
        with self.bench.costs.measure("prepare"):
            remove_leftover_files(self.bench)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what any tool may write to one file; the network takes nothing."""
        if _resource(cell) != MEDIA:
            return []
        return [replace(write, copies=1) for write in super().expected_writes(cell)]

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the cell's tool. iperf3 takes no seed: it has nothing random."""
        measured = self._run_media(cell, seed) if _resource(cell) == MEDIA else self._run_network(cell)
        result = self._judge(cell, measured)
        if result is not None:
            if _resource(cell) == MEDIA and rw_of(cell.levels).endswith("write"):
                self.bench.account(Write(result.metrics["bytes"], copies=1))
            measured.headline = f"{result.metrics['bytes_per_second'] / 2**20:,.1f} MiB/s"
        return measured

    def _run_media(self, cell: Cell, seed: int) -> Measured:
        assert self.file is not None, "open_block makes it"
        runtime = self.design.sizing.target_seconds
        path = str(self.file)
        values = {"file": path, "seed": str(seed), "runtime_seconds": f"{runtime * 1000:.0f}ms"}
        options = {**self.design.options, "ramp_seconds": 0}
        measured = run_observed(
            self.bench,
            self.adapter.argv_template(cell.levels, options),
            values,
            timeout_seconds=PATIENCE_SECONDS + runtime,
            result_files=self.adapter.result_files(cell.levels, options),
        )
        measured.results = {
            role: (name, content.replace(path.encode(), b"{file}"))
            for role, (name, content) in measured.results.items()
        }
        measured.facts["file_size_bytes"] = self._option("file_size_bytes")
        return measured

    def _run_network(self, cell: Cell) -> Measured:
        ends = ends_of(self.bench.site.client_hosts)
        seconds = math.ceil(self.design.sizing.target_seconds)  # it takes whole seconds only
        template = self.adapter.argv_template(cell.levels, self.design.options)
        measured = run_network_test(self.bench, ends, template, seconds=seconds)
        measured.facts["network"] = "loopback" if ends.is_loopback else "between two client hosts"
        return measured

    def _fill(self, path: Path, size: int) -> None:
        """Write every byte of the file once: reads of a hole, or of what was never written, touch no disk."""
        fio = adapter("fio")
        self.bench.charge("filling the file of a baseline", Write(size, copies=1, adds=True))
        options = {**self.design.options, "file_size_bytes": size, "most_bytes": size, "ramp_seconds": 0}
        bound = PATIENCE_SECONDS + size / SLOWEST_FILL_BYTES_PER_SECOND
        values = {"file": str(path), "seed": "1", "runtime_seconds": f"{bound:.0f}", "output": "/dev/null"}
        run = run_tool(render(fio.argv_template(FILL, options), values), timeout_seconds=bound, slot=self.bench.slot)
        if run.exit_status != 0 or path.stat().st_size != size:
            said = run.stderr.decode(errors="replace").strip().splitlines()
            raise ReplayError(
                f"fio could not fill a file beside the OSDs: {said[-1][:200] if said else 'it said nothing'}",
                where=path.parent,
                next_step="see whether that file system takes direct I/O (a tmpfs of older kernels does not)",
            )

    def _judge(self, cell: Cell, measured: Measured) -> Result | None:
        """Set `measured.invalid` where the output cannot stand; return the result where it can."""
        if measured.invalid is not None and measured.invalid[0] == "timed_out":
            return None
        outputs = {role: content.decode(errors="replace") for role, (_, content) in measured.results.items()}
        try:
            result = self.adapter.parse(outputs, measured.exit_status, cell.levels)
        except OutputError as error:
            # Also of a run that failed: iperf3 says why on stdout only.
            measured.invalid = (error.reason, str(error).splitlines()[0])
            return None
        if measured.invalid is None:
            measured.invalid = judge(result, self.design.sizing.minimum_seconds)
        return result

    def _check(self) -> None:
        """Refuse what this protocol cannot do, before anything is created."""
        design, where = self.design, f"config/experiments/{self.design.name}.yaml"
        if self.adapter.name != "baseline":
            raise ConfigurationError(f"baseline has the tool baseline, not {self.adapter.name}", where=where)
        for key in _WHOLE_OPTIONS:
            if not isinstance(design.options.get(key), int):
                raise ConfigurationError(f"options.{key} is {design.options.get(key)!r}", where=where)
        for cell in (cell for one in design.sets for cell in one.cells):
            if _resource(cell) not in (MEDIA, NETWORK):
                raise ConfigurationError(f"resource {_resource(cell)!r} is neither media nor network", where=where)
            if (_resource(cell) == MEDIA) != ("io_type" in cell.levels):
                raise ConfigurationError(f"{cell.variant.name}: only media have an io_type", where=where)

    def _option(self, name: str) -> int:
        return int(self.design.options[name])


def _resource(cell: Cell) -> Any:
    return cell.levels.get("resource")


PROTOCOL = Baseline
