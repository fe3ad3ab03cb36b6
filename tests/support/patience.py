"""How long tests wait: a deadline only ends a hang, and a slow or busy machine never reaches it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

#: How many times longer a deadline is than what an idle machine needs. tests/support/patience.mjs has the same.
PATIENCE = float(os.environ.get("REPLAY_TEST_PATIENCE", "10"))
FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 0.01, 0.2


def patient(seconds: float) -> float:
    """Return the longest time to wait for something that takes `seconds` on an idle machine."""
    return PATIENCE * seconds


def wait_until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Wait until `condition` holds. Raises AssertionError, naming `what`, if it does not within `patient(seconds)`.

    The longer it takes, the less often `condition` is checked: checking costs CPU time that the awaited work needs.
    """
    deadline, pause = time.monotonic() + patient(seconds), FIRST_POLL_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {patient(seconds):.0f} s"
        time.sleep(pause)
        pause = min(1.3 * pause, LAST_POLL_SECONDS)
