"""fio's JSON: its clients, whether they did what was asked for, and the metrics of a run. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from replay.tools.base import OutputError, Reader, Result, Run, agrees, number, roles_by_instance
from replay.tools.cell_logs import series_of_logs
from replay.tools.fio_latency import (
    HIGHEST_START,
    Latency,
    bounds_nanoseconds,
    merge,
    percentiles_seconds,
    read_latency,
)
from replay.tools.json_output import Place, read_json

PERCENTILES = (50.0, 95.0, 99.0, 99.9)
ALL_CLIENTS = "All clients"
#: By how much a rate may differ from its own total and time: fio rounds each, and a sum of clients once more.
_ROUNDING = 1e-4
#: Operations in flight at the end of the ramp count in `io_bytes` but not in `total_ios`. At least so many may.
_IN_FLIGHT = 1024
_DIRECTIONS = ("read", "write")
_START = re.compile(r"^[ \t]*\{", re.MULTILINE)
_SIZE = re.compile(r"(\d{1,15})([kKmMgG]?)i?[bB]?", re.ASCII)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


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


class FioReport(Reader):
    """Reads fio's reports of runs that Replay did not start. Each role (`output`, `output-2-1`, …) is one fio's.

    All ran at once. Further roles are fio's logs over time: see `series_of_logs`.
    """

    name = "fio_report"

    def read(self, run: Run) -> Result:
        """Read the reports. Levels: `instances` (the number of reports), `rw`, `io_size_bytes`, `io_depth`, `jobs`."""
        file = run.file("output")
        roles = [role for roles in roles_by_instance(run.texts, int(run.levels.get("instances", 1)), file)
                 for role in roles]  # fmt: skip
        clients = [client for role in roles for client in read_clients(run.text(role), run.file(role), 0, foreign=True)]
        idle = sorted({client.name for client in clients if not client.directions})
        if idle or not clients:
            what = f"no I/O was done by {', '.join(idle)}" if idle else "no job reported"
            raise OutputError(what, file=file, reason="failed")
        for client in clients:
            check_done(client, run.levels)
        # The number of entries depends on how the report was printed. The level `jobs` says how many jobs ran.
        measured = {name: value for name, value in metrics(clients).items() if name != "clients"}
        return Result(
            metrics=measured,
            series=series_of_logs(run),
            histogram=lambda: histogram(clients),
            notes=notes(clients),
        )


REPORT = FioReport()


# Clients -------------------------------------------------------------------------------------------------------------


def read_clients(text: str, file: str, exit_status: int, *, foreign: bool = False) -> list[Client]:
    """Return the clients, sorted by name. Raises OutputError for anything but one complete report.

    A `foreign` report is of a run that Replay did not start: it may be from any fio since 2.0, its jobs may share a
    name, as those of `numjobs` do, and the sum of several clients may be missing.
    """
    start = _START.search(text)
    if start is None:
        message = next((line for line in text.splitlines() if line.strip()), "nothing")
        reason = "failed" if exit_status else "incomplete"
        raise OutputError(f"no JSON (exit status {exit_status}): {message[:120]!r}", file=file, reason=reason)
    # fio lists the options of several clients in one object, so a key occurs once per client. All values are text.
    report = read_json(text, file, start=start.start(), may_repeat=lambda value: foreign or isinstance(value, str))
    present = [key for key in ("jobs", "client_stats") if report.at(key).value is not None]
    if len(present) != 1 or not report.rows(present[0]):
        report.refuse("neither a list of 'jobs' nor one of 'client_stats'")
    shared = report.at("global options").value
    shared = shared if isinstance(shared, dict) else {}
    entries = [_client(entry, shared, foreign=foreign) for entry in report.rows(present[0])]
    clients = sorted((one for one in entries if one.name != ALL_CLIENTS), key=lambda one: one.name)
    totals = [one for one in entries if one.name == ALL_CLIENTS]
    listed = report.at(present[0])
    if not foreign and len({one.name for one in clients}) != len(clients):
        listed.refuse("two clients share a name")
    # For two or more clients fio adds their sum, which would count as another client if its name were damaged.
    if totals or (present[0] == "client_stats" and len(clients) > 1 and not foreign):
        _check_total(listed, clients, totals)
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


def _client(entry: Place, shared: Mapping[str, Any], *, foreign: bool) -> Client:
    name = entry.at("jobname").value
    if not isinstance(name, str):
        entry.refuse("a job without a name")
    # fio prints plausible IOPS even after an error.
    if error := number(entry.at("error").value) if foreign else entry.number("error"):
        entry.refuse(f"{name}: error {error:.0f}: its figures do not count", reason="failed")
    if failed := number(entry.at("total_err").value):
        entry.refuse(f"{name}: {failed:.0f} operations failed: its figures do not count", reason="failed")
    own = entry.at("job options").value
    options = {**shared, **own} if isinstance(own, dict) else dict(shared)
    directions = {
        which: _direction(entry.at(which), foreign=foreign)
        for which in _DIRECTIONS
        if isinstance(entry.at(which).value, dict) and entry.object(which).number("total_ios")
    }
    if foreign and not directions and isinstance(entry.at("mixed").value, dict):
        directions = {"mixed": _direction(entry.at("mixed"), foreign=True)}
    return Client(name, options, directions, entry)


def _direction(stats: Place, *, foreign: bool) -> Direction:
    operations, seconds = stats.number("total_ios"), stats.number("runtime") / 1000
    if not seconds:
        stats.refuse("a runtime of 0")
    # Old releases round to whole operations.
    absolute = 1.0 if foreign else 1e-5
    if not agrees(stats.number("iops"), operations / seconds, relative=_ROUNDING, absolute=absolute):
        stats.refuse("iops is not total_ios divided by runtime")
    return Direction(operations, _io_bytes(stats, seconds, foreign), seconds, read_latency(stats, operations))


def _io_bytes(stats: Place, seconds: float, foreign: bool) -> float:
    """Return the bytes that were moved. fio 2 reports them in KiB, and old releases of fio 3 the rate only in KiB/s.

    Which of both it is follows from the rate, which always was in KiB/s, or from nanoseconds, which only fio 3 has.
    """
    moved = stats.number("io_bytes")
    if not foreign or stats.at("bw_bytes").value is not None:
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


def _check_total(listed: Place, clients: Sequence[Client], totals: Sequence[Client]) -> None:
    """Refuse a report in which "All clients" is not the sum of its clients: one of them is missing."""
    if len(totals) != 1 or not clients:
        listed.refuse(f"{len(totals)} entries {ALL_CLIENTS!r} for {len(clients)} clients")
    for which in dict.fromkeys([*_DIRECTIONS, *totals[0].directions]):
        total = totals[0].directions.get(which)
        parts = [one.directions[which] for one in clients if which in one.directions]
        for attribute in ("operations", "io_bytes"):
            summed = math.fsum(getattr(one, attribute) for one in parts)
            if not agrees(summed, getattr(total, attribute) if total else 0.0, relative=_ROUNDING):
                what = f"{ALL_CLIENTS!r} and the sum of the {len(clients)} clients differ in {which}s: one is missing"
                totals[0].place.refuse(what, reason="client_lost")


# What was asked for --------------------------------------------------------------------------------------------------


def check_levels(client: Client, levels: Mapping[str, Any]) -> None:
    """Raise OutputError if fio's options, or what it did, contradict the requested levels."""
    size, echoed = levels.get("io_size_bytes"), _size(client.options.get("bs"))
    if None not in (size, echoed) and echoed != size:
        client.place.refuse(f"{client.name}: bs is {echoed}, expected {size}")
    for level, option in (("io_depth", "iodepth"), ("rw", "rw"), ("rw_mix_read", "rwmixread")):
        echo = client.options.get(option)
        if level in levels and echo is not None and str(echo) != str(levels[level]):
            client.place.refuse(f"{client.name}: {option} is {echo}, expected {levels[level]}")
    check_done(client, levels)


def check_done(client: Client, levels: Mapping[str, Any]) -> None:
    """Raise OutputError if what a job did contradicts the requested levels."""

    def refuse(what: str) -> NoReturn:
        client.place.refuse(f"{client.name}: {what}")

    size = levels.get("io_size_bytes")
    in_flight = max(_IN_FLIGHT, int(levels.get("io_depth", 1)) * int(levels.get("jobs", 1)))
    for which, one in client.directions.items() if size is not None else ():
        if abs(one.io_bytes - one.operations * size) > max(in_flight * size, 0.01 * one.io_bytes):
            refuse(f"{which}s moved {one.io_bytes:.0f} bytes in {one.operations:.0f} operations of {size}")
    kind = levels.get("rw", levels.get("io_type"))
    if kind is None or "mixed" in client.directions:
        return
    allowed, needed = _directions_of(str(kind).removeprefix("rand"), levels.get("rw_mix_read"), client)
    if not needed <= set(client.directions) <= allowed:
        refuse(f"it did {' and '.join(sorted(client.directions))}, expected {' and '.join(sorted(needed or allowed))}")


def _directions_of(kind: str, mix: Any, client: Client) -> tuple[set[str], set[str]]:
    """Return which directions a job may have, and which it must have.

    Of a mix, `mix` % are reads. A direction of which only a few operations are expected may have none.
    """
    if kind not in ("rw", "readwrite"):
        return {kind}, {kind}
    both = set(_DIRECTIONS)
    if mix is None:
        return both, set()
    operations = math.fsum(one.operations for one in client.directions.values())
    shares = {"read": int(mix) / 100, "write": 1 - int(mix) / 100}
    return {which for which in both if shares[which]}, {which for which in both if shares[which] * operations >= 10}


def _size(text: Any) -> int | None:
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    return int(match[1]) * _UNITS[match[2].lower()] if match else None


# Metrics -------------------------------------------------------------------------------------------------------------


def metrics(clients: Sequence[Client]) -> dict[str, float]:
    """Return totals over all clients, and also `read_…` and `write_…` if both directions did I/O.

    Rates are the total divided by the longest client's time, as in fio's own "All clients". Without bins, percentiles
    are given only for one client and one direction, where fio's own are the run's. A percentile in the highest bin is
    given as `latency_p99_at_least_seconds`, the bin's start.
    """
    present = _by_direction(clients)
    everything = [one for several in present.values() for one in several]
    result = {"clients": float(len(clients)), **_summary(everything)}
    if len(present) > 1:
        for which, several in present.items():
            result |= {f"{which}_{key}": value for key, value in _summary(several).items()}
    return result


def notes(clients: Sequence[Client]) -> tuple[str, ...]:
    """Return what a person should know about the latencies: why percentiles are missing, what is a lower bound."""
    present, measured = _by_direction(clients), metrics(clients)
    everything = [one for several in present.values() for one in several if one.latency.samples]
    if not everything:
        return ("no latency: fio did not measure it",)
    texts = [] if [*_merged_percentiles(everything)] else [_why_no_percentiles(present)]
    bounds = [
        f"p{percent:g}"
        for percent in PERCENTILES
        if any(name.endswith(_percentile_name(percent, "at_least_")) for name in measured)
    ]
    if bounds:
        texts.append(f"{', '.join(bounds)} ≥ {HIGHEST_START / 1e9:.0f} s: fio's last bin has no upper end")
    for kind in sorted({one.latency.total for one in everything} - {""}):
        texts.append(f"its {kind} of latency are those of lat, since those of clat were not measured")
    return tuple(texts)


def _why_no_percentiles(present: Mapping[str, Sequence[Direction]]) -> str:
    if not any(one.latency.percentiles or one.latency.bins for several in present.values() for one in several):
        return "no percentiles of latency: the report states none"
    if any(len(several) > 1 for several in present.values()):
        return "no percentiles of latency: several jobs in plain JSON have no bins to merge (json+ has them)"
    return "no percentiles of reads and writes together: plain JSON has no bins to merge, so they are charted apart"


def _by_direction(clients: Iterable[Client]) -> dict[str, list[Direction]]:
    present: dict[str, list[Direction]] = {}
    for client in clients:
        for which, one in client.directions.items():
            present.setdefault(which, []).append(one)
    return {which: present[which] for which in (*_DIRECTIONS, "mixed") if which in present}


def _summary(several: Sequence[Direction]) -> dict[str, float]:
    operations, io_bytes = sum(one.operations for one in several), sum(one.io_bytes for one in several)
    seconds = max(one.seconds for one in several)
    result = {
        "operations": operations,
        "bytes": io_bytes,
        "duration_seconds": seconds,
        "operations_per_second": operations / seconds,
        "bytes_per_second": io_bytes / seconds,
    }
    samples = sum(one.latency.samples for one in several)
    if samples:
        result["latency_mean_seconds"] = math.fsum(one.latency.mean * one.latency.samples for one in several) / samples
        result["latency_min_seconds"] = min(one.latency.low for one in several)
        result["latency_max_seconds"] = max(one.latency.high for one in several)
        for percent, value in _merged_percentiles(several):
            if value < HIGHEST_START / 1e9:
                result[_percentile_name(percent)] = value
            else:
                result[_percentile_name(percent, "at_least_")] = HIGHEST_START / 1e9
    return result


def _percentile_name(percent: float, bound: str = "") -> str:
    return f"latency_p{percent:g}_{bound}seconds".replace(".", "_")


def _merged_percentiles(several: Sequence[Direction]) -> Iterable[tuple[float, float]]:
    if several and all(one.latency.bins for one in several):
        merged = merge(one.latency.bins for one in several)
        return zip(PERCENTILES, percentiles_seconds(merged, PERCENTILES), strict=True)
    if len(several) == 1:
        printed = several[0].latency.percentiles
        return [(percent, printed[percent]) for percent in PERCENTILES if percent in printed]
    return []


def histogram(clients: Iterable[Client]) -> tuple[tuple[str, str, float, float, int], ...]:
    """Return (client, direction, low_seconds, high_seconds, count) of every bin that holds a sample."""
    rows = []
    for client in clients:
        for which, one in client.directions.items():
            for middle, count in sorted(one.latency.bins.items()):
                low, high = bounds_nanoseconds(middle)
                rows.append((client.name, which, low / 1e9, high / 1e9, count))
    return tuple(rows)
