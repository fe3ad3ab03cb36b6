"""D6: the pool reaches its quota while images are filled."""

from __future__ import annotations

import time

from drills.drill import FILLING, NOTICED_WITHIN_SECONDS, Drill, Ground, cause_comes_first, ceph, completes, measure
from support.patience import patient


def run(ground: Ground) -> str:
    """The run names the full pool and its quota soon after the cluster does."""
    try:
        done = measure(ground, at=FILLING, fault=lambda: ceph(ground, "left", *SET_QUOTA, str(1 << 20)))
        cause = r"pool replay is full: its quota is 1048576 bytes"
        cause_comes_first(done, cause)
        # The cluster itself needs some seconds to find out.
        seconds = done.ended_at - done.fault_at
        assert seconds <= patient(2 * NOTICED_WITHIN_SECONDS), f"the run ended only after {seconds:.0f} s"
    finally:
        ceph(ground, "left", *SET_QUOTA, "0")
        await_room(ground)
    return f"ended {seconds:.0f} s after the quota was set; {completes(ground)}"


def await_room(ground: Ground) -> None:
    """Wait until the pool is no longer full."""
    deadline = time.monotonic() + patient(60)
    while "POOL_FULL" in ceph(ground, "left", "health").stdout:
        assert time.monotonic() < deadline, "the pool is still full"
        time.sleep(0.5)


SET_QUOTA = ("osd", "pool", "set-quota", "replay", "max_bytes")
DRILL = Drill("D6", "a pool reaches its quota while images are filled", run)
