"""Drills: something happens to the programs that measure, such as the clients of a cell."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from drills.drill import Drill, Ground, completes, images_are_gone, measure

CLIENTS = 8


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


CLIENT_LOST = Drill(
    "D9",
    "kill -9 one of eight fio clients in a cell",
    client_lost,
    experiment="client-sweep",
    smoke={"target_seconds": 4, "image_size_bytes": 8 << 20, "factors": {"clients": [CLIENTS]}},
)
DRILLS = (CLIENT_LOST,)
