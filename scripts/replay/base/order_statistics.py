"""What sorted trials say about a distribution of any shape: intervals of a median, bounds of a quantile. Pure.

Trials are assumed to be independent. If they are stratified instead, for example losses that are spread evenly over an
interval, the largest one bounds a quantile with at least the confidence that independent trials would give. The
probability that every trial stays below the quantile is a product over the strata, which is greatest if all of its
factors are equal, as they are for independent trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from replay.base.stats import CONFIDENCE

#: The quantile of recovery points and lags that is bounded.
QUANTILE = 0.95


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return the narrowest interval of two order statistics, equally far from both ends, that holds the median.

    None if there are too few values for this confidence: fewer than six for 95 %.
    Source: David & Nagaraja 2003, "Order Statistics", section 7.1.
    """
    ordered, n = sorted(values), len(values)
    below = 0
    while 2 * _at_most(below, n, 0.5) <= 1 - confidence:
        below += 1
    return (ordered[below - 1], ordered[n - below]) if below else None


def quantile_bound(values: Sequence[float], quantile: float = QUANTILE, confidence: float = CONFIDENCE) -> float | None:
    """Return the smallest value that is an upper bound of a quantile with this confidence.

    None if not even the largest value is one: that takes 59 values for the 95th percentile and 95 %.
    Source: David & Nagaraja 2003, "Order Statistics", section 7.1 (a one-sided confidence bound of a quantile).
    """
    ordered, n = sorted(values), len(values)
    return next((one for k, one in enumerate(ordered) if _at_most(k, n, quantile) >= confidence), None)


def confidence_of_largest(n: int, quantile: float = QUANTILE) -> float:
    """Return the confidence with which the largest of `n` values bounds a quantile from above: 0.64 for 20 values."""
    return 1 - quantile**n


def _at_most(k: int, n: int, probability: float) -> float:
    """Return the probability of `k` successes or fewer out of `n`."""
    return math.fsum(math.comb(n, i) * probability**i * (1 - probability) ** (n - i) for i in range(k + 1))
