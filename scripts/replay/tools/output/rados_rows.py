"""The rows that `rados bench` prints about once a second, and checks of each row and of the summary against them.

How it counts (Ceph's src/common/obj_bencher.cc): `sec` counts the rows. `cur MB/s` is what was finished since the last
row that finished anything, divided by the number of rows since then. `avg lat` is the mean of all operations finished
so far.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from replay.tools.base import agrees

MIB = 2**20

#: Raises OutputError, given what is wrong and the index of the row at fault.
RefuseRow = Callable[[str, int], NoReturn]
Series = tuple[tuple[float, str, float], ...]


class Row(NamedTuple):
    """One row. Values that the output does not state are None. Latencies are in seconds."""

    second: float
    finished: float
    started: float | None = None
    in_flight: float | None = None
    mib_per_second: float | None = None
    last_latency: float | None = None
    mean_latency: float | None = None


def check_rows(
    rows: Sequence[Row], operation_bytes: float | None, refuse: RefuseRow, *, relative: float, absolute: float
) -> None:
    """Refuse a row whose statements contradict each other by more than rounding (`relative`, and `absolute` in MiB/s).

    Without `operation_bytes`, rates are not compared.
    """
    changed = rows[0] if rows else None
    for index, row in enumerate(rows):
        if None not in (row.started, row.in_flight) and row.started - row.finished != row.in_flight:
            refuse(
                f"{row.in_flight:g} operations are in flight, yet {row.finished:g} of {row.started:g} are finished",
                index,
            )
        if index == 0 or row.finished == changed.finished:
            continue
        if operation_bytes is not None and row.mib_per_second is not None and row.second > changed.second:
            rate = (row.finished - changed.finished) * operation_bytes / MIB / (row.second - changed.second)
            if not agrees(row.mib_per_second, rate, relative=relative, absolute=absolute):
                refuse(
                    f"{row.mib_per_second:g} MiB/s is not {row.finished - changed.finished:g} operations of "
                    f"{operation_bytes:g} bytes ({rate:.6g} MiB/s)",
                    index,
                )
        changed = row


def mean_bounds(
    rows: Sequence[Row], operations: float, least_latency: float, greatest_latency: float
) -> tuple[float, float] | None:
    """Return bounds of the mean latency in seconds, from the mean at the last row and what was finished after it.

    None if the rows do not state a mean.
    """
    last = next((row for row in reversed(rows) if row.finished and row.mean_latency is not None), None)
    if last is None or last.finished > operations:
        return None
    waited, further = last.finished * last.mean_latency, operations - last.finished
    return (waited + further * least_latency) / operations, (waited + further * greatest_latency) / operations


def rates(rows: Sequence[Row], operation_bytes: float, refuse: RefuseRow) -> Series:
    """Return operations/s and bytes/s from differences of `finished` over `second` of consecutive rows."""
    series = []
    for index, (before, after) in enumerate(itertools.pairwise(rows), start=1):
        if after.second <= before.second or after.finished < before.finished:
            refuse("time or operations go backwards: output of two runs is mixed", index)
        rate = (after.finished - before.finished) / (after.second - before.second)
        series.append((after.second, "operations_per_second", rate))
        series.append((after.second, "bytes_per_second", rate * operation_bytes))
    return tuple(series)
