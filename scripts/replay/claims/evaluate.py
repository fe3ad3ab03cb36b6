"""Turns a tidy table into verdicts: rows with their facts in, judgements out. Pure.

docs/claims.md explains the method: one estimate per block; Student's t-interval over blocks, on the logarithm; two
one-sided tests (Schuirmann 1987) for "no difference"; Holm 1979 over a claim's conditions before it is refuted. Counts
have no interval and no correction, because a count has no noise: 0 primaries are 0 primaries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from replay.base import stats as statistics
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    CLAIM,
    HELD,
    INCONCLUSIVE,
    NOT_MEASURED,
    NOT_TESTABLE,
    REFUTED,
    Claim,
    Condition,
    ConditionResult,
    Count,
    Judgement,
    Origin,
    agreed,
)
from replay.claims.tables import Row, Table, examine_presuppositions, exploratory, filled, what_decides_instead

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
        verdict, reason = NOT_TESTABLE, instead + _figures(results)
    unregistered = exploratory(claim, results, table.registered) if claim.kind == CLAIM else ""
    return Judgement(claim, verdict, reason, results, presupposed, unregistered)


def examine(condition: Condition | Count, table: Table) -> ConditionResult:
    """Return what the table says about one condition."""
    if isinstance(condition, Count):
        return _examine_count(condition, table)
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
        origins[block] = _origin(of_block)
        used += of_block
        neighbours = neighbours and _ran_together([rows for _, rows in terms])
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
    """Return what two independent samples say: their runs are no pairs, so one side may have more of them.

    Source: Welch 1947, on the logarithms; see `welch_difference`.
    """
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
        origins={block: _origin(several) for block, several in used.items()},
    )
    verdict, reason = _verdict(result, ())
    return replace(result, verdict=verdict, reason=reason)


def _origin(rows: Sequence[Row]) -> Origin:
    """Return the host and the bottleneck of a block's cells."""
    return Origin(*(agreed(str(row.get(column) or "") for row in rows) for column in ("host", "limiter")))


def _ran_together(terms: Sequence[Sequence[Row]]) -> bool:
    """Return whether a block's cells over and under each ratio belong to the same sets. Terms come in such pairs."""
    sets = [{row["point"] for row in rows} for rows in terms]
    return all(over == under for over, under in zip(sets[::2], sets[1::2], strict=True))


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


def _figures(results: Sequence[ConditionResult]) -> str:
    """Return a claim's figure as text, for a verdict that does not rest on it; "" unless it has one condition."""
    if len(results) != 1 or results[0].n < BLOCKS_FOR_VERDICT:
        return ""
    return f" (the figure is {_interval_text(results[0])})"


def _together(results: Sequence[ConditionResult]) -> tuple[str, str]:
    for verdict in (REFUTED, NOT_MEASURED, INCONCLUSIVE):
        for result in results:
            if result.verdict == verdict:
                return verdict, result.reason if len(results) == 1 else f"{result.says}: {result.reason}"
    return HELD, results[0].reason if len(results) == 1 else "every condition is held"


# Counts ---------------------------------------------------------------------------------------------------------------


def _examine_count(condition: Count, table: Table) -> ConditionResult:
    """Return the result: refuted if any block differs, held if enough blocks match the claim.

    A block is ignored if one of its cells is missing or has no count.
    """
    counted: dict[int, list[float]] = {}
    origins: dict[int, Origin] = {}
    used: list[Row] = []
    for block in table.blocks:
        rows = table.find(block, condition.cells)
        values = [_counted(row, condition.metric) for row in rows or ()]
        if rows is None or None in values:
            continue
        counted[block], origins[block] = values, _origin(rows)
        used += rows
    says = filled(condition.says, used)
    if not counted:
        return ConditionResult(condition, NOT_MEASURED, "no block holds all of its cells", says)
    blocks = {block: _furthest(values, condition.equals) for block, values in counted.items()}
    verdict, reason = _count_verdict(condition, blocks)
    return ConditionResult(
        condition,
        verdict,
        reason,
        says,
        estimate=_furthest(list(blocks.values()), condition.equals),
        low=min(min(values) for values in counted.values()),
        high=max(max(values) for values in counted.values()),
        n=len(blocks),
        cells=tuple(dict.fromkeys(row["cell"] for row in used)),
        blocks=blocks,
        origins=origins,
    )


def _counted(row: Row, metric: str) -> float | None:
    text = row.get(metric)
    value = math.nan if text in (None, "") else float(text)
    return value if math.isfinite(value) else None


def _furthest(values: Sequence[float], claimed: int) -> float:
    return max(values, key=lambda value: (abs(value - claimed), value))


def _count_verdict(condition: Count, blocks: Mapping[int, float]) -> tuple[str, str]:
    needed = condition.region.text()
    differing = {block: value for block, value in blocks.items() if value != condition.equals}
    if differing:
        block, value = next(iter(differing.items()))
        alike = f"{len(blocks) - len(differing)} of {len(blocks)} blocks are"
        return REFUTED, f"{value:g} in block {block}: the claim needs {needed}, and {alike}"
    if len(blocks) < BLOCKS_FOR_VERDICT:
        return INCONCLUSIVE, f"{needed} in one block, and a verdict needs {BLOCKS_FOR_VERDICT}"
    return HELD, f"{needed} in each of {len(blocks)} blocks"
