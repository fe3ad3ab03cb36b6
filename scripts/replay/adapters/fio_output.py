"""Reads fio's JSON (`jobs` of a single run, `client_stats` of client/server mode) into clients. Strict, pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from replay.adapters.base import OutputError, agrees, number
from replay.adapters.fio_histogram import bounds_nanoseconds

ALL_CLIENTS = "All clients"
_START = re.compile(r"^\{", re.MULTILINE)


@dataclass(frozen=True)
class Direction:
    """Reads or writes of one client. Latencies in seconds; `bins`: middle of the bin in nanoseconds to count."""

    operations: float
    io_bytes: float
    seconds: float
    samples: float
    mean: float
    low: float
    high: float
    percentiles: Mapping[float, float] = field(default_factory=dict)
    bins: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Client:
    """One job: its name, its options as fio echoes them, and the directions in which it did I/O."""

    name: str
    options: Mapping[str, Any]
    directions: Mapping[str, Direction]


def read_clients(text: str, file: str, exit_status: int) -> list[Client]:
    """Return the clients, in the order of their names. Raises OutputError on anything that is not one whole report."""
    start = _START.search(text)
    if start is None:
        said = next((line for line in text.splitlines() if line.strip()), "nothing")
        reason = "failed" if exit_status else "incomplete"
        raise OutputError(f"no JSON (exit status {exit_status}): {said[:120]!r}", file=file, reason=reason)
    reader = _Reader(file)
    data = reader.load(text, start.start())
    present = [key for key in ("jobs", "client_stats") if key in data]
    if len(present) != 1 or not isinstance(data[present[0]], list) or not data[present[0]]:
        reader.refuse("neither a list of 'jobs' nor one of 'client_stats'")
    shared = data.get("global options")
    entries = [reader.client(entry, shared if isinstance(shared, dict) else {}) for entry in data[present[0]]]
    clients = sorted((one for one in entries if one.name != ALL_CLIENTS), key=lambda one: one.name)
    # Of two or more clients fio adds the sum; one whose name is damaged would else count as a further client.
    totals = [one for one in entries if one.name == ALL_CLIENTS]
    reader.check_total(clients, totals, expected=present[0] == "client_stats" and len(clients) > 1)
    return clients


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file

    def refuse(self, what: str, line: int | None = None, reason: str = "unparsable") -> NoReturn:
        raise OutputError(what, file=self.file, line=line, reason=reason)

    def load(self, text: str, start: int) -> dict[str, Any]:
        def constant(word: str) -> NoReturn:
            raise ValueError(f"{word} is no number")

        try:
            data, end = json.JSONDecoder(parse_constant=constant).raw_decode(text, start)
        except json.JSONDecodeError as error:
            self.refuse(f"not JSON: {error.msg}", line=error.lineno)
        except (ValueError, RecursionError) as error:
            self.refuse(f"not the JSON of fio: {error}")
        if text[end:].strip():
            self.refuse("something follows the JSON: output of two runs is mixed", line=text.count("\n", 0, end) + 1)
        return data

    def value(self, source: Any, key: str) -> float:
        found = number(source.get(key)) if isinstance(source, dict) else None
        if found is None or found < 0:
            self.refuse(f"no number {key!r}")
        return found

    def client(self, entry: Any, shared: Mapping[str, Any]) -> Client:
        if not isinstance(entry, dict) or not isinstance(entry.get("jobname"), str):
            self.refuse("a job without a name")
        name, error = entry["jobname"], self.value(entry, "error")
        if error:
            # With an error fio still prints plausible IOPS.
            self.refuse(f"{name}: error {error:.0f}: its figures do not count", reason="failed")
        own = entry.get("job options")
        options = {**shared, **own} if isinstance(own, dict) else dict(shared)
        directions = {}
        for which in ("read", "write"):
            stats = entry.get(which)
            if self.value(stats, "total_ios"):
                directions[which] = self.direction(stats, f"{name}, {which}")
        return Client(name=name, options=options, directions=directions)

    def direction(self, stats: Mapping[str, Any], where: str) -> Direction:
        operations, io_bytes = self.value(stats, "total_ios"), self.value(stats, "io_bytes")
        seconds = self.value(stats, "runtime") / 1000
        if not seconds:
            self.refuse(f"{where}: a runtime of 0")
        if not agrees(self.value(stats, "iops"), operations / seconds, relative=1e-6, absolute=1e-5):
            self.refuse(f"{where}: iops is not total_ios divided by runtime")
        if not agrees(self.value(stats, "bw_bytes"), io_bytes / seconds, relative=1e-6, absolute=1.0):
            self.refuse(f"{where}: bw_bytes is not io_bytes divided by runtime")
        latency = stats.get("clat_ns")
        low, mean, high = (self.value(latency, key) / 1e9 for key in ("min", "mean", "max"))
        if not low <= mean <= high:
            self.refuse(f"{where}: latencies are not min ≤ mean ≤ max")
        samples = self.value(latency, "N")
        bins = self.bins(latency.get("bins", {}), samples, where)
        percentiles = self.percentiles(latency.get("percentile", {}), where)
        return Direction(operations, io_bytes, seconds, samples, mean, low, high, percentiles, bins)

    def bins(self, raw: Any, samples: float, where: str) -> dict[int, int]:
        if not isinstance(raw, dict):
            self.refuse(f"{where}: bins are no object")
        bins = {}
        for text, count in raw.items():
            if not (text.isascii() and text.isdigit() and len(text) <= 18) or type(count) is not int or count < 0:
                self.refuse(f"{where}: not a bin: {text[:20]!r}")
            try:
                bounds_nanoseconds(int(text))
            except ValueError as error:
                self.refuse(f"{where}: {error}")
            bins[int(text)] = count
        if bins and sum(bins.values()) != samples:
            self.refuse(f"{where}: the bins hold {sum(bins.values())} samples of {samples:.0f}")
        return bins

    def percentiles(self, raw: Any, where: str) -> dict[float, float]:
        if not isinstance(raw, dict):
            self.refuse(f"{where}: percentiles are no object")
        percentiles = {}
        for text in raw:
            percent = number(text)
            if percent is None or not 0 < percent <= 100:
                self.refuse(f"{where}: not a percentile: {text[:20]!r}")
            percentiles[percent] = self.value(raw, text) / 1e9
        ordered = [percentiles[percent] for percent in sorted(percentiles)]
        if ordered != sorted(ordered):
            self.refuse(f"{where}: percentiles do not rise")
        return percentiles

    def check_total(self, clients: list[Client], totals: list[Client], *, expected: bool) -> None:
        """Refuse a report whose clients are not those that "All clients" sums up."""
        if len({one.name for one in clients}) != len(clients):
            self.refuse("two clients share a name")
        if not totals and not expected:
            return
        if len(totals) != 1 or len(clients) < 2:
            self.refuse(f"{len(totals)} entries {ALL_CLIENTS!r} for {len(clients)} clients")
        for which in ("read", "write"):
            total = totals[0].directions.get(which)
            summed = sum(one.directions[which].operations for one in clients if which in one.directions)
            if summed != (total.operations if total else 0):
                self.refuse(f"{ALL_CLIENTS!r} and the sum of the clients differ in {which}s")
