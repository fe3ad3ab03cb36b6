"""fio's completion latencies of one direction (`clat_ns`): summary, percentiles, bins. Strict, pure.

fio states them several times, so a damaged report contradicts itself. In an intact one, the bins have as many samples
as the summary, the lowest and highest bins contain its minimum and maximum, its mean lies within the widths of the
bins, and each printed percentile is the bin at which the count reaches it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from operator import mul

from replay.tools.base import agrees, number
from replay.tools.json_output import Place
from replay.tools.output.fio_histogram import HIGHEST_END, bounds_nanoseconds, unreached

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
