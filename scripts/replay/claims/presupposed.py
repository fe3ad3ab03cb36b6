"""Examines whether a claim's cells were as it presupposes: rows with their facts in, findings out. Pure.

Each cell is judged over the runs that the claim uses: by their median, by every single run if the fact is a count, and
by more than half of the runs if it is a word. A run that does not state the fact leaves the presupposition undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from replay.base import stats as statistics
from replay.claims.model import (
    DECIDES_CONFIRMATION,
    DECIDES_REFUTATION,
    HELD,
    NOT_MEASURED,
    REFUTED,
    Claim,
    Condition,
    Finding,
    Presupposed,
    Presupposition,
    Selector,
)
from replay.claims.predicate import Predicate
from replay.claims.tables import Row, Table
from replay.derive.facts import FactType

#: The verdict that a presupposition decides, if it decides only one.
_DECIDED = {DECIDES_REFUTATION: REFUTED, DECIDES_CONFIRMATION: HELD}


def examine_presuppositions(claim: Claim, table: Table, findings: Sequence[Finding]) -> tuple[Presupposed, ...]:
    """Return what the claim's cells say about each of its presuppositions, in the same order."""
    return tuple(_examine(one, table, findings) for one in claim.presupposes)


def what_decides_instead(presupposed: Sequence[Presupposed], findings: Sequence[Finding], verdict: str) -> str:
    """Return why a verdict does not stand; "" if it does.

    A count other than the claimed one refutes the claim whatever its cells were like: nothing can feign a count.
    """
    counted_otherwise = any(one.verdict == REFUTED for one in findings if not isinstance(one.condition, Condition))
    if counted_otherwise or verdict == NOT_MEASURED:
        return ""
    asked = any(found.blocks for found in findings if isinstance(found.condition, Condition))
    failed = [one for one in presupposed if asked and not one.met]
    return "; ".join(one.reason for one in failed if _DECIDED.get(one.presupposition.decides, verdict) == verdict)


class _Cell(NamedTuple):
    """A cell's runs in the blocks that a claim uses, as rows."""

    name: str
    runs: Mapping[int, Row]


def _examine(one: Presupposition, table: Table, findings: Sequence[Finding]) -> Presupposed:
    predicate, cells = one.predicate, list(_cells(one, table, findings))
    if not cells:
        return Presupposed(one, None, f"{predicate.fact.noun} is not known: none of the cells was measured")
    values = {cell.name: _values(cell, predicate.fact.name) for cell in cells}
    failed = {name: found for name, known in values.items() if (found := failing_value(predicate, known)) is not None}
    if failed:
        worst = max(failed, key=lambda name: _distance(predicate, failed[name]))
        alike = f", as in {len(failed)} of {len(cells)} cells" if len(cells) > 1 else ""
        said = f"{predicate.fact.noun} was {predicate.found_in_words(failed[worst])} in {worst}{alike}"
        return Presupposed(one, False, f"{said}, and has to be {predicate.in_words()}", failed[worst])
    unknown = [name for name, known in values.items() if None in known]
    if unknown:
        where = "" if len(unknown) == len(cells) else f" in {len(unknown)} of {len(cells)} cells"
        return Presupposed(
            one, None, f"{predicate.fact.noun} was not recorded{where}, and has to be {predicate.in_words()}"
        )
    return Presupposed(one, True, f"{predicate.fact.noun} was {predicate.in_words()} in each of {len(cells)} cells")


def _cells(one: Presupposition, table: Table, findings: Sequence[Finding]) -> Iterator[_Cell]:
    """Yield the cells of the claim's ratios that the presupposition is about."""
    ratios = [found for found in findings if isinstance(found.condition, Condition) and found.blocks]
    if one.slower and one.decides == DECIDES_REFUTATION:
        ratios = [found for found in ratios if found.verdict == REFUTED] or ratios
    runs: dict[str, dict[int, Row]] = {}
    for found in ratios:
        for selector in selectors_of(found, slower=one.slower):
            if one.variants and selector.variant not in one.variants:
                continue
            for block in found.blocks:
                for point, row in zip(selector.points(), table.find(block, selector), strict=True):
                    if all(point[factor] in wanted for factor, wanted in one.levels.items()):
                        runs.setdefault(f"{row['point']} {row['variant']}", {})[block] = row
    for name, of_blocks in runs.items():
        yield _Cell(name, of_blocks)


def selectors_of(found: Finding, *, slower: bool) -> list[Selector]:
    """Return the selectors of a ratio, or with `slower` those of the side that is worse by the ratio's metric."""
    if not slower:
        return [selector for _, selector in found.condition.terms]
    over_is_slower = (found.estimate < 1) == (found.condition.better == "higher")
    sign = 1 if over_is_slower else -1
    return [selector for weight, selector in found.condition.terms if weight == sign]


def _values(cell: _Cell, fact: str) -> list[float | str | None]:
    return [row["facts"].get(fact) for row in cell.runs.values()]


def failing_value(predicate: Predicate, values: Sequence[float | str | None]) -> float | str | None:
    """Return the value by which a cell fails; None if none of its known values makes it fail."""
    known = [value for value in values if value is not None]
    failing = [value for value in known if not predicate.holds(value)]
    if not failing:
        return None
    if predicate.fact.type is FactType.WORD:
        return max(set(failing), key=failing.count) if 2 * len(failing) >= len(known) else None
    if predicate.fact.type is FactType.COUNT:
        return max(failing, key=lambda value: _distance(predicate, value))
    middle = statistics.median(known)
    return None if predicate.holds(middle) else middle


def _distance(predicate: Predicate, value: float | str) -> float:
    return 0.0 if isinstance(value, str) else abs(value - predicate.value)
