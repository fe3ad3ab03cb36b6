"""Checks that a table's samples make up whole readings that do not contradict each other. Strict, pure.

A sampler reads all metrics of an entity at one moment. If a row was lost, renamed or moved, a reading lacks it. If a
counter was altered, it goes back at this reading or the next, and the counters beside it do not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from replay.tools.base import OutputError
from replay.tools.logs.samples import Sample, line_of

#: The mirror daemon's counters of an image. They only rise, until the daemon resets all of them to 0.
_COUNTERS = {
    "replay", "replay_bytes", "replay_latency.avgcount", "replay_latency.sum",
    "snapshots", "snapshots_bytes", "snapshots_time.avgcount", "snapshots_time.sum",
}  # fmt: skip
#: These all count the same events; a reading has some of them.
_EVENTS = {"replay", "replay_latency.avgcount", "snapshots", "snapshots_time.avgcount"}

_Reading = dict[str, tuple[float, int]]
"""By metric: its value, and its line."""


def check_readings(rows: Sequence[Sample], file: str, entities: Collection[str]) -> None:
    """Raise OutputError unless the rows are whole readings of these entities."""
    kinds: dict[str, list[_Reading]] = {}
    for entity, reading in _readings(rows, file, entities):
        known = kinds.setdefault(entity, [])
        for number, before in enumerate(known):
            if before.keys() == reading.keys():
                _check_counters(before, reading, file)
                known[number] = reading
                break
            if not before.keys().isdisjoint(reading):
                missing = ", ".join(sorted(before.keys() ^ reading.keys()))
                what = f"two readings of {entity} differ in what they hold: {missing}"
                raise OutputError(what, file=file, line=next(iter(reading.values()))[1], reason="incomplete")
        else:
            known.append(reading)


def check_rests(readings: Sequence[tuple[float, float]], what: str, file: str) -> None:
    """Refuse a counter that still moves at its last reading: the sampler goes on until the counter rests."""
    if len(readings) < 2 or readings[-1][1] != readings[-2][1]:
        raise OutputError(f"{what} did not come to rest", file=file, reason="incomplete")


def _readings(rows: Sequence[Sample], file: str, entities: Collection[str]) -> Iterator[tuple[str, _Reading]]:
    """Yield (entity, its values at one moment), in order of time. Raises OutputError."""
    found: dict[str, tuple[float, _Reading]] = {}
    for index, row in enumerate(rows):
        line = line_of(index)
        if row.entity not in entities:
            raise OutputError(f"samples of {row.entity!r} belong to another cell", file=file, line=line)
        at, reading = found.get(row.entity, (row.elapsed_seconds, {}))
        if at != row.elapsed_seconds:
            yield row.entity, reading
            reading = {}
        if row.metric in reading:
            raise OutputError(f"two values of {row.metric} at one moment", file=file, line=line)
        reading[row.metric] = (row.value, line)
        found[row.entity] = (row.elapsed_seconds, reading)
    for entity, (_, reading) in found.items():
        yield entity, reading


def _check_counters(before: _Reading, now: _Reading, file: str) -> None:
    """Refuse readings in which some counters go back and others do not."""
    counters = [metric for metric in now if metric in _COUNTERS]
    back = [metric for metric in counters if now[metric][0] < before[metric][0]]
    if not back:
        return
    on = [
        metric
        for metric in counters
        if now[metric][0] >= before[metric][0] and (before[metric][0] > 0 or metric in _EVENTS)
    ]
    if on:
        what = f"{back[0]} went back, {on[0]} did not: it was altered, or samples of two cells are mixed"
        raise OutputError(what, file=file, line=now[back[0]][1])
