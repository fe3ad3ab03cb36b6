"""Simulates campaigns that differ, and prints how often the intervals over them are right.

.venv/bin/python tests/claims/simulate_campaigns.py [--runs N] [--seed S]

Each run draws a true log-ratio for every campaign around one mean, and blocks around each of these. The interval of the
mean should contain that mean, and the prediction interval the true value of one more campaign, in 95 % of the runs.
`replay.claims.campaigns` makes both.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from replay.base.stats import mean_with_interval, t_quantile
from replay.claims.campaigns import pooled_errors, random_effects

MEAN = math.log(2.4)
#: The spread of a block's log-ratio: one campaign's interval is then about 10 % wide on either side.
BLOCK_NOISE = 0.1
#: How far campaigns differ: the standard deviation of their true log-ratios.
SPREADS = (0.0, 0.05, 0.15, 0.3)
#: How many blocks each of the campaigns has.
BLOCKS = (*((6,) * count for count in (3, 4, 5, 6, 10)), (2, 2, 6))


class Coverage(NamedTuple):
    """The share of runs whose interval contains the truth: of the mean, and of the next campaign."""

    mean: float
    next_campaign: float


def coverage(runs: int, seed: int, blocks: Sequence[int], tau: float) -> Coverage:
    """Return the coverage over this many runs of campaigns of so many blocks each that differ by `tau`."""
    chance, means, ahead = random.Random(f"{seed} {blocks} {tau}"), 0, 0
    for _ in range(runs):
        estimates, errors = zip(*(campaign(chance, n, chance.gauss(MEAN, tau)) for n in blocks), strict=True)
        effects = random_effects(estimates, pooled_errors([*zip(blocks, errors, strict=True)]))
        means += effects.mean.low <= MEAN <= effects.mean.high
        next_low, next_high = effects.prediction
        ahead += next_low <= chance.gauss(MEAN, tau) <= next_high
    return Coverage(means / runs, ahead / runs)


def campaign(chance: random.Random, blocks: int, true: float) -> tuple[float, float]:
    """Return the estimate of one campaign and its own standard error."""
    interval = mean_with_interval([chance.gauss(true, BLOCK_NOISE) for _ in range(blocks)])
    return interval.value, (interval.high - interval.low) / 2 / t_quantile(blocks)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="runs a line (default: 2000)")
    parser.add_argument("--seed", type=int, default=20260101, help="the same seed prints the same table")
    options = parser.parse_args(arguments)
    print(f"{'blocks of each campaign':>30}  {'spread':>6}  {'mean':>6}  {'next campaign':>13}")
    for blocks in BLOCKS:
        for tau in SPREADS:
            shares = coverage(options.runs, options.seed, blocks, tau)
            print(f"{' '.join(map(str, blocks)):>30}  {tau:6.2f}  {shares.mean:6.1%}  {shares.next_campaign:13.1%}")


if __name__ == "__main__":
    main()
