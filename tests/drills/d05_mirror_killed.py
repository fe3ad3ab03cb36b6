"""D5: the mirror daemon is killed before the first copies."""

from __future__ import annotations

from drills.drill import FILLING, Drill, Ground, cause_comes_first, completes, measure
from replay.sandbox import processes


def run(ground: Ground) -> str:
    """The first wait for a copy ends with the daemon's name, and cleaning up does not hide it."""
    daemon = ground.process("right", "rbd-mirror.right")
    done = measure(ground, at=FILLING, fault=lambda: processes.kill([daemon]))
    cause = r"rbd-mirror\.right of right does not run"
    cause_comes_first(done, cause)
    assert "sandbox up" in done.text
    waited = done.ended_at - done.fault_at
    ground.bring_back()
    return f"ended {waited:.0f} s after the fault; {completes(ground)}"


DRILL = Drill("D5", "kill -9 rbd-mirror before the first copies", run)
