"""Many claims are tested at once: how many verdicts chance alone would produce, and what survives. Pure.

A p-value belongs to what a condition's data say, held or refuted. It is 0.05 if the condition's own interval touches an
edge of the region. Counts have none, because nothing about them is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from replay.base import stats as statistics
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    CLAIM,
    HELD,
    NOT_MEASURED,
    NOT_TESTABLE,
    REFUTED,
    Condition,
    Finding,
    Judgement,
)

#: The rate of false discoveries with which q-values are compared.
FALSE_DISCOVERY_RATE = 0.05


@dataclass(frozen=True)
class Multiplicity:
    """How far a table of claims can be trusted as a whole.

    `tested` claims rest on intervals, and `decided` of them are held or refuted. If the truth of each were just beyond
    the edge of its region, `by_chance` of their verdicts would be wrong on average. In all, `conditions` were tested,
    and `discoveries` of them have a q-value of at most FALSE_DISCOVERY_RATE.
    """

    tested: int
    decided: int
    by_chance: float
    conditions: int
    discoveries: int


def with_q_values(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Return the judgements with p-values, and with q-values over all tested conditions of claims together."""
    judgements = tuple(judgements)
    p_values = [_p_value(found) for _, found in _tested(judgements)]
    q_values = iter(statistics.false_discovery_q_values(p_values))
    values = {
        (claim, found.condition.name): (p_value, next(q_values))
        for (claim, found), p_value in zip(_tested(judgements), p_values, strict=True)
    }

    def valued(claim: str, found: Finding) -> Finding:
        p_value, q_value = values.get((claim, found.condition.name), (None, None))
        return replace(found, p_value=p_value, q_value=q_value)

    return tuple(
        replace(one, findings=tuple(valued(one.claim.id, found) for found in one.findings)) for one in judgements
    )


def multiplicity(judgements: Sequence[Judgement]) -> Multiplicity:
    """Return what testing so many claims at once means for their verdicts."""
    tested = [one for one in judgements if any(found.p_value is not None for found in one.findings)]
    q_values = [found.q_value for one in tested for found in one.findings if found.q_value is not None]
    return Multiplicity(
        tested=len(tested),
        decided=sum(one.verdict in (HELD, REFUTED) for one in tested),
        by_chance=math.fsum(_error(one) for one in tested),
        conditions=len(q_values),
        discoveries=sum(value <= FALSE_DISCOVERY_RATE for value in q_values),
    )


def _tested(judgements: Iterable[Judgement]) -> Iterator[tuple[str, Finding]]:
    for one in judgements:
        if one.claim.kind == CLAIM and one.verdict not in (NOT_TESTABLE, NOT_MEASURED):
            for found in one.findings:
                if isinstance(found.condition, Condition) and found.n >= BLOCKS_FOR_VERDICT:
                    yield one.claim.id, found


def _p_value(found: Finding) -> float:
    """Return the p-value of what the estimate says: held if it is inside the region, else refuted.

    To be held it must clear both edges, so the larger tail counts. The tail is doubled, because the data could have
    said either; for the two one-sided tests of no difference (Schuirmann 1987) it is not.
    """
    logs = [math.log(value) for value in found.blocks.values()]
    region, estimate = found.condition.region, math.fsum(logs) / len(logs)
    tails = [
        (statistics.one_sided_p_value(logs, math.log(edge)), (estimate > math.log(edge)) == inside_is_above)
        for edge, inside_is_above in ((region.low, True), (region.high, False))
        if edge is not None and edge > 0
    ]
    if all(inside for _, inside in tails):
        tail = max(tail for tail, _ in tails)
        return tail if region.equivalence else min(1.0, 2 * tail)
    return min(1.0, 2 * min(tail for tail, inside in tails if not inside))


def _error(one: Judgement) -> float:
    """Return the probability of a wrong verdict on a claim whose truth is just beyond the edge of its region."""
    one_sided = (1 - statistics.CONFIDENCE) / 2
    equivalence = any(found.condition.region.equivalence for found in one.findings)
    return 2 * one_sided if equivalence else one_sided
