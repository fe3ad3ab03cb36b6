"""The copies of images on the second cluster, and the daemon that makes them: its states, its counters over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from replay.base.clock import poll
from replay.base.errors import ReplayError
from replay.cluster.mirroring import (
    MirrorDaemon,
    ReplayCounters,
    copied_snapshots,
    is_replaying,
    take_mirror_snapshot,
    wait_until_copied,
)
from replay.cluster.site import Site
from replay.design.needs import Factor
from replay.evidence.record import SampleTable, Wait
from replay.measure.bench import Bench, await_done
from replay.measure.protocol import Protocol
from replay.ownership.images import BlockImage

COPY_WITHIN_SECONDS = 300.0
STOPPING, STOPPED, REPLAYING = "Stopping", "Stopped", "Replaying"
STATE_WITHIN_SECONDS = 60.0
#: A copy is given up if nothing changes for this long before everything is replayed.
STALL_SECONDS = 60.0

MODE_FACTOR = Factor("mode", "how the variant's image is mirrored", words=("journal", "snapshot"), required=True)


def lacking_mirror_daemon(site: Site) -> dict[str, str]:
    """Return why the mirror daemon cannot be asked on a site; empty if it can."""
    if site.second_site is not None and site.second_site.mirror_daemon_admin_socket is None:
        return {"second_site": "the site's file names no admin socket of the mirror daemon, whose counters this needs"}
    return {}


def check_modes(protocol: Protocol, unmirrored: str | None = None) -> None:
    """Raise ConfigurationError if a variant's level `mode` is not how its image is mirrored.

    `unmirrored` is the mode of an image that is not, None if there is none.
    """
    for variant in protocol.design.variants:
        mode, mirroring = variant.levels.get("mode"), variant.image.mirroring
        if mode != (mirroring or unmirrored):
            protocol.refuse(
                f"{variant.name}: levels.mode is {mode!r}, but mirroring is {mirroring!r}",
                next_step="give each variant the same word for `mirroring` and in `levels: { mode: … }`",
            )


class Copies:
    """The copies of a site's images on its second cluster, and the daemon that makes them."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.daemon = MirrorDaemon.named_by(bench.site)

    def require_daemon(self) -> MirrorDaemon:
        """Return the daemon. Raises ReplayError if the site does not name its admin socket."""
        return self.daemon or MirrorDaemon.of(self.bench.site)

    def await_state(self, images: Sequence[str], wanted: str) -> None:
        """Wait until the daemon has all images in a state. Raises ReplayError naming one that is not."""
        daemon, other = self.require_daemon(), ""

        def are_there() -> bool | None:
            nonlocal other
            for image in images:
                if (state := daemon.state(image)) != wanted:
                    other = f"{image} is {state!r}"
                    return None
            return True

        self._poll_state(are_there, f"the mirror daemon to become {wanted!r}", seen=lambda: other)

    def resume(self, image: str) -> None:
        """Start the replay of an image that was stopped, or is being stopped. Does nothing if it is already replaying.

        Raises ReplayError if it does not stop in time: an image that is being stopped refuses to start.
        """
        daemon = self.require_daemon()
        [state] = self._poll_state(
            lambda: [state] if (state := daemon.state(image)) != STOPPING else None,
            f"the mirror daemon to stop replaying {image}",
        )
        if state == STOPPED:
            daemon.start(image)

    def _poll_state(self, ask: Callable[[], Any], what: str, **how: Any) -> Any:
        return poll(
            ask,
            what=what,
            seconds=STATE_WITHIN_SECONDS,
            every=0.1,
            next_step="look at the daemon's log, then run measure again; finished sets are kept",
            pause=self.bench.waiting(what, STATE_WITHIN_SECONDS, mirrored=True).pause,
            **how,
        )

    def take_snapshot(self, made: BlockImage) -> int:
        """Take a mirror snapshot of an image and return its id. Raises ReplayError if that fails."""
        return take_mirror_snapshot(self.bench.primary_cluster, made.spec)

    def wait_for(self, made: BlockImage, snapshot: int, *, timeout_seconds: float = COPY_WITHIN_SECONDS) -> Wait:
        """Wait until the copy holds a mirror snapshot; the outcome is `copied` or `stalled`.

        Raises ReplayError with the cause if it never can.
        """
        waiting = self.bench.waiting(f"the copy of {made.name}", timeout_seconds, mirrored=True)
        return wait_until_copied(
            lambda: copied_snapshots(self.bench.site.secondary, made.spec, while_running=waiting.glance),
            snapshot,
            timeout_seconds=timeout_seconds,
            sleep=waiting.pause,
        )

    def await_first(self, made: BlockImage) -> None:
        """Wait until the second cluster holds the image as it is now. Raises ReplayError if it does not in time."""
        if made.image.mirroring is None:
            return
        with self.bench.costs.measure("prepare"):
            if made.image.mirroring == "snapshot":
                wait = self.wait_for(made, self.take_snapshot(made))
            else:
                wait = self._await_replaying(made)
        if wait.outcome != "copied":
            raise ReplayError(
                f"no copy on the second cluster after {COPY_WITHIN_SECONDS:.0f} s",
                where=made.spec,
                next_step="look at `rbd mirror pool status --verbose` on the second cluster",
            )

    def _await_replaying(self, made: BlockImage) -> Wait:
        daemon = self.daemon

        def is_there() -> bool:
            if daemon is None:
                return is_replaying(self.bench.site.secondary, made.spec)
            return daemon.state(made.name) == REPLAYING

        return await_done(
            self.bench,
            is_there,
            what=f"the first copy of {made.name}",
            reason="first_copy",
            outcomes=("copied", "stalled"),
            seconds=COPY_WITHIN_SECONDS,
            every=1.0 if daemon is None else 0.25,
            mirrored=True,
        )


# The daemon's counters over time --------------------------------------------------------------------------------------


def journal_level(expected_bytes: Mapping[str, int]) -> Callable[[Mapping[str, ReplayCounters]], bool]:
    """Return a test of whether each image's journal was replayed by at least these many bytes."""
    return lambda counters: all(counters[name].entry_bytes >= wanted for name, wanted in expected_bytes.items())


class TableSampler:
    """Reads something into `table`; `now` is seconds since the cell's origin."""

    #: How long after a reading the next one is due.
    every_seconds: ClassVar[float]

    def __init__(self, table: SampleTable, now: Callable[[], float]) -> None:
        self.table = table
        self.now = now
        self._readings = 0
        self._reading_seconds = 0.0
        self._due = float("-inf")

    def read_at(self, seconds: float) -> Any:
        """Read once at this moment, record what was found, and return it."""
        raise NotImplementedError

    def read(self) -> Any:
        """Read once, record what was found, and return it."""
        started = time.monotonic()
        readings = self.read_at(self.now())
        self._readings += 1
        self._reading_seconds += time.monotonic() - started
        return readings

    def read_when_due(self) -> None:
        """Read once if the last such reading is long enough ago."""
        if self.now() >= self._due:
            self._due = self.now() + self.every_seconds
            self.read()

    def cost(self) -> dict[str, Any]:
        """Return the number of readings and the wall time that they took, for the sidecar."""
        return {"readings": self._readings, "cost_seconds": round(self._reading_seconds, 4)}


class MirrorSampler(TableSampler):
    """Reads the daemon's counters of `images`, entity to name."""

    every_seconds = 0.25

    def __init__(
        self, daemon: MirrorDaemon, images: Mapping[str, str], table: SampleTable, now: Callable[[], float]
    ) -> None:
        super().__init__(table, now)
        self.daemon = daemon
        self.images = dict(images)

    def read_at(self, seconds: float) -> dict[str, ReplayCounters]:
        """Read all images' counters once, record them, and return them by entity.

        Counters of an image that the daemon has stopped are not recorded, and are zero in the result.
        """
        counted, readings = self.daemon.image_counters(self.images.values()), {}
        for entity, name in self.images.items():
            image = counted[name]
            for metric, value in {**numbers_in(image.journal), **numbers_in(image.snapshot)}.items():
                self.table.add(seconds, entity, metric, value)
            readings[entity] = image.totals()
        return readings


def numbers_in(section: Mapping[str, Any]) -> dict[str, float]:
    """Return a section's counters by name. Counters with parts become `name.part`, without the average."""
    numbers: dict[str, float] = {}
    for name, value in section.items():
        parts = (
            {f"{name}.{part}": number for part, number in value.items()} if isinstance(value, dict) else {name: value}
        )
        numbers |= {
            key: number for key, number in parts.items() if isinstance(number, int | float) and ".avgtime" not in key
        }
    return numbers
