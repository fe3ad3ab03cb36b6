"""An image as a disk of this machine's kernel: created, features disabled, mapped, mkfs, mounted, written; and undone.

Beside it the same image by librbd, so that only the client and its file system differ.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.cluster.client_conf import write_client_conf
from replay.design.design import Cell, CellSet, Variant
from replay.design.media import Write
from replay.measure.procedure import Protocol, parse_and_judge
from replay.owned.images import BlockImage, create_image, remove_images
from replay.owned.kernel_client import MKFS_OPTIONS, map_image, mount
from replay.owned.kernel_leftovers import remove_leftover_mounts
from replay.procedures.parts.tool_run import client_values, run_observed
from replay.raw.record import Measured
from replay.tools import Result, adapter

#: Values of a variant's level `client`.
LIBRBD, KERNEL = "librbd", "kernel"
#: fio's engine for a file: many requests in flight, past the page cache.
FILE_ENGINE = "libaio"
FILE_NAME = "written"
#: On top of ramp and runtime: opening, and the end.
PATIENCE_SECONDS = 90.0
_CHUNK_BYTES = 1 << 20


class KernelClient(Protocol):
    """Runs fio on an image (`levels["client"]` librbd), or on a file of a mounted file system on it (kernel)."""

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.program = self.adapter.program
        self._check()
        self.images: dict[str, BlockImage] = {}
        self.mounts: dict[str, Path] = {}

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Create an image per variant; map, format and mount those of the kernel; write what is overwritten later."""
        variants = {cell.variant.name: cell.variant for one in sets for cell in one.cells}
        for variant in variants.values():
            self.bench.say(f"image for {variant.name}: create")
            made = create_image(self.bench, variant.image_name, variant.image)
            self.images[variant.name] = made
            with self.bench.costs.measure("prepare"):
                self._disable_features(made)
                if variant.levels["client"] == KERNEL:
                    device = map_image(self.bench, made, str(self.design.options.get("map_options", "")))
                    self.mounts[variant.name] = mount(self.bench, device, str(variant.levels["file_system"]))
                    size = int(self.design.options["file_size_bytes"])
                    self.bench.charge(f"filling a file on {made.name}", Write(size, adds=True))
                    write_file(self._file(variant), size)

    def close_block(self) -> None:
        """Remove the file, unmount, unmap, and remove the images, in that order."""
        images = list(self.images.values())
        with self.bench.costs.measure("prepare"):
            for folder in self.mounts.values():
                (folder / FILE_NAME).unlink(missing_ok=True)
            self.images.clear()
            self.mounts.clear()
            remove_leftover_mounts(self.bench)
        remove_images(self.bench, images)

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run fio, past the page cache in both cases."""
        variant, runtime = cell.variant, self.design.sizing.target_seconds
        ramp = float(self.design.options.get("ramp_seconds", 1))
        with tempfile.TemporaryDirectory(prefix="replay-fio-") as name:
            conf = write_client_conf(Path(name) / "ceph.conf", self.bench.primary_cluster, variant.client_options)
            values: dict[str, str | None] = {
                **client_values(self.bench),
                "image": self.images[variant.name].name,
                "file": str(self._file(variant)) if variant.name in self.mounts else None,
                "seed": str(seed),
                # fio takes whole seconds, or milliseconds by their unit.
                "runtime_seconds": f"{runtime * 1000:.0f}ms",
            }
            measured = run_observed(
                self.bench,
                self.adapter.argv_template(cell.levels, self._options(variant)),
                values,
                timeout_seconds=PATIENCE_SECONDS + 2 * (ramp + runtime),
                result_files=self.adapter.result_files(cell.levels, self.design.options),
                environment={"CEPH_CONF": str(conf)},
            )
        hidden = {value: "{" + key + "}" for key in ("image", "file") if (value := values[key])}
        measured.results = {role: (file, _hide(data, hidden)) for role, (file, data) in measured.results.items()}
        result = self._judge(cell, measured)
        if result is not None:
            if "write" in str(cell.levels["io_type"]):
                self.bench.account(Write(result.metrics["bytes"] * (1 + ramp / runtime)))
            measured.headline = f"{result.metrics['operations_per_second']:,.0f} operations/s"
        return measured

    def _options(self, variant: Variant) -> dict[str, Any]:
        """Return fio's options: both clients work on as many bytes."""
        size = self.design.options["file_size_bytes"]
        if variant.levels["client"] == KERNEL:
            return {**self.design.options, "engine": FILE_ENGINE}
        return {**self.design.options, "fio_options": {"size": size}}

    def _file(self, variant: Variant) -> Path:
        return self.mounts[variant.name] / FILE_NAME if variant.name in self.mounts else Path(FILE_NAME)

    def _disable_features(self, made: BlockImage) -> None:
        """Disable in all images what kernels may not know, so that only the client differs."""
        named = str(self.design.options.get("disable_features", "")).split()
        wanted = [feature for feature in named if feature in made.image.features]
        if wanted:
            self.bench.primary_cluster.run("rbd", "feature", "disable", made.spec, *wanted)

    def _judge(self, cell: Cell, measured: Measured) -> Result | None:
        """Set `measured.invalid` where the output cannot stand; return the result where it can."""
        if measured.invalid:
            return None
        return parse_and_judge(self.adapter, cell, measured, self.design.sizing.minimum_seconds)

    def _check(self) -> None:
        """Refuse what this protocol cannot do, before anything is created."""
        design, where = self.design, f"config/experiments/{self.design.name}.yaml"
        if self.adapter.name != "fio":
            raise ConfigurationError(f"kernel_client runs fio, not {self.adapter.name}", where=where)
        if self.bench.site.ceilings.rate_bytes_per_second is not None:
            raise ConfigurationError("the kernel's client cannot be held to the site's rate", where=where)
        if self.bench.site.pools.data.namespace:
            raise ConfigurationError("fio's rbd engine knows no RADOS namespace", where=where)
        for one in design.variants:
            client, file_system = one.levels.get("client"), one.levels.get("file_system")
            if client not in (LIBRBD, KERNEL):
                raise ConfigurationError(f"{one.name}: levels.client is {LIBRBD} or {KERNEL}", where=where)
            if client == KERNEL and file_system not in MKFS_OPTIONS:
                raise ConfigurationError(f"{one.name}: no file system {file_system!r}", where=where)
            if one.image_name != one.name:
                raise ConfigurationError(f"{one.name}: each variant has an image of its own", where=where)
            if "journaling" in one.image.features or one.image.mirroring:
                raise ConfigurationError(f"{one.name}: kernels know no journal and no mirroring", where=where)
        size = design.options.get("file_size_bytes")
        if not isinstance(size, int) or any(2 * size > one.image.size_bytes for one in design.variants):
            raise ConfigurationError(f"options.file_size_bytes is {size!r}: at most half of an image", where=where)


def write_file(path: Path, size_bytes: int) -> None:
    """Write a file of so many bytes to the disk: overwriting it later allocates nothing."""
    with path.open("wb") as file:
        left = size_bytes
        while left > 0:
            left -= file.write(b"\x01" * min(left, _CHUNK_BYTES))
        file.flush()
        os.fsync(file.fileno())


def _hide(content: bytes, hidden: dict[str, str]) -> bytes:
    for word, placeholder in hidden.items():
        content = content.replace(word.encode(), placeholder.encode())
    return content


PROTOCOL = KernelClient
