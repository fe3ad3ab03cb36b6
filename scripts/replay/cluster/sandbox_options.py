"""The options of a sandbox, with all defaults in one place."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.releases import HOST, parse_release

GIB = 1 << 30
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": GIB, "T": 1 << 40}
SMALLEST_OSD_BYTES = 2 * GIB
# Ceph 16.2 silently uses its default of 4 GiB instead of a lower value.
SMALLEST_OSD_MEMORY_BYTES = 896 << 20


def parse_size(text: str) -> int:
    """Return a size in bytes from `20GiB`, `20G` or plain bytes (binary units). Raises ConfigurationError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:iB|B)?\s*", text, re.IGNORECASE)
    if not match:
        raise ConfigurationError(f"{text!r} is not a size", next_step="write a size such as 20GiB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def show_size(size_bytes: int) -> str:
    """Return a size in GiB with at most one decimal, for people."""
    return f"{size_bytes / GIB:.1f}".removesuffix(".0") + " GiB"


@dataclass(frozen=True)
class SandboxOptions:
    """The shape of a sandbox. Sizes are of sparse files, in bytes; `right_osds` 0 means no second cluster.

    `release` is the number of the release that the sandbox runs, or `host` for the Ceph that the host has.
    """

    left_osds: int = 3
    right_osds: int = 1
    left_osd_bytes: int = 16 * GIB
    # As much as one on left: it holds a copy of every image, and with a snapshot a second also what those keep of it.
    right_osd_bytes: int = 16 * GIB
    osd_memory_target_bytes: int = SMALLEST_OSD_MEMORY_BYTES
    release: str = HOST

    def __post_init__(self) -> None:
        if not 1 <= self.left_osds <= 16 or not 0 <= self.right_osds <= 16:
            raise ConfigurationError(
                f"{self.left_osds} OSDs on left and {self.right_osds} on right",
                where="sandbox options",
                next_step="choose 1 to 16 OSDs on left, and 0 to 16 on right",
            )
        if self.osd_memory_target_bytes < SMALLEST_OSD_MEMORY_BYTES:
            raise ConfigurationError(
                f"osd_memory_target is {self.osd_memory_target_bytes} bytes, which Ceph does not accept",
                where="sandbox options",
                next_step=f"choose at least {SMALLEST_OSD_MEMORY_BYTES} bytes",
            )
        for size in (self.left_osd_bytes, self.right_osd_bytes):
            if size < SMALLEST_OSD_BYTES:
                raise ConfigurationError(
                    f"an OSD of {show_size(size)} is too small",
                    where="sandbox options",
                    next_step=f"choose at least {show_size(SMALLEST_OSD_BYTES)}",
                )

    @property
    def release_number(self) -> int | None:
        """The number of the release that the sandbox runs, None for the host's own Ceph."""
        return parse_release(self.release)

    @property
    def total_osd_bytes(self) -> int:
        """Size of all sparse files together, in bytes: what the sandbox can grow to."""
        return self.left_osds * self.left_osd_bytes + self.right_osds * self.right_osd_bytes

    @property
    def needed_bytes(self) -> int:
        """Free space in bytes that creating a sandbox requires.

        That is one GiB for monitors, logs and BlueStore's own data, and a quarter of the OSDs' size. Sparse files grow
        as they are written to, and the host's disk must not fill up before Ceph's own full ratio stops the writers.
        """
        return GIB + self.total_osd_bytes // 4

    def replaced(self, changes: dict[str, Any]) -> SandboxOptions:
        """Return a copy with those `changes` that are not None."""
        return SandboxOptions(**{**asdict(self), **{key: v for key, v in changes.items() if v is not None}})
