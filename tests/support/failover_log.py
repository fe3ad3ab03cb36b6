"""Made-up fail-over trials: the steps of a planned and of a forced one, and the acknowledged writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from support.made_up_output import step_line

ACKNOWLEDGED = "write,acknowledged_seconds\n0,0.5\n1,1.5\n2,2.0\n3,2.25\n"


def step(name: str, started: float, seconds: float = 0.1, status: int | None = 0, **more: Any) -> dict[str, Any]:
    """Return a step as a trial records it."""
    return step_line({"step": name, "started_seconds": started, "seconds": seconds, "exit_status": status, **more})


def verified(
    side: str, present: int, started: float, digest: str = "a", expected: str | None = None, first: bool | None = None
) -> dict[str, Any]:
    """Return the step that says what one side's image contains."""
    return step(
        "verify", started, side=side, writes_present=present, sha256=digest, expected_sha256=expected or digest,
        unexplained_blocks=0 if expected in (None, digest) else 1,
        first_write_present=side == "second" if first is None else first,
    )  # fmt: skip


def planned(present: int = 4, **second: Any) -> list[dict[str, Any]]:
    """Return a planned trial of four writes, with two promotions that were refused."""
    return [
        step("write", 0.5, 2.0, acknowledged=4),
        step("snapshot", 1.0, 0.5, said="Snapshot ID: 7"),
        step("demote", 2.75, 0.25),
        step("promote", 3.0, 0.1, status=16, attempt=1),
        step("promote", 3.2, 0.1, status=16, attempt=2),
        step("promote", 3.4, 0.3, attempt=3),
        step("first_write", 3.75, 0.05, acknowledged_seconds=3.8),
        verified("first", 4, 4.0),
        verified("second", present, 5.0, **second),
    ]


def forced(present: int = 2, **second: Any) -> list[dict[str, Any]]:
    """Return a forced trial of four writes, of which two are there afterwards."""
    return [
        step("write", 0.5, 2.01, status=None, acknowledged=4),
        step("disaster", 2.5, 0.02),
        step("promote", 2.6, 0.4, attempt=1),
        step("first_write", 3.0, 0.1, acknowledged_seconds=3.1),
        verified("second", present, 4.0, **second),
    ]


def outputs(steps: Sequence[Any], acknowledgements: str = ACKNOWLEDGED) -> dict[str, str]:
    """Return a trial's files by role."""
    return {"stdout": "".join(json.dumps(one) + "\n" for one in steps), "acknowledgements": acknowledgements}
