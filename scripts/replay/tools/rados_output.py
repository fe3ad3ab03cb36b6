"""The rows that `rados bench` prints about once a second, and checks of each row and of the summary against them.

How it counts (Ceph's src/common/obj_bencher.cc): `sec` counts the rows. `cur MB/s` is what was finished since the last
row that finished anything, divided by the number of rows since then. `avg lat` is the mean of all operations finished
so far.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from replay.tools.base import OutputError, Result, agrees, number

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


#: Rows count the seconds, but on a busy client each may come late.
LATE_ROWS = 1.25
#: Starting the first operations, one after the other, takes a while.
BUSY_SLACK = 0.02
#: Raises OutputError, given what is wrong and the statement at fault, whose place the output's reader knows.
Refuse = Callable[[str, str], NoReturn]


@dataclass(frozen=True)
class Totals:
    """The summary. `latency` has `average`, `max` and `min` in seconds; `threads` is None if the output has none.

    `refuse` knows the statements operations, seconds, operation size, object size, bandwidth, iops, latency, threads.
    """

    kind: str
    seconds: float
    operations: float
    operation_bytes: float
    object_bytes: float
    mib_per_second: float
    iops: float | None
    threads: float | None
    latency: Mapping[str, float]
    refuse: Refuse
    # How far printed figures may be rounded: text has six significant digits, or three decimals in old releases.
    relative_rounding: float = 1e-5
    absolute_rounding: float = 0.0006
    latency_rounding_seconds: float = 0.0

    def check(self, levels: Mapping[str, Any]) -> None:
        """Raise OutputError if statements contradict each other or the requested levels."""
        refuse = self.refuse
        if not (self.seconds > 0 and self.operations >= 1 and self.operation_bytes >= 1):
            refuse("no operation was done", "operations")
        if self.operations != int(self.operations) or self.operation_bytes != int(self.operation_bytes):
            refuse("operations and sizes are whole numbers", "operations")
        if not self.object_bytes or self.object_bytes % self.operation_bytes:
            refuse("an object is not a whole number of operations", "object size")
        rate = self.operations / self.seconds
        printed, computed = self.mib_per_second * MIB, rate * self.operation_bytes
        if not agrees(printed, computed, relative=self.relative_rounding, absolute=self.absolute_rounding * MIB):
            what = f"bandwidth {self.mib_per_second} MiB/s is not total divided by time ({computed / MIB:.6g} MiB/s)"
            refuse(what, "bandwidth")
        if self.iops is not None and not agrees(self.iops, rate, relative=self.relative_rounding, absolute=1.001):
            refuse(f"average IOPS {self.iops} is not total divided by time ({rate:.6g})", "iops")
        slack = 1 + 2 * self.relative_rounding
        low, mean, high = (self.latency[key] for key in ("min", "average", "max"))
        if not (low <= mean * slack and mean <= high * slack and high <= self.seconds * slack + 0.001):
            refuse("latencies are not min ≤ average ≤ max ≤ time", "latency")
        # Little's law: over the whole run, no more operations are in flight than were allowed.
        rounding = rate * self.latency_rounding_seconds + 0.01
        if self.threads is not None and rate * mean > self.threads * slack + rounding:
            refuse(f"{rate * mean:.3g} operations in flight on average, {self.threads:g} were allowed", "latency")
        self._check_busy(self.threads or levels.get("threads"))
        self._check_levels(levels)

    def _check_busy(self, threads: float | None) -> None:
        """Refuse a mean latency that is too short to have kept the threads busy.

        The tool starts the next operation as soon as it notices that one has finished, and prepares one at a time. So
        at any moment all but one of its slots wait for an operation, except at the start and at the end, which last no
        longer than the longest operation. In 1097 recorded runs, the slots waited for 96 % of the time.
        """
        if threads is None:
            return
        waited = self.operations * (self.latency["average"] + self.latency_rounding_seconds)
        least = threads * (self.seconds - self.latency["max"]) - self.seconds
        if waited < least * (1 - BUSY_SLACK):
            self.refuse(
                f"a mean latency of {self.latency['average']:g} s leaves {threads:g} threads idle: {self.operations:g} "
                f"operations took {waited:.4g} s together, and the threads had at least {least:.4g} s",
                "latency",
            )

    def _check_levels(self, levels: Mapping[str, Any]) -> None:
        mode, size, threads = levels.get("mode"), levels.get("object_size_bytes"), levels.get("threads")
        if mode is not None and self.kind != ("write" if mode == "write" else "read"):
            self.refuse(f"the run did {self.kind}s, expected {mode}", "operations")
        if size is not None and size != self.object_bytes:
            self.refuse(f"the object size is {self.object_bytes:g}, expected {size}", "object size")
        if threads is not None and self.threads is not None and threads != self.threads:
            self.refuse(f"{self.threads:g} threads, expected {threads}", "threads")

    def metrics(self) -> dict[str, float]:
        """Return the metrics, rates as total divided by time."""
        return {
            "operations": self.operations,
            "bytes": self.operations * self.operation_bytes,
            "duration_seconds": self.seconds,
            "operations_per_second": self.operations / self.seconds,
            "bytes_per_second": self.operations * self.operation_bytes / self.seconds,
            "latency_mean_seconds": self.latency["average"],
            "latency_max_seconds": self.latency["max"],
            "latency_min_seconds": self.latency["min"],
        }

    def series(self, rows: Sequence[Row], refuse_row: RefuseRow) -> Series:
        """Return rates over time. Raises OutputError if the rows contradict themselves or the summary."""
        last = len(rows) - 1
        if rows and (rows[-1].finished > self.operations or rows[-1].second > self.seconds + 1):
            refuse_row("a row is past the summary: output of two runs is mixed", last)
        # A row is printed about once a second until the last operation has ended.
        if rows and self.seconds > rows[-1].second * LATE_ROWS + 3:
            self.refuse(f"the run lasted {self.seconds:g} s, its last row is of second {rows[-1].second:g}", "seconds")
        series = rates(rows, self.operation_bytes, refuse_row)
        self.check_rows(rows, self.operation_bytes, refuse_row)
        low, high = (self.latency[key] for key in ("min", "max"))
        slack = self.latency_rounding_seconds + 2 * self.relative_rounding * high
        for index, row in enumerate(rows):
            if row.last_latency and not low - slack <= row.last_latency <= high + slack:
                refuse_row(f"an operation took {row.last_latency:g} s, the summary says {low:g} to {high:g} s", index)
        bounds = mean_bounds(rows, self.operations, low, high)
        mean = self.latency["average"]
        if bounds is not None and not bounds[0] - slack <= mean <= bounds[1] + slack:
            self.refuse(
                f"a mean latency of {mean:g} s contradicts the last row, by which it is {bounds[0]:.6g} to "
                f"{bounds[1]:.6g} s",
                "latency",
            )
        return series

    def check_rows(self, rows: Sequence[Row], operation_bytes: float, refuse_row: RefuseRow) -> None:
        """Refuse a row that contradicts itself."""
        # A rate is the difference of two exact rows, so only the printed rate is rounded.
        absolute = self.absolute_rounding if self.latency_rounding_seconds else 0.0
        check_rows(rows, operation_bytes, refuse_row, relative=2 * self.relative_rounding, absolute=absolute)


_MAINTAINING = re.compile(
    r" *Maintaining (?P<threads>\d{1,9}) concurrent (?P<kind>write|read)s of (?P<size>\d{1,15}) bytes"
    r"(?: to objects of size (?P<object>\d{1,15}))? for up to \d+ seconds or \d+ objects",
    re.ASCII,
)
_TITLES = re.compile(r" *sec +Cur ops +started +finished +avg MB/s +cur MB/s +last lat(?:\(s\))? +avg lat(?:\(s\))?")
_ROW = re.compile(
    r" *(?P<sec>\d{1,9}) +(?P<in_flight>\d{1,9}) +(?P<started>\d{1,15}) +(?P<finished>\d{1,15})"
    r" +[0-9.eE+-]+ +(?P<rate>[0-9.eE+-]+) +(?P<last>[0-9.eE+-]+) +(?P<mean>[0-9.eE+-]+)",
    re.ASCII,
)
_SUMMARY = re.compile(r" *(?P<label>[A-Z][A-Za-z ]+?)(?: ?\((?:s|MB/sec)\))?: +(?P<value>\S+)")
_CHATTER = re.compile(
    r"hints = 1| *Object prefix: \S+|.* min lat: \S+ max lat: \S+ avg lat: \S+"
    r"|Cleaning up.*|Clean up completed.*| *Removed \d+ objects?.*"
)
_LABELS = {
    "Total time run", "Total writes made", "Total reads made", "Write size", "Read size", "Object size", "Bandwidth",
    "Stddev Bandwidth", "Max bandwidth", "Min bandwidth", "Average IOPS", "Stddev IOPS", "Max IOPS", "Min IOPS",
    "Average Latency", "Stddev Latency", "Max latency", "Min latency",
}  # fmt: skip

#: The key of the run's announcement among the lines of its statements.
_ANNOUNCED = "Maintaining"

RefuseLine = Callable[[str, int], NoReturn]


def read_text(text: str, file: str) -> tuple[Totals | None, Series]:
    """Return the summary (None if the text was cut off before its last line) and the rates over time.

    Raises OutputError, naming file and line, if the text is not the output of one run.
    """
    lines = text.split("\n")
    lines.pop()  # What follows the last newline: a line without its newline was cut off.
    started, titled = None, False
    points: list[Row] = []
    summary: dict[str, float] = {}
    # The line of each statement, and of each row.
    where: dict[str, int] = {}
    rows: list[int] = []

    def refuse(what: str, line: int) -> NoReturn:
        raise OutputError(what, file=file, line=line)

    def refuse_row(what: str, index: int) -> NoReturn:
        refuse(what, rows[index])

    for position, raw in enumerate(lines, 1):
        line = raw.rstrip("\r ")
        if not line or _CHATTER.fullmatch(line) or (_TITLES.fullmatch(line) and not summary):
            titled = titled or bool(_TITLES.fullmatch(line))
        elif match := _MAINTAINING.fullmatch(line):
            if started or titled:
                refuse("a second run begins: output of two runs is mixed", position)
            started, where[_ANNOUNCED] = match, position
        elif (match := _ROW.fullmatch(line)) and titled and not summary:
            points.append(_row(match))
            rows.append(position)
        elif (match := _SUMMARY.fullmatch(line)) and match["label"] in _LABELS:
            if match["label"] in summary:
                refuse(f"{match['label']!r} occurs twice: output of two runs is mixed", position)
            if not summary and match["label"] != "Total time run":
                refuse("the summary begins with 'Total time run'", position)
            summary[match["label"]] = _value(match["label"], match["value"], refuse, position)
            where[match["label"]] = position
        else:
            refuse(f"not a line of rados bench: {line[:120]!r}", position)
    if not titled:
        refuse("not output of rados bench", max(1, len(lines)))
    if "Min latency" not in summary:
        size = float(started["size"]) if started else None
        return None, rates(points, size, refuse_row) if size else ()
    totals = _totals(summary, started, where, refuse)
    return totals, totals.series(points, refuse_row)


def _row(match: re.Match[str]) -> Row:
    """Return a row's values. `-` stands for a missing rate or latency."""
    whole = (float(match[name]) for name in ("sec", "finished", "started", "in_flight"))
    return Row(*whole, *(number(match[name]) for name in ("rate", "last", "mean")))


def _value(label: str, text: str, refuse: RefuseLine, position: int) -> float:
    value = number(text)
    if value is None or value < 0:
        if label.startswith("Stddev"):
            return 0.0  # Not used: some releases print garbage there.
        refuse(f"{label}: not a number: {text[:40]!r}", position)
    return value


def _totals(
    summary: dict[str, float], started: re.Match[str] | None, where: dict[str, int], refuse: RefuseLine
) -> Totals:
    last = max(where.values())
    kinds = [kind for kind in ("write", "read") if f"Total {kind}s made" in summary]
    if len(kinds) != 1:
        refuse("no total of reads or writes made", last)
    kind = kinds[0]
    missing = {f"{kind.title()} size", "Bandwidth", "Average Latency", "Max latency"} - set(summary)
    if missing:
        refuse(f"the summary lacks {', '.join(sorted(missing))}", last)
    size = summary[f"{kind.title()} size"]
    labels = {
        "operations": f"Total {kind}s made", "seconds": "Total time run", "operation size": f"{kind.title()} size",
        "object size": "Object size", "bandwidth": "Bandwidth", "iops": "Average IOPS", "latency": "Average Latency",
        "threads": _ANNOUNCED,
    }  # fmt: skip
    if started and (started["kind"] != kind or float(started["size"]) != size):
        refuse("the summary is not that of the run that was announced", where[_ANNOUNCED])
    return Totals(
        kind=kind,
        seconds=summary["Total time run"],
        operations=summary[f"Total {kind}s made"],
        operation_bytes=size,
        object_bytes=summary.get("Object size", size),
        mib_per_second=summary["Bandwidth"],
        iops=summary.get("Average IOPS"),
        threads=float(started["threads"]) if started else None,
        latency={
            "average": summary["Average Latency"],
            "max": summary["Max latency"],
            "min": summary["Min latency"],
        },
        refuse=lambda what, statement: refuse(what, where.get(labels[statement], last)),
    )


_ROLE = re.compile(r"output(?:-([1-9]\d{0,4})-([1-9]\d{0,4}))?", re.ASCII)


def role_of(instance: int, number: int) -> str:
    """Return the role of the result file of an instance's pass, both counted from 1."""
    return "output" if (instance, number) == (1, 1) else f"output-{instance}-{number}"


def roles_by_instance(outputs: Mapping[str, str], instances: int, file: str) -> list[list[str]]:
    """Return the roles of each instance's passes, in order, for the requested number of instances.

    Raises OutputError if a run is missing, because a sum without it would be wrong, or if there are more instances.
    """
    found = set()
    for role in outputs:
        if match := _ROLE.fullmatch(role):
            found.add((int(match[1] or 1), int(match[2] or 1)))
    seen, passes = {instance for instance, _ in found}, max((number for _, number in found), default=0)
    if lost := set(range(1, instances + 1)) - seen:
        raise OutputError(
            f"{len(lost)} of {instances} instances left no output: {', '.join(map(str, sorted(lost)))}",
            file=file,
            reason="client_lost",
        )
    wanted = {(instance, number) for instance in range(1, instances + 1) for number in range(1, passes + 1)}
    if found - wanted:
        raise OutputError(f"output of {len(seen)} instances, expected {instances}", file=file)
    if wanted - found:
        instance, number = min(wanted - found)
        raise OutputError(f"no output of instance {instance}, pass {number}", file=file, reason="incomplete")
    return [[role_of(instance, number) for number in range(1, passes + 1)] for instance in range(1, instances + 1)]


def combined(instances: Sequence[Sequence[Result]]) -> Result:
    """Return the combined result of a cell's runs. `instances` holds each instance's passes, in order.

    Passes: operations and seconds are summed; the rate is their quotient. Instances: rates are summed, since they ran
    at once; `duration_seconds` is the longest. The mean latency is weighted by operations. A single run is unchanged.
    """
    runs = [run for passes in instances for run in passes]
    if not all(run.complete for run in runs):
        return Result(series=_series(instances), complete=False)
    if len(runs) == 1:
        return runs[0]

    def total(passes: Sequence[Result], metric: str) -> float:
        return math.fsum(run.metrics[metric] for run in passes)

    seconds = [total(passes, "duration_seconds") for passes in instances]
    operations, transferred = total(runs, "operations"), total(runs, "bytes")
    waited = math.fsum(run.metrics["operations"] * run.metrics["latency_mean_seconds"] for run in runs)
    rates = {
        f"{metric}_per_second": math.fsum(
            total(passes, metric) / spent for passes, spent in zip(instances, seconds, strict=True)
        )
        for metric in ("operations", "bytes")
    }
    return Result(
        metrics={
            "operations": operations,
            "bytes": transferred,
            "duration_seconds": max(seconds),
            **rates,
            "latency_mean_seconds": waited / operations,
            "latency_max_seconds": max(run.metrics["latency_max_seconds"] for run in runs),
            "latency_min_seconds": min(run.metrics["latency_min_seconds"] for run in runs),
        },
        series=_series(instances),
    )


def _series(instances: Sequence[Sequence[Result]]) -> tuple[tuple[float, str, float], ...]:
    """Return the rates over time of a single instance: its passes in a row, without the pauses between them.

    Instances that ran at once do not share their seconds, so several have no series.
    """
    if len(instances) != 1:
        return ()
    series, offset = [], 0.0
    for run in instances[0]:
        series += [(offset + elapsed, metric, value) for elapsed, metric, value in run.series]
        offset += run.metrics.get("duration_seconds", 0.0)
    return tuple(series)
