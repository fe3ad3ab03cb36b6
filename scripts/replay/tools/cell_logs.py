"""What a cell's own files say besides the tool's report: its steps, what samplers saw, fio's logs over time. Pure."""

from __future__ import annotations

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
        steps = self.any(name)
        if not steps:
            self.refuse(f"no step {name!r}", reason="incomplete")
        return steps

    def one(self, name: str) -> Step:
        """Return the only step of that name. Raises OutputError."""
        steps = self.all(name)
        if len(steps) > 1:
            self.refuse(f"{len(steps)} steps {name!r}: logs of two runs are mixed", steps[1])
        return steps[0]

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


def whole_steps(run: Run) -> Steps:
    """Return the steps of a run's log. Raises OutputError if it lost lines: its last step `end` counts the others."""
    steps = Steps(run.text("steps"), run.file("steps"))
    last = steps.steps[-1] if steps.steps else {}
    if last.get("step") != "end" or last.get("steps") != len(steps.steps) - 1:
        steps.refuse("steps are missing", reason="incomplete")
    return steps


_SNAPSHOT_ID = re.compile(r"Snapshot ID: (\d{1,18})", re.ASCII)


class Snapshot(NamedTuple):
    """A mirror snapshot: its id on the first cluster, and when it was ordered, in seconds since the log's origin."""

    number: int
    ordered_seconds: float


def snapshots_taken(steps: Steps) -> list[Snapshot]:
    """Return the mirror snapshots that a protocol ordered while a client wrote, in order, without failed orders.

    Raises OutputError for an order that both failed and succeeded: a snapshot without its id would not be counted.
    """
    snapshots: list[Snapshot] = []
    for step in steps.any("snapshot"):
        match = _SNAPSHOT_ID.search(str(step.get("said", "")))
        if (step["exit_status"] == 0) != (match is not None):
            printed = str(step.get("said"))[:60]
            steps.refuse(f"snapshot: exit status {step['exit_status']}, yet it printed {printed!r}", step)
        if match is not None:
            snapshots.append(Snapshot(int(match[1]), steps.start(step)))
    return snapshots


# Samples: the CSV of `evidence.record.SampleTable` -------------------------------------------------------------------


class Sample(NamedTuple):
    """One value of an entity at one moment, in seconds since the cell's origin."""

    elapsed_seconds: float
    entity: str
    metric: str
    value: float


def read_samples(text: str, file: str) -> list[Sample]:
    """Return the rows, which are in order of time. Raises OutputError for a table that lost rows or is not one."""
    lines = text.split("\n")
    if lines[0] != SAMPLES_HEADER:
        raise OutputError(f"the first line is not {SAMPLES_HEADER!r}", file=file, line=1)
    if lines.pop() != "" or len(lines) < 2:
        raise OutputError("it was cut off", file=file, line=len(lines) + 1, reason="incomplete")
    rows: list[Sample] = []
    for line, content in enumerate(lines[1:], start=2):
        fields = content.split(",")
        elapsed, value = number(fields[0]), number(fields[-1])
        if len(fields) != 4 or elapsed is None or value is None:
            raise OutputError(f"not a sample: {content[:60]!r}", file=file, line=line)
        rows.append(Sample(elapsed, fields[1], fields[2], value))
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
    total, last, samples = 0.0, 0.0, []
    for elapsed, value in readings:
        if elapsed >= started_seconds:
            total += value - last if value >= last else value
            samples.append((elapsed, total))
        last = value
    return samples


def check_rests(readings: list[tuple[float, float]], what: str, file: str) -> None:
    """Refuse a counter that still moves at its last reading: the sampler goes on until the counter rests."""
    if len(readings) < 2 or readings[-1][1] != readings[-2][1]:
        raise OutputError(f"{what} did not come to rest", file=file, reason="incomplete")


# fio's logs: `time in ms, value, direction, block size, …` (fio's HOWTO, "Log file formats") --------------------------

#: Batches of lines may overlap by this much. If time runs back further, two logs are mixed.
OVERLAP_MILLISECONDS = 250
_LINE = re.compile(r"(\d{1,18}), (\d{1,18}), ([012]), (\d{1,18})(?:, (?:\d{1,18}|0x[0-9a-f]{1,16})){0,3}", re.ASCII)
#: A window may end a little after its second.
_LATE_MILLISECONDS = 50
#: A time beyond three years is that of the wall clock (`log_unix_epoch`), and not since the start of the run.
_LONGEST_SECONDS = 100_000_000
#: By the ending of a log's name: the metric of its values, and how many of its units make a base unit.
LOGS = {
    "iops": ("operations_per_second", 1.0), "bw": ("bytes_per_second", 1 / 1024), "clat": ("latency_seconds", 1e9),
    "lat": ("latency_seconds", 1e9),
}  # fmt: skip


class Logged(NamedTuple):
    """A line: the time in seconds since the steps' origin, and the latency in seconds."""

    elapsed_seconds: float
    latency_seconds: float


def _lines_of(text: str, file: str) -> Iterator[tuple[int, int, int]]:
    """Yield (milliseconds, value, direction) of each line of a log. Raises OutputError for anything else."""
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
        yield milliseconds, int(match[2]), int(match[3])


def read_latency_log(run: Run, steps: Steps) -> list[Logged]:
    """Return the lines of a run's log of latencies, one per operation or one per window with its mean, by time.

    fio writes a line when an operation completes or a window ends, in batches whose times may overlap a little. The
    step `write` says what the wall clock showed at the origin (`unix_seconds_at_origin`), and how many lines there
    were. Raises OutputError for anything else, and if lines are missing.
    """
    write, file = steps.one("write"), run.file("latency")
    origin, lines = steps.value(write, "unix_seconds_at_origin"), int(steps.value(write, "log_lines"))
    operations = [
        Logged(milliseconds / 1e3 - origin, latency / 1e9)
        for milliseconds, latency, _ in _lines_of(run.text("latency"), file)
    ]
    if len(operations) != lines or not operations:
        raise OutputError(f"it has {len(operations)} of {lines} lines", file=file, reason="incomplete")
    return sorted(operations)


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
        for milliseconds, value, direction in _lines_of(text, run.file(role)):
            second = math.ceil((milliseconds - _LATE_MILLISECONDS) / 1000)
            windows.setdefault(second, {}).setdefault(direction, []).append(value / units)
        logs.setdefault(metric, []).append(windows)
    first = min((second for several in logs.values() for windows in several for second in windows), default=0)
    origin = first - 1 if first > _LONGEST_SECONDS else 0
    series = []
    for metric, several in logs.items():
        directions = {direction for windows in several for values in windows.values() for direction in values}
        if metric == "latency_seconds" and len(several) * len(directions) > 1:
            continue
        for second in sorted(set.intersection(*(set(windows) for windows in several))):
            means = [math.fsum(values) / len(values) for windows in several for values in windows[second].values()]
            series.append((float(second - origin), metric, math.fsum(means)))
    return tuple(series)
