"""Order statistics by known values, and by simulation (seeded) of distributions of several shapes."""

from __future__ import annotations

import random

import pytest

from replay.base.order_statistics import confidence_of_largest, median_interval, quantile_bound


def test_a_median_has_an_interval_from_six_values_on():
    assert median_interval([3, 1, 2, 5, 4]) is None
    assert median_interval([3, 1, 2, 5, 4, 6]) == (1, 6)
    # Tables of the sign test: with twenty values, the sixth from either end.
    assert median_interval(range(1, 21)) == (6, 15)


def test_the_95th_percentile_has_a_bound_from_59_values_on():
    assert quantile_bound(range(58)) is None
    assert quantile_bound(range(59)) == 58
    # Tables of tolerance limits: with 93 values, the second largest.
    assert quantile_bound(range(92)) == 91
    assert quantile_bound(range(93)) == 91


def test_the_largest_of_twenty_bounds_the_95th_percentile_with_64_per_cent():
    assert confidence_of_largest(20) == pytest.approx(0.6415, abs=1e-4)
    assert confidence_of_largest(0) == 0
    assert confidence_of_largest(59) > 0.95 > confidence_of_largest(58)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [random.Random.random, lambda rng: rng.expovariate(1), lambda rng: rng.random() ** 9])
def test_bounds_and_intervals_cover_whatever_the_distribution(draw):
    rng, runs = random.Random(5), 1500
    # In a million draws these quantiles are known well enough.
    drawn = sorted(draw(rng) for _ in range(200_000))
    middle, high = drawn[100_000], drawn[190_000]
    bounded = held = 0
    for _ in range(runs):
        values = [draw(rng) for _ in range(60)]
        bounded += quantile_bound(values) >= high
        low, up = median_interval(values[:10])
        held += low <= middle <= up
    assert bounded / runs >= 0.93
    assert held / runs >= 0.93


def test_losses_that_are_spread_evenly_bound_a_quantile_no_worse_than_independent_ones():
    rng, runs, n = random.Random(6), 4000, 20
    # Of a loss that is the time since the last of a row of snapshots, one of twenty trials lies in each stratum.
    found = sum(max((k + rng.random()) / n for k in range(n)) >= 0.95 for _ in range(runs))
    assert found / runs >= confidence_of_largest(n)
