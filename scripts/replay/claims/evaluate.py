"""Counts: conditions whose cells must all have exactly the claimed count. Rows in, findings out. Pure.

There is no interval and no correction, because a count has no noise: 0 primaries are 0 primaries.
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
    Count,
    Finding,
    Judgement,
)
from replay.claims.presupposed import examine_presuppositions, what_decides_instead
from replay.claims.tables import Row, Table, exploratory, filled


def examine_count(condition: Count, table: Table) -> Finding:
    """Return the finding: refuted if any block differs, held if enough blocks match the claim.

    A block is ignored if one of its cells is missing or has no count.
    """
    counted: dict[int, list[float]] = {}
    used: list[Row] = []
    for block in table.blocks:
        rows = table.find(block, condition.cells)
        values = [_counted(row, condition.metric) for row in rows or ()]
        if rows is None or None in values:
            continue
        counted[block] = values
        used += rows
    says = filled(condition.says, used)
    if not counted:
        return Finding(condition, NOT_MEASURED, "no block holds all of its cells", says)
    blocks = {block: _furthest(values, condition.equals) for block, values in counted.items()}
    verdict, reason = _count_verdict(condition, blocks)
    return Finding(
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


#: "No measurable difference" needs this many blocks, and a 90 % interval inside the margin (two one-sided 5 % tests).
EQUIVALENCE_BLOCKS = 8
EQUIVALENCE_CONFIDENCE = 0.90


def judge(claim: Claim, table: Table | None) -> Judgement:
    """Return a claim's verdict. `table` is None if the experiment has no data."""
    if table is None:
        reason = f"{claim.experiment} is not part of this data set"
        # Slides refer to a claim's conditions by name, even if a data set has not measured them.
        findings = tuple(Finding(one, NOT_MEASURED, reason, filled(one.says, ())) for one in claim.conditions)
        return Judgement(claim, NOT_MEASURED, reason, findings)
    findings = tuple(_holm([examine(condition, table) for condition in claim.conditions]))
    verdict, reason = _together(findings)
    presupposed = examine_presuppositions(claim, table, findings)
    if instead := what_decides_instead(presupposed, findings, verdict):
        verdict, reason = NOT_TESTABLE, instead + _figures(findings)
    unregistered = exploratory(claim, findings, table.registered) if claim.kind == CLAIM else ""
    return Judgement(claim, verdict, reason, findings, presupposed, unregistered)


def examine(condition: Condition | Count, table: Table) -> Finding:
    """Return the finding for one condition."""
    return examine_count(condition, table) if isinstance(condition, Count) else _examine_ratio(condition, table)


def _examine_ratio(condition: Condition, table: Table) -> Finding:
    blocks: dict[int, float] = {}
    times: dict[int, tuple[str, str]] = {}
    used: list[Row] = []
    neighbours = True
    for block in table.blocks:
        terms = [(weight, table.find(block, selector)) for weight, selector in condition.terms]
        if any(rows is None for _, rows in terms):
            continue
        logs = [(weight, [_log(row, condition.metric) for row in rows]) for weight, rows in terms]
        if any(value is None for _, several in logs for value in several):
            continue
        blocks[block] = math.fsum(weight * math.fsum(several) / len(several) for weight, several in logs)
        here = [row for _, rows in terms for row in rows]
        times[block] = (
            min(row.get("started_at") or "" for row in here),
            max(row.get("ended_at") or "" for row in here),
        )
        used += here
        neighbours = neighbours and _ran_together([rows for _, rows in terms])
    says = filled(condition.says, used)
    if not blocks:
        return Finding(condition, NOT_MEASURED, "no block holds all of its cells", says)
    values = list(blocks.values())
    estimate = statistics.exponentiate(statistics.mean_with_interval(values, confidence_of(condition)))
    found = Finding(
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
    )
    return replace(found, **_verdict(found, values))


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


def _verdict(found: Finding, values: Sequence[float]) -> dict[str, str]:
    region = found.condition.region
    if found.n < BLOCKS_FOR_VERDICT:
        return {"verdict": INCONCLUSIVE, "reason": "one block gives no interval"}
    said = _interval_text(found)
    if region.excludes(found.low, found.high):
        return {"verdict": REFUTED, "reason": f"{said}: the claim needs {region.text()}"}
    if region.equivalence:
        return _equivalence(found, values, said)
    if region.contains(found.low, found.high):
        return {"verdict": HELD, "reason": f"{said}: inside {region.text()}"}
    return {"verdict": INCONCLUSIVE, "reason": f"{said}: reaches across the edge of {region.text()}"}


def _interval_text(found: Finding) -> str:
    return f"{three_digits(found.estimate)} ({three_digits(found.low)} to {three_digits(found.high)}), n = {found.n}"


def three_digits(value: float) -> str:
    """Return a value with three significant digits, as the deck writes a ratio: 2.00, 0.378."""
    return f"{value:#.3g}".rstrip(".")


def _equivalence(found: Finding, values: Sequence[float], said: str) -> dict[str, str]:
    """Judge a claim of no difference: it needs two one-sided tests (Schuirmann 1987), and enough blocks."""
    region = found.condition.region
    confidence = 1 - (1 - EQUIVALENCE_CONFIDENCE) / found.condition.simultaneous
    narrow = statistics.exponentiate(statistics.mean_with_interval(values, confidence))
    excluded = max(abs(found.low - 1), abs(found.high - 1))
    if region.contains(narrow.low, narrow.high) and found.n >= EQUIVALENCE_BLOCKS:
        return {"verdict": HELD, "reason": f"{said}: no difference beyond {region.text()} (two one-sided tests)"}
    if found.n < EQUIVALENCE_BLOCKS:
        few = f"{found.n} of the {EQUIVALENCE_BLOCKS} blocks that a claim of no difference needs"
        return {"verdict": INCONCLUSIVE, "reason": f"{said}: {few}; a difference beyond {excluded:.0%} is excluded"}
    return {"verdict": INCONCLUSIVE, "reason": f"{said}: only a difference beyond {excluded:.0%} is excluded"}


def _holm(findings: list[Finding]) -> list[Finding]:
    """Keep a refutation among several conditions only if it is significant after Holm's correction.

    A single refuted condition refutes the claim, so each further condition is another chance of a false refutation.
    Counts take no part in the correction: they leave nothing to chance.
    """
    ratios = [one for one in findings if not isinstance(one.condition, Count)]
    if len(ratios) < 2:
        return findings
    tails = [_tail(one) if one.verdict == REFUTED else 1.0 for one in ratios]
    kept = statistics.holm(tails, (1 - statistics.CONFIDENCE) / 2)
    fallen = [one for one, stands in zip(ratios, kept, strict=True) if one.verdict == REFUTED and not stands]
    return [
        replace(one, verdict=INCONCLUSIVE, reason=f"{one.reason}; not after correction for {len(ratios)}")
        if one in fallen
        else one
        for one in findings
    ]


def _tail(found: Finding) -> float:
    """Return the one-sided probability of the data if the true ratio were at the nearest edge of the region."""
    region, estimate = found.condition.region, math.log(found.estimate)
    edges = [math.log(edge) for edge in (region.low, region.high) if edge is not None]
    nearest = min(edges, key=lambda edge: abs(edge - estimate))
    half = (math.log(found.high) - math.log(found.low)) / 2
    return statistics.tail_probability(abs(estimate - nearest), half, found.n, confidence_of(found.condition))


def _figures(findings: Sequence[Finding]) -> str:
    """Return a claim's figure as text, for a verdict that does not rest on it; "" unless it has one condition."""
    if len(findings) != 1 or findings[0].n < BLOCKS_FOR_VERDICT:
        return ""
    return f" (the figure is {_interval_text(findings[0])})"


def _together(findings: Sequence[Finding]) -> tuple[str, str]:
    for verdict in (REFUTED, NOT_MEASURED, INCONCLUSIVE):
        for one in findings:
            if one.verdict == verdict:
                return verdict, one.reason if len(findings) == 1 else f"{one.says}: {one.reason}"
    return HELD, findings[0].reason if len(findings) == 1 else "every condition is held"
