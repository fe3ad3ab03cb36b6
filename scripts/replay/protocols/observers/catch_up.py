"""Starts the mirror daemon's replay of images again, and waits until it has caught up with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from replay.base.errors import ReplayError
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.evidence.record import Wait

STOPPING, STOPPED, REPLAYING = "Stopping", "Stopped", "Replaying"
STATE_WITHIN_SECONDS = 60.0

Counters = Mapping[str, ReplayCounters]


def await_state(
    daemon: MirrorDaemon,
    images: Sequence[str],
    wanted: str,
    *,
    within_seconds: float = STATE_WITHIN_SECONDS,
    sleep: Callable[[float], None],
) -> None:
    """Wait until every image's replayer has reached a state. Raises ReplayError that names one that does not."""
    deadline = time.monotonic() + within_seconds
    for image in images:
        while (state := daemon.state(image)) != wanted:
            if time.monotonic() > deadline:
                raise ReplayError(
                    f"the mirror daemon did not become {wanted!r} within {within_seconds:.0f} s: it is {state!r}",
                    where=image,
                    next_step="look at the daemon's log, then run measure again; finished sets are kept",
                )
            sleep(0.1)


def wait_until_level(
    read: Callable[[], Counters],
    is_level: Callable[[Counters], bool],
    *,
    quiet_seconds: float,
    stall_seconds: float = 60.0,
    poll_seconds: float = 0.1,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None],
) -> Wait:
    """Read the daemon's counters of images until all is replayed and they have not changed for `quiet_seconds`.

    The outcome is `replayed`, or `stalled` if they stayed unchanged for `stall_seconds` before that.
    """
    started = moved = clock()
    last = read()
    while True:
        now = clock()
        if is_level(last) and now - moved >= quiet_seconds:
            return Wait("replay_level", now - started, "replayed")
        if not is_level(last) and now - moved >= stall_seconds:
            return Wait("replay_level", now - started, "stalled")
        sleep(poll_seconds)
        current = read()
        if current != last:
            last, moved = current, clock()


def journal_level(expected_bytes: Mapping[str, int]) -> Callable[[Counters], bool]:
    """Return a test of whether each image's journal was replayed by at least these many bytes."""
    return lambda counters: all(counters[name].entry_bytes >= wanted for name, wanted in expected_bytes.items())


def snapshots_level(wanted: Mapping[str, int]) -> Callable[[Counters], bool]:
    """Return a test of whether the daemon copied at least this many snapshots of each image."""
    return lambda counters: all(counters[name].snapshots >= count for name, count in wanted.items())


def resume(daemon: MirrorDaemon, image: str, *, sleep: Callable[[float], None]) -> None:
    """Start the replay of an image that was stopped, or is being stopped. Does nothing if it is already replaying.

    Raises ReplayError if it does not stop in time: an image that is being stopped refuses to start.
    """
    deadline = time.monotonic() + STATE_WITHIN_SECONDS
    while (state := daemon.state(image)) == STOPPING:
        if time.monotonic() > deadline:
            raise ReplayError(
                f"the mirror daemon did not stop replaying within {STATE_WITHIN_SECONDS:.0f} s", where=image
            )
        sleep(0.1)
    if state == STOPPED:
        daemon.start(image)
