"""fio's options: what of them is a level, what may change the measurement, and what only concerns the output. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replay.exchange.importing.runs import Level
from replay.tools.base import UNSTATED

_SIZE = re.compile(r"(\d{1,15}) ?([kmgtp]?)(i?)b?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
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
#: Stands for an option that differs between jobs that ran at once, such as the file.
SEVERAL = "several"


@dataclass(frozen=True)
class Workload:
    """The levels that tell workloads apart, and what a person should know about them."""

    levels: tuple[tuple[str, Level], ...]
    notes: tuple[str, ...] = ()


def workload_of(entry: Mapping[str, Any], options: Mapping[str, str]) -> Workload | str:
    """Return the workload of a job, or why it is unknown. What is not stated is `unstated`."""
    rw = options.get("rw", UNSTATED).partition(":")[0]
    base = rw.removeprefix("rand")
    if rw != UNSTATED and base not in _DIRECTIONS:
        return f"rw={rw[:20]} is neither reading nor writing"
    if blocks := [name for name in ("bsrange", "bssplit", "blocksize_range", "bs_unaligned") if name in options]:
        return f"its block sizes vary ({blocks[0]}={options[blocks[0]][:40]}): there is no single I/O size"
    done = [which for which in ("read", "write") if _count(entry, which, "total_ios")]
    size = measured_size(entry) if "bs" not in options else _block_size(options, _DIRECTIONS.get(base, done))
    if size is None:
        return f"bs={options.get('bs', '')[:40]} is not one size"
    asked = whole(options.get("iodepth", "0"))
    if asked is None:
        return f"iodepth={options['iodepth'][:20]} is not a number"
    depth, notes = _depth(entry, options, asked or _count(entry, "latency_depth"))
    word = rw if rw == UNSTATED else f"{rw.removesuffix(base)}{'rw' if base == 'readwrite' else base}"
    levels: dict[str, Level] = {"rw": word, "io_size_bytes": size, "io_depth": depth}
    if len(_DIRECTIONS.get(base, ())) == 2:
        levels["rw_mix_read"] = _mix(options)
    return Workload(tuple(levels.items()), notes)


def _mix(options: Mapping[str, str]) -> Level:
    """Return the share of reads in percent."""
    reads, writes = whole(options.get("rwmixread", "")), whole(options.get("rwmixwrite", ""))
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
    """Return fio's `bs` in bytes: from `8k,16k` (reads, writes) that of the only direction, or both if they agree."""
    sizes = options["bs"].split(",")
    which = {"read": 0, "write": 1}
    wanted = {min(which[one], len(sizes) - 1) for one in directions} or {0}
    found = {_bytes(sizes[one].strip() or sizes[0].strip(), options.get("kb_base", "1024")) for one in wanted}
    return found.pop() if len(found) == 1 else None


def _bytes(text: str, base: str) -> int | None:
    """Return a size in bytes as fio reads it.

    With `kb_base` 1024, its default, `4k` are 4096 bytes and `4Ki` are 4000; with 1000 it is the other way round.
    """
    match = _SIZE.fullmatch(text)
    if match is None or base not in ("1000", "1024"):
        return None
    kilo = 1024 if (base == "1024") != bool(match[3]) else 1000
    return int(match[1]) * kilo ** _POWERS[match[2].lower()] or None


def measured_size(entry: Mapping[str, Any]) -> Level:
    """Return the size of the operations that fio counted, if they all had one."""
    sizes = set()
    for which in ("read", "write", "mixed"):
        operations, moved, rate, milliseconds = (
            _count(entry, which, key) for key in ("total_ios", "io_bytes", "bw", "runtime")
        )
        if operations:
            # fio 2 counts bytes in KiB, and every release the rate.
            in_kibibytes = milliseconds and rate and abs(moved * 1000 / milliseconds - rate) < 0.01 * rate + 1
            sizes.add(size_of(operations, moved * (1024 if in_kibibytes else 1)))
    return sizes.pop() or UNSTATED if len(sizes) == 1 else UNSTATED


def size_of(operations: float, moved: float) -> int | None:
    """Return the size of each operation in bytes, None if it is not of whole sectors.

    A few operations at the end of the ramp count in the bytes only.
    """
    each = moved / operations
    sectors = round(each / _SECTOR)
    return sectors * _SECTOR if sectors and abs(each - sectors * _SECTOR) <= 0.005 * each else None


def load_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that may change what is measured and are no levels."""
    return {name: text for name, text in options.items() if name not in _NOT_OF_THE_LOAD and not _LOGS.fullmatch(name)}


def logs_of(options: Mapping[str, str]) -> dict[str, str]:
    """Return how the names of a job's logs over time begin, by kind; only logs of windows are told over time."""
    if not whole(options.get("log_avg_msec", "0")):
        return {}
    names = {kind: options.get(f"write_{kind}_log", "") for kind in ("iops", "bw", "lat")}
    return {kind: name.rpartition("/")[2] for kind, name in names.items() if name}


def whole(text: str) -> int | None:
    """Return a whole number, None if the text is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def seconds_of(text: str) -> float | None:
    """Return one of fio's times in seconds: `30`, `500ms`, `2m`; None if it is none."""
    match = _TIME.fullmatch(text.strip().lower())
    return int(match[1]) * _SECONDS[match[2]] if match else None


def _count(entry: Mapping[str, Any], *keys: str) -> int:
    value: Any = entry
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return int(value) if isinstance(value, int | float) and value > 0 else 0
