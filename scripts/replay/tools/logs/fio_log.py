"""fio's log of completion latencies (`write_lat_log`): a line per operation, or per window with its mean. Pure.

A line is `time in ms, latency in ns, direction, block size, …` (fio's HOWTO, "Log file formats"); with `log_unix_epoch`
the time is the wall clock's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from replay.tools.base import OutputError, agrees
from replay.tools.fio_report import Latency
from replay.tools.logs.steps import Steps, check_end

#: Batches of lines may overlap by this much. If time runs back further, two logs are mixed.
OVERLAP_MILLISECONDS = 250
_LINE = re.compile(r"(\d{1,18}), (\d{1,18}), ([01]), (\d{1,18})(?:, (?:\d{1,18}|0x[0-9a-f]{1,16})){0,3}", re.ASCII)
#: If the origin of a log's times is off by more than this, all of them are useless. At least one of the steps was
#: recorded without a pause between reading the two clocks.
_ORIGIN_WITHIN_SECONDS = 0.05
_ANY_TIME = (-math.inf, math.inf)
#: fio updates a running mean in doubles, which may round each time, and prints nanoseconds with six decimals.
_ROUNDING_OF_A_STEP, _PRINTED_SECONDS = 1e-15, 1e-15


class Logged(NamedTuple):
    """A line: the time in seconds of the wall clock, the latency in seconds, and the line's number."""

    unix_seconds: float
    latency_seconds: float
    line: int


def read_log(text: str, file: str, *, lines: int, between: tuple[float, float] = _ANY_TIME) -> list[Logged]:
    """Return the log's lines in order of time.

    `lines` is their number when the log was stored, `between` the span of the wall clock, in seconds since 1970, in
    which the writer ran. fio writes a line when an operation completes or a window ends, in batches whose times may
    overlap a little. Raises OutputError for anything else, and if lines are missing.
    """
    check_end(text, file)
    found, latest = [], 0
    for number, content in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(content)
        if match is None:
            raise OutputError(f"not a line of fio's latency log: {content[:60]!r}", file=file, line=number)
        milliseconds = int(match[1])
        if milliseconds < latest - OVERLAP_MILLISECONDS:
            raise OutputError("time runs backwards: logs of two runs are mixed", file=file, line=number)
        if not between[0] <= milliseconds / 1e3 <= between[1]:
            raise OutputError("a time before or after the writer ran", file=file, line=number)
        latest = max(latest, milliseconds)
        found.append(Logged(milliseconds / 1e3, int(match[2]) / 1e9, number))
    if len(found) != lines:
        what = f"it has {len(found)} of {lines} lines"
        raise OutputError(what, file=file, line=max(1, len(found)), reason="incomplete")
    if not found:
        raise OutputError("it has no lines", file=file, line=1, reason="incomplete")
    return sorted(found)


def logged_since_origin(text: str, file: str, steps: Steps) -> list[Logged]:
    """Return the log's lines, with `unix_seconds` replaced by seconds since the steps' origin.

    The step `write` says what the wall clock showed at the origin (`unix_seconds_at_origin`), how many lines there
    were, and when the writer began and ended. Raises OutputError if these or the lines contradict each other.
    """
    write = steps.one("write")
    origin = steps.value(write, "unix_seconds_at_origin")
    if not any(agrees(origin, one, absolute=_ORIGIN_WITHIN_SECONDS) for one in steps.origins):
        steps.refuse("write: 'unix_seconds_at_origin' and 'started_at' are different moments", write)
    between = (
        origin + steps.start(write) - _ORIGIN_WITHIN_SECONDS,
        origin + steps.end(write) + _ORIGIN_WITHIN_SECONDS,
    )
    lines = read_log(text, file, lines=int(steps.value(write, "log_lines")), between=between)
    return [line._replace(unix_seconds=line.unix_seconds - origin) for line in lines]


def check_operations(logged: Sequence[Logged], report: Latency, file: str) -> None:
    """Refuse a log unless fio's report has as many operations and the same mean latency."""
    if len(logged) != report.samples:
        what = f"{len(logged)} operations are logged, {report.samples:.0f} reported"
        raise OutputError(what, file=file, line=len(logged))
    mean = math.fsum(one.latency_seconds for one in logged) / len(logged)
    rounding = _ROUNDING_OF_A_STEP * len(logged)
    if not agrees(mean, report.mean, relative=rounding, absolute=_PRINTED_SECONDS):
        what = f"a mean of {mean:.9f} s is logged, {report.mean:.9f} s reported: a line was lost and another repeated"
        raise OutputError(what, file=file, line=len(logged))


def check_windows(logged: Sequence[Logged], metrics: Mapping[str, float], file: str) -> None:
    """Refuse a window that occurs twice, or whose mean lies outside the latencies of the report (`metrics`)."""
    low, high = metrics.get("latency_min_seconds", 0.0), metrics.get("latency_max_seconds", math.inf)
    for before, one in zip([None, *logged], logged, strict=False):
        if before is not None and before[:2] == one[:2]:
            raise OutputError("a window occurs twice", file=file, line=one.line)
        # A mean is written in whole nanoseconds.
        if not low - 1e-9 <= one.latency_seconds <= high + 1e-9:
            what = f"a window of {one.latency_seconds:.6f} s, where the report has {low:.6f} to {high:.6f} s"
            raise OutputError(what, file=file, line=one.line)
