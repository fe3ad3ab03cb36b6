"""When a trial's site is lost: spread evenly over the interval at which its copy is brought up to date. Pure."""

from __future__ import annotations

import math
import random

#: When the first snapshot is ordered, in seconds after the writer's start.
FIRST_SECONDS = 1.0


def phase_of(trial: int, trials: int, seed: int) -> float:
    """Return the part of an interval after which the site is lost, from 0 to 1.

    The interval is cut into as many strata as there are trials. Each trial (from 1) has a stratum of its own, and a
    random place in it by its seed; further trials begin anew. Strata follow each other in steps of about the golden
    ratio, so that the first trials are spread over the whole interval as well.
    """
    step = max(1, int(trials * 0.618))
    while math.gcd(step, trials) != 1:
        step += 1
    return ((trial - 1) * step % trials + random.Random(seed).random()) / trials


def write_seconds_of(interval_seconds: float, at_least_seconds: float, phase: float) -> float:
    """Return for how long the writer writes: whole intervals after the first snapshot, and a part of one.

    There are as many whole intervals as `at_least_seconds` needs, and one at least, so that the copy which a late loss
    finds is one that the interval made.
    """
    whole = max(1, math.ceil(at_least_seconds / interval_seconds))
    return FIRST_SECONDS + (whole + phase) * interval_seconds
