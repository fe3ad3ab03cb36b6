"""How long tests wait: a deadline only ends a hang, and a slow machine never reaches it.

scripts/npm/patience.mjs explains the factor, and measures it for `npm test`. This module measures it by the same
work if pytest is started by hand.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable

VARIABLE = "REPLAY_TEST_PATIENCE"
ROUNDS, CPU_NORM_SECONDS = 600_000, 0.25
SYNCS, SYNC_NORM_SECONDS = 20, 0.1
MARGIN = 3.0
LEAST, MOST = MARGIN, 10 * MARGIN
FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 0.01, 0.2


def _took(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _sync() -> float:
    with tempfile.TemporaryFile() as file:

        def work() -> None:
            for _ in range(SYNCS):
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())

        return _took(work)


def factor_of(*, cpu_seconds: float, sync_seconds: float, load: float, cores: int) -> float:
    """Return the factor: how many times slower than the reference the processor, the disk or the run queue is."""
    slowness = max(cpu_seconds / CPU_NORM_SECONDS, sync_seconds / SYNC_NORM_SECONDS, load / cores)
    return min(MOST, max(LEAST, MARGIN * slowness))


def measure_patience() -> float:
    """Measure the factor now, which takes a third of a second on the reference machine."""
    return factor_of(
        cpu_seconds=_took(lambda: hashlib.pbkdf2_hmac("sha512", b"patience", b"replay", ROUNDS)),
        sync_seconds=_sync(),
        load=os.getloadavg()[0],
        cores=os.cpu_count() or 1,
    )


def patient(seconds: float) -> float:
    """Return the longest time to wait for something that takes `seconds` on the reference machine."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = str(measure_patience())
    return seconds * float(os.environ[VARIABLE])


def wait_until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Wait until `condition` holds. Raises AssertionError, naming `what`, if it does not within `patient(seconds)`.

    The longer it takes, the less often `condition` is checked: checking costs CPU time that the awaited work needs.
    """
    deadline, pause = time.monotonic() + patient(seconds), FIRST_POLL_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {patient(seconds):.0f} s"
        time.sleep(pause)
        pause = min(1.3 * pause, LAST_POLL_SECONDS)
