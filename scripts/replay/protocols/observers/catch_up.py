"""What the mirror daemon does with images: levels and states to wait for, and its counters over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from replay.base.clock import poll
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.evidence.record import SampleTable

STOPPING, STOPPED, REPLAYING = "Stopping", "Stopped", "Replaying"
STATE_WITHIN_SECONDS = 60.0
#: A copy is given up if nothing changes for this long before everything is replayed.
STALL_SECONDS = 60.0

Counters = Mapping[str, ReplayCounters]


def journal_level(expected_bytes: Mapping[str, int]) -> Callable[[Counters], bool]:
    """Return a test of whether each image's journal was replayed by at least these many bytes."""
    return lambda counters: all(counters[name].entry_bytes >= wanted for name, wanted in expected_bytes.items())


def snapshots_level(wanted: Mapping[str, int]) -> Callable[[Counters], bool]:
    """Return a test of whether the daemon copied at least this many snapshots of each image."""
    return lambda counters: all(counters[name].snapshots >= count for name, count in wanted.items())


# The daemon's states of images ----------------------------------------------------------------------------------------


def await_state(
    daemon: MirrorDaemon,
    images: Sequence[str],
    wanted: str,
    *,
    within_seconds: float = STATE_WITHIN_SECONDS,
    pause: Callable[[float], None],
) -> None:
    """Wait until every image's replayer has reached a state. Raises ReplayError that names one that does not."""
    other = ""

    def are_there() -> bool | None:
        nonlocal other
        for image in images:
            if (state := daemon.state(image)) != wanted:
                other = f"{image} is {state!r}"
                return None
        return True

    poll(
        are_there,
        what=f"the mirror daemon to become {wanted!r}",
        seconds=within_seconds,
        every=0.1,
        seen=lambda: other,
        next_step="look at the daemon's log, then run measure again; finished sets are kept",
        pause=pause,
    )


def resume(daemon: MirrorDaemon, image: str, *, pause: Callable[[float], None]) -> None:
    """Start the replay of an image that was stopped, or is being stopped. Does nothing if it is already replaying.

    Raises ReplayError if it does not stop in time: an image that is being stopped refuses to start.
    """
    [state] = poll(
        lambda: [state] if (state := daemon.state(image)) != STOPPING else None,
        what=f"the mirror daemon to stop replaying {image}",
        seconds=STATE_WITHIN_SECONDS,
        every=0.1,
        next_step="look at the daemon's log, then run measure again; finished sets are kept",
        pause=pause,
    )
    if state == STOPPED:
        daemon.start(image)


# The daemon's counters over time --------------------------------------------------------------------------------------
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
