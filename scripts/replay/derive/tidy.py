"""tidy.csv: one row per cell and attempt, whether it is valid or void, used or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from replay.base.tables import level_text, number_text
from replay.derive.cells import AttemptRecord, CellRow
from replay.derive.designs import Design
from replay.derive.facts import FACTS
from replay.derive.limits import limit_of

KEYS = ("experiment", "block", "cell", "attempt", "point", "variant", "label")
_FIRST_METRICS = ("operations", "bytes", "duration_seconds", "operations_per_second", "bytes_per_second")
_LAST = ("cpu_idle_fraction", "disk_busy_fraction", "limiter", "started_at", "ended_at")


def used_attempts(records: Iterable[AttemptRecord], design: Design) -> dict[tuple[int, str], AttemptRecord]:
    """Return the attempt of each set that counts, by (block, point).

    This is the first good attempt. If a design gained cells at a point, it is the first with the most of these cells.
    """
    chosen: dict[tuple[int, str], AttemptRecord] = {}
    coverage: dict[tuple[int, str], int] = {}
    for record in records:
        holds = sum(cell_id in design.cells for cell_id in record.cell_ids)
        key = (record.block, record.point)
        if record.good and holds > coverage.get(key, 0):
            chosen[key], coverage[key] = record, holds
    return chosen


def used_rows(chosen: dict[tuple[int, str], AttemptRecord], design: Design) -> list[tuple[AttemptRecord, CellRow]]:
    """Return the cells that aggregates use: those of the chosen attempts that the design still has."""
    return [(record, row) for record in chosen.values() for row in record.rows if row.cell_id in design.cells]


def metric_columns(records: Iterable[AttemptRecord]) -> list[str]:
    """Return the names of all metrics: the usual ones first, then the others sorted by name."""
    present = {name for record in records for row in record.rows for name in row.metrics}
    return [*_FIRST_METRICS, *sorted(present - set(_FIRST_METRICS) - set(KEYS) - set(_LAST))]


def fact_columns(records: Iterable[AttemptRecord], others: Iterable[str]) -> list[str]:
    """Return the names of all facts in the order of the vocabulary, except those that are among `others`."""
    present = {name for record in records for row in record.rows for name in row.facts}
    return [name for name in FACTS if name in present - set(others)]


def tidy_rows(
    records: Sequence[AttemptRecord], design: Design, chosen: Mapping[tuple[int, str], AttemptRecord]
) -> Iterator[Sequence[str]]:
    """Yield the rows of tidy.csv, sorted by block, point, variant and attempt.

    The records must be in the order of their blocks and points.
    """
    factors = [name for name in design.factors if name not in KEYS]
    # A tool may state what is already a factor, such as the number of clients, but no two columns may share a name.
    metrics = [name for name in metric_columns(records) if name not in factors]
    facts = fact_columns(records, (*factors, *metrics, *_LAST))
    yield *KEYS, *factors, "used", "valid", "invalid_reason", *metrics, *facts, *_LAST
    for place, several in groupby(records, lambda record: (record.block, record.point)):
        cells = [(record, row) for record in several for row in record.rows]
        for record, row in sorted(cells, key=lambda cell: (cell[1].variant, cell[0].number)):
            used = chosen.get(place) is record and row.cell_id in design.cells
            yield _fields(record, row, factors, metrics, facts, used)


def _fields(
    record: AttemptRecord, row: CellRow, factors: list[str], metrics: list[str], facts: list[str], used: bool
) -> list[str]:
    load = row.sidecar.get("load") or {}
    numbers, values = number_text, row.metrics
    return [
        str(row.sidecar.get("experiment", "")),
        str(record.block),
        row.cell_id,
        str(record.number),
        record.point,
        row.variant,
        row.label,
        *(level_text(row.levels.get(name)) for name in factors),
        str(int(used)),
        str(int(row.valid)),
        row.invalid_reason,
        *(numbers(values.get(name)) for name in metrics),
        *(level_text(row.facts.get(name)) for name in facts),
        numbers(load.get("cpu_idle_fraction")),
        numbers(load.get("disk_busy_fraction")),
        limit_of(row.sidecar).resource,
        str(row.sidecar.get("started_at") or ""),
        str(row.sidecar.get("ended_at") or ""),
    ]
