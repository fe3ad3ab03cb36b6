"""Where fio and rbd bench read and write: block device images, or a file beside the OSDs of a sandbox."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ReplayError
from replay.cluster.running import last_line, run_tool
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet
from replay.design.sizing import Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Target
from replay.ownership.images import BlockImage, create_image
from replay.ownership.removal import remove_images, remove_leftover_files
from replay.ownership.this_machine import create_file
from replay.protocols.drivers.tool import is_journaled
from replay.tools import fio, render


class Images(Target):
    """A block's filled images, by the variants' `image_name`: one of each, or as many as the factor `count` says."""

    #: Where an experiment says how large it is; so has a file.
    size_key = "image.size_bytes"

    def __init__(self, count: str | None = None) -> None:
        self.count = count

    def begin(self) -> None:
        self.images: dict[str, list[BlockImage]] = {}

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create and fill the images that these sets need and that do not exist yet.

        Variants that share images agree on where these are.
        """
        cells = [cell for cell_set in sets for cell in cell_set.cells]
        variants = {cell.variant.image_name: cell.variant for cell in cells}
        for name, variant in variants.items():
            made = self.images.setdefault(name, [])
            count = max(self._images_of(cell) for cell in cells if cell.variant.image_name == name)
            for number in range(len(made) + 1, count + 1):
                suffix = name if self.count is None else f"{name}-{number}"
                self.bench.say(f"creating and filling an image for {suffix}")
                made.append(create_image(self.bench, suffix, variant.image, **self.protocol.place_of(variant)))

    def _images_of(self, cell: Cell) -> int:
        return 1 if self.count is None else int(cell.levels[self.count])

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        made = self.images.get(cell.variant.image_name)
        return Write(size_bytes, pool=made[0].pool if made else None, journaled=is_journaled(cell))

    def close(self) -> None:
        images = self.all()
        self.images.clear()
        remove_images(self.bench, images)

    def all(self) -> list[BlockImage]:
        return [made for several in self.images.values() for made in several]

    def of(self, cell: Cell) -> list[BlockImage]:
        """Return as many images as the cell needs."""
        return self.images[cell.variant.image_name][: self._images_of(cell)]

    def names(self, cell: Cell) -> dict[str, str | None]:
        """Return the names of the cell's only image, by their placeholders in a tool's argv."""
        [made] = self.of(cell)
        return {"pool": made.pool, "namespace": made.namespace or None, "image": made.name}

    def most_sequential_bytes(self, cell: Cell) -> float:
        """Return the most bytes that a sequential cell may transfer: with `options.one_pass`, its image once.

        At the end of its image, `rbd bench --io-pattern seq` (16.2) writes the same block of each thread over and
        over, which is another workload with another rate.
        """
        return cell.variant.image.size_bytes if self.protocol.option("one_pass") else math.inf


class FreshImage(Images):
    """One image for each cell, filled right before it and removed right after it, so that its journal starts empty."""

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create nothing."""

    def prepare(self, cell: Cell) -> list[Wait]:
        """Create and fill the cell's image."""
        self.close()
        name = cell.variant.image_name
        self.images[name] = [create_image(self.bench, cell.variant.name, cell.variant.image)]
        return []

    def of(self, cell: Cell) -> list[BlockImage]:
        return self.all()

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        self.close()
        return []


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

    size_key = "options.file_size_bytes"

    def begin(self) -> None:
        self.path: Path | None = None

    def lacking(self, site: Site) -> dict[str, str]:
        """Return why a site's disk is not measured."""
        if site.sandbox:
            return {}
        return {"host_root": "its OSDs use no file system of this machine that Replay may write to"}

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create and fill the file if any of the cells needs it."""
        if not any("io_type" in cell.levels for cell_set in sets for cell in cell_set.cells):
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
        with self.bench.costs.measure("prepare"):
            remove_leftover_files(self.bench)

    def names(self, cell: Cell) -> dict[str, str | None]:
        """Return the file's path, by its placeholder in a tool's argv."""
        return {"file": str(self.path)}

    def most_sequential_bytes(self, cell: Cell) -> float:
        """Return the file's size: a tool that went on would make the file longer."""
        return int(self.protocol.option("file_size_bytes"))

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return a write to the file, which has a single copy."""
        return Write(size_bytes, copies=1)

    def fill(self, path: Path, size: int) -> None:
        """Write every byte of the file once: reading holes or unwritten space would not touch the disk."""
        self.bench.budget.reserve("filling the file of a baseline", Write(size, copies=1, adds=True))
        whole = {"file_size_bytes": size, "most_bytes": size, "ramp_seconds": 0}
        options = {"engine": "psync", **self.design.options, **whole}
        bound = PATIENCE_SECONDS + size / SLOWEST_FILL_BYTES_PER_SECOND
        values = {"file": str(path), "seed": "1", "runtime_seconds": f"{bound:.0f}", "output": "/dev/null"}
        argv = render(fio.TOOL.argv_template(FILL, options), values)
        run = run_tool(argv, timeout_seconds=bound, programs=self.bench.programs, slot=self.bench.slot)
        if run.exit_status != 0 or path.stat().st_blocks * STAT_BLOCK_BYTES < size:
            raise ReplayError(
                f"fio could not fill a file beside the OSDs: {last_line(run.stderr)[:200] or 'it said nothing'}",
                where=path.parent,
                next_step="check whether that file system supports direct I/O (tmpfs on older kernels does not)",
            )
