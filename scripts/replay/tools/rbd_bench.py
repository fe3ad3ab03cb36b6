"""`rbd bench`: its argv, and its output in releases that print plain bytes and in those that print rounded units. Pure.

How it prints (Ceph's src/tools/rbd/action/Bench.cc): one header, a row about each second, one summary. `elapsed` is a
truncated integer, so the real time is ops ÷ ops/sec. Newer releases round bytes/sec to two or three digits; old ones
print two decimals of both. The rate is taken from the one with more digits, and the other has to agree with it.

Over time, rates are differences of OPS over SEC. The printed OPS/SEC is an average, since the start in old releases and
over a few seconds in new ones, which would hide a collapse.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from replay.tools.base import (
    OutputError,
    Reader,
    Result,
    Run,
    Series,
    Tool,
    agrees,
    client_options,
    connection,
    number,
    rates,
    rounding_of,
)

_HEADER = re.compile(
    r"bench(?:-write)? +(?:type (?P<type>read|write|readwrite) +)?(?:read:write=(?P<mix>\d{1,3}):(?P<rest>\d{1,3}) +)?"
    r"io_size (?P<size>\d{1,15}) +io_threads (?P<threads>\d{1,9}) +bytes (?P<bytes>\d{1,18}) +"
    r"pattern (?P<pattern>rand|random|seq|sequential|full-seq|full sequential)",
    re.ASCII,
)
_COLUMNS = re.compile(r" *SEC +OPS +OPS/SEC +BYTES/SEC")
_RATE = r"(?P<rate>[0-9.eE+]+) +{}bytes/sec: +(?P<bytes>[0-9.eE+]+)(?: (?P<unit>B|[KMGTP]iB)/s)?"
_ROW = re.compile(
    r" *(?P<sec>\d{1,9}) +(?P<ops>\d{1,15}) +(?P<rate>[0-9.eE+]+) +(?P<bytes>[0-9.eE+]+)(?: (?P<unit>B|[KMGTP]iB)/s)?",
    re.ASCII,
)
_SUMMARY = re.compile(
    r"elapsed: +(?P<elapsed>\d{1,9}) +ops: +(?P<ops>\d{1,15}) +ops/sec: +" + _RATE.format(""), re.ASCII
)
_PART = re.compile(
    r"(?P<which>read|write)_ops: +(?P<ops>\d{1,15}) +(?P=which)_ops/sec: +" + _RATE.format("(?P=which)_"), re.ASCII
)
# A line of Ceph's own log, which some set-ups send to the same stream: `2026-01-31T12:00:00.000+0000 7f00 -1 …`.
_LOG = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*", re.ASCII)
# Sixteen cached operations can end before the tool's clock, which ticks every 4 ms, has moved: rate = ops / 0.
_NO_TIME = re.compile(r"elapsed: +0 +ops: +\d+ +ops/sec: +(?:inf|-?nan) .*", re.ASCII)
#: What a line is: the header, the columns' titles, a row, the summary, or one of its parts for reads and writes.
HEADER, TITLES, ROW, SUMMARY, PART = "header", "titles", "row", "summary", "part"
_KINDS = (
    (HEADER, _HEADER), (TITLES, _COLUMNS), (ROW, _ROW), (SUMMARY, _SUMMARY), (SUMMARY, _NO_TIME), (PART, _PART),
)  # fmt: skip
_UNITS = {None: 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_PATTERNS = {"random": "rand", "sequential": "seq", "full sequential": "full-seq"}
TYPES = {"rw": "readwrite"}
#: A run with fewer spans is too short to tell its start from its second half.
FEWEST_SPANS = 4


class RbdBench(Tool):
    """`rbd bench`, one process on one image."""

    name = "rbd_bench"
    program = "rbd"
    package = "ceph-common"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv.

        `levels`: `io_type` (read, write, readwrite), `io_pattern` (rand, seq, full-seq), `io_size_bytes`, and
        `rw_mix_read` for readwrite. `options`: `io_threads` (16), `client_options`, `keyring`, `namespace` (booleans).
        """
        argv = ["rbd", *connection(options), "bench"]
        argv += ["--io-type", str(levels["io_type"]), "--io-size", str(levels["io_size_bytes"])]
        threads = levels.get("io_threads", options.get("io_threads", 16))
        argv += ["--io-threads", str(threads), "--io-pattern", str(levels["io_pattern"])]
        argv += ["--io-total", "{io_total_bytes}"]
        if "rw_mix_read" in levels:
            argv += ["--rw-mix-read", str(levels["rw_mix_read"])]
        argv.append("{pool}/{namespace}/{image}" if options.get("namespace") else "{pool}/{image}")
        return argv + client_options(options)

    def read(self, run: Run) -> Result:
        """Parse stdout.

        `levels` may include `io_total_bytes` and `io_threads`. The header must state every given level. Output that was
        cut off gives a Result with `complete` False, no metrics, and the series up to there.
        """
        return _Parser(run.file("stdout"), run.levels).read(run.text("stdout"), run.exit_status)


class RbdBenchOverTime(RbdBench):
    """`rbd bench` with the further metrics `early_`, `late_operations_per_second` and `late_share_of_early`."""

    name = "rbd_bench_over_time"

    def read(self, run: Run) -> Result:
        """Parse stdout as `RbdBench.read` does. A run with too few rows lacks the further metrics.

        Each value of the series is a mean, and is placed in the middle of its time span.
        """
        result = super().read(run)
        rates = {end: value for end, metric, value in result.series if metric == "operations_per_second"}
        starts = dict(zip(rates, [0.0, *rates], strict=False))
        return replace(
            result,
            metrics={**result.metrics, **_course(rates, starts)} if result.complete else {},
            series=tuple(((starts[end] + end) / 2, metric, value) for end, metric, value in result.series),
        )


class RbdBenchOutput(Reader):
    """Reads the text of one `rbd bench`, in the role `output`."""

    name = "rbd_bench_output"

    def read(self, run: Run) -> Result:
        """Read the text as the tool's own reader does; see `RbdBench.read`."""
        levels = run.levels
        if levels.get("io_type") != "readwrite":
            # Reads or writes alone also have a share of reads as a level, but the header does not state it.
            levels = {name: level for name, level in levels.items() if name != "rw_mix_read"}
        # A text that somebody copied may lack its last newline.
        text = f"{run.text('output').rstrip()}\n"
        return TOOL.read(Run({"stdout": text}, 0, levels, {"stdout": run.file("output")}))


TOOL, OVER_TIME, OUTPUT = RbdBench(), RbdBenchOverTime(), RbdBenchOutput()


def kind_of(line: str) -> tuple[str, re.Match[str] | None]:
    """Return what a line of the output is, and its parts; an empty kind if it is no line of `rbd bench`."""
    line = line.strip("\r\t ")
    return next(((kind, match) for kind, pattern in _KINDS if (match := pattern.fullmatch(line))), ("", None))


def levels_of(header: re.Match[str]) -> dict[str, Any]:
    """Return the levels that a header states; its share of reads is None if it does not mix."""
    return {
        "io_type": header["type"] or "write",
        "io_pattern": _PATTERNS.get(header["pattern"], header["pattern"]),
        "io_size_bytes": int(header["size"]),
        "io_threads": int(header["threads"]),
        "rw_mix_read": int(header["mix"]) if header["mix"] else None,
    }


class _Parser:
    """Parses one output line by line, and keeps what it has read so far."""

    def __init__(self, file: str, levels: Mapping[str, Any]) -> None:
        self.file = file
        self.levels = levels
        self.line = 0
        self.failed = False
        self.header: re.Match[str] | None = None
        self.rows: list[tuple[float, float]] = []
        self.summary: dict[str, float] | None = None
        self.parts: dict[str, dict[str, float]] = {}

    def read(self, text: str, exit_status: int | None) -> Result:
        self.failed = bool(exit_status)
        lines = text.split("\n")
        cut_off = lines.pop()  # What follows the last newline; a line without its newline was cut off.
        for self.line, raw in enumerate(lines, 1):
            line = raw.strip("\r\t ")
            if line and not _LOG.fullmatch(line):
                self._take(line)
        self.line += 1
        if self.header is None:
            message = next((line for line in [*lines, cut_off] if line.strip()), "nothing")
            self._refuse(f"not output of rbd bench (exit status {exit_status}): {message[:120]!r}")
        if self.summary is None or (self.header["type"] == "readwrite" and len(self.parts) < 2):
            return Result(series=self._series(), complete=False)
        if exit_status != 0:
            self.failed = True
            self._refuse(f"the summary is complete, yet the exit status is {exit_status}")
        return Result(metrics=self._metrics(), series=self._series())

    def _refuse(self, what: str) -> NoReturn:
        raise OutputError(what, file=self.file, line=self.line, reason="failed" if self.failed else "unparsable")

    def _take(self, line: str) -> None:
        kind, match = kind_of(line)
        if self.header is None:
            if kind != HEADER:
                self._refuse(f"expected the header of rbd bench, found {line[:120]!r}")
            self.header = match
            self._check_header(match)
        elif self.summary is not None:
            if kind != PART or match["which"] in self.parts:
                self._refuse(f"expected nothing after the summary, found {line[:120]!r}")
            self.parts[match["which"]] = self._rates(match)
        elif kind == SUMMARY:
            if match.re is _NO_TIME:
                what = "the run ended within one tick of the tool's clock"
                raise OutputError(what, file=self.file, line=self.line, reason="too_short")
            self.summary = self._rates(match)
            self._check_summary(match)
        elif kind == ROW:
            self._take_row(match)
        elif kind != TITLES:
            self._refuse(f"expected a row of numbers or the summary, found {line[:120]!r}")

    def _check_header(self, header: re.Match[str]) -> None:
        for name, value in {**levels_of(header), "io_total_bytes": int(header["bytes"])}.items():
            asked = TYPES.get(self.levels.get(name), self.levels.get(name))
            if asked is not None and asked != value:
                self._refuse(f"{name} is {value!r}, expected {asked!r}")

    def _take_row(self, match: re.Match[str]) -> None:
        seconds, operations = float(match["sec"]), float(match["ops"])
        if self.rows and (seconds <= self.rows[-1][0] or operations < self.rows[-1][1]):
            self._refuse("time or operations go backwards: output of two runs is mixed")
        self.rows.append((seconds, operations))

    def _rates(self, match: re.Match[str]) -> dict[str, float]:
        """Return ops/sec and bytes/sec, both from the one that is printed with more digits.

        Refuses a line whose bytes/sec is not ops/sec times io_size.
        """
        rate, printed = number(match["rate"]), number(match["bytes"])
        if rate is None or printed is None:
            self._refuse(f"not a number: {match['rate'] if rate is None else match['bytes']!r}")
        size, unit, operations = int(self.header["size"]), _UNITS[match["unit"]], int(match["ops"])
        of_bytes, of_rate = rounding_of(match["bytes"]) * unit, rounding_of(match["rate"]) * size
        # Half a unit of the last digit of either figure, and a little for binary arithmetic.
        slack = 1.02 * of_bytes + of_rate + 1e-6 * rate * size
        if not agrees(printed * unit, rate * size, absolute=slack):
            self._refuse(f"{match['bytes']} {match['unit'] or 'B'}/s is not {match['rate']} ops/s of {size} bytes")
        if of_bytes < of_rate:
            rate = printed * unit / size
        return {
            "operations": float(operations),
            "bytes": float(operations * size),
            "operations_per_second": rate,
            "bytes_per_second": rate * size,
        }

    def _check_summary(self, match: re.Match[str]) -> None:
        operations, rate = int(match["ops"]), self.summary["operations_per_second"]
        if not operations or not rate:
            self._refuse("no operation was done")
        seconds, slack = operations / rate, rounding_of(match["rate"]) / rate + 1e-6
        if not math.floor(seconds * (1 - slack)) <= int(match["elapsed"]) <= math.floor(seconds * (1 + slack)):
            self._refuse(f"{operations} ops at {match['rate']} ops/s last {seconds:.3f} s, not {match['elapsed']} s")
        if self.rows and (self.rows[-1][1] > operations or self.rows[-1][0] > math.floor(seconds * (1 + slack))):
            self._refuse("a row is past the summary: output of two runs is mixed")

    def _metrics(self) -> dict[str, float]:
        metrics = dict(self.summary)
        metrics["duration_seconds"] = metrics["operations"] / metrics["operations_per_second"]
        for which, part in self.parts.items():
            metrics |= {f"{which}_{key}": value for key, value in part.items()}
        return metrics

    def _series(self) -> Series:
        """Return rates between rows, from differences of OPS over SEC (the printed columns are averages)."""
        # What was done by second 0 belongs to no span.
        has_second_0 = bool(self.rows) and not self.rows[0][0]
        rows = self.rows if has_second_0 else [(0.0, 0.0), *self.rows]
        return rates(rows, int(self.header["size"]), self.file)


def _course(rates: Mapping[float, float], starts: Mapping[float, float]) -> dict[str, float]:
    """Return the rate of the first span, that of the spans that begin in the second half, and their ratio.

    `rates` has the operations/s of each span by its end, in order, and `starts` its start.
    """
    ends = list(rates)
    if len(ends) < FEWEST_SPANS or not rates[ends[0]]:
        return {}
    # After a stall over the whole second half, its rate is that of the span with the stall.
    late = [end for end in ends if starts[end] >= ends[-1] / 2] or ends[-1:]
    operations = math.fsum((end - starts[end]) * rates[end] for end in late)
    early, mean = rates[ends[0]], operations / math.fsum(end - starts[end] for end in late)
    return {
        "early_operations_per_second": early,
        "late_operations_per_second": mean,
        "late_share_of_early": mean / early,
    }
