"""D2: the process that measures a block is killed."""

from __future__ import annotations

import os
import signal

from drills.drill import EXPERIMENT, FILLING, Drill, Ground, completes, measure


def run(ground: Ground) -> str:
    """What it had made stays in the ledger, and the next run removes it and completes."""
    done = measure(ground, at=FILLING, fault=lambda: os.kill(ground.campaign.runner(EXPERIMENT), signal.SIGKILL))
    assert done.fault_at is not None, done.text
    assert done.status != 0
    left = len(ground.owned())
    return f"{left} entries stayed in the ledger; {completes(ground)}"


DRILL = Drill("D2", "kill -9 the block's process while images are filled", run)
