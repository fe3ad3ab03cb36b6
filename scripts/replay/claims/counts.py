"""Counts: conditions whose cells must all have exactly the claimed count. Rows in, findings out. Pure.

There is no interval and no correction, because a count has no noise: 0 primaries are 0 primaries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from replay.claims.model import BLOCKS_FOR_VERDICT, HELD, INCONCLUSIVE, NOT_MEASURED, REFUTED, Count, Finding
from replay.claims.table import Row, Table, filled


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
    verdict, reason = _verdict(condition, blocks)
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


def _verdict(condition: Count, blocks: Mapping[int, float]) -> tuple[str, str]:
    needed = condition.region.text()
    differing = {block: value for block, value in blocks.items() if value != condition.equals}
    if differing:
        block, value = next(iter(differing.items()))
        alike = f"{len(blocks) - len(differing)} of {len(blocks)} blocks are"
        return REFUTED, f"{value:g} in block {block}: the claim needs {needed}, and {alike}"
    if len(blocks) < BLOCKS_FOR_VERDICT:
        return INCONCLUSIVE, f"{needed} in one block, and a verdict needs {BLOCKS_FOR_VERDICT}"
    return HELD, f"{needed} in each of {len(blocks)} blocks"
