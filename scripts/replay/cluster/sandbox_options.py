"""The options of a sandbox, with all defaults in one place."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from replay.base.disk import size_text
from replay.base.errors import ConfigurationError
from replay.base.programs import HOST, parse_release
from replay.design.link import LONGEST_RTT_SECONDS, SLOWEST_RATE

GIB = 1 << 30
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": GIB, "T": 1 << 40}
SMALLEST_OSD_BYTES = 2 * GIB
# Ceph 16.2 silently uses its default of 4 GiB instead of a lower value.
SMALLEST_OSD_MEMORY_BYTES = 896 << 20


def parse_size(text: str) -> int:
    """Return a size in bytes from `20GiB`, `20G` or plain bytes (binary units). Raises ConfigurationError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:iB|B)?\s*", text, re.IGNORECASE)
    if not match:
        raise ConfigurationError(f"{text!r} is not a size")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def parse_rtt(text: str) -> float:
    """Return a round trip in seconds from `20ms`, `500us` or `0.1s`. Raises ConfigurationError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s)", text.strip())
    seconds = float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[match[2]] if match else -1.0
    if not 0 <= seconds <= LONGEST_RTT_SECONDS:
        raise ConfigurationError(
            f"{text!r} is not a round trip of 0 to {LONGEST_RTT_SECONDS:g} s", next_step="write one such as 20ms"
        )
    return seconds


def parse_rate(text: str) -> float:
    """Return a rate in bytes a second from `100mbit` or `1gbit` (decimal bits). Raises ConfigurationError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg])bit(?:/s)?", text.strip().lower())
    rate = float(match[1]) * {"k": 1e3, "m": 1e6, "g": 1e9}[match[2]] / 8 if match else 0.0
    if rate < SLOWEST_RATE:
        raise ConfigurationError(f"{text!r} is not a rate of at least 1mbit", next_step="write one such as 1gbit")
    return rate


def show_rate(bytes_per_second: float) -> str:
    """Return a rate for people: `1 Gbit/s`, `87.4 Mbit/s`."""
    bits = bytes_per_second * 8
    return f"{bits / 1e9:.3g} Gbit/s" if bits >= 1e9 else f"{bits / 1e6:.3g} Mbit/s"


@dataclass(frozen=True)
class SandboxOptions:
    """The shape of a sandbox. Sizes are of sparse files, in bytes; `right_osds` 0 means no second cluster.

    `release` is the number of the release that the sandbox runs, or `host` for the Ceph that the host has. With
    `link_rtt_seconds` the sites are joined by a line with this round trip, and this rate or (None) none of its own.
    With `stretch` one cluster spans both sites: half of `left_osds` are on each.
    """

    left_osds: int = 3
    right_osds: int = 1
    left_osd_bytes: int = 16 * GIB
    # As much as one on left: it holds a copy of every image, and with a snapshot a second also what those keep of it.
    right_osd_bytes: int = 16 * GIB
    osd_memory_target_bytes: int = SMALLEST_OSD_MEMORY_BYTES
    release: str = HOST
    link_rtt_seconds: float | None = None
    link_rate_bytes_per_second: float | None = None
    stretch: bool = False

    def __post_init__(self) -> None:
        def refuse(what: str, next_step: str) -> NoReturn:
            raise ConfigurationError(what, where="sandbox options", next_step=next_step)

        if not 1 <= self.left_osds <= 16 or not 0 <= self.right_osds <= 16:
            refuse(
                f"{self.left_osds} OSDs on left and {self.right_osds} on right",
                "choose 1 to 16 OSDs on left, and 0 to 16 on right",
            )
        if self.stretch and (self.right_osds or self.left_osds % 2):
            refuse(
                "a stretch cluster is the only one, with the same number of OSDs on each site",
                "use --stretch without --right, and an even number of OSDs, such as --left-osds 4",
            )
        if self.link_rate_bytes_per_second is not None and self.link_rtt_seconds is None:
            refuse("a line between the sites needs a round trip", "add --rtt 0ms")
        if self.osd_memory_target_bytes < SMALLEST_OSD_MEMORY_BYTES:
            refuse(
                f"osd_memory_target is {self.osd_memory_target_bytes} bytes, which Ceph does not accept",
                f"choose at least {SMALLEST_OSD_MEMORY_BYTES} bytes",
            )
        for size in (self.left_osd_bytes, self.right_osd_bytes):
            if size < SMALLEST_OSD_BYTES:
                refuse(f"an OSD of {size_text(size)} is too small", f"choose at least {size_text(SMALLEST_OSD_BYTES)}")

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
        return replace(self, **{key: value for key, value in changes.items() if value is not None})
