"""What a cell's own files say besides the tool's report: its steps, what samplers saw, fio's logs over time. Pure."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from replay.base.tables import SAMPLES_FOOTER, SAMPLES_HEADER
from replay.tools.base import OutputError, Run, number


def check_end(text: str, file: str) -> None:
    """Refuse a file that was cut off: every line ends with a newline."""
    if text and not text.endswith("\n"):
        raise OutputError("it was cut off", file=file, line=text.count("\n") + 1, reason="incomplete")


# Steps: one JSON object a line (`replay.protocols.drivers.tool`) ----------------------------------------------------


class Step(dict[str, Any]):
    """A step as it was logged, and its line in the log."""

    def __init__(self, logged: Mapping[str, Any], line: int) -> None:
        super().__init__(logged)
        self.line = line


class Steps:
    """The steps of one log. Raises OutputError if the log is cut off or holds anything but steps."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        check_end(text, file)
        self.steps: list[Step] = []
        for line, content in enumerate(text.splitlines(), start=1):
            try:
                step = json.loads(content)
            except (ValueError, RecursionError):
                step = None
            if not isinstance(step, dict) or not isinstance(step.get("step"), str) or "exit_status" not in step:
                raise OutputError("not a step", file=file, line=line)
            self.steps.append(Step(step, line))

    def refuse(self, what: str, step: Step | None = None, *, reason: str = "unparsable") -> NoReturn:
        """Raise OutputError naming this log, and the line of a step."""
        raise OutputError(what, file=self.file, line=step.line if step else None, reason=reason)

    def any(self, name: str) -> list[Step]:
        """Return all steps of that name, in order; there may be none."""
        return [step for step in self.steps if step["step"] == name]

    def all(self, name: str) -> list[Step]:
        """Return all steps of that name. Raises OutputError (`incomplete`) if there are none."""
        found = self.any(name)
        if not found:
            self.refuse(f"no step {name!r}", reason="incomplete")
        return found

    def one(self, name: str) -> Step:
        """Return the only step of that name. Raises OutputError."""
        found = self.all(name)
        if len(found) > 1:
            self.refuse(f"{len(found)} steps {name!r}: logs of two runs are mixed", found[1])
        return found[0]

    def value(self, step: Step, key: str) -> float:
        """Return a step's number that is 0 or more. Raises OutputError."""
        value = number(step.get(key))
        if value is None or value < 0:
            self.refuse(f"{step['step']}: no number {key!r}", step)
        return value

    def start(self, step: Step) -> float:
        """Return when a step began, in seconds since the log's origin. Raises OutputError."""
        return self.value(step, "started_seconds")

    def end(self, step: Step) -> float:
        """Return when a step ended, in seconds since the log's origin. Raises OutputError."""
        return self.start(step) + self.value(step, "seconds")

    def check_order(self) -> None:
        """Refuse steps that are not in order of their start, and one that occurs twice: two logs are mixed."""
        for before, step in itertools.pairwise(self.steps):
            if self.start(step) < self.start(before) or step == before:
                self.refuse("its steps are not in order of time: logs of two runs are mixed", step)

    def check_whole(self) -> None:
        """Refuse a log that lost lines: its last step `end` says how many steps precede it."""
        last = self.steps[-1] if self.steps else None
        if last is None or last["step"] != "end" or last.get("steps") != len(self.steps) - 1:
            self.refuse("steps are missing", last, reason="incomplete")
        self.check_order()


def whole_steps(run: Run) -> Steps:
    """Return the steps of a run's log. Raises OutputError if it is cut off."""
    steps = Steps(run.text("steps"), run.file("steps"))
    steps.check_whole()
    return steps


_SNAPSHOT_ID = re.compile(r"Snapshot ID: (\d{1,18})", re.ASCII)


class Snapshot(NamedTuple):
    """A mirror snapshot: its id on the first cluster, and when it was ordered, in seconds since the log's origin."""

    number: int
    ordered_seconds: float


def snapshots_taken(steps: Steps) -> list[Snapshot]:
    """Return the mirror snapshots that a protocol ordered while a client wrote, in order, without failed orders.

    Raises OutputError for an order that both failed and succeeded, and if ids do not rise with time.
    """
    found: list[Snapshot] = []
    for step in steps.any("snapshot"):
        match = _SNAPSHOT_ID.search(str(step.get("said", "")))
        if (step["exit_status"] == 0) != (match is not None):
            printed = str(step.get("said"))[:60]
            steps.refuse(f"snapshot: exit status {step['exit_status']}, yet it printed {printed!r}", step)
        if match is None:
            continue
        if found and int(match[1]) <= found[-1].number:
            steps.refuse("ids of snapshots do not rise: logs of two runs are mixed", step)
        found.append(Snapshot(int(match[1]), steps.start(step)))
    return found


# Samples: the CSV of `evidence.record.SampleTable` -------------------------------------------------------------------


class Sample(NamedTuple):
    """One value of an entity at one moment, in seconds since the cell's origin."""

    elapsed_seconds: float
    entity: str
    metric: str
    value: float


def read_samples(text: str, file: str, entities: Iterable[str] = ()) -> list[Sample]:
    """Return the rows in order of time.

    Raises OutputError for an incomplete table, for anything that is not a row, if time runs backwards, and, if
    `entities` are named, for a row of any other.
    """
    lines = text.split("\n")
    if lines[0] != SAMPLES_HEADER:
        raise OutputError(f"the first line is not {SAMPLES_HEADER!r}", file=file, line=1)
    if lines.pop() != "" or len(lines) < 2:
        raise OutputError("it was cut off", file=file, line=len(lines) + 1, reason="incomplete")
    known = {*entities, SAMPLES_FOOTER[0]} if entities else None
    rows: list[Sample] = []
    last_moment, elapsed, latest = "", None, -math.inf
    for line, content in enumerate(lines[1:], start=2):
        moment, entity, metric, text_of_value = fields if len(fields := content.split(",")) == 4 else ("", "", "", "")
        # A table has few moments, each in many rows.
        if moment != last_moment:
            last_moment, elapsed = moment, number(moment)
        value = number(text_of_value)
        if elapsed is None or value is None or not entity or not metric:
            raise OutputError(f"not a sample: {content[:60]!r}", file=file, line=line)
        if elapsed < latest:
            raise OutputError("time runs backwards: samples of two cells are mixed", file=file, line=line)
        if known is not None and entity not in known:
            raise OutputError(f"samples of {entity!r} belong to another cell", file=file, line=line)
        latest = elapsed
        rows.append(Sample(elapsed, entity, metric, value))
    last = rows.pop()
    if (last.entity, last.metric) != SAMPLES_FOOTER:
        raise OutputError("its last row is missing", file=file, line=len(lines), reason="incomplete")
    if last.value != len(rows):
        what = f"it has {len(rows)} of {last.value:.0f} rows"
        raise OutputError(what, file=file, line=len(lines), reason="incomplete")
    return rows


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


def check_rests(readings: list[tuple[float, float]], what: str, file: str) -> None:
    """Refuse a counter that still moves at its last reading: the sampler goes on until the counter rests."""
    if len(readings) < 2 or readings[-1][1] != readings[-2][1]:
        raise OutputError(f"{what} did not come to rest", file=file, reason="incomplete")


# fio's logs: `time in ms, value, direction, block size, …` (fio's HOWTO, "Log file formats") --------------------------

#: Batches of lines may overlap by this much. If time runs back further, two logs are mixed.
OVERLAP_MILLISECONDS = 250
_LINE = re.compile(r"(\d{1,18}), (\d{1,18}), ([012]), (\d{1,18})(?:, (?:\d{1,18}|0x[0-9a-f]{1,16})){0,3}", re.ASCII)
#: The clocks of the protocol and of fio are read one after the other.
_CLOCKS_SECONDS = 0.25
#: A window may end a little after its second.
_LATE_MILLISECONDS = 50
#: By the ending of a log's name: the metric of its values, and how many of its units make a base unit.
LOGS = {
    "iops": ("operations_per_second", 1.0), "bw": ("bytes_per_second", 1 / 1024), "clat": ("latency_seconds", 1e9),
    "lat": ("latency_seconds", 1e9),
}  # fmt: skip


class Logged(NamedTuple):
    """A line: the time in seconds of the wall clock, the latency in seconds, and the line's number."""

    unix_seconds: float
    latency_seconds: float
    line: int


def _lines_of(text: str, file: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield (line, milliseconds, value, direction) of a log. Raises OutputError for anything else."""
    check_end(text, file)
    latest = 0
    for line, content in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(content)
        if match is None:
            raise OutputError(f"not a line of fio's log: {content[:60]!r}", file=file, line=line)
        milliseconds = int(match[1])
        if milliseconds < latest - OVERLAP_MILLISECONDS:
            raise OutputError("time runs backwards: logs of two runs are mixed", file=file, line=line)
        latest = max(latest, milliseconds)
        yield line, milliseconds, int(match[2]), int(match[3])


def read_latency_log(
    text: str, file: str, *, lines: int, between: tuple[float, float] = (-math.inf, math.inf)
) -> list[Logged]:
    """Return the lines of a log of latencies, one per operation or one per window with its mean, in order of time.

    `lines` is their number when the log was stored, `between` the span of the wall clock, in seconds since 1970, in
    which the writer ran. fio writes a line when an operation completes or a window ends, in batches whose times may
    overlap a little. Raises OutputError for anything else, and if lines are missing.
    """
    found = []
    for line, milliseconds, latency, _ in _lines_of(text, file):
        if not between[0] <= milliseconds / 1e3 <= between[1]:
            raise OutputError("a time before or after the writer ran", file=file, line=line)
        found.append(Logged(milliseconds / 1e3, latency / 1e9, line))
    if len(found) != lines or not found:
        what = f"it has {len(found)} of {lines} lines"
        raise OutputError(what, file=file, line=max(1, len(found)), reason="incomplete")
    return sorted(found)


def logged_since_origin(text: str, file: str, steps: Steps) -> list[Logged]:
    """Return the lines of a log of latencies, with `unix_seconds` replaced by seconds since the steps' origin.

    The step `write` says what the wall clock showed at the origin (`unix_seconds_at_origin`), how many lines there
    were, and when the writer began and ended. Raises OutputError if the lines contradict these.
    """
    write = steps.one("write")
    origin = steps.value(write, "unix_seconds_at_origin")
    between = origin + steps.start(write) - _CLOCKS_SECONDS, origin + steps.end(write) + _CLOCKS_SECONDS
    lines = read_latency_log(text, file, lines=int(steps.value(write, "log_lines")), between=between)
    return [line._replace(unix_seconds=line.unix_seconds - origin) for line in lines]


def check_operations(logged: list[Logged], reported: float, file: str) -> None:
    """Refuse a log of operations unless it has as many as fio reported."""
    if len(logged) != reported:
        what = f"{len(logged)} operations are logged, {reported:.0f} reported"
        raise OutputError(what, file=file, line=len(logged))


def series_of_logs(run: Run) -> tuple[tuple[float, str, float], ...]:
    """Return (elapsed_seconds, metric, value) of the logs of windows that a report's jobs left.

    Their roles are `log-<kind>-<number>`, with a kind of LOGS and a number for each job's log. Values are means of
    whole seconds, at their end. Rates are added up over jobs, and over reads and writes, in the seconds that every job
    has. Latencies are given only for one job that only reads or only writes: a mean over several needs their counts.
    """
    logs: dict[str, list[dict[int, dict[int, list[float]]]]] = {}
    for role, text in sorted(run.texts.items()):
        kind = role.removeprefix("log-").partition("-")[0]
        if not role.startswith("log-") or kind not in LOGS:
            continue
        metric, units = LOGS[kind]
        windows: dict[int, dict[int, list[float]]] = {}
        for _, milliseconds, value, direction in _lines_of(text, run.file(role)):
            second = math.ceil((milliseconds - _LATE_MILLISECONDS) / 1000)
            windows.setdefault(second, {}).setdefault(direction, []).append(value / units)
        logs.setdefault(metric, []).append(windows)
    series = []
    for metric, several in logs.items():
        directions = {direction for windows in several for values in windows.values() for direction in values}
        if metric == "latency_seconds" and len(several) * len(directions) > 1:
            continue
        for second in sorted(set.intersection(*(set(windows) for windows in several))):
            means = [math.fsum(values) / len(values) for windows in several for values in windows[second].values()]
            series.append((float(second), metric, math.fsum(means)))
    return tuple(series)
