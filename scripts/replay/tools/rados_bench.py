"""`rados bench`: its argv, what it prints, as text or as JSON (by `-o`), and how several runs of it are one cell. Pure.

The text is that of any release from Hammer (`Max latency:`, no number of objects, columns that run together) to now.
Rows are used for the course over time: `sec` and `finished` of each (Ceph's src/common/obj_bencher.cc).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replay.tools.base import (
    OutputError,
    Place,
    Reader,
    Result,
    Row,
    Run,
    Series,
    Tool,
    agrees,
    client_options,
    connection,
    number,
    rates,
    read_json,
    roles_by_instance,
    rounding_of,
)

MIB = 2**20
_MAINTAINING = re.compile(
    r" *Maintaining (?P<threads>\d{1,9}) concurrent (?P<kind>write|read)s of (?P<size>\d{1,15}) bytes"
    r"(?: to objects of size (?P<object>\d{1,15}))? for (?:up to|at least) \d+ seconds(?: or \d+ objects)?\.?",
    re.ASCII,
)
_TITLES = re.compile(r" *sec +Cur ops +started +finished +avg MB/s +cur MB/s +last lat(?:\(s\))? +avg lat(?:\(s\))?")
_ROW = re.compile(r" *(?P<sec>\d{1,9}) +\d{1,9} +\d{1,15} +(?P<finished>\d{1,15}) [ 0-9.eE+-]*", re.ASCII)
_SUMMARY = re.compile(r" *(?P<label>[A-Z][A-Za-z ]+?)(?: ?\((?:s|MB/sec)\))?:? +(?P<value>\S+)")
_CHATTER = re.compile(
    r"|hints = 1| *Object prefix: \S+|.* min lat: \S+ max lat: \S+ avg lat: \S+"
    r"|Cleaning up.*|Clean up completed.*| *Removed \d+ objects?.*"
)
#: The labels of the summary, in all releases. Those that nothing is made of are not read: some are garbage.
_LABELS = {
    "Total time run", "Total writes made", "Total reads made", "Write size", "Read size", "Object size", "Bandwidth",
    "Stddev Bandwidth", "Max bandwidth", "Min bandwidth", "Average IOPS", "Stddev IOPS", "Max IOPS", "Min IOPS",
    "Average Latency", "Stddev Latency", "Max latency", "Min latency",
}  # fmt: skip
#: The label with which a summary ends.
LAST = "Min latency"
#: By how much the bandwidth may differ from total and time besides its own rounding: times have six digits or decimals.
_ROUNDING, _ROUNDING_SECONDS = 1e-4, 1e-6

#: What a line is: the announcement of a run, the columns' titles, a row, a statement of the summary, or of no interest.
ANNOUNCEMENT, TITLES, ROW, STATEMENT, CHATTER = "announcement", "titles", "row", "statement", "chatter"
_KINDS = {ANNOUNCEMENT: _MAINTAINING, TITLES: _TITLES, CHATTER: _CHATTER, ROW: _ROW, STATEMENT: _SUMMARY}


@dataclass(frozen=True)
class Totals:
    """What the summary adds up to. `stated` is all that it states, by the keys of the JSON."""

    stated: Place
    kind: str
    seconds: float
    operations: float
    operation_bytes: float

    def check(self, levels: Mapping[str, Any]) -> None:
        """Raise OutputError if the rate contradicts total and time, or statements contradict the requested levels."""
        refuse = self.stated.refuse
        if not (self.seconds > 0 and self.operations >= 1 and self.operation_bytes >= 1):
            refuse("no operation was done")
        computed = self.operations / self.seconds * self.operation_bytes / MIB
        relative = _ROUNDING + _ROUNDING_SECONDS / self.seconds
        bandwidth = str(self.stated.at("bandwidth").value)
        printed = number(bandwidth)
        if printed is None or not agrees(printed, computed, relative=relative, absolute=rounding_of(bandwidth)):
            refuse(f"bandwidth {bandwidth[:40]} MiB/s is not total divided by time ({computed:.6g} MiB/s)")
        mode = levels.get("mode", levels.get("io_type"))
        if mode is not None and self.kind != ("write" if mode == "write" else "read"):
            refuse(f"the run did {self.kind}s, expected {mode}")
        size, object_bytes = levels.get("object_size_bytes"), self._stated("object_size", self.operation_bytes)
        if size is not None and size != object_bytes:
            refuse(f"the object size is {object_bytes:g}, expected {size}")
        asked, threads = levels.get("threads"), self._stated("concurrent_ios", None)
        if None not in (asked, threads) and asked != threads:
            refuse(f"{threads:g} threads, expected {asked}")

    def _stated(self, key: str, otherwise: float | None) -> float | None:
        """Return a number that not every output states."""
        return otherwise if self.stated.at(key).value is None else self.stated.number(key)

    def metrics(self) -> dict[str, float]:
        """Return the metrics, rates as total divided by time."""
        return {
            "operations": self.operations,
            "bytes": self.operations * self.operation_bytes,
            "duration_seconds": self.seconds,
            "operations_per_second": self.operations / self.seconds,
            "bytes_per_second": self.operations * self.operation_bytes / self.seconds,
            "latency_mean_seconds": self.stated.number("average_latency"),
            "latency_max_seconds": self.stated.number("max_latency"),
            "latency_min_seconds": self.stated.number("min_latency"),
        }

    def series(self, rows: Sequence[Row]) -> Series:
        """Return rates over time. Raises OutputError if the rows are not those of this summary."""
        if rows and (rows[-1][1] > self.operations or rows[-1][0] > self.seconds + 1):
            self.stated.refuse("a row is past the summary: output of two runs is mixed")
        return rates(rows, self.operation_bytes, self.stated.file)


def read_report(text: str, start: int, file: str) -> tuple[Totals, Series]:
    """Return the summary in the JSON that begins at `start`, and the rates over time. Raises OutputError."""
    report = read_json(text, file, start=start)
    totals = _totals(report)
    rows = report.rows("datas") if report.at("datas").value is not None else []
    return totals, totals.series([(row.number("sec"), row.number("finished")) for row in rows])


def _totals(stated: Place) -> Totals:
    kinds = [kind for kind in ("write", "read") if stated.at(f"total_{kind}s_made").value is not None]
    if len(kinds) != 1:
        stated.refuse("no total of reads or writes made")
    (kind,) = kinds
    return Totals(stated, kind, *map(stated.number, ("total_time_run", f"total_{kind}s_made", f"{kind}_size")))


def in_words_of_json(summary: Mapping[str, str], announced: re.Match[str] | None) -> dict[str, str | None]:
    """Return what the text states as the JSON does, whose keys are the same words."""
    stated = {label.lower().replace(" ", "_"): value for label, value in summary.items()}
    return {**stated, "concurrent_ios": announced["threads"] if announced else None}


def kind_of(line: str) -> tuple[str, re.Match[str] | None]:
    """Return what a line of the text is, and its parts; an empty kind if it is no line of `rados bench`."""
    line = line.rstrip("\r ")
    for kind, pattern in _KINDS.items():
        if (match := pattern.fullmatch(line)) and (kind != STATEMENT or match["label"] in _LABELS):
            return kind, match
    return "", None


def read_text(text: str, file: str) -> tuple[Totals | None, Series]:
    """Return the summary (None if the text was cut off before its last line) and the rates over time.

    Raises OutputError, naming file and line, if the text is not the output of one run.
    """
    lines = text.split("\n")
    lines.pop()  # What follows the last newline: a line without its newline was cut off.
    started, titled = None, False
    rows: list[Row] = []
    summary: dict[str, str] = {}
    for position, raw in enumerate(lines, 1):
        kind, match = kind_of(raw)
        if kind == CHATTER:
            continue
        if not kind:
            raise OutputError(f"not a line of rados bench: {raw[:120]!r}", file=file, line=position)
        mixed = {
            ANNOUNCEMENT: bool(started or titled or summary),
            TITLES: bool(summary),
            ROW: bool(summary) or not titled,
            STATEMENT: kind == STATEMENT and match["label"] in summary,
        }
        if mixed[kind]:
            raise OutputError(f"output of two runs is mixed: {raw[:120]!r}", file=file, line=position)
        if kind == ANNOUNCEMENT:
            started = match
        elif kind == TITLES:
            titled = True
        elif kind == ROW:
            rows.append((float(match["sec"]), float(match["finished"])))
        else:
            summary[match["label"]] = match["value"]
    if not titled and not summary:
        raise OutputError("not output of rados bench", file=file, line=max(1, len(lines)))
    if LAST not in summary:
        return None, rates(rows, float(started["size"]), file) if started else ()
    totals = _totals(Place(file, in_words_of_json(summary, started)))
    if started and (started["kind"] != totals.kind or float(started["size"]) != totals.operation_bytes):
        raise OutputError("the summary is not that of the run that was announced", file=file)
    return totals, totals.series(rows)


# Several runs in one cell --------------------------------------------------------------------------------------------


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
    added = {
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
            **added,
            "latency_mean_seconds": waited / operations,
            "latency_max_seconds": max(run.metrics["latency_max_seconds"] for run in runs),
            "latency_min_seconds": min(run.metrics["latency_min_seconds"] for run in runs),
        },
        series=_series(instances),
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
    )


def _series(instances: Sequence[Sequence[Result]]) -> Series:
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


# The tool ------------------------------------------------------------------------------------------------------------

_MODES = {("write", None): "write", ("read", "seq"): "seq", ("read", "rand"): "rand"}
_REMOVED = re.compile(r" *Removed (\d{1,12}) objects?", re.ASCII)


class RadosBench(Tool):
    """`rados bench`, one instance in one pool."""

    name = "rados_bench"
    program = "rados"
    package = "ceph-common"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv.

        `levels`: `mode` (write, seq, rand), or `io_type` with `io_pattern`; `object_size_bytes`; `threads`.
        `options`: `threads` (16), `client_options`, `keyring` and `namespace` (booleans), `max_objects` (a write ends
        after that many). It has two further placeholders: `{seconds}`, and `{run_name}`, which separates instances that
        run at once and lets a read find its objects. Raises KeyError if a level is missing.
        """
        mode = mode_of(levels)
        argv = [*self._rados(options), "bench", "{seconds}", mode]
        argv += ["-t", str(levels.get("threads", options.get("threads", 16))), "--run-name", "{run_name}"]
        if mode == "write":
            argv += ["-b", str(levels["object_size_bytes"]), "--no-cleanup"]
            if options.get("max_objects"):
                argv += ["--max-objects", str(options["max_objects"])]
        return [*argv, "--format", "json", "-o", "{output}"]

    def cleanup_argv_template(self, options: Mapping[str, Any]) -> list[str]:
        return [*self._rados(options), "cleanup", "--run-name", "{run_name}"]

    @staticmethod
    def _rados(options: Mapping[str, Any]) -> list[str]:
        namespace = ["--namespace", "{namespace}"] if options.get("namespace") else []
        return ["rados", *connection(options), "--pool", "{pool}", *namespace, *client_options(options)]

    def read(self, run: Run) -> Result:
        """Parse the JSON of `output`, or of stdout, or the text of stdout.

        Rates are totals divided by time, because `average_iops` is truncated; `bandwidth` is in MiB/s whatever its
        label says. `combined` puts the runs of a cell together: its level `instances`, and the passes of `seq`.
        """
        instances = int(run.levels.get("instances", 1))
        if instances == 1 and not any(role.startswith("output-") for role in run.texts):
            return self._read_one(run, "output" if run.text("output").strip() else "stdout")
        roles = roles_by_instance(run.texts, instances, run.file("output"))
        return combined([[self._read_one(run, role) for role in passes] for passes in roles])

    @staticmethod
    def _read_one(run: Run, role: str) -> Result:
        """Parse the output of one run, the file of that role."""
        file, text = run.file(role), run.text(role)
        if run.exit_status:
            message = next((line for line in text.splitlines() if line.strip() and line != "hints = 1"), "nothing")
            raise OutputError(f"exit status {run.exit_status}: {message[:120]!r}", file=file, reason="failed")
        start = text.find("{")
        if start >= 0 and not text[:start].replace("hints = 1", "").strip():
            totals, series = read_report(text, start, file)
        else:
            totals, series = read_text(text, file)
        if totals is None or run.exit_status is None:
            return Result(series=series, complete=False)
        totals.check(run.levels)
        notes = () if series else ("its course over time is not known: it is a summary alone",)
        return Result(metrics=totals.metrics(), series=series, notes=notes)


class RadosBenchOutput(Reader):
    """Reads outputs of runs that Replay did not start. Each role (`output`, `output-2-1`, …) is one instance's."""

    name = "rados_bench_output"

    def read(self, run: Run) -> Result:
        """Read the outputs as the tool does. Nobody recorded an exit status: a complete output counts as good."""
        # A text that somebody copied may lack its last newline.
        texts = {role: f"{text.rstrip()}\n" for role, text in run.texts.items()}
        return TOOL.read(replace(run, texts=texts, exit_status=0))


TOOL, OUTPUT = RadosBench(), RadosBenchOutput()


def mode_of(levels: Mapping[str, Any]) -> str:
    """Return `write`, `seq` or `rand`. Raises KeyError if the levels do not say."""
    if "mode" in levels:
        return str(levels["mode"])
    kind = str(levels["io_type"])
    return _MODES[kind, None if kind == "write" else str(levels["io_pattern"])]


def removed_objects(text: str) -> int | None:
    """Return how many objects `rados cleanup` says it removed, None if it does not say."""
    counts = [int(match[1]) for line in text.splitlines() if (match := _REMOVED.fullmatch(line))]
    return counts[0] if len(counts) == 1 else None
