"""Reads the clients in fio's JSON: `jobs` of a single run, `client_stats` of client/server mode. Strict, pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replay.tools.base import OutputError, Run, agrees
from replay.tools.json_output import Place, read_json
from replay.tools.output.fio_latency import Latency, check_merged, read_latency

ALL_CLIENTS = "All clients"
_START = re.compile(r"^\{", re.MULTILINE)


@dataclass(frozen=True)
class Direction:
    """Reads or writes of one client, and their completion latencies."""

    operations: float
    io_bytes: float
    seconds: float
    latency: Latency


@dataclass(frozen=True)
class Client:
    """One job: its name, its options as fio echoes them, its `read` and `write`, and its place in the JSON."""

    name: str
    options: Mapping[str, Any]
    directions: Mapping[str, Direction]
    place: Place


def read_clients(text: str, file: str, exit_status: int, *, foreign: bool = False) -> list[Client]:
    """Return the clients, sorted by name. Raises OutputError for anything but one complete report.

    A `foreign` report is of a run that Replay did not start: it may be from any fio since 3.0, its jobs may share a
    name, as those of `numjobs` do, and the sum of several clients may be missing.
    """
    start = _START.search(text)
    if start is None:
        said = next((line for line in text.splitlines() if line.strip()), "nothing")
        reason = "failed" if exit_status else "incomplete"
        raise OutputError(f"no JSON (exit status {exit_status}): {said[:120]!r}", file=file, reason=reason)
    # fio lists the options of several clients in one object, so a key occurs once per client. All values are text.
    report = read_json(text, file, start=start.start(), may_repeat=lambda value: isinstance(value, str))
    present = [key for key in ("jobs", "client_stats") if key in report.value]
    if len(present) != 1 or not report.rows(present[0]):
        report.refuse("neither a list of 'jobs' nor one of 'client_stats'")
    shared = report.at("global options").value
    shared = shared if isinstance(shared, dict) else {}
    entries = [_client(entry, shared, foreign=foreign) for entry in report.rows(present[0])]
    clients = sorted((one for one in entries if one.name != ALL_CLIENTS), key=lambda one: one.name)
    # For two or more clients fio adds their sum, which would count as another client if its name were damaged.
    totals = [one for one in entries if one.name == ALL_CLIENTS]
    listed = report.at(present[0])
    if not foreign and len({one.name for one in clients}) != len(clients):
        listed.refuse("two clients share a name")
    expected = present[0] == "client_stats" and len(clients) > 1
    if totals or (expected and not foreign):
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
        entry.refuse("a job without a name", key="jobname")
    if error := entry.number("error"):
        # fio prints plausible IOPS even after an error.
        entry.refuse(f"{name}: error {error:.0f}: its figures do not count", key="error", reason="failed")
    own = entry.at("job options").value
    options = {**shared, **own} if isinstance(own, dict) else dict(shared)
    directions = {
        which: _direction(entry.at(which), foreign=foreign)
        for which in ("read", "write")
        if entry.object(which).number("total_ios")
    }
    return Client(name, options, directions, entry)


def _direction(stats: Place, *, foreign: bool) -> Direction:
    operations, io_bytes = stats.number("total_ios"), stats.number("io_bytes")
    seconds = stats.number("runtime") / 1000
    if not seconds:
        stats.refuse("a runtime of 0", key="runtime")
    if not agrees(stats.number("iops"), operations / seconds, relative=1e-6, absolute=1e-5):
        stats.refuse("iops is not total_ios divided by runtime", key="iops")
    # The first releases of fio 3 state the bandwidth only in KiB/s.
    stated = not foreign or stats.at("bw_bytes").value is not None
    if stated and not agrees(stats.number("bw_bytes"), io_bytes / seconds, relative=1e-6, absolute=1.0):
        stats.refuse("bw_bytes is not io_bytes divided by runtime", key="bw_bytes")
    return Direction(operations, io_bytes, seconds, read_latency(stats, operations if foreign else None))


def _check_total(listed: Place, clients: list[Client], totals: list[Client]) -> None:
    """Refuse a report in which "All clients" is not the sum of its clients."""
    if len(totals) != 1 or len(clients) < 2:
        listed.refuse(f"{len(totals)} entries {ALL_CLIENTS!r} for {len(clients)} clients")
    for which in ("read", "write"):
        total, place = totals[0].directions.get(which), totals[0].place.at(which)
        parts = [one.directions[which] for one in clients if which in one.directions]
        for key, attribute in (("total_ios", "operations"), ("io_bytes", "io_bytes")):
            summed = math.fsum(getattr(one, attribute) for one in parts)
            if summed != (getattr(total, attribute) if total else 0):
                place.refuse(f"{ALL_CLIENTS!r} and the sum of the clients differ in {which}s", key=key)
        if total:
            check_merged(place, total.latency, [one.latency for one in parts])
