"""An image mapped by this machine's kernel, formatted, mounted and written to; all of it is undone afterwards.

An equal image is measured through librbd beside it, so only the client and its file system differ.
"""

from __future__ import annotations

from typing import Any

from replay.base.errors import ConfigurationError
from replay.design.design import Cell
from replay.design.needs import TEXT, Factor, Needs, Option
from replay.measure.protocol import Protocol
from replay.ownership.kernel_client import MKFS_OPTIONS
from replay.protocols.drivers.fio_clients import refuse_namespace
from replay.protocols.drivers.fio_process import FioProcess
from replay.protocols.drivers.options import FIO_FACTORS, FIO_FILE_OPTION, FIO_OPTIONS
from replay.protocols.targets.mount import KERNEL, LIBRBD, Mount, is_of_kernel

#: fio's engine for a file: many requests in flight, without the page cache.
FILE_ENGINE = "libaio"


class KernelClient(Protocol):
    """Runs fio on an image (`levels["client"]` librbd), or on a file of a mounted file system on it (kernel)."""

    needs = Needs(
        tools=("fio",),
        factors=(
            *FIO_FACTORS,
            Factor("client", "how the image is accessed", words=(LIBRBD, KERNEL), required=True),
            Factor("file_system", "the file system that the kernel's client mounts", words=tuple(MKFS_OPTIONS)),
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
        if is_of_kernel(cell.variant):
            return {**options, "engine": FILE_ENGINE}
        return {**options, "fio_options": {"size": self.option("file_size_bytes")}}

    def check(self) -> None:
        """Refuse what kernels do not support, and a file that takes more than half of an image."""
        if self.bench.site.ceilings.rate_bytes_per_second is not None:
            where = f"config/sites/{self.bench.site.name}.yaml, ceilings.rate_bytes_per_second"
            raise ConfigurationError("Replay cannot limit the kernel's client to the site's rate", where=where)
        refuse_namespace(self.bench.site, self.design.name)
        for one in self.design.variants:
            if is_of_kernel(one) and one.levels.get("file_system") not in MKFS_OPTIONS:
                self.refuse(f"{one.name}: Replay cannot make the file system {one.levels.get('file_system')!r}")
            if one.image_name != one.name:
                self.refuse(f"{one.name}: each variant needs an image of its own")
            if "journaling" in one.image.features:
                self.refuse(f"{one.name}: kernels do not support journaling")
        size = self.option("file_size_bytes")
        if any(2 * size > one.image.size_bytes for one in self.design.variants):
            self.refuse(f"options.file_size_bytes is {size!r}, more than half of an image")


PROTOCOL = KernelClient
