"""fio's JSON: its clients, what each did, and its latencies, whose bins can be merged. Pure."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from replay.tools.base import OutputError, Place, Run, agrees, number, read_json

ALL_CLIENTS = "All clients"
#: By how much a rate may differ from its own total and time: fio rounds each, and a sum of clients once more.
_ROUNDING = 1e-4
DIRECTIONS = ("read", "write")
#: Where a report begins behind what fio printed before.
START = re.compile(r"^[ \t]*\{", re.MULTILINE)


@dataclass(frozen=True)
class Direction:
    """Reads or writes of one client, and their latencies."""

    operations: float
    io_bytes: float
    seconds: float
    latency: Latency


@dataclass(frozen=True)
class Client:
    """One job: its name, its options as fio echoes them, its place in the JSON, and what it did.

    `directions` has `read` and `write`, or only `mixed` if fio does not report them apart (`unified_rw_reporting`).
    """

    name: str
    options: Mapping[str, Any]
    directions: Mapping[str, Direction]
    place: Place


# Clients -------------------------------------------------------------------------------------------------------------


def read_clients(text: str, file: str, exit_status: int) -> list[Client]:
    """Return the clients, sorted by name, from any fio since 2.0. Raises OutputError unless it is one whole report."""
    start = START.search(text)
    if start is None:
        message = next((line for line in text.splitlines() if line.strip()), "nothing")
        reason = "failed" if exit_status else "incomplete"
        raise OutputError(f"no JSON (exit status {exit_status}): {message[:120]!r}", file=file, reason=reason)
    report = read_json(text, file, start=start.start())
    present = [key for key in ("jobs", "client_stats") if report.at(key).value is not None]
    if len(present) != 1 or not report.rows(present[0]):
        report.refuse("neither a list of 'jobs' nor one of 'client_stats'")
    shared = report.at("global options").value
    shared = shared if isinstance(shared, dict) else {}
    entries = [_client(entry, shared) for entry in report.rows(present[0])]
    clients = sorted((entry for entry in entries if entry.name != ALL_CLIENTS), key=lambda entry: entry.name)
    # For two or more clients fio adds their sum.
    for total in (entry for entry in entries if entry.name == ALL_CLIENTS):
        _check_total(total, clients)
    return clients


def reported_clients(run: Run, role: str = "output") -> list[Client]:
    """Return the clients of a successful run. Raises OutputError if it failed, or the report is incomplete."""
    file = run.file(role)
    if run.exit_status is None:
        raise OutputError("fio was killed before it could report", file=file, reason="incomplete")
    clients = read_clients(run.text(role), file, run.exit_status)
    if run.exit_status != 0:
        raise OutputError(f"exit status {run.exit_status}: its figures do not count", file=file, reason="failed")
    return clients


def _client(entry: Place, shared: Mapping[str, Any]) -> Client:
    name = entry.at("jobname").value
    if not isinstance(name, str):
        entry.refuse("a job without a name")
    # fio prints plausible IOPS even after an error.
    if error := number(entry.at("error").value):
        entry.refuse(f"{name}: error {error:.0f}: its figures do not count", reason="failed")
    if failed := number(entry.at("total_err").value):
        entry.refuse(f"{name}: {failed:.0f} operations failed: its figures do not count", reason="failed")
    own = entry.at("job options").value
    options = {**shared, **own} if isinstance(own, dict) else dict(shared)
    return Client(name, options, directions_of(entry), entry)


def directions_of(entry: Place) -> dict[str, Direction]:
    """Return what a job did: see `Client`. Raises OutputError if that contradicts itself."""
    directions = {
        which: _direction(entry.at(which))
        for which in DIRECTIONS
        if isinstance(entry.at(which).value, dict) and entry.object(which).number("total_ios")
    }
    if not directions and isinstance(entry.at("mixed").value, dict):
        directions = {"mixed": _direction(entry.at("mixed"))}
    return directions


def _direction(stats: Place) -> Direction:
    operations, seconds = stats.number("total_ios"), stats.number("runtime") / 1000
    if not seconds:
        stats.refuse("a runtime of 0")
    # Old releases round to whole operations.
    if not agrees(stats.number("iops"), operations / seconds, relative=_ROUNDING, absolute=1.0):
        stats.refuse("iops is not total_ios divided by runtime")
    return Direction(operations, _io_bytes(stats, seconds), seconds, read_latency(stats, operations))


def _io_bytes(stats: Place, seconds: float) -> float:
    """Return the bytes that were moved. fio 2 reports them in KiB, and old releases of fio 3 the rate only in KiB/s.

    Which of both it is follows from the rate, which always was in KiB/s, or from nanoseconds, which only fio 3 has.
    """
    moved = stats.number("io_bytes")
    if stats.at("bw_bytes").value is not None:
        if not agrees(stats.number("bw_bytes"), moved / seconds, relative=_ROUNDING, absolute=1.0):
            stats.refuse("bw_bytes is not io_bytes divided by runtime")
        return moved
    if stats.at("bw").value is None and stats.at("clat_ns").value is not None:
        return moved
    rate = 1024 * stats.number("bw")
    for unit in (1, 1024):
        if agrees(rate, moved * unit / seconds, relative=0.01, absolute=1024 + 1024 / seconds):
            return moved * unit
    stats.refuse("bw is not io_bytes divided by runtime, in bytes or in KiB")


def _check_total(total: Client, clients: Sequence[Client]) -> None:
    """Refuse a report in which "All clients" is not the sum of its clients: one of them is missing."""
    for which in dict.fromkeys([*DIRECTIONS, *total.directions]):
        summed = total.directions.get(which)
        parts = [client.directions[which] for client in clients if which in client.directions]
        for attribute in ("operations", "io_bytes"):
            of_parts = math.fsum(getattr(part, attribute) for part in parts)
            if not agrees(of_parts, getattr(summed, attribute) if summed else 0.0, relative=_ROUNDING):
                what = f"{ALL_CLIENTS!r} and the sum of the {len(clients)} clients differ in {which}s: one is missing"
                total.place.refuse(what, reason="client_lost")


# Latencies -----------------------------------------------------------------------------------------------------------
# fio counts latencies in 64 bins per power of two and reports each by its middle (fio's stat.c, `plat_val_to_idx`,
# `plat_idx_to_val`, FIO_IO_U_PLAT_BITS = 6). Each value below 128 ns has a bin of its own. Above, the bin of a value
# whose highest bit is `m` is `2 ** (m - 6)` ns wide and starts at a multiple of its width. The highest bin ends at
# 2 ** 34 ns (FIO_IO_U_PLAT_GROUP_NR = 29) and also counts whatever took longer, so a percentile in it is a lower bound.
# fio 2 counted microseconds, up to 2 ** 24 (FIO_IO_U_PLAT_GROUP_NR = 19).

PLAT_BITS = 6
#: Where the last bin begins, in seconds: of fio 3, of fio 2. No bin of fio 3 has the middle of the last one of fio 2.
LAST_BIN, OLD_LAST_BIN = ((1 << 34) - (1 << 33 - PLAT_BITS)) / 1e9, ((1 << 24) - (1 << 23 - PLAT_BITS)) / 1e6
OLD_LAST_MIDDLE = ((1 << 24) - (1 << 22 - PLAT_BITS)) / 1e6


@dataclass(frozen=True)
class Latency:
    """Latencies in seconds. `percentiles` maps percent to seconds; `bins` the middle in nanoseconds to the count.

    `total` names what is total latency (`lat`) because there is no completion latency (`clat`): the values, or only
    their percentiles. A percentile of `last_bin` seconds or more is a lower bound.
    """

    samples: float
    mean: float
    low: float
    high: float
    percentiles: Mapping[float, float] = field(default_factory=dict)
    bins: Mapping[int, int] = field(default_factory=dict)
    total: str = ""
    last_bin: float = LAST_BIN


_NO_LATENCY = Latency(0.0, 0.0, 0.0, 0.0)


def read_latency(direction: Place, operations: float) -> Latency:
    """Return the completion latencies of reads or writes, or the total ones if completion was not measured.

    `operations` counts the samples if the report does not, as in old releases. Since fio 3, latencies are nanoseconds.
    """
    old = direction.at("clat_ns").value is None and isinstance(direction.at("clat").value, dict)
    ending, unit = ("", 1e6) if old else ("_ns", 1e9)
    completion = _read_latency(direction.at(f"clat{ending}"), operations, unit)
    if completion.samples and (completion.percentiles or completion.bins):
        return completion
    total = _read_latency(direction.at(f"lat{ending}"), operations, unit)
    if not completion.samples:
        return replace(total, total="values" if total.samples else "")
    if total.percentiles or total.bins:
        return replace(completion, percentiles=total.percentiles, bins=total.bins, total="percentiles")
    return completion


def _read_latency(place: Place, operations: float, unit: float) -> Latency:
    if not isinstance(place.value, dict):
        return _NO_LATENCY
    low, mean, high = (place.number(key) / unit for key in ("min", "mean", "max"))
    stated = place.at("N").value is not None
    # If all are 0, latencies were not measured.
    samples = place.number("N") if stated else (operations if high else 0.0)
    percentiles = {percent: value / unit for percent, value in _percentiles(place.at("percentile")).items()}
    if unit == 1e9:
        return Latency(samples, mean, low, high, percentiles, _bins(place.at("bins")))
    return Latency(samples, mean, low, high, percentiles, last_bin=OLD_LAST_BIN)


def _percentiles(place: Place) -> dict[float, float]:
    """Return the printed percentiles by percent. Old releases pad them with `0.00`."""
    if not isinstance(place.value, dict):
        return {}
    percents = {text: number(text) for text in place.value}
    return {percent: place.number(text) for text, percent in percents.items() if percent}


def _bins(place: Place) -> dict[int, int]:
    if not isinstance(place.value, dict):
        return {}
    bins = {int(middle): count for middle, count in place.value.items() if middle.isdecimal()}
    if not all(type(count) is int for count in bins.values()):
        place.refuse("a bin without a count")
    return bins


def merge(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return the sum of histograms, each of bin to count."""
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return total


def percentiles_seconds(bins: Mapping[int, int], percents: Iterable[float]) -> list[float]:
    """Return the percentiles in seconds as fio does: the middle of the first bin at which the count reaches them.

    Percentiles of several clients come from their merged bins: the average of percentiles is not a percentile.
    """
    middles = sorted(bins)
    up_to = [*accumulate(map(bins.__getitem__, middles))]
    places = (bisect_left(up_to, percent / 100 * up_to[-1]) for percent in percents)
    return [middles[min(place, len(middles) - 1)] / 1e9 for place in places]
