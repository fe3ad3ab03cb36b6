"""fio's latency bins (`json+`): their bounds, how bins of several clients are merged, and their percentiles. Pure.

fio keeps 64 bins per power of two and reports each by its middle (fio's stat.c, `plat_val_to_idx`, `plat_idx_to_val`,
FIO_IO_U_PLAT_BITS = 6). Each value below 128 ns has a bin of its own. Above, the bin of a value whose highest bit is
`m` is `2 ** (m - 6)` ns wide and starts at a multiple of its width. The highest bin ends at 2 ** 34 ns
(FIO_IO_U_PLAT_GROUP_NR = 29), and also counts whatever took longer.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, NoReturn

from replay.tools.base import OutputError, Reader, Result, Run, agrees, number
from replay.tools.json_output import Place, read_json
from replay.tools.rados_output import roles_by_instance

PLAT_BITS = 6
#: The upper end of the highest bin, in nanoseconds: about 17 s.
HIGHEST_END = 1 << 34
_EXACT_BELOW = 1 << (PLAT_BITS + 1)
#: fio rounds the printed percent to six decimals, and its product with the number of samples.
_ROUNDING = 1e-7


@lru_cache(maxsize=1 << 12)  # there are fewer bins, and every report has hundreds of them
def bounds_nanoseconds(middle: int) -> tuple[int, int]:
    """Return (low, high) in nanoseconds of the bin that fio reports as `middle`. The bin includes low but not high.

    Raises ValueError if no bin of fio has that middle.
    """
    if middle < 0:
        raise ValueError(f"no bin of fio has the middle {middle}")
    if middle < _EXACT_BELOW:
        return middle, middle + 1
    discarded_bits = middle.bit_length() - 1 - PLAT_BITS
    width = 1 << discarded_bits
    low = middle >> discarded_bits << discarded_bits
    if middle != low + width // 2 or low + width > HIGHEST_END:
        raise ValueError(f"no bin of fio has the middle {middle}")
    return low, low + width


def merge(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return the sum of histograms, each of bin to count."""
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return dict(sorted(total.items()))


def percentiles_seconds(histogram: Mapping[int, int], percents: Iterable[float]) -> list[float]:
    """Return the percentiles in seconds as fio does: the middle of the first bin at which the count reaches them.

    Percentiles of several clients come from their merged bins: the average of percentiles is not a percentile.
    Raises ValueError for an empty histogram.
    """
    middles = sorted(histogram)
    up_to = [*accumulate(map(histogram.__getitem__, middles))]
    if not up_to or not up_to[-1]:
        raise ValueError("an empty histogram has no percentile")
    places = (bisect_left(up_to, percent / 100 * up_to[-1]) for percent in percents)
    return [middles[min(place, len(middles) - 1)] / 1e9 for place in places]


def unreached(histogram: Mapping[int, int], percentiles: Mapping[float, float]) -> list[float]:
    """Return the percents whose value, in nanoseconds, is not the bin at which the count reaches them."""
    samples = sum(histogram.values())
    middles = [middle for middle in sorted(histogram) if histogram[middle]]
    up_to = dict(zip(middles, accumulate(map(histogram.__getitem__, middles)), strict=True))
    rounding = _ROUNDING * samples
    return [
        percent
        for percent, value in percentiles.items()
        if value not in up_to
        or not up_to[value] - histogram[int(value)] - rounding < percent / 100 * samples <= up_to[value] + rounding
    ]


#: fio prints doubles with six decimals.
_PRINTED = 1e-6
#: The largest width of a bin, as a share of its middle.
_BIN_WIDTH = 1 / 64


@dataclass(frozen=True)
class Latency:
    """Latencies in seconds. `percentiles` maps percent to seconds; `bins` the middle in nanoseconds to the count."""

    samples: float
    mean: float
    low: float
    high: float
    percentiles: Mapping[float, float] = field(default_factory=dict)
    bins: Mapping[int, int] = field(default_factory=dict)


def read_latency(direction: Place, operations: float | None = None) -> Latency:
    """Return the latencies of a client's reads or writes. Raises OutputError if statements contradict each other.

    The first releases of fio 3 do not state the number of samples, and pad percentiles with `0.00`. That is accepted if
    `operations` gives the number of operations instead.
    """
    place = direction.object("clat_ns")
    low, mean, high = (place.number(key) for key in ("min", "mean", "max"))
    if not low <= mean <= high:
        place.refuse("latencies are not min ≤ mean ≤ max", key="mean")
    unstated = operations is not None and place.at("N").value is None
    # If all are 0, latencies were not measured (`disable_clat`).
    samples = (operations if high else 0.0) if unstated else place.number("N")
    if not unstated:
        _check_whole_latency(place, direction.at("lat_ns"))
    percentiles, bins = _percentiles(place.at("percentile"), padded=unstated), _bins(place.at("bins"))
    if bins:
        if sum(bins.values()) != samples:
            place.refuse(f"the bins hold {sum(bins.values())} of {samples:.0f} samples", key="bins")
        _check_bins(place, bins, low, mean, high)
        _check_percentiles(place, bins, percentiles)
    elif percentiles and high and not unstated:
        _check_mean(place, percentiles, low, mean, high)
    if not unstated:
        _check_submission(place, direction.at("slat_ns"), direction.at("lat_ns"))
    in_seconds = {percent: value / 1e9 for percent, value in percentiles.items()}
    return Latency(samples, mean / 1e9, low / 1e9, high / 1e9, in_seconds, bins)


def check_merged(place: Place, total: Latency, parts: Sequence[Latency]) -> None:
    """Refuse an entry of all clients that differs from the sum of its clients. It has no bins."""
    samples = sum(one.samples for one in parts)
    mean = math.fsum(one.mean * one.samples for one in parts) / samples if samples else 0.0
    whole = (
        total.samples == samples
        and agrees(total.mean, mean, relative=_PRINTED, absolute=_PRINTED / 1e9)
        and total.low == min(one.low for one in parts)
        and total.high == max(one.high for one in parts)
    )
    if not whole:
        place.refuse("latencies are not those of all clients together", key="clat_ns")


def _check_whole_latency(place: Place, whole: Place) -> None:
    """Refuse completion latencies that exceed total ones (`lat_ns`), which include them. A job may lack `lat_ns`."""
    if whole.value is None or not whole.number("N"):
        return
    if whole.number("N") != place.number("N"):
        place.refuse("clat_ns and lat_ns have different numbers of samples", key="N")
    for key in ("min", "mean", "max"):
        if place.number(key) > whole.number(key) * (1 + _PRINTED):
            place.refuse(f"{key} is above that of lat_ns", key=key)


def _check_submission(place: Place, submission: Place, whole: Place) -> None:
    """Refuse means that do not add up: an operation's latency is its submission (`slat_ns`) plus its completion.

    A few operations at the end of the ramp count only in one of them, and their share is known only within bounds: a
    submission that counts alone took between the shortest and the longest one, and one that does not count is taken to
    have been no longer than the longest one, or than an average operation. Synchronous engines have no submission.
    """
    if submission.value is None or whole.value is None or not submission.number("N") or not whole.number("N"):
        return
    operations, submissions, mean = whole.number("N"), submission.number("N"), whole.number("mean")
    added = place.number("mean") + submission.number("mean") * submissions / operations
    alone = submissions - operations
    if alone >= 0:
        shares = [alone * submission.number(bound) / operations for bound in ("max", "min")]
    else:
        shares = [0.0, alone * max(submission.number("max"), mean) / operations]
    least, most = (added - share for share in shares)
    if not least * (1 - _PRINTED) - _PRINTED <= mean <= most * (1 + _PRINTED) + _PRINTED:
        place.refuse(
            f"slat_ns and clat_ns have a mean of {added:.0f} ns together, lat_ns one of {mean:.0f}", key="mean"
        )


def _bins(place: Place) -> dict[int, int]:
    if place.value is None:
        return {}
    if not isinstance(place.value, dict):
        place.refuse("bins are not an object")
    bins: dict[int, int] = {}
    last = -1
    for text, count in place.value.items():
        try:
            middle = _middle(text)
        except ValueError as error:
            place.refuse(str(error), key=text)
        if type(count) is not int or count < 0:
            place.refuse(f"not a bin: {text[:20]!r}", key=text)
        if middle <= last:
            place.refuse("bins do not rise", key=text)
        bins[middle] = count
        last = middle
    return bins


@lru_cache(maxsize=1 << 12)  # there are fewer bins, and every report has hundreds of them
def _middle(text: str) -> int:
    """Return the middle of a bin in nanoseconds. Raises ValueError if the text is not one."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValueError(f"not a bin: {text[:20]!r}")
    bounds_nanoseconds(int(text))
    return int(text)


def _percentiles(place: Place, *, padded: bool = False) -> dict[float, float]:
    """Return the printed percentiles in nanoseconds, by percent."""
    if place.value is None:
        return {}
    if not isinstance(place.value, dict):
        place.refuse("percentiles are not an object")
    percentiles: dict[float, float] = {}
    last_percent = last = 0.0
    for text in place.value:
        percent, value = number(text), place.number(text)
        if padded and percent == 0 and value == 0:
            continue
        if percent is None or not 0 < percent <= 100:
            place.refuse(f"not a percentile: {text[:20]!r}", key=text)
        if percent <= last_percent or value < last:
            place.refuse("percentiles do not rise", key=text)
        percentiles[percent] = value
        last_percent, last = percent, value
    return percentiles


def _check_bins(place: Place, bins: Mapping[int, int], low: float, mean: float, high: float) -> None:
    held = [middle for middle, count in bins.items() if count]
    if not held:
        return
    starts, ends = zip(*map(bounds_nanoseconds, held), strict=True)
    counts = [bins[middle] for middle in held]

    def end(of_bin: int) -> float:
        return of_bin if of_bin < HIGHEST_END else math.inf

    if not starts[0] <= low < end(ends[0]):
        place.refuse("min is not in the lowest bin", key="min")
    if not starts[-1] <= high < end(ends[-1]):
        place.refuse("max is not in the highest bin", key="max")
    samples = sum(counts)
    least = math.fsum(map(mul, starts, counts)) / samples
    # No sample is above the maximum, which lies in the highest bin.
    most = (math.fsum(map(mul, ends[:-1], counts)) + min(end(ends[-1]), high) * counts[-1]) / samples
    if not least * (1 - _PRINTED) <= mean <= most * (1 + _PRINTED):
        place.refuse(f"a mean of {mean:.0f} ns is not that of the bins, {least:.0f} to {most:.0f} ns", key="mean")


def _check_mean(place: Place, percentiles: Mapping[float, float], low: float, mean: float, high: float) -> None:
    """Refuse a mean that is impossible with these percentiles, each of which is the middle of a bin."""
    ends = [(0.0, low), *percentiles.items(), (100.0, high)]
    spans = [((to - start) / 100, at, upto) for (start, at), (to, upto) in pairwise(ends)]
    least = math.fsum(share * at for share, at, _ in spans) * (1 - _BIN_WIDTH)
    most = math.fsum(share * upto for share, _, upto in spans) * (1 + _BIN_WIDTH)
    if not least <= mean <= most:
        place.refuse(
            f"a mean of {mean:.0f} ns is not that of the percentiles, {least:.0f} to {most:.0f} ns", key="mean"
        )


def _check_percentiles(place: Place, bins: Mapping[int, int], percentiles: Mapping[float, float]) -> None:
    if not percentiles:
        place.refuse("bins without percentiles", key="bins")
    for percent in unreached(bins, percentiles):
        what = f"{percentiles[percent]:.0f} ns is not the bin at which {percent:g} % are reached"
        place.at("percentile").refuse(what, key=f"{percent:f}")


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
        result |= {f"latency_p{percent:g}_seconds".replace(".", "_"): v for percent, v in _combined_percentiles(ones)}
    return result


def _combined_percentiles(ones: list[Direction]) -> Iterable[tuple[float, float]]:
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


class FioReport(Reader):
    """Reads fio's reports. Each role (`output`, `output-2-1`, …) is the report of one fio; all ran at once."""

    name = "fio_report"

    def read(self, run: Run) -> Result:
        """Read the reports; see `Reader.read`. Levels: `instances` (the number of reports), `rw`, `io_size_bytes`."""
        file, levels = run.file("output"), run.levels
        roles = [one for ones in roles_by_instance(run.texts, int(levels.get("instances", 1)), file) for one in ones]
        clients = []
        for role in roles:
            clients += read_clients(run.text(role), run.file(role), 0, foreign=True)
        idle = [client for client in clients if not client.directions]
        if idle or not clients:
            what = f"no I/O was done by {', '.join(sorted({one.name for one in idle}))}" if idle else "no job reported"
            raise OutputError(what, file=file, reason="failed")
        asked: dict[str, Any] = {"io_size_bytes": levels.get("io_size_bytes")}
        if "rw" in levels:
            asked["io_type"] = levels["rw"]
        for client in clients:
            check_levels(client, asked)
        # The number of entries depends on how the report was printed. The level `jobs` says how many jobs ran.
        measured = {name: value for name, value in metrics(clients).items() if name != "clients"}
        return Result(metrics=measured, histogram=lambda: histogram(clients))


READER = FioReport()
