"""Turns fio's clients into metrics: totals, merged bins, percentiles. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from replay.tools.output.fio_histogram import bounds_nanoseconds, merge, percentiles_seconds
from replay.tools.output.fio_output import Client, Direction

PERCENTILES = (50.0, 95.0, 99.0, 99.9)
_SIZE = re.compile(r"(\d{1,15})([kKmMgG]?)i?[bB]?", re.ASCII)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
# Operations in flight at the end of the ramp count in io_bytes but not in total_ios. Any sane depth is below this.
_IN_FLIGHT = 1024


def check_levels(client: Client, levels: Mapping[str, Any]) -> None:
    """Raise OutputError if fio's options, or what it did, contradict the requested levels."""

    def refuse(what: str, key: str | None = None) -> NoReturn:
        client.place.refuse(f"{client.name}: {what}", key=key)

    size = levels.get("io_size_bytes")
    if size is not None:
        echoed = _size(client.options.get("bs"))
        if echoed is not None and echoed != size:
            refuse(f"bs is {echoed}, expected {size}")
        for which, one in client.directions.items():
            if abs(one.io_bytes - one.operations * size) > max(_IN_FLIGHT * size, 0.01 * one.io_bytes):
                refuse(f"{which}s moved {one.io_bytes:.0f} bytes in {one.operations:.0f} operations of {size}", which)
    for level, option in (("io_depth", "iodepth"), ("rw", "rw"), ("rw_mix_read", "rwmixread")):
        echoed = client.options.get(option)
        if level in levels and echoed is not None and str(echoed) != str(levels[level]):
            refuse(f"{option} is {echoed}, expected {levels[level]}")
    allowed = _allowed_directions(levels)
    if allowed is not None and set(client.directions) != allowed:
        refuse(f"it did {' and '.join(sorted(client.directions))}, expected {' and '.join(sorted(allowed))}")


def _allowed_directions(levels: Mapping[str, Any]) -> set[str] | None:
    kind = levels.get("rw", levels.get("io_type"))
    if kind is None:
        return None
    kind = str(kind).removeprefix("rand")
    return {"rw": {"read", "write"}, "readwrite": {"read", "write"}}.get(kind, {kind})


def _size(text: Any) -> int | None:
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    return int(match[1]) * _UNITS[match[2].lower()] if match else None


def metrics(clients: list[Client]) -> dict[str, float]:
    """Return totals over all clients, and also `read_…` and `write_…` if both directions did I/O.

    Rates are the total divided by the longest client's time, as in fio's own "All clients". Without bins, percentiles
    are given only for one client and one direction, where fio's own are the run's.
    """
    by_direction = {
        which: [client.directions[which] for client in clients if which in client.directions]
        for which in ("read", "write")
    }
    present = {which: ones for which, ones in by_direction.items() if ones}
    everything = [one for ones in present.values() for one in ones]
    result = {"clients": float(len(clients)), **_summary(everything)}
    if len(present) > 1:
        for which, ones in present.items():
            result |= {f"{which}_{key}": value for key, value in _summary(ones).items()}
    return result


def _summary(ones: list[Direction]) -> dict[str, float]:
    operations, io_bytes = sum(one.operations for one in ones), sum(one.io_bytes for one in ones)
    seconds = max(one.seconds for one in ones)
    result = {
        "operations": operations,
        "bytes": io_bytes,
        "duration_seconds": seconds,
        "operations_per_second": operations / seconds,
        "bytes_per_second": io_bytes / seconds,
    }
    samples = sum(one.latency.samples for one in ones)
    if samples:
        result["latency_mean_seconds"] = math.fsum(one.latency.mean * one.latency.samples for one in ones) / samples
        result["latency_min_seconds"] = min(one.latency.low for one in ones)
        result["latency_max_seconds"] = max(one.latency.high for one in ones)
        result |= {f"latency_p{percent:g}_seconds".replace(".", "_"): v for percent, v in _percentiles(ones)}
    return result


def _percentiles(ones: list[Direction]) -> Iterable[tuple[float, float]]:
    if all(one.latency.bins for one in ones):
        merged = merge(one.latency.bins for one in ones)
        return zip(PERCENTILES, percentiles_seconds(merged, PERCENTILES), strict=True)
    if len(ones) == 1:
        printed = ones[0].latency.percentiles
        return [(percent, printed[percent]) for percent in PERCENTILES if percent in printed]
    return []


def histogram(clients: list[Client]) -> tuple[tuple[str, str, float, float, int], ...]:
    """Return (client, direction, low_seconds, high_seconds, count) of every bin that holds a sample."""
    rows = []
    for client in clients:
        for which, one in client.directions.items():
            for middle, count in sorted(one.latency.bins.items()):
                low, high = bounds_nanoseconds(middle)
                rows.append((client.name, which, low / 1e9, high / 1e9, count))
    return tuple(rows)
