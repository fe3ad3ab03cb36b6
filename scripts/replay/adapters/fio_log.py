"""fio's log of completion latencies (`write_lat_log`): one line an operation, or one a window with its mean. Pure.

A line is `time in ms, latency in ns, direction, block size, …` (fio's HOWTO, "Log file formats"); with `log_unix_epoch`
the time is the wall clock's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from replay.adapters.base import OutputError
from replay.adapters.steps import Steps, check_end

_LINE = re.compile(r"(\d{1,18}), (\d{1,18}), ([01]), (\d{1,18})(?:, (?:\d{1,18}|0x[0-9a-f]{1,16})){0,3}", re.ASCII)


class Logged(NamedTuple):
    """A line: when, in seconds of the wall clock, and the latency in seconds."""

    unix_seconds: float
    latency_seconds: float


def read_log(text: str, file: str, *, lines: int) -> list[Logged]:
    """Return the log's lines in the order of time. `lines` is how many there were when it was stored.

    fio writes a line when an operation completes or a window ends, in batches whose times may overlap by a little.
    Raises OutputError on anything else, and where lines are missing.
    """
    check_end(text, file)
    found = []
    for number, content in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(content)
        if match is None:
            raise OutputError(f"not a line of fio's latency log: {content[:60]!r}", file=file, line=number)
        found.append(Logged(int(match[1]) / 1e3, int(match[2]) / 1e9))
    if len(found) != lines:
        raise OutputError(f"it has {len(found)} lines of {lines}", file=file, reason="incomplete")
    if not found:
        raise OutputError("it has no line", file=file, reason="incomplete")
    return sorted(found)


def logged_since_origin(text: str, file: str, steps: Steps) -> list[Logged]:
    """Return the log with its times counted from the steps' origin.

    The step `write` says what the wall clock showed there (`unix_seconds_at_origin`) and how many lines there were.
    """
    write = steps.one("write")
    origin = steps.value(write, "unix_seconds_at_origin")
    lines = read_log(text, file, lines=int(steps.value(write, "log_lines")))
    return [Logged(line.unix_seconds - origin, line.latency_seconds) for line in lines]
