"""D8: the monitor is stopped while images are filled."""

from __future__ import annotations

from drills.drill import FILLING, Drill, Ground, cause_comes_first, completes, measure
from replay.sandbox import processes


def run(ground: Ground) -> str:
    """The run names the stopped monitor; started again, the next run completes and removes what was left."""
    monitor = ground.process("left", "mon.left")
    try:
        done = measure(ground, at=FILLING, fault=lambda: processes.freeze([monitor]))
    finally:
        processes.thaw([monitor])
    cause = r"mon\.left of left is stopped"
    seconds = done.noticed(cause)
    cause_comes_first(done, cause)
    return f"said after {seconds:.0f} s; {completes(ground)}"


DRILL = Drill("D8", "the monitor is stopped while images are filled", run)
