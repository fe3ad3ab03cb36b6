"""fio's JSON and JSON+, with anything that fio printed before and after it, and several reports one after another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from replay.base.clock import utc_text
from replay.exchange.importing.found import Found, Level, NotTaken, Ranges, joined
from replay.tools.fio_report import ALL_CLIENTS
from replay.tools.json_output import members

FAMILY = "fio"
_START = re.compile(r"^\{", re.MULTILINE)
_VERSION = re.compile(r"fio-(\d+)\.(\d+)[^\s]{0,40}", re.ASCII)
_SIZE = re.compile(r"(\d{1,15}) ?(|[kmgt]i?b?|b)", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_DIRECTIONS = {"read": ("read",), "write": ("write",), "rw": ("read", "write"), "readwrite": ("read", "write")}
#: An option's other names.
_SAME = {
    "blocksize": "bs", "readwrite": "rw", "io_limit": "io_size", "iodepth_batch": "iodepth_batch_submit",
    "ramp": "ramp_time",
}  # fmt: skip
#: Options for the output and the names of jobs, and options that are levels.
_NOT_OF_THE_LOAD = frozenset({
    "name", "description", "bs", "rw", "iodepth", "numjobs", "rwmixread", "rwmixwrite", "group_reporting",
    "per_job_logs", "output", "output-format", "status-interval", "eta", "minimal", "randseed", "log_avg_msec",
    "log_hist_msec", "log_max_value", "log_offset", "log_compression", "log_store_compressed", "log_unix_epoch",
    "log_entries", "disk_util", "lat_percentiles", "clat_percentiles", "slat_percentiles", "percentile_list",
    "significant_figures", "unified_rw_reporting", "stonewall", "new_group", "wait_for", "clientname", "clustername",
    "unlink", "unlink_each_loop", "exitall",
})  # fmt: skip
_LOGS = re.compile(r"write_(?:bw|lat|hist|iops)_log", re.ASCII)
#: Stands for an option that differs between jobs that ran at once, such as the file.
SEVERAL = "several"


def knows(text: str) -> bool:
    """Return whether a text contains fio's JSON."""
    return '"fio version"' in text and _START.search(text) is not None


def read(text: str) -> list[Found | NotTaken]:
    """Return the runs of every report in a text: one for each workload of each group of jobs."""
    found: list[Found | NotTaken] = []
    decoder, at = json.JSONDecoder(), 0
    while start := _START.search(text, at):
        try:
            report, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            found.append(NotTaken(f"not whole JSON: {error}"[:160]))
            break
        if isinstance(report, dict) and "fio version" in report:
            found += _of_report(text, report, start.start(), end)
        at = end
    return found


def _of_report(text: str, report: Mapping[str, Any], start: int, end: int) -> list[Found | NotTaken]:
    version = str(report["fio version"])[:60]
    match = _VERSION.fullmatch(version)
    if match is None or int(match[1]) < 3:
        return [NotTaken(f"a report of {version!r}: the units are known only for fio 3.0 and later")]
    lists = [key for key in ("jobs", "client_stats") if isinstance(report.get(key), list)]
    if len(lists) != 1:
        return [NotTaken("it has neither a list 'jobs' nor a list 'client_stats'")]
    entries = report[lists[0]]
    shared = _options(report.get("global options"))
    jobs = [
        (index, entry, shared | _options(entry.get("job options")))
        for index, entry in enumerate(entries)
        if isinstance(entry, dict) and entry.get("jobname") != ALL_CLIENTS
    ]
    if not jobs:
        return [NotTaken("it reports no job")]
    groups: dict[Any, dict[tuple, list]] = {}
    problems: list[NotTaken] = []
    for index, entry, options in jobs:
        workload = _workload(entry, options)
        if isinstance(workload, str):
            problems.append(NotTaken(f"{_name(entry)}: {workload}"))
        else:
            of_group = groups.setdefault(str(entry.get("groupid")), {})
            of_group.setdefault(tuple(workload.items()), []).append((index, entry, options))
    spans = _spans(text, start, lists[0])
    reported_at = _moment(report)
    found: list[Found | NotTaken] = [*problems]
    for of_group in groups.values():
        for workload, members_of in of_group.items():
            count = _jobs(members_of)
            if isinstance(count, str):
                found.append(NotTaken(f"{_name(members_of[0][1])}: {count}"))
                continue
            levels: dict[str, Level] = {**dict(workload), "jobs": count}
            if at_once := len(of_group) + len(problems) - 1:
                levels["workloads_at_once"] = at_once + 1
            chosen = [index for index, _, _ in members_of]
            # A run of only some of the clients has no sum of all of them.
            parts = ((start, end),) if len(chosen) == len(jobs) else _cut(start, end, spans, chosen)
            found.append(
                Found(
                    tool="fio_report",
                    parts=parts,
                    levels=levels,
                    options=_common([options for _, _, options in members_of]),
                    job=_name(members_of[0][1]),
                    reported_at=reported_at,
                    version=version,
                )
            )
    return found


def _options(value: Any) -> dict[str, str]:
    """Return options by their usual names; a flag without a value is 1."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return {}
    return {
        _SAME.get(name, name): "1" if text == "" else str(text)
        for name, text in value.items()
        if isinstance(text, str | int | float)
    }


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("jobname", ""))[:80]


def _workload(entry: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Level] | str:
    """Return the levels that tell workloads apart, or why they are unknown."""
    rw = options.get("rw", "read").partition(":")[0]
    base = rw.removeprefix("rand")
    if base not in _DIRECTIONS:
        return f"rw={rw[:20]} is neither reading nor writing"
    if blocks := [name for name in ("bsrange", "bssplit", "blocksize_range", "bs_unaligned") if name in options]:
        return f"its block sizes vary ({blocks[0]}={options[blocks[0]][:40]}): there is no single I/O size"
    size = _block_size(options.get("bs", "4096"), base, options.get("kb_base", "1024"))
    if size is None:
        return f"bs={options.get('bs', '')[:40]} is not one size"
    depth = _whole(options.get("iodepth", "1"))
    if depth is None:
        return f"iodepth={options['iodepth'][:20]} is not a number"
    levels: dict[str, Level] = {"rw": f"{rw.removesuffix(base)}{'rw' if base == 'readwrite' else base}"}
    levels |= {"io_size_bytes": size, "io_depth": depth}
    if len(_DIRECTIONS[base]) == 2:
        mix = _whole(options.get("rwmixread", "")) if "rwmixread" in options else None
        if mix is None and "rwmixwrite" in options:
            written = _whole(options["rwmixwrite"])
            mix = None if written is None else 100 - written
        # fio's own default.
        levels["rw_mix_read"] = 50 if mix is None else mix
    return levels


def _block_size(text: str, base: str, kilo: str) -> int | None:
    """Return fio's `bs` in bytes: from `8k,16k` (reads, writes) that of the only direction, or both if they agree."""
    sizes = text.split(",")
    which = {"read": 0, "write": 1}
    wanted = {min(which[one], len(sizes) - 1) for one in _DIRECTIONS[base]}
    found = {_bytes(sizes[one].strip() or sizes[0].strip(), kilo) for one in wanted}
    return found.pop() if len(found) == 1 else None


def _bytes(text: str, kilo: str) -> int | None:
    """Return a size in bytes: for fio `4k`, `4kb` and `4kib` are 4096, unless `kb_base` is 1000."""
    match = _SIZE.fullmatch(text)
    if match is None or kilo != "1024":
        return None
    return int(match[1]) * 1024 ** _POWERS[match[2][:1].lower()] or None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _jobs(members_of: list[tuple[int, Mapping[str, Any], Mapping[str, str]]]) -> int | str:
    """Return how many jobs ran: `numjobs` for a group reported as one, else the number of entries."""
    by_name: dict[tuple, list[Mapping[str, str]]] = {}
    for _, entry, options in members_of:
        key = (entry.get("hostname"), entry.get("port"), _name(entry))
        by_name.setdefault(tuple(map(str, key)), []).append(options)
    total = 0
    for several in by_name.values():
        asked = _whole(several[0].get("numjobs", "1"))
        if asked is None:
            return f"numjobs={several[0]['numjobs'][:20]} is not a number"
        if len(several) not in (1, asked) and asked > 1:
            return f"{len(several)} of {asked} jobs reported"
        total += max(asked, len(several))
    return total


def _common(several: list[Mapping[str, str]]) -> dict[str, str]:
    """Return the other options of the jobs of one workload; targets that differ are `several`."""
    names = {name for options in several for name in options}
    found = {}
    for name in sorted(names):
        if name in _NOT_OF_THE_LOAD or _LOGS.fullmatch(name):
            continue
        values = {options.get(name, "") for options in several}
        found[name] = values.pop() if len(values) == 1 else SEVERAL
    return {name: value for name, value in found.items() if value}


def _moment(report: Mapping[str, Any]) -> str | None:
    """Return when fio printed the report."""
    for key, unit in (("timestamp_ms", 1000), ("timestamp", 1)):
        value = report.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value / unit < 4e9:
            return utc_text(datetime.fromtimestamp(value / unit, UTC))
    return None


def _spans(text: str, start: int, key: str) -> list[tuple[int, int]]:
    """Return the place of each entry in the list `key`; the first and the last span are the list's brackets."""
    at, end = next((begin, stop) for name, begin, stop in members(text, start) if name == key)
    return [(at, at + 1), *((begin, stop) for _, begin, stop in members(text, at)), (end - 1, end)]


def _cut(start: int, end: int, spans: list[tuple[int, int]], chosen: Iterable[int]) -> Ranges:
    """Return the ranges that make a report of only the chosen entries."""
    opening, *entries, closing = spans
    kept = list(chosen)
    ranges = [(start, opening[1])]
    for place, index in enumerate(kept):
        ranges.append(entries[index])
        if place + 1 < len(kept):
            # Another entry follows, so there is a comma.
            ranges.append((entries[index][1], entries[index + 1][0]))
    return joined([*ranges, (closing[0], end)])
