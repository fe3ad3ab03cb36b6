"""What a cell's own files say: its steps, what samplers saw, fio's log of latencies. Pure."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any, NamedTuple, NoReturn

from replay.base import fast_json
from replay.base.clock import seconds_of
from replay.evidence.record import FOOTER, HEADER
from replay.tools.base import OutputError, Run, agrees, number
from replay.tools.fio_report import Latency

#: A step states its start twice: by the wall clock, in milliseconds, and in seconds since the log's origin. Between
#: reading the two clocks, a process on a busy machine may wait this long for a CPU. It is worse to void good trials,
#: and slow ones more often, than to miss an altered digit here, which SHA256SUMS reveals anyway.
CLOCKS_AGREE_WITHIN_SECONDS = 0.25


class Step(dict[str, Any]):
    """A step as it was logged, and its line in the log."""

    def __init__(self, said: Mapping[str, Any], line: int) -> None:
        super().__init__(said)
        self.line = line


class Steps:
    """The steps of one log. Raises OutputError if the log is cut off or holds anything but steps."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        check_end(text, file)
        self.steps: list[Step] = []
        for line, content in enumerate(text.splitlines(), start=1):
            try:
                step = fast_json.loads(content)
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

    @cached_property
    def origins(self) -> list[float]:
        """What the wall clock showed at the log's origin according to each step, in seconds since 1970."""
        return [self._origin(step) for step in self.steps]

    def check_times(self) -> None:
        """Refuse steps that are not in order of their start, and a step whose two start times differ."""
        for before, step in itertools.pairwise(self.steps):
            if self.start(step) < self.start(before) or step == before:
                self.refuse("its steps are not in order of time: logs of two runs are mixed", step)
        for origin, step in zip(self.origins, self.steps, strict=True):
            if not agrees(origin, self.origins[0], absolute=CLOCKS_AGREE_WITHIN_SECONDS):
                self.refuse(f"{step['step']}: 'started_at' and 'started_seconds' are different moments", step)

    def check_whole(self) -> None:
        """Refuse a log that lost lines: its last step `end` says how many steps precede it."""
        last = self.steps[-1] if self.steps else None
        if last is None or last["step"] != "end" or last.get("steps") != len(self.steps) - 1:
            self.refuse("steps are missing", last, reason="incomplete")
        self.check_times()

    def _origin(self, step: Step) -> float:
        try:
            return seconds_of(str(step.get("started_at"))) - self.start(step)
        except (ValueError, OverflowError):
            self.refuse(f"{step['step']}: no moment 'started_at'", step)


def whole_steps(run: Run) -> Steps:
    """Return the steps of a run's log. Raises OutputError if it is cut off."""
    steps = Steps(run.text("steps"), run.file("steps"))
    steps.check_whole()
    return steps


def check_end(text: str, file: str) -> None:
    """Refuse a file that was cut off: every line ends with a newline."""
    if text and not text.endswith("\n"):
        raise OutputError("it was cut off", file=file, line=text.count("\n") + 1, reason="incomplete")


_SNAPSHOT_ID = re.compile(r"Snapshot ID: (\d{1,18})", re.ASCII)


class Snapshot(NamedTuple):
    """A mirror snapshot: its id on the first cluster, and when it was ordered, in seconds since the log's origin."""

    number: int
    ordered_seconds: float


def snapshots_taken(steps: Steps) -> list[Snapshot]:
    """Return the snapshots that were taken, in order, without failed orders.

    Raises OutputError for a step that contradicts itself, and if ids do not rise with time.
    """
    found: list[Snapshot] = []
    for step in steps.any("snapshot"):
        match = _SNAPSHOT_ID.search(str(step.get("said", "")))
        if (step["exit_status"] == 0) != (match is not None):
            said = str(step.get("said"))[:60]
            steps.refuse(f"snapshot: exit status {step['exit_status']}, yet it said {said!r}", step)
        if match is None:
            continue
        if found and int(match[1]) <= found[-1].number:
            steps.refuse("ids of snapshots do not rise: logs of two runs are mixed", step)
        found.append(Snapshot(int(match[1]), steps.start(step)))
    return found


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
