"""CPU and disks of this machine, from `/proc`: two readings around a tool, no thread. Their cost is recorded."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MachineReading:
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

    def read(self) -> MachineReading:
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
        return MachineReading(
            idle_ticks=fields[3] + fields[4],
            all_ticks=sum(fields),
            disk_busy_milliseconds=tuple(busy),
            clock=ended,
            cost_seconds=self._cost_seconds,
        )

    @staticmethod
    def load(before: MachineReading, after: MachineReading) -> dict[str, float | None]:
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


def _cost(before: MachineReading, after: MachineReading) -> dict[str, float]:
    if before.cost_seconds is None or after.cost_seconds is None:
        return {}
    return {"cost_seconds": round(after.cost_seconds - before.cost_seconds, 6)}


def _device_of(path: Path) -> tuple[int, int]:
    number = path.stat().st_dev
    return (os.major(number), os.minor(number))


def busiest(readings: Sequence[MachineReading], seconds: float | None) -> tuple[MachineReading, MachineReading]:
    """Return the two readings, `seconds` apart or a little more, between which the CPU idled least.

    Returns the first and the last if no two are that far apart, or if `seconds` is None.
    """
    first, last = readings[0], readings[-1]
    if seconds is None:
        return first, last
    found, least, end = (first, last), 1.1, 0
    for start in readings:
        while end < len(readings) and readings[end].clock - start.clock < seconds:
            end += 1
        if end == len(readings):
            break
        ticks = readings[end].all_ticks - start.all_ticks
        idle = (readings[end].idle_ticks - start.idle_ticks) / ticks if ticks > 0 else 1.0
        if idle < least:
            found, least = (start, readings[end]), idle
    return found


def joined(stretches: Iterable[tuple[MachineReading, MachineReading]]) -> tuple[MachineReading, MachineReading]:
    """Return one stretch for one or more others: the sum of their ticks, busy milliseconds and seconds."""
    pairs = list(stretches)
    disks = len(pairs[0][0].disk_busy_milliseconds)
    total = MachineReading(
        idle_ticks=sum(after.idle_ticks - before.idle_ticks for before, after in pairs),
        all_ticks=sum(after.all_ticks - before.all_ticks for before, after in pairs),
        disk_busy_milliseconds=tuple(
            sum(after.disk_busy_milliseconds[disk] - before.disk_busy_milliseconds[disk] for before, after in pairs)
            for disk in range(disks)
        ),
        clock=sum(after.clock - before.clock for before, after in pairs),
    )
    return MachineReading(0, 0, (0,) * disks, 0.0), total
