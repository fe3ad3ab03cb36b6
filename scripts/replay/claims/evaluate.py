"""Turns a tidy table into verdicts. Pure: rows in, judgements out.

The method is docs/claims.md: one estimate per block, Student's t-interval over blocks on the logarithm; two one-sided
tests (Schuirmann 1987) for "no difference"; Holm 1979 over the conditions of a claim before it is refuted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from replay.base import stats as statistics
from replay.claims.counts import examine_count
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    DECIDES_REFUTATION,
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
from replay.claims.table import Row, Table, filled

#: "No measurable difference" needs this many blocks, and a 90 % interval inside the margin (two one-sided 5 % tests).
EQUIVALENCE_BLOCKS = 10
EQUIVALENCE_CONFIDENCE = 0.90
#: A claim is not testable where a limiter that it names limited at least this share of the cells that count.
LIMITED_SHARE = 0.5


def judge(claim: Claim, table: Table | None) -> Judgement:
    """Return a claim's verdict. `table` is None if the experiment has no data."""
    if table is None:
        reason = f"{claim.experiment} is not part of this data set"
        # Slides bind a claim's conditions by name, even if a data set has not measured them.
        findings = tuple(Finding(one, NOT_MEASURED, reason, filled(one.says, ())) for one in claim.conditions)
        return Judgement(claim, NOT_MEASURED, reason, findings)
    findings = tuple(_holm([examine(condition, table) for condition in claim.conditions]))
    verdict, reason = _together(findings)
    if limited := _limited(claim, table, findings, verdict):
        verdict, reason = NOT_TESTABLE, f"{limited}: {reason}" if verdict == REFUTED else limited
    return Judgement(claim, verdict, reason, findings)


def examine(condition: Condition | Count, table: Table) -> Finding:
    """Return the finding for one condition."""
    return examine_count(condition, table) if isinstance(condition, Count) else _examine_ratio(condition, table)


def _examine_ratio(condition: Condition, table: Table) -> Finding:
    blocks: dict[int, float] = {}
    used: list[Row] = []
    for block in table.blocks:
        terms = [(weight, table.find(block, selector)) for weight, selector in condition.terms]
        if any(rows is None for _, rows in terms):
            continue
        logs = [(weight, [_log(row, condition.metric) for row in rows]) for weight, rows in terms]
        if any(value is None for _, several in logs for value in several):
            continue
        blocks[block] = math.fsum(weight * math.fsum(several) / len(several) for weight, several in logs)
        used += [row for _, rows in terms for row in rows]
    says = filled(condition.says, used)
    if not blocks:
        return Finding(condition, NOT_MEASURED, "no block holds all of its cells", says)
    values = list(blocks.values())
    estimate = statistics.exponentiate(statistics.mean_with_interval(values))
    found = Finding(
        condition,
        INCONCLUSIVE,
        "",
        says,
        *estimate[:3],
        n=estimate.n,
        cells=tuple(dict.fromkeys(row["cell"] for row in used)),
        blocks={block: math.exp(value) for block, value in blocks.items()},
    )
    return replace(found, **_verdict(found, values))


def _log(row: Row, metric: str) -> float | None:
    text = row.get(metric)
    value = float(text) if text not in (None, "") else 0.0
    return math.log(value) if value > 0 else None


def _verdict(found: Finding, values: Sequence[float]) -> dict[str, str]:
    region = found.condition.region
    if found.n < BLOCKS_FOR_VERDICT:
        return {"verdict": INCONCLUSIVE, "reason": "one block gives no interval"}
    said = f"{three_digits(found.estimate)} ({three_digits(found.low)} to {three_digits(found.high)}), n = {found.n}"
    if region.excludes(found.low, found.high):
        return {"verdict": REFUTED, "reason": f"{said}: the claim needs {region.text()}"}
    if region.equivalence:
        return _equivalence(found, values, said)
    if region.contains(found.low, found.high):
        return {"verdict": HELD, "reason": f"{said}: inside {region.text()}"}
    return {"verdict": INCONCLUSIVE, "reason": f"{said}: reaches across the edge of {region.text()}"}


def three_digits(value: float) -> str:
    """Three significant digits, as the deck writes a ratio: 2.00, 0.378."""
    return f"{value:#.3g}".rstrip(".")


def _equivalence(found: Finding, values: Sequence[float], said: str) -> dict[str, str]:
    """Judge a claim of no difference: two one-sided tests (Schuirmann 1987), and enough blocks."""
    region = found.condition.region
    narrow = statistics.exponentiate(statistics.mean_with_interval(values, EQUIVALENCE_CONFIDENCE))
    excluded = max(abs(found.low - 1), abs(found.high - 1))
    if region.contains(narrow.low, narrow.high) and found.n >= EQUIVALENCE_BLOCKS:
        return {"verdict": HELD, "reason": f"{said}: no difference beyond {region.text()} (two one-sided tests)"}
    if found.n < EQUIVALENCE_BLOCKS:
        few = f"{found.n} of the {EQUIVALENCE_BLOCKS} blocks that a claim of no difference needs"
        return {"verdict": INCONCLUSIVE, "reason": f"{said}: {few}; a difference beyond {excluded:.0%} is excluded"}
    return {"verdict": INCONCLUSIVE, "reason": f"{said}: only a difference beyond {excluded:.0%} is excluded"}


def _holm(findings: list[Finding]) -> list[Finding]:
    """Keep a refutation among several conditions only if it is significant after Holm's correction.

    A single refuted condition refutes the claim, so each additional condition is another chance of a false refutation.
    Counts are not part of the correction: they leave nothing to chance.
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
    """Return the one-sided probability of the data if the true ratio were on the nearest edge of the region."""
    region, estimate = found.condition.region, math.log(found.estimate)
    edges = [math.log(edge) for edge in (region.low, region.high) if edge is not None]
    nearest = min(edges, key=lambda edge: abs(edge - estimate))
    half = (math.log(found.high) - math.log(found.low)) / 2
    return statistics.tail_probability(abs(estimate - nearest), half, found.n)


def _limited(claim: Claim, table: Table, findings: Sequence[Finding], verdict: str) -> str:
    """Return the reason why a limiter named by the claim decides instead of the data; "" if none does.

    If it decides only a refutation, the slower cells of the refuted conditions count: an exhausted resource explains
    why they are slow, while a resource that they left idle does not, however busy it was in the faster cells. No
    limiter decides a count, so a wrong count refutes the claim whatever limited the cells.
    """
    ratios = [one for one in findings if not isinstance(one.condition, Count)]
    counted_otherwise = any(one.verdict == REFUTED for one in findings if one not in ratios)
    if not claim.limiter or counted_otherwise or all(one.verdict == NOT_MEASURED for one in ratios):
        return ""
    which = "its"
    cells = {cell for one in ratios for cell in one.cells}
    if claim.limiter_decides == DECIDES_REFUTATION:
        if verdict != REFUTED:
            return ""
        which = "its slower"
        cells = {cell for one in ratios if one.verdict == REFUTED for cell in _slower_cells(one, table)}
    limiters = [row["limiter"] for row in table.rows.values() if row["cell"] in cells]
    share = sum(limiter in claim.limiter for limiter in limiters) / len(limiters)
    if share < LIMITED_SHARE:
        return ""
    return f"{' or '.join(claim.limiter)} limited {share:.0%} of {which} cells, and decides instead"


def _slower_cells(found: Finding, table: Table) -> set[str]:
    """Return the cells on the worse side of a condition, by its metric."""
    over_is_slower = (found.estimate < 1) == (found.condition.better == "higher")
    sign = 1 if over_is_slower else -1
    return {
        row["cell"]
        for block in found.blocks
        for weight, selector in found.condition.terms
        if weight == sign
        for row in table.find(block, selector)
    }


def _together(findings: Sequence[Finding]) -> tuple[str, str]:
    for verdict in (REFUTED, NOT_MEASURED, INCONCLUSIVE):
        for one in findings:
            if one.verdict == verdict:
                return verdict, one.reason if len(findings) == 1 else f"{one.says}: {one.reason}"
    return HELD, findings[0].reason if len(findings) == 1 else "every condition is held"
