"""The mirror daemon's counters of Replay's images while a cell runs, over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.evidence.record import SampleTable


class MirrorSampler:
    """Reads the daemon's counters of `images` (entity to name) into `table`; `now` is seconds since the cell's origin.

    `readings` is the number of readings, `reading_seconds` the wall time that they took.
    """

    def __init__(
        self, daemon: MirrorDaemon, images: Mapping[str, str], table: SampleTable, now: Callable[[], float]
    ) -> None:
        self.daemon = daemon
        self.images = dict(images)
        self.table = table
        self.now = now
        self.readings = 0
        self.reading_seconds = 0.0
        self._due = float("-inf")

    def read(self) -> dict[str, ReplayCounters]:
        """Read all images' counters once, record them, and return them by entity.

        Counters of an image that the daemon has stopped are not recorded, and are zero in the result.
        """
        started = time.monotonic()
        at, counted = self.now(), self.daemon.image_counters(self.images.values())
        found = {}
        for entity, name in self.images.items():
            image = counted[name]
            for metric, value in {**numbers_in(image.journal), **numbers_in(image.snapshot)}.items():
                self.table.add(at, entity, metric, value)
            found[entity] = image.totals()
        self.readings += 1
        self.reading_seconds += time.monotonic() - started
        return found

    def read_when_due(self, every_seconds: float) -> None:
        """Read once if the last such reading is at least `every_seconds` ago."""
        if self.now() >= self._due:
            self._due = self.now() + every_seconds
            self.read()

    def cost(self) -> dict[str, Any]:
        """Return the sampler's own cost, for the sidecar."""
        return {"readings": self.readings, "cost_seconds": round(self.reading_seconds, 4)}


def numbers_in(section: Mapping[str, Any]) -> dict[str, float]:
    """Return a section's counters by name. Counters with parts become `name.part`, without the average."""
    found: dict[str, float] = {}
    for name, value in section.items():
        parts = {f"{name}.{part}": one for part, one in value.items()} if isinstance(value, dict) else {name: value}
        found |= {key: one for key, one in parts.items() if isinstance(one, int | float) and ".avgtime" not in key}
    return found
