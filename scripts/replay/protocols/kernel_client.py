"""An image mapped by this machine's kernel, formatted, mounted and written to; all of it is undone afterwards.

An equal image is measured through librbd beside it, so only the client and its file system differ.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.design.design import Cell, CellSet
from replay.design.needs import TEXT, Factor, Needs, Option
from replay.design.sizing import Write
from replay.measure.protocol import Protocol
from replay.ownership.images import BlockImage
from replay.ownership.removal import remove_leftover_mounts
from replay.ownership.this_machine import MKFS_OPTIONS, map_image, mount
from replay.protocols.drivers.fio import FioProcess, refuse_namespace
from replay.protocols.drivers.tool import FIO_FACTORS, FIO_FILE_OPTION, FIO_OPTIONS
from replay.protocols.targets.images import Images

#: Values of a variant's level `client`.
LIBRBD, KERNEL = "librbd", "kernel"
FILE_NAME = "written"
_CHUNK_BYTES = 1 << 20


class Mount(Images):
    """An image for each variant. Images for the kernel's client hold a file system with a file in it."""

    def begin(self) -> None:
        super().begin()
        self.mounts: dict[str, Path] = {}

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create an image per variant; map, format and mount the kernel's, and write the file that cells overwrite."""
        super().open(sets)
        variants = {cell.variant.name: cell.variant for cell_set in sets for cell in cell_set.cells}
        for variant in variants.values():
            [made] = self.images[variant.image_name]
            with self.bench.costs.measure("prepare"):
                self._disable_features(made)
                if variant.levels["client"] == KERNEL:
                    device = map_image(self.bench, made, str(self.protocol.option("map_options")))
                    self.mounts[variant.name] = mount(self.bench, device, str(variant.levels["file_system"]))
                    path = self.mounts[variant.name] / FILE_NAME
                    size = int(self.protocol.option("file_size_bytes"))
                    self.bench.budget.reserve(f"filling a file on {made.name}", Write(size, adds=True))
                    write_file(path, size)

    def close(self) -> None:
        """Unmount, unmap, and remove the images with their file systems, in that order."""
        with self.bench.costs.measure("prepare"):
            remove_leftover_mounts(self.bench)
        super().close()

    def names(self, cell: Cell) -> dict[str, str | None]:
        """Return the name of the file that a cell's client uses, or of the image if it uses that directly."""
        mounted = self.mounts.get(cell.variant.name)
        return super().names(cell) if mounted is None else {"file": str(mounted / FILE_NAME)}

    def _disable_features(self, made: BlockImage) -> None:
        """Disable features that kernels may not support, for all images alike, so that only the client differs."""
        named = str(self.protocol.option("disable_features")).split()
        wanted = [feature for feature in named if feature in made.image.features]
        if wanted:
            self.bench.primary_cluster.run("rbd", "feature", "disable", made.spec, *wanted)


def write_file(path: Path, size_bytes: int) -> None:
    """Write and sync a file of this size, so that overwriting it later allocates nothing."""
    with path.open("wb") as file:
        left = size_bytes
        while left > 0:
            left -= file.write(b"\x01" * min(left, _CHUNK_BYTES))
        file.flush()
        os.fsync(file.fileno())


#: fio's engine for a file: many requests in flight, without the page cache.
FILE_ENGINE = "libaio"


class KernelClient(Protocol):
    """Runs fio on an image (`levels["client"]` librbd), or on a file of a mounted file system on it (kernel)."""

    needs = Needs(
        tools=("fio",),
        factors=(
            *FIO_FACTORS,
            Factor("client", "how the image is accessed", words=(LIBRBD, KERNEL), required=True, of_variants=True),
            Factor(
                "file_system",
                "the file system that the kernel's client mounts",
                words=tuple(MKFS_OPTIONS),
                of_variants=True,
            ),
        ),
        options=(
            *FIO_OPTIONS,
            FIO_FILE_OPTION,
            Option(
                "disable_features",
                TEXT,
                "",
                "image features that kernels may not support, separated by spaces",
                default="",
            ),
            Option("map_options", TEXT, "", "options of `rbd map`", default=""),
        ),
        programs=("fio", "rbd", "mount", *(f"mkfs.{name}" for name in MKFS_OPTIONS)),
    )
    target = Mount()
    driver = FioProcess()

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return fio's options. Both clients use the same number of bytes."""
        options = dict(self.design.options)
        if cell.levels["client"] == KERNEL:
            return {**options, "engine": FILE_ENGINE}
        return {**options, "fio_options": {"size": self.option("file_size_bytes")}}

    def check(self) -> None:
        """Refuse what kernels do not support, and a file that takes more than half of an image."""
        if self.bench.site.ceilings.rate_bytes_per_second is not None:
            where = f"config/sites/{self.bench.site.name}.yaml, ceilings.rate_bytes_per_second"
            raise ConfigurationError("Replay cannot limit the kernel's client to the site's rate", where=where)
        refuse_namespace(self.bench.site, self.design.name)
        for variant in self.design.variants:
            file_system = variant.levels.get("file_system")
            if variant.levels["client"] == KERNEL and file_system not in MKFS_OPTIONS:
                self.refuse(f"{variant.name}: Replay cannot make the file system {file_system!r}")
            if variant.image_name != variant.name:
                self.refuse(f"{variant.name}: each variant needs an image of its own")
            if "journaling" in variant.image.features:
                self.refuse(f"{variant.name}: kernels do not support journaling")
        size = self.option("file_size_bytes")
        if any(2 * size > variant.image.size_bytes for variant in self.design.variants):
            self.refuse(f"options.file_size_bytes is {size!r}, more than half of an image")


PROTOCOL = KernelClient
