"""CPU and disks of this machine, from `/proc`: two readings around a tool, no thread. Their cost is recorded."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reading:
    """Counters at one moment: CPU ticks (idle, all), the disks' busy milliseconds, and a monotonic clock in seconds.

    `cost_seconds` is the time that all of the sampler's readings have taken so far, with this one; None for a reading
    that combines several.
    """

    idle_ticks: int
    all_ticks: int
    disk_busy_milliseconds: tuple[int, ...]
    clock: float
    cost_seconds: float | None = None


class MachineSampler:
    """Reads this machine's CPU and the disks that hold `paths` (the OSDs' files, if they are here)."""

    def __init__(self, paths: Sequence[Path] = (), proc: Path = Path("/proc")) -> None:
        self.proc = proc
        self.devices = sorted({_device_of(path) for path in paths if path.exists()})
        self._cost_seconds = 0.0

    def read(self) -> Reading:
        """Return the counters now. Raises OSError if `/proc` is missing."""
        started = time.monotonic()
        fields = [int(word) for word in (self.proc / "stat").read_text().split("\n", 1)[0].split()[1:9]]
        busy = []
        if self.devices:
            table = {}
            for line in (self.proc / "diskstats").read_text().splitlines():
                words = line.split()
                table[(int(words[0]), int(words[1]))] = int(words[12])
            busy = [table[device] for device in self.devices if device in table]
        ended = time.monotonic()
        self._cost_seconds += ended - started
        return Reading(
            idle_ticks=fields[3] + fields[4],
            all_ticks=sum(fields),
            disk_busy_milliseconds=tuple(busy),
            clock=ended,
            cost_seconds=self._cost_seconds,
        )

    @staticmethod
    def load(before: Reading, after: Reading) -> dict[str, float | None]:
        """Return `cpu_idle_fraction`, `disk_busy_fraction` (the busiest disk) and the load average of one minute.

        `cost_seconds` is the time that the readings took, including `after` but not `before`. It is left out for
        readings without a cost.
        """
        ticks = after.all_ticks - before.all_ticks
        seconds = after.clock - before.clock
        disk = None
        if before.disk_busy_milliseconds and seconds > 0:
            pairs = zip(before.disk_busy_milliseconds, after.disk_busy_milliseconds, strict=True)
            disk = round(min(1.0, max((b - a) / 1000 / seconds for a, b in pairs)), 4)
        return {
            "cpu_idle_fraction": round((after.idle_ticks - before.idle_ticks) / ticks, 4) if ticks > 0 else None,
            "disk_busy_fraction": disk,
            "load_1min": round(os.getloadavg()[0], 2),
            **_cost(before, after),
        }


def _cost(before: Reading, after: Reading) -> dict[str, float]:
    if before.cost_seconds is None or after.cost_seconds is None:
        return {}
    return {"cost_seconds": round(after.cost_seconds - before.cost_seconds, 6)}


def _device_of(path: Path) -> tuple[int, int]:
    number = path.stat().st_dev
    return (os.major(number), os.minor(number))
