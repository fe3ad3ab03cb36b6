"""Drills: there is no more room, in a pool or for the evidence."""

from __future__ import annotations

import subprocess
import time

from drills.drill import FILLING, NOTICED_WITHIN_SECONDS, Drill, Ground, cause_comes_first, ceph, completes, measure
from support.patience import patient

SIZE = "64k"
SET_QUOTA = ("osd", "pool", "set-quota", "replay", "max_bytes")


def quota(ground: Ground) -> str:
    """The run names the full pool and its quota soon after the cluster does."""
    try:
        done = measure(ground, at=FILLING, fault=lambda: ceph(ground, "left", *SET_QUOTA, str(1 << 20)))
        cause = r"pool replay is full: its quota is 1048576 bytes"
        cause_comes_first(done, cause)
        # The cluster itself needs some seconds to find out.
        seconds = done.noticed(cause, within=2 * NOTICED_WITHIN_SECONDS)
    finally:
        ceph(ground, "left", *SET_QUOTA, "0")
        await_room(ground)
    return f"said {seconds:.0f} s after the quota was set; {completes(ground)}"


def await_room(ground: Ground) -> None:
    """Wait until the pool is no longer full."""
    deadline = time.monotonic() + patient(60)
    while "POOL_FULL" in ceph(ground, "left", "health").stdout:
        assert time.monotonic() < deadline, "the pool is still full"
        time.sleep(0.5)


def evidence_disk(ground: Ground) -> str:
    """The run names the disk without a traceback; with more room, the next run completes."""
    folder = ground.campaign.folder / "benchmarks"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "drill", folder], check=True)
    try:
        done = measure(ground)
        cause_comes_first(done, rf"the disk is full: {folder} ")
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        return f"{ground.experiment} ended with {done.status}, the disk was named; {completes(ground)}"
    finally:
        subprocess.run(["umount", folder], check=True)


DRILLS = (
    Drill("D6", "a pool reaches its quota while images are filled", quota),
    Drill("D7", "the disk of the evidence is full", evidence_disk),
)
