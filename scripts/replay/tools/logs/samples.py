"""Reads the CSV of `replay.evidence.record`, which holds what samplers saw during a cell. Strict, pure."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from replay.evidence.record import FOOTER, HEADER
from replay.tools.base import OutputError, number


class Sample(NamedTuple):
    """One value of an entity at one moment, in seconds since the cell's origin."""

    elapsed_seconds: float
    entity: str
    metric: str
    value: float


def read_samples(text: str, file: str) -> list[Sample]:
    """Return the rows in order of time.

    The row at `index` is in the line `line_of(index)`. Raises OutputError for an incomplete table, for anything that is
    not a row, and if time runs backwards.
    """
    lines = text.split("\n")
    if lines[0] != HEADER:
        raise OutputError(f"the first line is not {HEADER!r}", file=file, line=1)
    if lines.pop() != "" or len(lines) < 2:
        raise OutputError("it was cut off", file=file, line=len(lines) + 1, reason="incomplete")
    rows: list[Sample] = []
    last_moment, elapsed, latest = "", None, -inf
    for line, content in enumerate(lines[1:], start=2):
        moment, entity, metric, said = fields if len(fields := content.split(",")) == 4 else ("", "", "", "")
        # A table has few moments, each in many rows.
        if moment != last_moment:
            last_moment, elapsed = moment, number(moment)
        value = number(said)
        if elapsed is None or value is None or not entity or not metric:
            raise OutputError(f"not a sample: {content[:60]!r}", file=file, line=line)
        if elapsed < latest:
            raise OutputError("time runs backwards: samples of two cells are mixed", file=file, line=line)
        latest = elapsed
        rows.append(Sample(elapsed, entity, metric, value))
    last = rows.pop()
    if (last.entity, last.metric) != FOOTER:
        raise OutputError("its last row is missing", file=file, line=len(lines), reason="incomplete")
    if last.value != len(rows):
        raise OutputError(
            f"it has {len(rows)} of {last.value:.0f} rows", file=file, line=len(lines), reason="incomplete"
        )
    if last.elapsed_seconds != (rows[-1].elapsed_seconds if rows else 0):
        raise OutputError("its last row is of another moment than the one before", file=file, line=len(lines))
    return rows


def line_of(index: int) -> int:
    """Return the line of the row at an index: the rows follow the header."""
    return index + 2


def moments(rows: Iterable[Sample], entity: str, metric: str) -> list[tuple[float, float]]:
    """Return (elapsed_seconds, value) of one metric of one entity."""
    return [(row.elapsed_seconds, row.value) for row in rows if (row.entity, row.metric) == (entity, metric)]


def progress(readings: Iterable[tuple[float, float]], *, started_seconds: float) -> list[tuple[float, float]]:
    """Return by how much a counter has risen since `started_seconds`, as (elapsed_seconds, total).

    A daemon drops an image's counters when it stops replaying, and counts from 0 when it starts again. So a value that
    is lower than the one before counts in full, and so does the first one if there was none at the start.
    """
    total, last, found = 0.0, 0.0, []
    for elapsed, value in readings:
        if elapsed >= started_seconds:
            total += value - last if value >= last else value
            found.append((elapsed, total))
        last = value
    return found
