"""fio's reports: where they are in a text, and what their options say of the load. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from replay.exchange.importing.runs import JSON, Level, TextView, json_in, view_of, whole_number, whole_text
from replay.tools.base import UNSTATED, OutputError, Place, bytes_of
from replay.tools.fio_report import Direction, directions_of

# fio writes a report each `--status-interval`, and each counts from the start of the run, so only the last one counts.

_CANDIDATE = re.compile(r'^[ \t]*(?=[\[{])|(?=\{\s*"fio version")', re.MULTILINE)
_REPORT = re.compile(r'\{\s*"fio version"')
#: A report in a log or a quotation, which puts something before each line.
_PREFIXED = re.compile(r'\{[ \t\r]*(?:\n[^\n{}]{0,200}?)?"fio version"')
_SPACE = re.compile(r"[ \t\n\r]*")
#: A run without times counts as the continuation of one before if it lasted longer by this share.
LONGER = 1.05
#: By the key of a time of printing: how many of its units make a second, and how exact it is, in seconds.
PRINTED = {"timestamp_ms": (1000, 0.2), "timestamp": (1, 0.9)}


@dataclass(frozen=True)
class LocatedReport:
    """A report of fio: its value, where it is in a view of the text, and what stands before its run."""

    value: Mapping[str, Any]
    view: TextView
    start: int
    end: int
    before: str

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """What it says of each job or client."""
        listed = self.value.get("jobs", self.value.get("client_stats"))
        return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def reports_in(text: str) -> Iterator[LocatedReport | str]:
    """Yield every report in a text, of one run the last, and what is not whole."""
    documents = list(_reports(whole_text(text)))
    if not any(isinstance(document, LocatedReport) for document in documents):
        documents = list(_reports(view_of(text, _PREFIXED)))
    reports = [document for document in documents if isinstance(document, LocatedReport)]
    yield from (document for document in documents if isinstance(document, str))
    before = ""
    for report, following in zip(reports, [*reports[1:], None], strict=False):
        before += report.before
        if following is None or not _continues(report, following):
            yield replace(report, before=before)
            before = ""


def _reports(view: TextView) -> Iterator[LocatedReport | str]:
    text, last = view.text, 0
    for start, end, value in json_in(text, _CANDIDATE):
        if isinstance(value, Exception):
            if _REPORT.match(text, start):
                yield f"not whole JSON: {value}"[:160]
            continue
        for begin, stop, inner in _within(text, start, end, value):
            located = LocatedReport(inner, view, begin, stop, text[last:begin])
            yield located if _is_text(inner) else "half of a character in a name"
            last = stop


def _is_text(value: Any) -> bool:
    """Whether a value can be written: some programs put half of a character where a name has bytes that are no text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _within(text: str, start: int, end: int, value: Any) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield (start, end, value) of the reports in a document: itself, or what it contains."""
    if isinstance(value, dict) and "fio version" in value:
        yield start, end, value
    elif isinstance(value, dict | list) and '"fio version"' in text[start:end]:
        for key, begin, stop in members(text, start):
            yield from _within(text, begin, stop, value[key])


def members(text: str, offset: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield (key or index, start, end) of each member of the valid JSON object or list at `offset`; else nothing."""
    opening, index = text[offset], 0
    at = _SPACE.match(text, offset + 1).end()
    while opening in "{[" and text[at] not in "}]":
        key: str | int = index
        if opening == "{":
            key, at = JSON.raw_decode(text, at)
            at = _SPACE.match(text, _SPACE.match(text, at).end() + 1).end()
        end = JSON.raw_decode(text, at)[1]
        yield key, at, end
        at = _SPACE.match(text, end).end()
        at = _SPACE.match(text, at + 1).end() if text[at] == "," else at
        index += 1


# Reports of one run --------------------------------------------------------------------------------------------------


def _continues(report: LocatedReport, following: LocatedReport) -> bool:
    """Return whether the second report is a later one of the same run, or the same report again."""
    if [_identity(each) for each in report.entries] != [_identity(each) for each in following.entries]:
        return False
    earlier, later = (
        [float(value) for entry in each.entries for value in _counts(entry)] for each in (report, following)
    )
    if len(earlier) != len(later) or any(after < before for before, after in zip(earlier, later, strict=True)):
        return False
    started = [[entry.get("job_start") for entry in each.entries] for each in (report, following)]
    if all(isinstance(each, int) for each in [*started[0], *started[1]]):
        return started[0] == started[1]
    before, after = (longest_seconds(each.entries) for each in (report, following))
    for key, (unit, exact) in PRINTED.items():
        moments = [each.value.get(key) for each in (report, following)]
        if all(isinstance(each, int) for each in moments):
            printed, again = (moment / unit for moment in moments)
            # It was running before the first report was printed.
            return again == printed or again - after <= printed - exact
    return after >= before * LONGER or earlier == later


def _identity(entry: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("jobname", "groupid", "hostname", "port", "job options")
    return tuple(str(entry.get(key)) for key in keys)


def _counts(entry: Mapping[str, Any]) -> Iterator[float]:
    for stats in _directions(entry):
        for key in ("total_ios", "io_bytes", "runtime"):
            value = stats.get(key)
            yield value if isinstance(value, int | float) else 0


def longest_seconds(entries: Sequence[Mapping[str, Any]]) -> float:
    """Return for how many seconds the longest of jobs ran."""
    times = [stats.get("runtime") for entry in entries for stats in _directions(entry)]
    return max((time for time in times if isinstance(time, int | float)), default=0) / 1000


def _directions(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (entry[which] for which in ("read", "write", "trim", "mixed") if isinstance(entry.get(which), dict))


# fio's options: what of them is a level, may change the measurement, or only concerns the output ---------------------

_TIME = re.compile(r"(\d{1,12})(|us|ms|s|m|h|d)", re.ASCII)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_DIRECTIONS = {"read": ("read",), "write": ("write",), "rw": ("read", "write"), "readwrite": ("read", "write")}
#: Block sizes are whole sectors.
_SECTOR = 512
#: Engines whose calls return when the operation is done, so that only one is in flight, whatever `iodepth` says.
_SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"})
#: The share in percent of operations with one in flight from which on there was only one.
_ALWAYS = 99.5
#: An option's other names.
SAME = {
    "blocksize": "bs", "readwrite": "rw", "io_limit": "io_size", "iodepth_batch": "iodepth_batch_submit",
    "ramp": "ramp_time",
}  # fmt: skip
#: Options for the output and the names of jobs, options that are levels, and those that say in which order jobs ran.
_NOT_OF_THE_LOAD = frozenset({
    "name", "description", "bs", "rw", "iodepth", "numjobs", "rwmixread", "rwmixwrite", "group_reporting",
    "per_job_logs", "output", "output-format", "status-interval", "eta", "minimal", "randseed", "log_avg_msec",
    "log_hist_msec", "log_max_value", "log_offset", "log_compression", "log_store_compressed", "log_unix_epoch",
    "log_entries", "disk_util", "slat_percentiles", "percentile_list", "significant_figures", "unified_rw_reporting",
    "stonewall", "new_group", "wait_for", "startdelay", "clientname", "clustername", "unlink", "unlink_each_loop",
    "exitall", "kb_base",
})  # fmt: skip
_LOGS = re.compile(r"write_(?:bw|lat|hist|iops)_log", re.ASCII)


@dataclass(frozen=True)
class StatedWorkload:
    """The levels that tell workloads apart. `notes` say what a person should know, of equal ones those of the first."""

    levels: tuple[tuple[str, Level], ...]
    notes: tuple[str, ...] = field(default=(), compare=False)


def workload_of(entry: Mapping[str, Any], options: Mapping[str, str]) -> StatedWorkload | str:
    """Return the workload of a job, or why it is unknown. What is not stated is `unstated`."""
    rw = options.get("rw", UNSTATED).partition(":")[0]
    base = rw.removeprefix("rand")
    if rw != UNSTATED and base not in _DIRECTIONS:
        return f"rw={rw[:20]} is neither reading nor writing"
    if blocks := [name for name in ("bsrange", "bssplit", "blocksize_range", "bs_unaligned") if name in options]:
        return f"its block sizes vary ({blocks[0]}={options[blocks[0]][:40]}): there is no single I/O size"
    done = [which for which in ("read", "write") if _count(entry, which, "total_ios")]
    if "bs" in options:
        size: Level | None = _block_size(options, _DIRECTIONS.get(base, done))
    else:
        size = measured_size(lambda: directions_of(Place("", entry))) or UNSTATED
    if size is None:
        return f"bs={options.get('bs', '')[:40]} is not one size"
    asked = whole_number(options.get("iodepth", "0"))
    if asked is None:
        return f"iodepth={options['iodepth'][:20]} is not a number"
    depth, notes = _depth(entry, options, asked or _count(entry, "latency_depth"))
    word = rw if rw == UNSTATED else f"{rw.removesuffix(base)}{'rw' if base == 'readwrite' else base}"
    levels: dict[str, Level] = {"rw": word, "io_size_bytes": size, "io_depth": depth}
    if len(_DIRECTIONS.get(base, ())) == 2:
        levels["rw_mix_read"] = _mix(options)
    return StatedWorkload(tuple(levels.items()), notes)


def _mix(options: Mapping[str, str]) -> Level:
    """Return the share of reads in percent."""
    reads, writes = whole_number(options.get("rwmixread", "")), whole_number(options.get("rwmixwrite", ""))
    if reads is not None:
        return reads
    return UNSTATED if writes is None else 100 - writes


def _depth(entry: Mapping[str, Any], options: Mapping[str, str], asked: int) -> tuple[Level, tuple[str, ...]]:
    """Return how many operations were in flight, and a note if that is not what was asked for."""
    shares = entry.get("iodepth_level")
    alone = shares.get("1") if isinstance(shares, dict) else None
    only_one = alone >= _ALWAYS if isinstance(alone, int | float) else options.get("ioengine") in _SYNCHRONOUS
    if not only_one:
        return asked or UNSTATED, ()
    if asked > 1:
        engine = options.get("ioengine", "this engine")
        return 1, (f"{engine} had 1 operation in flight, whatever iodepth said",)
    return 1, ()


def _block_size(options: Mapping[str, str], directions: tuple[str, ...] | list[str]) -> int | None:
    """Return fio's `bs` in bytes: from `8k,16k` (reads, writes) that of the only direction, or both if they agree.

    With `kb_base` 1024, its default, `4k` are 4096 bytes and `4Ki` are 4000; with 1000 it is the other way round.
    """
    sizes = options["bs"].split(",")
    which = {"read": 0, "write": 1}
    wanted = {min(which[direction], len(sizes) - 1) for direction in directions} or {0}
    kilo, kibi = (1000, 1024) if options.get("kb_base") == "1000" else (1024, 1000)
    block_sizes = {bytes_of(sizes[at].strip() or sizes[0].strip(), kilo=kilo, kibi=kibi) for at in wanted}
    return block_sizes.pop() or None if len(block_sizes) == 1 else None


def measured_size(directions: Callable[[], Mapping[str, Direction]]) -> int | None:
    """Return the size of the operations that fio counted, if they all had one, and if its reader accepts them."""
    try:
        sizes = {_size_of(done) for done in directions().values() if done.operations}
    except OutputError:
        return None
    return sizes.pop() if len(sizes) == 1 else None


def _size_of(done: Direction) -> int | None:
    """Return the size of each operation in bytes, None if it is not of whole sectors.

    A few operations at the end of the ramp count in the bytes only.
    """
    each = done.io_bytes / done.operations
    sectors = round(each / _SECTOR)
    return sectors * _SECTOR if sectors and abs(each - sectors * _SECTOR) <= 0.005 * each else None


def in_flight(entry: Mapping[str, Any]) -> float:
    """Return what an entry's jobs had in flight, on average: by Little's law, rate times latency."""
    try:
        directions = directions_of(Place("", entry))
    except OutputError:
        return 0.0
    return sum(done.operations / done.seconds * done.latency.mean for done in directions.values())


def load_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that may change what is measured and are no levels."""
    return {name: text for name, text in options.items() if name not in _NOT_OF_THE_LOAD and not _LOGS.fullmatch(name)}


def common(several: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the options of what ran at once; those that differ, such as the file, are `several`."""
    shared = {}
    for name in sorted({name for options in several for name in options}):
        values = {options.get(name, "") for options in several}
        shared[name] = values.pop() if len(values) == 1 else "several"
    return {name: value for name, value in shared.items() if value}


def logs_of(options: Mapping[str, str]) -> dict[str, str]:
    """Return how the names of a job's logs over time begin, by kind; only logs of windows are told over time."""
    if not whole_number(options.get("log_avg_msec", "0")):
        return {}
    names = {kind: options.get(f"write_{kind}_log", "") for kind in ("iops", "bw", "lat")}
    return {kind: name.rpartition("/")[2] for kind, name in names.items() if name}


def seconds_of(text: str) -> float | None:
    """Return one of fio's times in seconds: `30`, `500ms`, `2m`; None if it is none."""
    match = _TIME.fullmatch(text.strip().lower())
    return int(match[1]) * _SECONDS[match[2]] if match else None


def _count(entry: Mapping[str, Any], *keys: str) -> int:
    value: Any = entry
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return int(value) if isinstance(value, int | float) and value > 0 else 0
