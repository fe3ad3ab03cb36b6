"""Statistics, of order too, by known values and by simulation (seeded). tests/claims simulates whole claims."""

from __future__ import annotations

import math
import random

import pytest

from claims.simulate_claims import paired_runs
from replay.base.stats import (
    Estimate,
    confidence_of_largest,
    exponentiate,
    holm,
    log_ratios,
    mean_with_interval,
    median,
    median_interval,
    paired_difference,
    paired_log_ratio,
    quantile_bound,
    t_quantile,
    welch_difference,
)


@pytest.fixture(scope="module")
def stats():
    """Those of scipy, which take more than a second to import: this is not the cost of every process of the tests."""
    from scipy import stats

    return stats


def test_a_bootstrapped_mean_would_cover_too_little_at_six_blocks():
    rng, hits, experiments = random.Random(7), 0, 400
    for _ in range(experiments):
        logs = [math.log(a / b) for a, b in zip(*paired_runs(rng, 6, 2.15), strict=True)]
        means = sorted(sum(rng.choices(logs, k=6)) / 6 for _ in range(400))
        hits += means[10] <= math.log(2.15) <= means[389]
    assert hits / experiments < 0.92


def test_the_estimate_is_the_geometric_mean_of_the_pairs_ratios_and_not_the_ratio_of_two_medians():
    reference, variant = [100.0, 200.0, 900.0], [50.0, 50.0, 100.0]
    estimate = paired_log_ratio(reference, variant)
    assert estimate.value == pytest.approx((2 * 4 * 9) ** (1 / 3))
    assert estimate.value != pytest.approx(median(reference) / median(variant))
    assert estimate.low < estimate.value < estimate.high


def test_the_interval_is_student_s():
    # t(0.975; 3) = 3.182446 (any table); the standard deviation of 1, 2, 3, 4 is 1.290994.
    estimate = mean_with_interval([1.0, 2.0, 3.0, 4.0])
    assert estimate.high - estimate.value == pytest.approx(3.182446 * 1.290994 / 2, rel=1e-6)
    assert estimate.value - estimate.low == pytest.approx(estimate.high - estimate.value)


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.xdist_group("scipy's statistics")
def test_the_interval_reaches_as_many_standard_errors_as_student_s_table_says(n, stats):
    assert t_quantile(n) == pytest.approx(stats.t.ppf(0.975, n - 1))


def test_one_value_has_no_interval():
    with pytest.raises(ValueError, match="no interval"):
        t_quantile(1)


def test_one_block_gives_an_estimate_without_an_interval():
    assert paired_log_ratio([300.0], [100.0]) == Estimate(pytest.approx(3.0), None, None, 1)


def test_the_reverse_comparison_is_the_reciprocal():
    forward, backward = paired_log_ratio([3, 5, 4], [1, 2, 1]), paired_log_ratio([1, 2, 1], [3, 5, 4])
    assert backward.value == pytest.approx(1 / forward.value)
    assert (backward.low, backward.high) == (pytest.approx(1 / forward.high), pytest.approx(1 / forward.low))


@pytest.mark.parametrize(("reference", "variant"), [([1.0, 2.0], [1.0]), ([0.0], [1.0]), ([1.0], [-1.0])])
def test_values_that_have_no_ratio_are_refused(reference, variant):
    with pytest.raises(ValueError, match=r"shorter|above 0"):
        paired_log_ratio(reference, variant)


def test_a_ratio_whose_quotient_no_number_holds_still_has_its_logarithm():
    assert log_ratios([1e200, 1e-200], [1e-200, 1e200]) == pytest.approx([400 * math.log(10), -400 * math.log(10)])


def test_an_interval_beyond_any_number_is_none_and_a_ratio_beyond_any_number_is_refused():
    assert exponentiate(Estimate(1.0, -800.0, 800.0, 2)) == (math.e, None, None, 2)
    for value in (800.0, -800.0):
        with pytest.raises(ValueError, match="no number holds it"):
            exponentiate(Estimate(value, None, None, 1))


@pytest.mark.xdist_group("scipy's statistics")
def test_the_difference_of_pairs_is_student_s(stats):
    first, second = [2.0, 3.5, 1.0, 4.2], [1.8, 3.0, 1.1, 3.6]
    found = paired_difference(first, second)
    expected = stats.ttest_rel(first, second)
    interval = expected.confidence_interval(0.95)
    assert found.value == pytest.approx(0.3)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.degrees_of_freedom, found.p_value) == pytest.approx((3, expected.pvalue))
    with pytest.raises(ValueError, match="zip"):
        paired_difference(first, second[:3])
    with pytest.raises(ValueError, match="one value"):
        paired_difference([1.0], [2.0])


@pytest.mark.xdist_group("scipy's statistics")
def test_the_difference_of_two_samples_is_welch_s(stats):
    first, second = [1.1, 1.9, 3.2, 4.0, 4.4, 6.1], [2.0, 2.2, 2.1, 1.9]
    found = welch_difference(first, second)
    oracle = stats.ttest_ind(first, second, equal_var=False)
    interval = oracle.confidence_interval(0.95)
    assert found.value == pytest.approx(sum(first) / 6 - sum(second) / 4)
    assert (found.low, found.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert (found.degrees_of_freedom, found.p_value) == (pytest.approx(oracle.df), pytest.approx(oracle.pvalue))


def test_two_samples_without_any_spread_differ_surely_or_not_at_all():
    assert welch_difference([1.0, 1.0], [2.0, 2.0])[:3] == (-1.0, -1.0, -1.0)
    assert welch_difference([1.0, 1.0], [2.0, 2.0]).p_value == 0
    assert welch_difference([1.0, 1.0], [1.0, 1.0, 1.0]).p_value == 1


@pytest.mark.parametrize(("first", "second"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [])])
def test_a_sample_of_one_has_no_difference_with_an_interval(first, second):
    with pytest.raises(ValueError, match="no interval"):
        welch_difference(first, second)


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ([], []),
        ([0.04], [True]),
        ([0.04, 0.04], [False, False]),
        ([0.04, 0.01], [True, True]),
        # Holm's own procedure stops at the first that does not stand: 0.03 > 0.05 / 2 keeps 0.04 from standing.
        ([0.04, 0.01, 0.03], [False, True, False]),
        ([0.01, 0.013, 0.02, 0.9], [True, True, True, False]),
    ],
)
def test_holm_s_correction_rejects_step_by_step(p_values, expected):
    assert holm(p_values, 0.05) == expected


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
