"""Waits until copies on the second cluster are level, by what the mirror daemon itself counts.

`rbd mirror image status` lags by up to half a minute and says "0 behind" while entries are still replayed. So waits use
the daemon's own counters through its admin socket, a snapshot's `complete` flag on the other side, or, where nobody can
ask the daemon, the positions in the journal itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from replay.base.waiting import poll
from replay.cluster.journal_position import NOT_BEGUN, Position
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.evidence.record import SampleTable, Wait
from replay.measure.bench import await_done

STOPPING, STOPPED, REPLAYING = "Stopping", "Stopped", "Replaying"
STATE_WITHIN_SECONDS = 60.0
COPY_WITHIN_SECONDS = 300.0
#: A copy is given up if nothing changes for this long before everything is replayed.
STALL_SECONDS = 60.0

Counters = Mapping[str, ReplayCounters]
T = TypeVar("T")


@dataclass(frozen=True)
class CaughtUp(Generic[T]):
    """How a copy caught up: `outcome` is `replayed` or `stalled`, `reading` the last one.

    `level_after_seconds` is the time until a reading was level for the first time; None if none was.
    """

    outcome: str
    seconds: float
    level_after_seconds: float | None
    reading: T

    @property
    def expected_after_seconds(self) -> float | None:
        """The time until the copy was level, for the record."""
        return None if self.level_after_seconds is None else round(self.level_after_seconds, 3)


def catch_up(
    read: Callable[[], T],
    is_level: Callable[[T], bool],
    *,
    quiet_seconds: float,
    stall_seconds: float = STALL_SECONDS,
    every: float = 0.1,
    pause: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> CaughtUp[T]:
    """Read until a reading is level, and none has changed for `quiet_seconds`, because more may follow.

    It has stalled if no reading changed for `stall_seconds` before one was level. As long as they change, it waits.
    """
    started = moved = clock()
    last: T | None = None
    level_after: float | None = None

    def outcome() -> str | None:
        nonlocal last, moved, level_after
        if (current := read()) != last:
            last, moved = current, clock()
        now = clock()
        level = is_level(last)
        if level and level_after is None:
            level_after = now - started
        if level and now - moved >= quiet_seconds:
            return "replayed"
        return "stalled" if not level and now - moved >= stall_seconds else None

    how = poll(outcome, what="a copy to be level", seconds=math.inf, every=every, pause=pause, clock=clock)
    return CaughtUp(how, clock() - started, level_after, last)


def wait_until_replayed(
    read: Callable[[], ReplayCounters],
    before: ReplayCounters,
    expected_bytes: int,
    *,
    quiet_seconds: float = 1.0,
    stall_seconds: float = STALL_SECONDS,
    pause: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> Wait:
    """Wait until the daemon has replayed at least `expected_bytes` of journal since `before`, and then rests."""
    caught_up = catch_up(
        read,
        lambda now: now.entry_bytes - before.entry_bytes >= expected_bytes,
        quiet_seconds=quiet_seconds,
        stall_seconds=stall_seconds,
        pause=pause,
        clock=clock,
    )
    details = {
        "replayed_entries": caught_up.reading.entries - before.entries,
        "replayed_bytes": caught_up.reading.entry_bytes - before.entry_bytes,
        "expected_bytes": expected_bytes,
        "expected_after_seconds": caught_up.expected_after_seconds,
    }
    return Wait("journal_replayed", caught_up.seconds, caught_up.outcome, details)


def wait_until_level(
    read: Callable[[], tuple[Position, list[Position]]],
    before: Position,
    *,
    stall_seconds: float = STALL_SECONDS,
    pause: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> Wait:
    """Wait until every peer has replayed what the journal's own client has written; `before` is where peers were."""
    caught_up = catch_up(
        read,
        lambda positions: bool(positions[1]) and all(peer == positions[0] for peer in positions[1]),
        quiet_seconds=0.0,
        stall_seconds=stall_seconds,
        every=1.0,
        pause=pause,
        clock=clock,
    )
    least = min(caught_up.reading[1], default=NOT_BEGUN)
    entries = least[1] - (before[1] if least[0] == before[0] else -1)
    details = {"replayed_entries": entries, "expected_after_seconds": caught_up.expected_after_seconds}
    return Wait("journal_replayed", caught_up.seconds, caught_up.outcome, details)


def wait_until_copied(
    copied: Callable[[], set[int]],
    snapshot_id: int,
    *,
    timeout_seconds: float = COPY_WITHIN_SECONDS,
    pause: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> Wait:
    """Wait until a mirror snapshot is complete on the other side. The outcome is `copied` or `stalled`."""
    wait = await_done(
        lambda: any(copy >= snapshot_id for copy in copied()),
        reason="snapshot_copied",
        outcomes=("copied", "stalled"),
        seconds=timeout_seconds,
        every=0.25,
        pause=pause,
        clock=clock,
    )
    wait.details["snapshot_id"] = snapshot_id
    return wait


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
