"""Turns a tidy table into verdicts, and compares two data sets: does a ratio differ by more than noise? Pure.

docs/claims.md explains the method: one estimate per block; Student's t-interval over blocks, on the logarithm; two
one-sided tests (Schuirmann 1987) for "no difference"; Holm 1979 over a claim's conditions before it is refuted. Counts
have no interval and no correction, because a count has no noise: 0 primaries are 0 primaries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from replay.base import stats as statistics
from replay.base.clock import why_not_in_turns
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    CLAIM,
    HELD,
    INCONCLUSIVE,
    NOT_MEASURED,
    NOT_TESTABLE,
    REFUTED,
    Assessment,
    Claim,
    Condition,
    ConditionResult,
    Count,
    Judgement,
    Origin,
)
from replay.claims.tables import (
    Row,
    Table,
    examine_count,
    examine_presuppositions,
    exploratory,
    filled,
    origin_of,
    what_decides_instead,
)

#: "No measurable difference" needs this many blocks, and a 90 % interval inside the margin (two one-sided 5 % tests).
EQUIVALENCE_BLOCKS = 8
EQUIVALENCE_CONFIDENCE = 0.90


def judge(claim: Claim, table: Table | None) -> Judgement:
    """Return a claim's verdict. `table` is None if the experiment has no data."""
    if table is None:
        reason = f"{claim.experiment} is not part of this data set"
        # Slides refer to a claim's conditions by name, even if a data set has not measured them.
        results = tuple(
            ConditionResult(condition, NOT_MEASURED, reason, filled(condition.says, ()))
            for condition in claim.conditions
        )
        return Judgement(claim, NOT_MEASURED, reason, results)
    results = tuple(_holm([examine(condition, table) for condition in claim.conditions]))
    verdict, reason = _together(results)
    presupposed = examine_presuppositions(claim, table, results)
    if instead := what_decides_instead(presupposed, results, verdict):
        has_figure = len(results) == 1 and results[0].n >= BLOCKS_FOR_VERDICT
        figure = f" (the figure is {_interval_text(results[0])})" if has_figure else ""
        verdict, reason = NOT_TESTABLE, instead + figure
    unregistered = exploratory(claim, results, table.registered) if claim.kind == CLAIM else ""
    return Judgement(claim, verdict, reason, results, presupposed, unregistered)


def examine(condition: Condition | Count, table: Table) -> ConditionResult:
    """Return what the table says about one condition."""
    if isinstance(condition, Count):
        return examine_count(condition, table)
    return _examine_independent(condition, table) if condition.independent else _examine_ratio(condition, table)


def _examine_ratio(condition: Condition, table: Table) -> ConditionResult:
    blocks: dict[int, float] = {}
    times: dict[int, tuple[str, str]] = {}
    origins: dict[int, Origin] = {}
    used: list[Row] = []
    neighbours = True
    for block in table.blocks:
        terms = [(weight, table.find(block, selector)) for weight, selector in condition.terms]
        if any(rows is None for _, rows in terms):
            continue
        logs = [(weight, [_log(row, condition.metric) for row in rows]) for weight, rows in terms]
        if any(value is None for _, values in logs for value in values):
            continue
        blocks[block] = math.fsum(weight * math.fsum(values) / len(values) for weight, values in logs)
        of_block = [row for _, rows in terms for row in rows]
        times[block] = (
            min(row.get("started_at") or "" for row in of_block),
            max(row.get("ended_at") or "" for row in of_block),
        )
        origins[block] = origin_of(of_block)
        used += of_block
        # Its cells over and under each ratio belong to the same sets: terms come in such pairs.
        sets = [{row["point"] for row in rows} for _, rows in terms]
        neighbours = neighbours and sets[::2] == sets[1::2]
    says = filled(condition.says, used)
    if not blocks:
        return ConditionResult(condition, NOT_MEASURED, "no block holds all of its cells", says)
    values = list(blocks.values())
    estimate = statistics.exponentiate(statistics.mean_with_interval(values, confidence_of(condition)))
    result = ConditionResult(
        condition,
        INCONCLUSIVE,
        "",
        says,
        *estimate[:3],
        n=estimate.n,
        cells=tuple(dict.fromkeys(row["cell"] for row in used)),
        blocks={block: math.exp(value) for block, value in blocks.items()},
        neighbours=neighbours,
        times=times,
        origins=origins,
    )
    verdict, reason = _verdict(result, values)
    return replace(result, verdict=verdict, reason=reason)


def _examine_independent(condition: Condition, table: Table) -> ConditionResult:
    """Return what two independent samples say, by Welch 1947: their runs are no pairs, so one side may have more."""
    sides: list[dict[int, float]] = []
    used: dict[int, list[Row]] = {}
    for _, selector in condition.terms:
        found = {block: rows for block in table.blocks if (rows := table.find(block, selector)) is not None}
        logs = {block: [_log(row, condition.metric) for row in rows] for block, rows in found.items()}
        sides.append({block: math.fsum(each) / len(each) for block, each in logs.items() if None not in each})
        for block in sides[-1]:
            used.setdefault(block, []).extend(found[block])
    rows = [row for several in used.values() for row in several]
    says = filled(condition.says, rows)
    over, under = sides
    if not over or not under:
        return ConditionResult(condition, NOT_MEASURED, "one side has no run", says)
    n = min(len(over), len(under))
    samples = [[*side.values()] for side in sides]
    welch = statistics.welch_difference(*samples) if n >= BLOCKS_FOR_VERDICT else None
    means = [math.fsum(values) / len(values) for values in samples]
    bounds = (welch.low, welch.high) if welch else (None, None)
    result = ConditionResult(
        condition,
        INCONCLUSIVE,
        "",
        says,
        *statistics.exponentiate(statistics.Estimate(means[0] - means[1], *bounds, n))[:3],
        n=n,
        cells=tuple(dict.fromkeys(row["cell"] for row in rows)),
        blocks={block: math.exp(over[block] - under[block]) for block in sorted(over.keys() & under.keys())},
        neighbours=False,
        freedom=welch.degrees_of_freedom if welch else None,
        origins={block: origin_of(several) for block, several in used.items()},
    )
    verdict, reason = _verdict(result, ())
    return replace(result, verdict=verdict, reason=reason)


def confidence_of(condition: Condition) -> float:
    """Return the confidence of a condition's own interval: 1 - 0.05 / k for each of k simultaneous ones.

    Source: Dunn 1961, "Multiple comparisons among means" (Journal of the American Statistical Association 56).
    """
    return 1 - (1 - statistics.CONFIDENCE) / condition.simultaneous


def _log(row: Row, metric: str) -> float | None:
    text = row.get(metric)
    value = float(text) if text not in (None, "") else 0.0
    return math.log(value) if value > 0 else None


def _verdict(result: ConditionResult, values: Sequence[float]) -> tuple[str, str]:
    region = result.condition.region
    if result.n < BLOCKS_FOR_VERDICT:
        return INCONCLUSIVE, "one block gives no interval"
    interval = _interval_text(result)
    if region.excludes(result.low, result.high):
        return REFUTED, f"{interval}: the claim needs {region.text()}"
    if region.equivalence:
        return _equivalence(result, values, interval)
    if region.contains(result.low, result.high):
        return HELD, f"{interval}: inside {region.text()}"
    return INCONCLUSIVE, f"{interval}: reaches across the edge of {region.text()}"


def _interval_text(result: ConditionResult) -> str:
    low, high = three_digits(result.low), three_digits(result.high)
    hosts = f" on {len(result.hosts)} hosts" if len(result.hosts) > 1 else ""
    return f"{three_digits(result.estimate)} ({low} to {high}), n = {result.n}{hosts}"


def three_digits(value: float) -> str:
    """Return a value with three significant digits, as the deck writes a ratio: 2.00, 0.378."""
    return f"{value:#.3g}".rstrip(".")


def _equivalence(result: ConditionResult, values: Sequence[float], interval: str) -> tuple[str, str]:
    """Judge a claim of no difference: it needs two one-sided tests (Schuirmann 1987), and enough blocks."""
    region = result.condition.region
    confidence = 1 - (1 - EQUIVALENCE_CONFIDENCE) / result.condition.simultaneous
    narrow = statistics.exponentiate(statistics.mean_with_interval(values, confidence))
    excluded = max(abs(result.low - 1), abs(result.high - 1))
    if region.contains(narrow.low, narrow.high) and result.n >= EQUIVALENCE_BLOCKS:
        return HELD, f"{interval}: no difference beyond {region.text()} (two one-sided tests)"
    if result.n < EQUIVALENCE_BLOCKS:
        few = f"{result.n} of the {EQUIVALENCE_BLOCKS} blocks that a claim of no difference needs"
        return INCONCLUSIVE, f"{interval}: {few}; a difference beyond {excluded:.0%} is excluded"
    return INCONCLUSIVE, f"{interval}: only a difference beyond {excluded:.0%} is excluded"


def _holm(results: list[ConditionResult]) -> list[ConditionResult]:
    """Keep a refutation among several conditions only if it is significant after Holm's correction.

    A single refuted condition refutes the claim, so each further condition is another chance of a false refutation.
    Counts take no part in the correction: they leave nothing to chance.
    """
    ratios = [result for result in results if not isinstance(result.condition, Count)]
    if len(ratios) < 2:
        return results
    tails = [_tail(result) if result.verdict == REFUTED else 1.0 for result in ratios]
    kept = statistics.holm(tails, (1 - statistics.CONFIDENCE) / 2)
    fallen = [
        result.condition.name
        for result, stands in zip(ratios, kept, strict=True)
        if result.verdict == REFUTED and not stands
    ]
    return [
        replace(result, verdict=INCONCLUSIVE, reason=f"{result.reason}; not after correction for {len(ratios)}")
        if result.condition.name in fallen
        else result
        for result in results
    ]


def _tail(result: ConditionResult) -> float:
    """Return the one-sided probability of the data if the true ratio were at the nearest edge of the region."""
    region, estimate = result.condition.region, math.log(result.estimate)
    edges = [math.log(edge) for edge in (region.low, region.high) if edge is not None]
    nearest = min(edges, key=lambda edge: abs(edge - estimate))
    half = (math.log(result.high) - math.log(result.low)) / 2
    samples = result.n if result.freedom is None else result.freedom + 1
    return statistics.tail_probability(abs(estimate - nearest), half, samples, confidence_of(result.condition))


def _together(results: Sequence[ConditionResult]) -> tuple[str, str]:
    for verdict in (REFUTED, NOT_MEASURED, INCONCLUSIVE):
        for result in results:
            if result.verdict == verdict:
                return verdict, result.reason if len(results) == 1 else f"{result.says}: {result.reason}"
    return HELD, results[0].reason if len(results) == 1 else "every condition is held"


# Two data sets -------------------------------------------------------------------------------------------------------
# Their blocks are two independent samples, which may differ in number and spread, so the interval is Welch's. If both
# were measured in turns, and each pair of blocks by one host, the same blocks are pairs: drift cancels out, and the
# interval is Student's. "More than noise" means significant after Holm's correction over all conditions of all claims.


@dataclass(frozen=True)
class ConditionComparison:
    """One condition in two data sets. A result is None if its data set has no data for the experiment.

    `ratio` is the first estimate ÷ the second, `low` and `high` bound its 95 % interval, and `p_value` is two-sided.
    Without an interval, `more_than_noise` is None and `missing` says why, or whether two counts are alike. `paired`
    says that the blocks of both were compared in pairs.
    """

    condition: Condition | Count
    results: tuple[ConditionResult | None, ConditionResult | None]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    degrees_of_freedom: float | None = None
    p_value: float | None = None
    more_than_noise: bool | None = None
    missing: str = ""
    paired: bool = False


@dataclass(frozen=True)
class ClaimComparison:
    """One claim in two data sets."""

    claim: Claim
    judgements: tuple[Judgement, Judgement]
    conditions: tuple[ConditionComparison, ...]

    @property
    def verdicts_differ(self) -> bool:
        """Return whether the data sets give the claim different verdicts."""
        return len({judgement.verdict for judgement in self.judgements}) > 1


def compare(first: Assessment, second: Assessment) -> list[ClaimComparison]:
    """Return the comparison of every claim, in the order of the first data set."""
    others = {judgement.claim.id: judgement for judgement in second.judgements}
    names, compared = (first.data_set, second.data_set), []
    for judgement in first.judgements:
        claim, other = judgement.claim, others[judgement.claim.id]
        # One host measured each block of both sides, which may be another one for another block.
        machines, theirs = (side.machines.get(claim.experiment, {}) for side in (first, second))
        one_host = bool(machines) and machines == theirs and all(len(hosts) == 1 for hosts in machines.values())
        conditions = (_compared(each, (judgement, other), names, one_host=one_host) for each in claim.conditions)
        compared.append(ClaimComparison(claim, (judgement, other), tuple(conditions)))
    return _corrected(compared)


def _compared(
    condition: Condition | Count, judgements: tuple[Judgement, Judgement], names: tuple[str, str], *, one_host: bool
) -> ConditionComparison:
    results = tuple(
        next((result for result in judgement.results if result.condition.name == condition.name), None)
        for judgement in judgements
    )
    absent = [name for name, side in zip(names, results, strict=True) if side is None or side.n == 0]
    if absent:
        return ConditionComparison(condition, results, missing=f"not measured in {' and '.join(absent)}")
    first, second = results
    if isinstance(condition, Count):
        alike = {*first.blocks.values()} == {*second.blocks.values()}
        return ConditionComparison(condition, results, missing=f"counts: {'alike' if alike else 'they differ'}")
    ratio = first.estimate / second.estimate
    few = [name for name, side in zip(names, results, strict=True) if side.n < BLOCKS_FOR_VERDICT]
    if few:
        missing = f"no interval is possible: one block in {' and '.join(few)}"
        return ConditionComparison(condition, results, ratio, missing=missing)
    paired = one_host and not why_not_in_turns(first.times, second.times)
    # Sorted, so that each block is at the same place on both sides.
    logs = [[math.log(value) for _, value in sorted(side.blocks.items())] for side in results]
    difference = (statistics.paired_difference if paired else statistics.welch_difference)(*logs)
    return ConditionComparison(
        condition,
        results,
        *(math.exp(value) for value in difference[:3]),
        degrees_of_freedom=difference.degrees_of_freedom,
        p_value=difference.p_value,
        paired=paired,
    )


def _corrected(compared: Sequence[ClaimComparison]) -> list[ClaimComparison]:
    """Set for each condition with a p-value whether it is significant after Holm's correction over all of them."""
    p_values = [condition.p_value for comparison in compared for condition in comparison.conditions]
    stands = iter(statistics.holm([value for value in p_values if value is not None]))

    def corrected(condition: ConditionComparison) -> ConditionComparison:
        return condition if condition.p_value is None else replace(condition, more_than_noise=next(stands))

    return [replace(each, conditions=tuple(corrected(condition) for condition in each.conditions)) for each in compared]
