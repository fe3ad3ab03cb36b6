"""D7: the disk of the evidence is full in the middle of a block."""

from __future__ import annotations

import subprocess

from drills.drill import EXPERIMENT, Drill, Ground, cause_comes_first, completes, measure

SIZE = "64k"


def run(ground: Ground) -> str:
    """The run names the disk without a traceback; with more room, the next run completes."""
    folder = ground.campaign.folder / "benchmarks"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "drill", folder], check=True)
    try:
        done = measure(ground, at="^$", fault=lambda: None)
        cause_comes_first(done, rf"the disk is full: {folder} ")
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        return f"{EXPERIMENT} ended with {done.status}, the disk was named; {completes(ground)}"
    finally:
        subprocess.run(["umount", folder], check=True)


DRILL = Drill("D7", "the disk of the evidence is full", run)
