"""Claims over several campaigns: how far the same ratio differs from one campaign to the next. Pure.

An interval over the blocks of one campaign covers the noise within it, and nothing else: not another day, another host,
another bottleneck. Over campaigns, a claim's logarithm of a ratio is a random effect: each campaign has a true ratio of
its own, which its blocks estimate, and these true ratios scatter around a mean. A claim is held or refuted over
campaigns only if the ratio to expect of the *next* campaign lies wholly inside or outside its region.

Sources: Viechtbauer 2005, "Bias and efficiency of meta-analytic variance estimators in the random-effects model"
(Journal of Educational and Behavioral Statistics 30), for the variance between campaigns by restricted maximum
likelihood. Hartung & Knapp 2001, "On tests of the overall treatment effect in meta-analysis with normally distributed
responses" (Statistics in Medicine 20), for the interval of the mean. Higgins, Thompson & Spiegelhalter 2009, "A
re-evaluation of random-effects meta-analysis" (Journal of the Royal Statistical Society A 172), for the prediction
interval. Searle, Casella & McCulloch 1992, "Variance Components" (chapter 3, the one-way classification), for the
variance of a block, pooled over campaigns. `tests/claims/test_campaigns.py` simulates the coverage of both intervals.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from replay.base import stats as statistics
from replay.claims.evaluate import confidence_of, fallen, nearest_edge, standard_error
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    HELD,
    IN_THIS_CAMPAIGN,
    REFUTED,
    Campaign,
    Claim,
    ClaimOverCampaigns,
    Condition,
    ConditionOverCampaigns,
    ConditionResult,
    Count,
    Interval,
    Judgement,
    Origin,
    agreed,
)
from replay.claims.tables import furthest

#: Fewer campaigns than this have no prediction interval: it has two degrees of freedom less than there are campaigns.
CAMPAIGNS_FOR_PREDICTION = 3
#: The largest logarithm of a number.
_LARGEST = math.log(sys.float_info.max)
#: The estimate of the variance is refined until it changes by less than this share, or so many times.
_CLOSE, _ROUNDS = 1e-10, 10_000


class RandomEffects(NamedTuple):
    """The mean of several campaigns' estimates, and what to expect of the next campaign. All on the estimates' scale.

    `tau` is the standard deviation of the campaigns' true values. `prediction` bounds the true value of the next
    campaign; it is None for fewer than three campaigns.
    """

    mean: Interval
    tau: float
    prediction: tuple[float, float] | None


def random_effects(
    estimates: Sequence[float], errors: Sequence[float], confidence: float = statistics.CONFIDENCE
) -> RandomEffects:
    """Return the random-effects mean of two or more campaigns' estimates, given their standard errors.

    The mean weighs each campaign by 1 / (error² + tau²). Its interval is that of Hartung and Knapp 2001: Student's t
    with one degree of freedom less than campaigns, and the weighted spread of the estimates as their variance. The
    prediction interval is that of Higgins, Thompson and Spiegelhalter 2009: Student's t with two degrees of freedom
    less than campaigns, and tau² plus the variance of the mean, 1 / the sum of weights.
    """
    count, variance = len(estimates), variance_between(estimates, errors)
    weights = [1 / (error**2 + variance) for error in errors]
    total = math.fsum(weights)
    mean = fmean(estimates, weights)
    spread = math.fsum(weight * (estimate - mean) ** 2 for weight, estimate in zip(weights, estimates, strict=True))
    error = math.sqrt(spread / (count - 1) / total)
    half = statistics.t_quantile(count, confidence) * error
    prediction = None
    if count >= CAMPAIGNS_FOR_PREDICTION:
        ahead = statistics.t_quantile(count - 1, confidence) * math.sqrt(variance + 1 / total)
        prediction = mean - ahead, mean + ahead
    return RandomEffects(Interval(mean, mean - half, mean + half, error), math.sqrt(variance), prediction)


def variance_between(estimates: Sequence[float], errors: Sequence[float]) -> float:
    """Return the variance of the campaigns' true values by restricted maximum likelihood, 0 if noise explains them.

    Source: Viechtbauer 2005. The estimating equation is iterated from Hedges' estimate: the variance of the estimates
    less the mean of their squared errors.
    """
    squares = [error**2 for error in errors]
    count, middle = len(estimates), fmean(estimates)
    sample = math.fsum((estimate - middle) ** 2 for estimate in estimates) / (count - 1)
    variance = max(0.0, sample - fmean(squares))
    for _ in range(_ROUNDS):
        weights = [1 / (square + variance) for square in squares]
        mean = fmean(estimates, weights)
        excess = math.fsum(
            weight**2 * ((estimate - mean) ** 2 - square)
            for weight, estimate, square in zip(weights, estimates, squares, strict=True)
        )
        refined = max(0.0, excess / math.fsum(weight**2 for weight in weights) + 1 / math.fsum(weights))
        if abs(refined - variance) <= _CLOSE * max(refined, min(squares)):
            return refined
        variance = refined
    return variance


def pooled_errors(campaigns: Sequence[tuple[int, float]]) -> list[float]:
    """Return the standard errors of campaigns, each given as its number of blocks and its own standard error.

    The own error of two blocks is a poor estimate, and would be taken for exact. So a block counts as equally noisy in
    every campaign, and its variance is the mean square within campaigns: n · error² of each, weighed by n - 1. Of
    independent runs, a pair of both sides stands for a block: exact if both have as many.
    """
    freedom = sum(n - 1 for n, _ in campaigns)
    variance = math.fsum((n - 1) * n * error**2 for n, error in campaigns) / freedom
    return [math.sqrt(variance / n) for n, _ in campaigns]


def over_campaigns(claim: Claim, judgements: Mapping[str, Judgement]) -> ClaimOverCampaigns:
    """Return what several data sets say about a claim together. `judgements` are theirs, by the data set's name.

    The blocks of a data set that one host measured are one campaign. A data set whose cells were not as the claim
    presupposes has no part in the mean, whichever verdict that would decide: else only those that agree would count.
    Of several ratios, a refutation stands if it survives Holm's correction, as within a data set.
    """
    conditions = {condition.name: _condition(condition, judgements) for condition in claim.conditions}
    ratios = [condition for condition in claim.conditions if isinstance(condition, Condition)]
    refuted = [condition for condition in ratios if conditions[condition.name].verdict == REFUTED]
    tails = {condition.name: _tail(condition, conditions[condition.name]) for condition in refuted}
    conditions |= {name: replace(conditions[name], verdict=IN_THIS_CAMPAIGN) for name in fallen(tails, len(ratios))}
    verdicts = {over.verdict for over in conditions.values()}
    verdict = REFUTED if REFUTED in verdicts else HELD if verdicts == {HELD} else IN_THIS_CAMPAIGN
    return ClaimOverCampaigns(verdict, conditions)


def _condition(condition: Condition | Count, judgements: Mapping[str, Judgement]) -> ConditionOverCampaigns:
    campaigns = [
        campaign
        for name, judgement in judgements.items()
        for result in judgement.results
        if result.condition.name == condition.name
        for campaign in _campaigns(name, judgement, result)
    ]
    over = ConditionOverCampaigns(tuple(campaigns))
    if isinstance(condition, Count):
        return replace(over, verdict=_count_verdict(campaigns))
    if len(tested := over.tested) < 2:
        return over
    errors = pooled_errors([(campaign.n, campaign.standard_error) for campaign in tested])
    if not any(errors):
        return over
    effects = random_effects([math.log(campaign.estimate) for campaign in tested], errors, confidence_of(condition))
    logs = (*effects.mean[:3], *(effects.prediction or ()))
    if max(map(abs, logs)) > _LARGEST:
        # They differ so much that no number holds what to expect.
        return over
    ends = [*map(math.exp, logs)]
    over = replace(over, mean=Interval(*ends[:3], effects.mean.standard_error), tau=effects.tau)
    if effects.prediction is None:
        return over
    low, high = ends[3:]
    inside, outside = condition.region.contains(low, high), condition.region.excludes(low, high)
    verdict = HELD if inside else REFUTED if outside else IN_THIS_CAMPAIGN
    return replace(over, prediction=(low, high), verdict=verdict)


def _tail(condition: Condition, over: ConditionOverCampaigns) -> float:
    """Return the one-sided probability of the data if the next campaign's ratio were at the nearest edge."""
    low, high = map(math.log, over.prediction)
    distance = abs(math.log(over.mean.estimate) - math.log(nearest_edge(condition.region, over.mean.estimate)))
    # The prediction interval has two degrees of freedom less than there are campaigns.
    return statistics.tail_probability(distance, (high - low) / 2, len(over.tested) - 1, confidence_of(condition))


def _campaigns(name: str, judgement: Judgement, result: ConditionResult) -> Iterator[Campaign]:
    """Yield a data set's campaigns: its blocks, host by host. Independent runs, which are no blocks, are one."""
    testable = all(examined.met for examined in judgement.presupposed)
    if isinstance(result.condition, Condition) and result.condition.independent:
        if result.n:
            origin = Origin(*map(agreed, zip(*result.origins.values(), strict=True)))
            error = None if result.low is None else standard_error(result)
            figures = result.estimate, result.low, result.high, result.n, error
            yield Campaign(name, *origin, *figures, result.verdict, testable)
        return
    blocks_of: dict[str, dict[int, float]] = {}
    for block, value in result.blocks.items():
        blocks_of.setdefault(result.origins[block].host, {})[block] = value
    for host, blocks in blocks_of.items():
        bottleneck = agreed(result.origins[block].bottleneck for block in blocks)
        figures = _figures(result.condition, [*blocks.values()])
        yield Campaign(name, host, bottleneck, *figures, result.verdict, testable)


def _figures(condition: Condition | Count, values: list[float]) -> tuple[float | None, ...]:
    """Return the estimate of some blocks, its bounds, their number, and the standard error of its logarithm."""
    if isinstance(condition, Count):
        return furthest(values, condition.equals), min(values), max(values), len(values), None
    confidence = confidence_of(condition)
    logs = statistics.mean_with_interval([math.log(value) for value in values], confidence)
    error = None if logs.low is None else (logs.high - logs.low) / 2 / statistics.t_quantile(logs.n, confidence)
    return *statistics.exponentiate(logs), error


def _count_verdict(campaigns: Sequence[Campaign]) -> str:
    """Return whether a count is the claimed one in every campaign; a count has no noise, so it is not averaged."""
    verdicts = {campaign.verdict for campaign in campaigns}
    if REFUTED in verdicts:
        return REFUTED
    return HELD if verdicts == {HELD} and len(campaigns) >= BLOCKS_FOR_VERDICT else IN_THIS_CAMPAIGN
