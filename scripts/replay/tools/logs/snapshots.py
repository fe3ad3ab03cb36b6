"""Finds the mirror snapshots that a procedure ordered while a client wrote, in its steps. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from replay.tools.logs.steps import Steps

_SNAPSHOT_ID = re.compile(r"Snapshot ID: (\d{1,18})", re.ASCII)


class Snapshot(NamedTuple):
    """A mirror snapshot: its id on the first cluster, and when it was ordered, in seconds since the log's origin."""

    number: int
    ordered_seconds: float


def snapshots_taken(steps: Steps) -> list[Snapshot]:
    """Return the snapshots that were taken, in order, without failed orders.

    Raises OutputError for a step that contradicts itself, and if ids do not rise with time.
    """
    found: list[Snapshot] = []
    for step in steps.any("snapshot"):
        match = _SNAPSHOT_ID.search(str(step.get("said", "")))
        if (step["exit_status"] == 0) != (match is not None):
            said = str(step.get("said"))[:60]
            steps.refuse(f"snapshot: exit status {step['exit_status']}, yet it said {said!r}", step)
        if match is None:
            continue
        if found and int(match[1]) <= found[-1].number:
            steps.refuse("ids of snapshots do not rise: logs of two runs are mixed", step)
        found.append(Snapshot(int(match[1]), steps.start(step)))
    return found
