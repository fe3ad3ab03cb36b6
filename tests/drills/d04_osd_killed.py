"""D4: an OSD is killed while images are filled."""

from __future__ import annotations

from drills.drill import FILLING, Drill, Ground, cause_comes_first, completes, measure
from replay.sandbox import processes


def run(ground: Ground) -> str:
    """The run says within seconds which OSD does not run and how to start it; after that, the next run completes."""
    osd = ground.process("left", "osd.0")
    done = measure(ground, at=FILLING, fault=lambda: processes.kill([osd]))
    cause = r"osd\.0 of left does not run"
    seconds = done.noticed(cause)
    cause_comes_first(done, cause)
    assert "sandbox up" in done.text
    ground.bring_back()
    return f"said after {seconds:.0f} s; {completes(ground)}"


DRILL = Drill("D4", "kill -9 an OSD while images are filled", run)
