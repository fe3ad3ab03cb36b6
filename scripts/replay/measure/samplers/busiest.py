"""What a machine did while a tool measured, where the tool starts slowly or ends late. Pure.

`rados bench` ends at the next full second of its progress report, however early it was done: after a pass of 0.2 s the
machine idles for 0.8 s. Over the life of the process it would look far less busy than it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from replay.measure.samplers.machine import Reading


def busiest(readings: Sequence[Reading], seconds: float | None) -> tuple[Reading, Reading]:
    """Return the two readings, `seconds` apart or a little more, between which the CPU idled least.

    Returns the first and the last if no two are that far apart, or if `seconds` is None.
    """
    first, last = readings[0], readings[-1]
    if seconds is None:
        return first, last
    found, least, end = (first, last), 1.1, 0
    for start in readings:
        while end < len(readings) and readings[end].clock - start.clock < seconds:
            end += 1
        if end == len(readings):
            break
        ticks = readings[end].all_ticks - start.all_ticks
        idle = (readings[end].idle_ticks - start.idle_ticks) / ticks if ticks > 0 else 1.0
        if idle < least:
            found, least = (start, readings[end]), idle
    return found


def joined(stretches: Iterable[tuple[Reading, Reading]]) -> tuple[Reading, Reading]:
    """Return one stretch for one or more others: the sum of their ticks, busy milliseconds and seconds."""
    pairs = list(stretches)
    disks = len(pairs[0][0].disk_busy_milliseconds)
    total = Reading(
        idle_ticks=sum(after.idle_ticks - before.idle_ticks for before, after in pairs),
        all_ticks=sum(after.all_ticks - before.all_ticks for before, after in pairs),
        disk_busy_milliseconds=tuple(
            sum(after.disk_busy_milliseconds[disk] - before.disk_busy_milliseconds[disk] for before, after in pairs)
            for disk in range(disks)
        ),
        clock=sum(after.clock - before.clock for before, after in pairs),
    )
    return Reading(0, 0, (0,) * disks, 0.0), total
