"""A drill: the wall clock of this machine is set while Replay measures, an hour ahead and then two hours back."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from unittest import mock

from drills.drill import Drill, Ground, completes, images_are_gone, measure

SOURCE = Path(__file__).with_name("clock.c")
#: Where the preloaded library looks for the shift.
VARIABLE = "REPLAY_DRILL_CLOCK"
AHEAD_SECONDS, BACK_SECONDS = 3600, -7200


def clock_set(ground: Ground) -> str:
    """Nothing ends early or hangs, no cell is void, and what was measured has the durations that it took."""
    campaign = ground.campaign
    shift = campaign.folder / "clock"
    shift.write_text("0")

    def set_clock(seconds: int) -> None:
        # Replaced in one step, since many processes read it.
        beside = shift.with_suffix(".new")
        beside.write_text(str(seconds))
        beside.replace(shift)

    with mock.patch.dict(os.environ, {VARIABLE: str(shift), "LD_PRELOAD": str(_library(campaign.folder))}):
        done = measure(
            ground,
            at=r"pilot 1 of",
            fault=lambda: set_clock(AHEAD_SECONDS),
            then=r"^\[[3-5]/\d+\]",
            second_fault=lambda: set_clock(BACK_SECONDS),
        )
    assert done.fault_at is not None and done.then_at is not None, done.text
    assert done.status == 0, done.text
    assert "Traceback" not in done.text, done.text
    cells = campaign.sidecars(ground.experiment)
    void = [one["invalid"] for one in cells if not one["valid"]]
    assert not void, f"void because the clock was set: {void}"
    assert {one["attempt"] for one in cells} == {1}, "a set ran twice"
    for one in cells:
        lasted = [one["tool_seconds"], *(wait["seconds"] for wait in one["waits"])]
        assert all(0 <= seconds <= done.ended_at for seconds in lasted), f"{lasted} of a run of {done.ended_at:.0f} s"
    began = [datetime.fromisoformat(one["started_at"]) for one in cells]
    spread = (max(began) - min(began)).total_seconds()
    assert spread > AHEAD_SECONDS, "the clock was not set for the processes that measure"
    images_are_gone(ground)
    return f"set 1 h ahead and 2 h back: {len(cells)} cells, none void, none twice; {completes(ground)}"


def _library(folder: Path) -> Path:
    compiler = shutil.which("cc")
    assert compiler is not None, "this drill compiles a small library: apt-get install gcc libc6-dev"
    made = folder / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


DRILLS = (Drill("D14", "the clock is set an hour ahead, then two hours back", clock_set),)
