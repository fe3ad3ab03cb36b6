"""What claims rest on, and what an experiment's rows say without statistics.

Whether its cells were as presupposed, its counts, and what was registered before they were measured.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.errors import EvidenceError
from replay.base.paths import replay_command
from replay.base.tables import level_text, rows_in
from replay.claims.model import (
    BLOCKS_FOR_VERDICT,
    DECIDES_CONFIRMATION,
    DECIDES_REFUTATION,
    HELD,
    INCONCLUSIVE,
    NOT_MEASURED,
    REFUTED,
    Claim,
    Condition,
    ConditionResult,
    Count,
    Origin,
    Presupposed,
    Presupposition,
    Selector,
    agreed,
)
from replay.derive.facts import FACTS, FactType, Predicate, lower_bound_of
from replay.derive.part import REGISTERED_FILE
from replay.design.design import within
from replay.evidence.data_set import MANIFEST

#: A placeholder for a column of tidy.csv in what a condition says.
PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)\}")

Row = Mapping[str, Any]
#: The registrations that tidy.csv names: for each, the digests of its claims, by the claim's id.
Registrations = Mapping[str, Mapping[str, str]]


class Table:
    """The used rows of one experiment's tidy.csv, by block, variant and levels.

    A row also holds its cell's facts under `facts`, as numbers and words. Raises EvidenceError if the factors do not
    tell two of a block's cells apart.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        factors: Sequence[str],
        registrations: Registrations | None = None,
    ) -> None:
        self.factors = tuple(factors)
        self.registrations: Registrations = registrations or {}
        self.rows: dict[tuple, Row] = {}
        for row in rows:
            if str(row["used"]) != "1":
                continue
            key = self._key(row["block"], row["variant"], row)
            if other := self.rows.get(key):
                raise EvidenceError(
                    f"two cells differ in none of the factors {', '.join(self.factors)}",
                    where=f"{row['experiment']}, block {row['block']}, {other['point']} and {row['point']}",
                    next_step="configure the factor that the experiment had when this was measured",
                )
            self.rows[key] = {**row, "facts": _facts(row)}

    # A level is as tidy.csv writes it, so that 4096 and "4096" are the same. Older data lack a factor that was added.
    def _key(self, block: Any, variant: str, levels: Mapping[str, Any]) -> tuple:
        return (int(block), variant, *(level_text(levels.get(factor)) for factor in self.factors))

    def runs(self, selector: Selector) -> dict[int, list[Row]]:
        """Return the rows of a selector's cells, one for each point, by block; without blocks that lack one of them."""
        rows_of = {}
        for block in sorted({key[0] for key in self.rows}):
            rows = [self.rows.get(self._key(block, selector.variant, point)) for point in selector.points()]
            if None not in rows:
                rows_of[block] = rows
        return rows_of


def read_table(experiment: Path, factors: Sequence[str]) -> Table | None:
    """Read an experiment's tidy.csv, and the claims that its cells registered.

    Returns None if the experiment was not measured. Without registered.csv, no cell registered a claim. Raises
    EvidenceError if a factor is missing that tells two cells apart.
    """
    if not (experiment / "tidy.csv").exists():
        return None
    return Table(rows_in(experiment / "tidy.csv"), factors, registrations_in(rows_in(experiment / REGISTERED_FILE)))


def registrations_in(rows: Iterable[Mapping[str, str]]) -> Registrations:
    """Return what the rows of registered.csv say; nothing if an older version wrote it, until it is derived again."""
    registrations: dict[str, dict[str, str]] = {}
    for row in rows:
        if name := row.get("registration"):
            registrations.setdefault(name, {})[row["claim"]] = row["digest"]
    return registrations


def filled(says: str, rows: Sequence[Row]) -> str:
    """Return `says` with the values of the rows for the columns it names, or "?" if they have none."""

    def stated(match: re.Match[str]) -> str:
        values = dict.fromkeys(str(row[match[1]]) for row in rows if row.get(match[1]) not in (None, ""))
        return " or ".join(values) or "?"

    return PLACEHOLDER.sub(stated, says)


def _facts(row: Row) -> dict[str, float | str]:
    """Return the facts in a row. An unknown one, which is empty or not a word of the vocabulary, is left out."""
    facts: dict[str, float | str] = {}
    for name in FACTS.keys() & row.keys():
        text, fact = row[name], FACTS[name]
        if fact.type is FactType.WORD and text in fact.words:
            facts[name] = text
        elif fact.type is not FactType.WORD and text not in (None, ""):
            facts[name] = float(text)
    return facts


def is_bound(row: Row, metric: str) -> bool:
    """Return whether only a lower bound of a run's value is known."""
    return row.get(metric) in (None, "") and row.get(lower_bound_of(metric)) not in (None, "")


def is_known(row: Row, metric: str) -> bool:
    """Return whether a run's value is known, or a lower bound of it."""
    return row.get(metric) not in (None, "") or is_bound(row, metric)


def read_manifest(data_set: Path) -> dict[str, Any]:
    """Return the content of manifest.json; without such a file, that of a data set without experiments.

    Raises EvidenceError if it is not the manifest of a data set.
    """
    path = data_set / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
        parts = {"setup": manifest.get("setup", {}), **manifest.setdefault("experiments", {})}
        if wrong := [name for name, part in parts.items() if not isinstance(part, dict)]:
            raise TypeError(f"{wrong[0]!r} is not an object")
    except FileNotFoundError:
        return {"experiments": {}}
    except (ValueError, TypeError, AttributeError) as error:
        raise EvidenceError(
            f"this manifest cannot be read: {error}",
            where=path,
            next_step=f"derive it again: {replay_command('derive', '--data', data_set.name, '--force')}",
        ) from error
    return manifest


# Whether a claim's cells were as it presupposes.
# Each cell is judged over the runs that the claim uses: by their median, by every single run if the fact is a count,
# and by more than half of the runs if it is a word. A run that does not state the fact leaves the presupposition
# undecided.


#: The verdict that a presupposition decides, if it decides only one.
_DECIDED = {DECIDES_REFUTATION: REFUTED, DECIDES_CONFIRMATION: HELD}


def what_decides_instead(presupposed: Sequence[Presupposed], results: Sequence[ConditionResult], verdict: str) -> str:
    """Return why a verdict does not stand; "" if it does.

    A count other than the claimed one refutes the claim whatever its cells were like: nothing can feign a count.
    """
    counted_otherwise = any(
        result.verdict == REFUTED for result in results if not isinstance(result.condition, Condition)
    )
    if counted_otherwise or verdict == NOT_MEASURED:
        return ""
    asked = any(result.used_blocks for result in results if isinstance(result.condition, Condition))
    failed = [examined for examined in presupposed if asked and not examined.met]
    return "; ".join(
        examined.reason for examined in failed if _DECIDED.get(examined.presupposition.decides, verdict) == verdict
    )


def examine(presupposition: Presupposition, table: Table, results: Sequence[ConditionResult]) -> Presupposed:
    """Return what the cells of a claim, whose results these are, say about one of its presuppositions."""
    predicate, cells = presupposition.predicate, _cells(presupposition, table, results)
    noun, needed = predicate.fact.noun, f"has to be {predicate.in_words()}"
    if not cells:
        return Presupposed(presupposition, None, f"{noun} is not known: none of the cells was measured")
    values = {
        name: [row["facts"].get(predicate.fact.name) for row in of_blocks.values()] for name, of_blocks in cells.items()
    }
    failed = {name: value for name, known in values.items() if (value := failing_value(predicate, known)) is not None}
    if failed:
        worst = max(failed, key=lambda name: _distance(predicate, failed[name]))
        alike = f", as in {len(failed)} of {len(cells)} cells" if len(cells) > 1 else ""
        reason = f"{noun} was {predicate.found_in_words(failed[worst])} in {worst}{alike}, and {needed}"
        return Presupposed(presupposition, False, reason, failed[worst])
    unknown = [name for name, known in values.items() if None in known]
    if unknown:
        where = "" if len(unknown) == len(cells) else f" in {len(unknown)} of {len(cells)} cells"
        missing = f": {predicate.fact.unrecorded}" if predicate.fact.unrecorded else ""
        return Presupposed(presupposition, None, f"{noun} was not recorded{where}, and {needed}{missing}")
    return Presupposed(presupposition, True, f"{noun} was {predicate.in_words()} in each of {len(cells)} cells")


def _cells(
    presupposition: Presupposition, table: Table, results: Sequence[ConditionResult]
) -> dict[str, dict[int, Row]]:
    """Return the cells of the claim's ratios that the presupposition is about: their runs in the blocks it uses."""
    ratios = [result for result in results if isinstance(result.condition, Condition) and result.used_blocks]
    if presupposition.slower and presupposition.decides == DECIDES_REFUTATION:
        ratios = [result for result in ratios if result.verdict == REFUTED] or ratios
    runs: dict[str, dict[int, Row]] = {}
    for result in ratios:
        for selector in _selectors_of(result, slower=presupposition.slower):
            if presupposition.variants and selector.variant not in presupposition.variants:
                continue
            rows_of = table.runs(selector)
            for block in result.used_blocks:
                # Of independent runs, a block may have those of one side only.
                for point, row in zip(selector.points(), rows_of.get(block, ()), strict=False):
                    if within(point, presupposition.levels):
                        runs.setdefault(f"{row['point']} {row['variant']}", {})[block] = row
    return runs


def _selectors_of(result: ConditionResult, *, slower: bool) -> list[Selector]:
    """Return the selectors of a ratio, or with `slower` those of the side that is worse by the ratio's metric.

    Without an estimate, either side may be the slower one.
    """
    if not slower or result.estimate is None:
        return result.condition.selectors
    over_is_slower = (result.estimate < 1) == (result.condition.better == "higher")
    sign = 1 if over_is_slower else -1
    return [selector for weight, selector in result.condition.terms if weight == sign]


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


# Counts --------------------------------------------------------------------------------------------------------------


def origin_of(rows: Sequence[Row]) -> Origin:
    return Origin(*(agreed(str(row.get(column) or "") for row in rows) for column in ("host", "limiter")))


def examine_count(condition: Count, table: Table) -> ConditionResult:
    """Return the result: refuted if any block differs, held if enough blocks match the claim.

    A block is ignored if one of its cells is missing or has no count.
    """
    counted: dict[int, list[float]] = {}
    origins: dict[int, Origin] = {}
    used: list[Row] = []
    for block, rows in table.runs(condition.cells).items():
        values = [_counted(row, condition.metric) for row in rows]
        if None not in values:
            counted[block], origins[block] = values, origin_of(rows)
            used += rows
    says = filled(condition.says, used)
    if not counted:
        return ConditionResult(condition, NOT_MEASURED, "no block holds all of its cells", says)
    blocks = {block: furthest(values, condition.equals) for block, values in counted.items()}
    verdict, reason = _count_verdict(condition, blocks)
    return ConditionResult(
        condition,
        verdict,
        reason,
        says,
        estimate=furthest([*blocks.values()], condition.equals),
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


def furthest(values: Sequence[float], claimed: int) -> float:
    return max(values, key=lambda value: (abs(value - claimed), value))


def _count_verdict(condition: Count, blocks: Mapping[int, float]) -> tuple[str, str]:
    needed = condition.region.text()
    differing = {block: value for block, value in blocks.items() if value != condition.equals}
    if differing:
        block, value = next(iter(differing.items()))
        alike = f"{len(blocks) - len(differing)} of {len(blocks)} blocks have"
        return REFUTED, f"{value:g} in block {block}: the claim needs {needed}, which {alike}"
    if len(blocks) < BLOCKS_FOR_VERDICT:
        return INCONCLUSIVE, f"{needed} in one block, and a verdict needs {BLOCKS_FOR_VERDICT}"
    return HELD, f"{needed} in each of {len(blocks)} blocks"


# Registration --------------------------------------------------------------------------------------------------------


def exploratory(claim: Claim, table: Table, results: Iterable[ConditionResult]) -> str:
    """Return why a claim is exploratory, so not registered as it stands by all of its cells; "" if it is registered.

    A claim without data is not exploratory.
    """
    known: dict[int, set[str | None]] = {}
    for result in results:
        for selector in result.condition.selectors:
            for block, rows in table.runs(selector).items():
                registered = (table.registrations.get(row.get("registration", ""), {}) for row in rows)
                if block in result.used_blocks:
                    known.setdefault(block, set()).update(claims.get(claim.id) for claims in registered)
    blocks = sorted(known)
    changed = [block for block in blocks if known[block] - {None, claim.digest}]
    lacking = [block for block in blocks if None in known[block]]
    reasons = []
    if changed:
        reasons.append(f"it was changed after {_blocks(changed, blocks)} had been measured")
    if lacking:
        reasons.append(f"{_blocks(lacking, blocks)} had been measured before it was registered")
    return "; ".join(reasons)


def _blocks(some: Sequence[int], every: Sequence[int]) -> str:
    if len(some) == len(every):
        return "every block" if len(every) > 1 else "its only block"
    return f"block {some[0]}" if len(some) == 1 else f"{len(some)} of {len(every)} blocks"
