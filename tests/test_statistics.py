"""The method is tested by simulation: seeded, so that it says the same each time."""

import math
import random

import pytest

from replay.statistics import (
    Estimate,
    mean_with_interval,
    median,
    modified_z,
    paired_log_ratio,
    summarise,
)


def paired_runs(rng, blocks, ratio, noise=0.09, drift=0.10):
    """One experiment: per block a reference and a variant in random order, on a machine that drifts and is noisy.

    `drift` is how much slower the machine gets over the whole experiment; block and cell noise are log-normal.
    """
    reference, variant, cells = [], [], 2 * blocks
    for block in range(blocks):
        speed = 1000 * math.exp(rng.gauss(0, 0.2))
        order = [reference, variant]
        rng.shuffle(order)
        for position, runs in enumerate(order):
            slower = 1 - drift * (2 * block + position) / (cells - 1)
            effect = 1 / ratio if runs is variant else 1
            runs.append(speed * slower * effect * math.exp(rng.gauss(0, noise)))
    return reference, variant


def coverage(blocks, confidence, experiments=6000, ratio=2.15):
    rng, hits = random.Random(20260101), 0
    for _ in range(experiments):
        estimate = paired_log_ratio(*paired_runs(rng, blocks, ratio), confidence)
        hits += estimate.low <= ratio <= estimate.high
    return hits / experiments


def test_the_95_percent_interval_covers_the_true_ratio_in_93_to_97_percent_of_experiments_of_six_blocks():
    assert 0.93 <= coverage(6, 0.95) <= 0.97


def test_the_90_percent_interval_covers_its_share_with_ten_blocks():
    assert 0.88 <= coverage(10, 0.90) <= 0.92


def test_a_bootstrapped_mean_would_cover_too_little_at_six_blocks():
    rng, hits, experiments = random.Random(7), 0, 400
    for _ in range(experiments):
        logs = [math.log(a / b) for a, b in zip(*paired_runs(rng, 6, 2.15), strict=True)]
        means = sorted(sum(rng.choices(logs, k=6)) / 6 for _ in range(400))
        hits += means[10] <= math.log(2.15) <= means[389]
    assert hits / experiments < 0.92


def test_drift_biases_the_ratio_when_all_of_one_precede_the_other_and_not_when_the_order_is_drawn():
    def estimate(drawn):
        rng, logs = random.Random(3), []
        for _ in range(4000):
            if drawn:
                reference, variant = paired_runs(rng, 6, 1.0, noise=0.01)
            else:
                speeds = [1 - 0.10 * i / 11 for i in range(12)]
                reference, variant = speeds[:6], speeds[6:]
            logs.append(math.log(paired_log_ratio(reference, variant).value))
        return math.exp(sum(logs) / len(logs))

    assert estimate(drawn=False) == pytest.approx(1.057, abs=0.01)
    assert estimate(drawn=True) == pytest.approx(1.0, abs=0.002)


def test_an_a_a_control_excludes_1_in_about_one_of_twenty_experiments():
    rng, excluded = random.Random(11), 0
    for _ in range(3000):
        estimate = paired_log_ratio(*paired_runs(rng, 6, 1.0))
        excluded += not estimate.low <= 1 <= estimate.high
    assert 0.03 <= excluded / 3000 <= 0.07


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


def test_one_block_gives_an_estimate_without_an_interval():
    assert paired_log_ratio([300.0], [100.0]) == Estimate(pytest.approx(3.0), None, None, 1)


def test_the_reverse_comparison_is_the_reciprocal():
    forward, backward = paired_log_ratio([3, 5, 4], [1, 2, 1]), paired_log_ratio([1, 2, 1], [3, 5, 4])
    assert backward.value == pytest.approx(1 / forward.value)
    assert (backward.low, backward.high) == (pytest.approx(1 / forward.high), pytest.approx(1 / forward.low))


@pytest.mark.parametrize(("reference", "variant"), [([1.0, 2.0], [1.0]), ([0.0], [1.0]), ([1.0], [-1.0])])
def test_values_that_have_no_ratio_are_refused(reference, variant):
    with pytest.raises(ValueError, match=r"paired|above 0"):
        paired_log_ratio(reference, variant)


def test_a_point_is_its_median_with_least_greatest_and_number():
    assert tuple(summarise([4.0, 1.0, 3.0, 2.0])) == (2.5, 1.0, 4.0, 4)
    with pytest.raises(ValueError, match="no runs"):
        summarise([])


def test_the_modified_z_score_flags_the_one_that_stands_out():
    scores = modified_z([10.0, 10.2, 9.9, 10.1, 15.0])
    assert [abs(score) > 3.5 for score in scores] == [False, False, False, False, True]
    assert modified_z([1.0, 1.0, 1.0, 2.0])[3] == math.inf
    assert modified_z([1.0, 9.0]) == [0.0, 0.0]
