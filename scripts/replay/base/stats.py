"""The statistical method, as pure functions; each cites its source. A sample is one complete run of a cell.

Kalibera & Jones 2013: "Rigorous Benchmarking in Reasonable Time" (ISMM). Hoefler & Belli 2015: "Scientific
Benchmarking of Parallel Computing Systems" (SC).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """An estimate with its interval; `low` and `high` are None where there is none, as of a single block."""

    value: float
    low: float | None
    high: float | None
    n: int


class Difference(NamedTuple):
    """A difference of two independent means: its interval, the degrees of freedom, the two-sided p-value."""

    value: float
    low: float
    high: float
    degrees_of_freedom: float
    p_value: float


def modified_z(values: Sequence[float]) -> list[float]:
    """Return each value's modified z-score: 0.6745 times its distance from the median, in median absolute deviations.

    If more than half of the values are equal, the score of every other value is infinite. Fewer than three values say
    nothing: all scores are 0. Source: Iglewicz & Hoaglin 1993, "How to Detect and Handle Outliers", which also gives
    the usual limit of 3.5.
    """
    if len(values) < 3:
        return [0.0] * len(values)
    middle = median(values)
    deviation = median([abs(value - middle) for value in values])
    distances = [value - middle for value in values]
    if not deviation:
        return [math.copysign(math.inf, distance) if distance else 0.0 for distance in distances]
    return [0.6745 * distance / deviation for distance in distances]


def mean_with_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean and Student's t-interval, one independent value per block.

    Source: Kalibera & Jones 2013, section 5 (t-interval over the means of the highest level of repetition).
    In simulations with six blocks its coverage is nominal; that of a bootstrap is not (see tests/base/test_stats.py).
    """
    n = len(values)
    if not n:
        raise ValueError("no values")
    mean = math.fsum(values) / n
    if n == 1:
        return Estimate(mean, None, None, 1)
    half = t_quantile(n, confidence) * math.sqrt(_variance(values) / n)
    return Estimate(mean, mean - half, mean + half, n)


def t_quantile(n: float, confidence: float = CONFIDENCE) -> float:
    """Return the half width of the t-interval of a mean of `n` values, in standard errors.

    Raises ValueError for fewer than two values.
    """
    if n < 2:
        raise ValueError("one value has no interval")
    return _stdtrit(n - 1, 0.5 + confidence / 2)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def welch_difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return mean(first) minus mean(second) of two independent samples, with Welch's t-interval.

    The samples may differ in size and spread. For logarithms the result is the logarithm of a ratio.
    Source: Welch 1947, "The generalization of Student's problem when several different population variances are
    involved" (Biometrika 34); degrees of freedom after Satterthwaite 1946 (Biometrics Bulletin 2).
    Raises ValueError for fewer than two values on a side.
    """
    if min(len(first), len(second)) < 2:
        raise ValueError("one value has no interval")
    difference = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    return difference_with_interval(
        difference, [(_variance(values) / len(values), len(values) - 1) for values in (first, second)]
    )


def difference_with_interval(difference: float, parts: Sequence[tuple[float, float]]) -> Difference:
    """Return a difference with Student's t-interval, given the squared error and degrees of freedom of each part of it.

    Source: Satterthwaite 1946 (see `welch_difference`), for the degrees of freedom of a sum of variances.
    """
    squared_error = math.fsum(part for part, _ in parts)
    if squared_error == 0:
        freedom = float(math.fsum(degrees for _, degrees in parts))
        return Difference(difference, difference, difference, freedom, 0.0 if difference else 1.0)
    freedom = squared_error**2 / math.fsum(part**2 / degrees for part, degrees in parts)
    error = math.sqrt(squared_error)
    half = _stdtrit(freedom, 0.5 + CONFIDENCE / 2) * error
    p_value = 2 * _stdtr(freedom, -abs(difference) / error)
    return Difference(difference, difference - half, difference + half, freedom, p_value)


def welch_estimate(first: Sequence[float], second: Sequence[float]) -> tuple[Estimate, float | None]:
    """Return mean(first) minus mean(second) of two independent samples, and the degrees of freedom of its interval.

    `n` is the smaller sample's size; a sample of one value gives an estimate without an interval.
    Source: see `welch_difference`.
    """
    n = min(len(first), len(second))
    if n == 1:
        return Estimate(math.fsum(first) / len(first) - math.fsum(second) / len(second), None, None, n), None
    welch = welch_difference(first, second)
    return Estimate(*welch[:3], n), welch.degrees_of_freedom


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return the mean of first minus second, pair by pair, with Student's t-interval.

    What both values of a pair share cancels out. For logarithms the result is the logarithm of a ratio.
    Source: Student's t-test for pairs; Hoefler & Belli 2015, section 3.2.1. Raises ValueError for unpaired samples, and
    for fewer than two pairs.
    """
    value, low, high, n = mean_with_interval([left - right for left, right in zip(first, second, strict=True)])
    if low is None or high is None:
        raise ValueError("one value has no interval")
    return Difference(value, low, high, float(n - 1), 2 * tail_probability(abs(value), (high - low) / 2, n))


def holm(p_values: Sequence[float], level: float = 1 - CONFIDENCE) -> list[bool]:
    """Return for each p-value whether it is rejected at a family-wise error of at most `level`, in the given order.

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure" (Scandinavian Journal of Statistics 6).
    """
    rejected = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > level / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected


def false_discovery_q_values(p_values: Sequence[float]) -> list[float]:
    """Return each p-value's q-value: the least false discovery rate at which it is still counted, in the given order.

    Source: Benjamini & Hochberg 1995, "Controlling the false discovery rate: a practical and powerful approach to
    multiple testing" (Journal of the Royal Statistical Society B 57).
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    q_values, least = [0.0] * len(p_values), 1.0
    for rank, index in zip(range(len(p_values), 0, -1), order, strict=True):
        least = min(least, p_values[index] * len(p_values) / rank)
        q_values[index] = least
    return q_values


def tail_probability(distance: float, half_width: float, n: float, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided p-value of a mean that lies `distance` from a value, given its t-interval's half width.

    The interval's half width is t(confidence, n - 1) standard errors, so distance / standard error is t itself. Of
    Welch's interval, n - 1 are the degrees of freedom.
    Source: Student's t-test; Hoefler & Belli 2015, section 3.2.1. Raises ValueError for fewer than two values.
    """
    reach = t_quantile(n, confidence)
    if half_width == 0:
        return 0.0 if distance > 0 else 0.5
    return _stdtr(n - 1, -distance / half_width * reach)


def log_ratios(numerator: Sequence[float], denominator: Sequence[float]) -> list[float]:
    """Return log(numerator ÷ denominator) for each pair; a pair is two cells of one set.

    Raises ValueError for unpaired sequences, or a value that is not above 0 (a rate of 0 is a failed run).
    """
    if not all(value > 0 for value in (*numerator, *denominator)):
        raise ValueError("a ratio needs values above 0")
    return [_log_ratio(a, b) for a, b in zip(numerator, denominator, strict=True)]


def _log_ratio(over: float, under: float) -> float:
    ratio = over / under
    return math.log(ratio) if 0 < ratio < math.inf else math.log(over) - math.log(under)


def exponentiate(estimate: Estimate) -> Estimate:
    """Convert an estimate on logarithms to a ratio.

    If a bound is larger than any number, there is no interval. Raises ValueError if the ratio itself is too large or
    too small for a number.
    """
    try:
        value = math.exp(estimate.value)
    except OverflowError:
        value = math.inf
    if not 0 < value < math.inf:
        raise ValueError(f"the ratio is exp({estimate.value:.4g}): no number holds it")
    try:
        low, high = (None if bound is None else math.exp(bound) for bound in (estimate.low, estimate.high))
    except OverflowError:
        low = high = None
    return Estimate(value, low, high, estimate.n)


def paired_log_ratio(reference: Sequence[float], variant: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the ratio reference ÷ variant: the mean of the paired log-ratios and its t-interval, exponentiated.

    The i-th values of both come from the same set, so drift between blocks cancels. One pair gives an estimate without
    an interval. The estimate is the geometric mean of the pairs' ratios, not the ratio of two medians.
    Source: Kalibera & Jones 2013, section 6 (ratio of means with its interval), on the logarithm as the effect is a
    factor; pairing as in a randomised complete block design. Raises ValueError as `log_ratios` and `exponentiate` do.
    """
    return exponentiate(mean_with_interval(log_ratios(reference, variant), confidence))


def independent_log_ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Estimate:
    """Return the ratio numerator ÷ denominator of two independent samples: that of their geometric means.

    It is that of `welch_estimate` on the logarithms, exponentiated, so the samples may differ in size and spread.
    Raises ValueError for an empty sample, for a value that is not above 0, and as `exponentiate` does.
    """
    if not numerator or not denominator:
        raise ValueError("no values")
    if not all(value > 0 for value in (*numerator, *denominator)):
        raise ValueError("a ratio needs values above 0")
    estimate, _ = welch_estimate(*([math.log(value) for value in values] for values in (numerator, denominator)))
    return exponentiate(estimate)


def _stdtr(degrees_of_freedom: float, t: float) -> float:
    """Return the cumulative distribution function of Student's t."""
    # Importing scipy takes half a second of processor time, and most commands compute no interval.
    from scipy.special import stdtr  # noqa: PLC0415

    return float(stdtr(degrees_of_freedom, t))


def _stdtrit(degrees_of_freedom: float, probability: float) -> float:
    """Return the quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415 - see above

    return float(stdtrit(degrees_of_freedom, probability))


#: The quantile of recovery points and lags that is bounded.
QUANTILE = 0.95


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the narrowest interval of two order statistics, equally far from both ends, that holds the median.

    None if there are too few values for the confidence: fewer than six for 95 %.
    Source: David & Nagaraja 2003, "Order Statistics", section 7.1.
    """
    ordered, n = sorted(values), len(values)
    below = 0
    while 2 * _at_most(below, n, 0.5) <= 1 - CONFIDENCE:
        below += 1
    return (ordered[below - 1], ordered[n - below]) if below else None


def quantile_bound(values: Sequence[float]) -> float | None:
    """Return the smallest value that is an upper bound of the quantile with 95 % confidence.

    None if not even the largest value is one: that takes 59 values for the 95th percentile and 95 %.
    Source: David & Nagaraja 2003, "Order Statistics", section 7.1 (a one-sided confidence bound of a quantile).
    """
    ordered, n = sorted(values), len(values)
    return next((value for k, value in enumerate(ordered) if _at_most(k, n, QUANTILE) >= CONFIDENCE), None)


def confidence_of_largest(n: int) -> float:
    """Return the confidence with which the largest of `n` values bounds the quantile from above: 0.64 for 20 values."""
    return 1 - QUANTILE**n


def by_chance(excluding: int, intervals: int) -> bool:
    """Return whether so many 95 % intervals may exclude the truth by chance: a one-sided binomial test, at 5 %."""
    return 1 - _at_most(excluding - 1, intervals, 1 - CONFIDENCE) >= 1 - CONFIDENCE


def _at_most(k: int, n: int, probability: float) -> float:
    """Return the probability of `k` successes or fewer out of `n`."""
    return math.fsum(math.comb(n, i) * probability**i * (1 - probability) ** (n - i) for i in range(k + 1))
