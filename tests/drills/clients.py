"""Drills: something happens to the programs that measure: a client dies, or the clock jumps."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from drills.drill import Drill, Ground, completes, images_are_gone, measure

CLIENTS = 8
FAKETIME = "faketime/libfaketime.so.1"


def client_lost(ground: Ground) -> str:
    """The cell is void, because one of its clients was lost, and its set runs again whole; nothing of it is drawn."""
    campaign = ground.campaign
    running_since: list[float] = []

    def clients_write() -> bool:
        # A lost client must have been running: fio's ramp takes a second.
        if campaign.processes("--client=sock:"):
            running_since.append(time.monotonic())
        return bool(running_since) and time.monotonic() - running_since[0] > 2.5

    def kill_the_fifth() -> None:
        for pid in campaign.processes("--server=sock:", "client-5.sock"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(os.getpgid(pid), signal.SIGKILL)

    done = measure(ground, at=clients_write, fault=kill_the_fifth)
    assert done.fault_at is not None, done.text
    assert done.status == 0, done.text
    first, *_, last = sorted(campaign.sidecars(ground.experiment), key=lambda one: one["attempt"])
    assert first["invalid"], "the cell that lost a client counts as valid"
    assert first["invalid"]["reason"] == "client_lost", first["invalid"]
    assert first["facts"]["clients_lost"] == [5], first["facts"]
    assert last["valid"], last["invalid"]
    assert last["facts"]["clients_seen"] == CLIENTS
    images_are_gone(ground)
    return f"{first['invalid']['detail'].split(';')[0]}; attempt {last['attempt']} stands; {completes(ground)}"


def clock_jumps(ground: Ground) -> str:
    """The clock of Replay's own processes goes back by an hour; what was measured keeps its durations."""
    library = os.environ.get("LIBFAKETIME") or next(Path("/usr/lib").glob(f"*/{FAKETIME}"), None)
    assert library, "libfaketime is not here; install it, or name the library with LIBFAKETIME"
    clock = ground.campaign.folder / "clock"
    clock.write_text("+0\n")
    # Only Python programs of the checkout: tickets of Ceph's clients would expire, which is not Replay's doing.
    ground.more_environment = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_ONLY_CMDS": "python",
    }
    jumped = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={**ground.environment, "FAKETIME": "-1h", "FAKETIME_TIMESTAMP_FILE": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(jumped.stdout) < time.time() - 3000, "the library does not change the clock here"
    done = measure(ground, at=r"pilot 1 of", fault=lambda: clock.write_text("-1h\n"))
    assert done.fault_at is not None, done.text
    assert done.status == 0, done.text
    assert "Traceback" not in done.text, done.text
    sidecars = ground.campaign.sidecars(ground.experiment)
    assert all(0 < one["tool_seconds"] < 60 for one in sidecars), [one["tool_seconds"] for one in sidecars]
    behind = [time.time() - datetime.fromisoformat(one["ended_at"]).timestamp() for one in sidecars]
    assert max(behind) > 3000, "the cells do not know of the jump: it was not made"
    ground.more_environment = {}
    return f"{len(sidecars)} cells, each with its real duration; {completes(ground)}"


DRILLS = (
    Drill(
        "D9",
        "kill -9 one of eight fio clients in a cell",
        client_lost,
        experiment="client-sweep",
        smoke={"target_seconds": 4, "image_size_bytes": 8 << 20, "factors": {"clients": [CLIENTS]}},
    ),
    Drill("D14", "the clock of Replay's own processes goes back by an hour", clock_jumps),
)
