"""A file in the file system that holds a sandbox's OSDs, filled once and removed with the block."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ReplayError
from replay.cluster.running.process import run_tool
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet
from replay.design.media import Write
from replay.measure.protocol import Target
from replay.ownership.owned_files import create_file, remove_leftover_files
from replay.tools import fio, render

FILL = {"rw": "write", "io_size_bytes": 4 << 20, "io_depth": 4}
#: Anything slower counts as an error, so that nobody waits forever.
SLOWEST_FILL_BYTES_PER_SECOND = 1 << 20
PATIENCE_SECONDS = 60.0
#: The unit of `st_blocks`, whatever the file system's blocks are.
STAT_BLOCK_BYTES = 512
#: This many times the file's size must be free, because the OSDs share the file system.
FREE_TIMES = 4


class OsdFile(Target):
    """The file, for cells with an `io_type`. Only a sandbox has one: nobody may write to the devices of other OSDs."""

    def begin(self) -> None:
        """Start without a file."""
        self.path: Path | None = None

    def lacking(self, site: Site) -> dict[str, str]:
        """Return why a site's disk is not measured."""
        if site.sandbox:
            return {}
        return {"host_root": "its OSDs use no file system of this machine that Replay may write to"}

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create and fill the file if any of the cells needs it."""
        if not any("io_type" in cell.levels for one in sets for cell in one.cells):
            return
        folder, size = self.bench.primary_cluster.conf.parent, int(self.protocol.option("file_size_bytes"))
        if (free := shutil.disk_usage(folder).free) < FREE_TIMES * size:
            raise ReplayError(
                f"{free / 2**30:.1f} GiB are free, too little for a file of {size / 2**30:.2g} GiB beside the OSDs",
                where=folder,
                next_step="make room, or lower options.file_size_bytes of this experiment",
            )
        with self.bench.costs.measure("prepare"):
            self.path = create_file(self.bench, folder, "baseline", size_bytes=size)
            self.fill(self.path, size)

    def close(self) -> None:
        """Remove the file, even if its creation was cut short."""
        self.path = None
        with self.bench.costs.measure("prepare"):
            remove_leftover_files(self.bench)

    def file_of(self, cell: Cell) -> Path:
        """Return the file."""
        assert self.path is not None, "open makes it"
        return self.path

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return a write to the file, which has a single copy."""
        return Write(size_bytes, copies=1)

    def fill(self, path: Path, size: int) -> None:
        """Write every byte of the file once: reading holes or unwritten space would not touch the disk."""
        self.bench.charge("filling the file of a baseline", Write(size, copies=1, adds=True))
        options = {**self.design.options, "file_size_bytes": size, "most_bytes": size, "ramp_seconds": 0}
        bound = PATIENCE_SECONDS + size / SLOWEST_FILL_BYTES_PER_SECOND
        values = {"file": str(path), "seed": "1", "runtime_seconds": f"{bound:.0f}", "output": "/dev/null"}
        argv = render(fio.TOOL.argv_template(FILL, options), values)
        run = run_tool(argv, timeout_seconds=bound, programs=self.bench.programs, slot=self.bench.slot)
        if run.exit_status != 0 or path.stat().st_blocks * STAT_BLOCK_BYTES < size:
            said = run.stderr.decode(errors="replace").strip().splitlines()
            raise ReplayError(
                f"fio could not fill a file beside the OSDs: {said[-1][:200] if said else 'it said nothing'}",
                where=path.parent,
                next_step="check whether that file system supports direct I/O (tmpfs on older kernels does not)",
            )
