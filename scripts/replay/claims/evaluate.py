"""Turns a tidy table into verdicts, and compares two data sets: does a ratio differ by more than noise? Pure.

docs/claims.md explains the method: one estimate per block; Student's t-interval over blocks, on the logarithm; two
one-sided tests (Schuirmann 1987) for "no difference"; Holm 1979 over a claim's conditions before it is refuted. Counts
have no interval and no correction, because a count has no noise: 0 primaries are 0 primaries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    Region,
    Selector,
)
from replay.claims.tables import (
    Row,
    Table,
    examine,
    examine_count,
    exploratory,
    filled,
    is_known,
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
    results = tuple(
        _holm(
            [
                examine_count(condition, table) if isinstance(condition, Count) else _examine_ratio(condition, table)
                for condition in claim.conditions
            ]
        )
    )
    verdict, reason = _together(results)
    presupposed = tuple(examine(presupposition, table, results) for presupposition in claim.presupposes)
    if instead := what_decides_instead(presupposed, results, verdict):
        has_figure = len(results) == 1 and results[0].n >= BLOCKS_FOR_VERDICT
        figure = f" (the figure is {_interval_text(results[0])})" if has_figure else ""
        verdict, reason = NOT_TESTABLE, instead + figure
    unregistered = exploratory(claim, table, results) if claim.kind == CLAIM else ""
    return Judgement(claim, verdict, reason, results, presupposed, unregistered)


def _examine_ratio(condition: Condition, table: Table) -> ConditionResult:
    """Return what the table says about a ratio, over blocks or of two independent samples.

    The runs of independent samples are no pairs, so one side may have more.
    """
    measured = [_measured(selector, condition.metric, table) for selector in condition.selectors]
    every = dict.fromkeys(block for of_term in measured for block in of_term)
    shared = [block for block in every if all(block in of_term for of_term in measured)]
    counted = every if condition.independent else shared
    rows_of = {
        block: [row for of_term in measured if block in of_term for row in of_term[block][0]] for block in counted
    }
    used = [row for rows in rows_of.values() for row in rows]
    says = filled(condition.says, used)
    if condition.independent and not all(measured):
        return ConditionResult(condition, NOT_MEASURED, "one side has no run", says)
    if not counted:
        return ConditionResult(condition, NOT_MEASURED, "no block holds all of its cells", says)
    cells = tuple(dict.fromkeys(row["cell"] for row in used))
    origins = {block: origin_of(rows) for block, rows in rows_of.items()}
    # Without these blocks, the others would look smaller or larger than all of them are.
    lost = [block for block in counted if any(block in of_term and of_term[block][1] is None for of_term in measured)]
    if lost:
        reason = f"no ratio in {len(lost)} of {len(counted)} blocks: a value of 0 or less, or only a lower bound"
        return ConditionResult(condition, INCONCLUSIVE, reason, says, cells=cells, origins=origins)
    weights = [weight for weight, _ in condition.terms]
    logs = {
        block: math.fsum(weight * of_term[block][1] for weight, of_term in zip(weights, measured, strict=True))
        for block in shared
    }
    if condition.independent:
        estimate, freedom = statistics.welch_estimate(*([mean for _, mean in of_term.values()] for of_term in measured))
    else:
        estimate, freedom = statistics.mean_with_interval([*logs.values()], confidence_of(condition)), None
    ratio = statistics.exponentiate(estimate)
    if estimate.low is not None and not (ratio.low and ratio.high):
        reason = "the runs differ so much that no number holds the ends of the interval"
        return ConditionResult(condition, INCONCLUSIVE, reason, says, cells=cells, origins=origins)
    result = ConditionResult(
        condition,
        INCONCLUSIVE,
        "",
        says,
        *ratio[:3],
        n=estimate.n,
        cells=cells,
        blocks={block: math.exp(value) for block, value in logs.items()},
        neighbours=not condition.independent and all(_are_neighbours(measured, block) for block in shared),
        freedom=freedom,
        times={
            block: (min(row.get("started_at") or "" for row in rows), max(row.get("ended_at") or "" for row in rows))
            for block, rows in rows_of.items()
        },
        origins=origins,
    )
    verdict, reason = _verdict(result)
    return replace(result, verdict=verdict, reason=reason)


#: By block, the rows of a selector's cells, and the mean logarithm of a metric over them; None if one has none.
_Measured = dict[int, tuple[list[Row], float | None]]


def _measured(selector: Selector, metric: str, table: Table) -> _Measured:
    """Return the blocks that have all cells of a selector, each with a value or a lower bound of one."""
    by_block: _Measured = {}
    for block, rows in table.runs(selector).items():
        if all(is_known(row, metric) for row in rows):
            values = [float(row.get(metric) or 0) for row in rows]
            has_logarithm = all(value > 0 for value in values)
            by_block[block] = rows, math.fsum(map(math.log, values)) / len(values) if has_logarithm else None
    return by_block


def _are_neighbours(measured: Sequence[_Measured], block: int) -> bool:
    """Return whether the cells over and under each ratio belong to the same sets: terms come in such pairs."""
    sets = [{row["point"] for row in of_term[block][0]} for of_term in measured]
    return sets[::2] == sets[1::2]


def confidence_of(condition: Condition) -> float:
    """Return the confidence of a condition's own interval: 1 - 0.05 / k for each of k simultaneous ones.

    Source: Dunn 1961, "Multiple comparisons among means" (Journal of the American Statistical Association 56).
    """
    return 1 - (1 - statistics.CONFIDENCE) / condition.simultaneous


def _verdict(result: ConditionResult) -> tuple[str, str]:
    region = result.condition.region
    if result.n < BLOCKS_FOR_VERDICT:
        return INCONCLUSIVE, "one block gives no interval"
    interval = _interval_text(result)
    if region.excludes(result.low, result.high):
        return REFUTED, f"{interval}: the claim needs {region.text()}"
    if region.equivalence:
        return _equivalence(result, interval)
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


def _equivalence(result: ConditionResult, interval: str) -> tuple[str, str]:
    """Judge a claim of no difference: it needs two one-sided tests (Schuirmann 1987), and enough blocks."""
    region, values = result.condition.region, [math.log(value) for value in result.blocks.values()]
    confidence = 1 - (1 - EQUIVALENCE_CONFIDENCE) / result.condition.simultaneous
    narrow = statistics.exponentiate(statistics.mean_with_interval(values, confidence))
    # Rounded up, so that what is said to be excluded is.
    excluded = f"{math.ceil(100 * max(abs(result.low - 1), abs(result.high - 1)))}%"
    if region.contains(narrow.low, narrow.high) and result.n >= EQUIVALENCE_BLOCKS:
        return HELD, f"{interval}: no difference beyond {region.text()} (two one-sided tests)"
    if result.n < EQUIVALENCE_BLOCKS:
        few = f"{result.n} of the {EQUIVALENCE_BLOCKS} blocks that a claim of no difference needs"
        return INCONCLUSIVE, f"{interval}: {few}; a difference beyond {excluded} is excluded"
    return INCONCLUSIVE, f"{interval}: only a difference beyond {excluded} is excluded"


def _holm(results: list[ConditionResult]) -> list[ConditionResult]:
    """Keep a refutation among several conditions only if it is significant after Holm's correction.

    Counts take no part in the correction: they leave nothing to chance.
    """
    ratios = [result for result in results if not isinstance(result.condition, Count)]
    tails = {
        result.condition.name: tail(result, nearest_edge(result.condition.region, result.estimate))
        for result in ratios
        if result.verdict == REFUTED
    }
    lost = fallen(tails, len(ratios))
    return [
        replace(result, verdict=INCONCLUSIVE, reason=f"{result.reason}; not after correction for {len(ratios)}")
        if result.condition.name in lost
        else result
        for result in results
    ]


def fallen(tails: Mapping[str, float], ratios: int) -> list[str]:
    """Return the refuted conditions of a claim of so many ratios that Holm's correction does not leave refuted.

    `tails` are their one-sided p-values, by name. A single refuted condition refutes the claim, so each further ratio
    is another chance of a false refutation.
    """
    if ratios < 2:
        return []
    others = [1.0] * (ratios - len(tails))
    kept = statistics.holm([*tails.values(), *others], (1 - statistics.CONFIDENCE) / 2)
    return [name for name, stands in zip(tails, kept, strict=False) if not stands]


def nearest_edge(region: Region, estimate: float) -> float:
    edges = [edge for edge in (region.low, region.high) if edge is not None]
    return min(edges, key=lambda edge: abs(math.log(edge) - math.log(estimate)))


def tail(result: ConditionResult, edge: float) -> float:
    """Return the one-sided probability of the data if the true ratio were at an edge of the region."""
    distance = abs(math.log(result.estimate) - math.log(edge))
    return statistics.tail_probability(
        distance, _half_width(result), _freedom(result) + 1, confidence_of(result.condition)
    )


def standard_error(result: ConditionResult) -> float:
    """Return the standard error of the logarithm of a ratio that has an interval."""
    return _half_width(result) / statistics.t_quantile(_freedom(result) + 1, confidence_of(result.condition))


def _half_width(result: ConditionResult) -> float:
    return (math.log(result.high) - math.log(result.low)) / 2


def _freedom(result: ConditionResult) -> float:
    return result.n - 1 if result.freedom is None else result.freedom


def _together(results: Sequence[ConditionResult]) -> tuple[str, str]:
    for verdict in (REFUTED, NOT_MEASURED, INCONCLUSIVE):
        for result in results:
            if result.verdict == verdict:
                return verdict, result.reason if len(results) == 1 else f"{result.says}: {result.reason}"
    return HELD, results[0].reason if len(results) == 1 else "every condition is held"


# Two data sets -------------------------------------------------------------------------------------------------------
# Their blocks are two independent samples, which may differ in number and spread, so the interval is Welch's. If both
# were measured in turns, and each pair of blocks by one host, the same blocks are pairs: drift cancels out, and the
# interval is Student's. Ratios of independent runs have no blocks to compare, but Welch's interval over all four
# samples. "More than noise" means significant after Holm's correction over all conditions of all claims.


@dataclass(frozen=True)
class ConditionComparison:
    """One condition in two data sets.

    `ratio` is the first estimate ÷ the second, `low` and `high` bound its 95 % interval, and `p_value` is two-sided.
    Without an interval, `more_than_noise` is None and `missing` says why, or whether two counts are alike. `paired`
    says that the blocks of both were compared in pairs.
    """

    results: tuple[ConditionResult, ConditionResult]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    degrees_of_freedom: float | None = None
    p_value: float | None = None
    more_than_noise: bool | None = None
    missing: str = ""
    paired: bool = False

    @property
    def condition(self) -> Condition | Count:
        return self.results[0].condition


@dataclass(frozen=True)
class ClaimComparison:
    """One claim in two data sets."""

    judgements: tuple[Judgement, Judgement]
    conditions: tuple[ConditionComparison, ...]

    @property
    def claim(self) -> Claim:
        return self.judgements[0].claim

    @property
    def verdicts_differ(self) -> bool:
        return len({judgement.verdict for judgement in self.judgements}) > 1


def compare(first: Assessment, second: Assessment) -> list[ClaimComparison]:
    """Return the comparison of every claim, in the order of the first data set."""
    others = {judgement.claim.id: judgement for judgement in second.judgements}
    names, compared = (first.data_set, second.data_set), []
    for judgement in first.judgements:
        other = others[judgement.claim.id]
        one_host = by_one_host(*(side.machines.get(judgement.claim.experiment, {}) for side in (first, second)))
        pairs = zip(judgement.results, other.results, strict=True)
        conditions = tuple(_compared(pair, names, one_host=one_host) for pair in pairs)
        compared.append(ClaimComparison((judgement, other), conditions))
    return _corrected(compared)


def by_one_host(first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]]) -> bool:
    """Return whether one host measured each block of both sides, which may be another one for another block."""
    return bool(first) and first == second and all(len(hosts) == 1 for hosts in first.values())


def _compared(
    results: tuple[ConditionResult, ConditionResult], names: tuple[str, str], *, one_host: bool
) -> ConditionComparison:
    first, second = results
    absent = [
        f"{'not measured' if side.verdict == NOT_MEASURED else 'no ratio'} in {name}"
        for name, side in zip(names, results, strict=True)
        if side.n == 0
    ]
    if absent:
        return ConditionComparison(results, missing=", ".join(absent))
    if isinstance(first.condition, Count):
        alike = {*first.blocks.values()} == {*second.blocks.values()}
        return ConditionComparison(results, missing=f"counts: {'alike' if alike else 'they differ'}")
    ratio = first.estimate / second.estimate
    few = [name for name, side in zip(names, results, strict=True) if side.n < BLOCKS_FOR_VERDICT]
    if few:
        return ConditionComparison(results, ratio, missing=f"no interval is possible: one block in {' and '.join(few)}")
    independent = first.condition.independent
    paired = one_host and not independent and not why_not_in_turns(first.times, second.times)
    if independent:
        difference = _between_independent(first, second)
    else:
        # Sorted, so that each block is at the same place on both sides.
        logs = [[math.log(value) for _, value in sorted(side.blocks.items())] for side in results]
        difference = (statistics.paired_difference if paired else statistics.welch_difference)(*logs)
    return ConditionComparison(
        results,
        *(math.exp(value) for value in difference[:3]),
        degrees_of_freedom=difference.degrees_of_freedom,
        p_value=difference.p_value,
        paired=paired,
    )


def _between_independent(first: ConditionResult, second: ConditionResult) -> statistics.Difference:
    """Return how far two ratios of independent runs are apart: Welch's interval over their four samples."""
    parts = [(standard_error(side) ** 2, _freedom(side)) for side in (first, second)]
    return statistics.difference_with_interval(math.log(first.estimate) - math.log(second.estimate), parts)


def _corrected(compared: Sequence[ClaimComparison]) -> list[ClaimComparison]:
    """Set for each condition with a p-value whether it is significant after Holm's correction over all of them."""
    p_values = [condition.p_value for comparison in compared for condition in comparison.conditions]
    stands = iter(statistics.holm([value for value in p_values if value is not None]))

    def corrected(condition: ConditionComparison) -> ConditionComparison:
        return condition if condition.p_value is None else replace(condition, more_than_noise=next(stands))

    return [replace(each, conditions=tuple(corrected(condition) for condition in each.conditions)) for each in compared]
