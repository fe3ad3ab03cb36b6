"""When a trial's site is lost: at moments spread evenly over the interval between updates of its copy. Pure."""

from __future__ import annotations

import math
import random

#: When the first snapshot is requested, in seconds after the writer's start.
FIRST_SECONDS = 1.0


def phase_of(trial: int, trials: int, seed: int) -> float:
    """Return the part of an interval after which the site is lost, from 0 to 1.

    The interval is cut into as many strata as there are trials. Each trial (from 1) has a stratum of its own, and its
    seed draws a moment within it; trials beyond `trials` start over with the first stratum. Steps of about the golden
    ratio lead from one stratum to the next, so that the first trials are spread over the whole interval as well.
    """
    step = max(1, int(trials * 0.618))
    while math.gcd(step, trials) != 1:
        step += 1
    return ((trial - 1) * step % trials + random.Random(seed).random()) / trials


def write_seconds_of(interval_seconds: float, at_least_seconds: float, phase: float) -> float:
    """Return for how many seconds the writer writes: whole intervals after the first snapshot, and a part of one.

    There are as many whole intervals as `at_least_seconds` needs, and at least one, so that the copy that a loss finds
    was made by the interval.
    """
    whole = max(1, math.ceil(at_least_seconds / interval_seconds))
    return FIRST_SECONDS + (whole + phase) * interval_seconds
