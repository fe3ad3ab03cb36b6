"""fio's latencies of one direction: summary, percentiles, and the bins of `json+`, which can be merged. Pure.

fio counts latencies in 64 bins per power of two and reports each by its middle (fio's stat.c, `plat_val_to_idx`,
`plat_idx_to_val`, FIO_IO_U_PLAT_BITS = 6). Each value below 128 ns has a bin of its own. Above, the bin of a value
whose highest bit is `m` is `2 ** (m - 6)` ns wide and starts at a multiple of its width. The highest bin ends at
2 ** 34 ns (FIO_IO_U_PLAT_GROUP_NR = 29) and also counts whatever took longer, so a percentile in it is a lower bound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate

from replay.tools.base import number
from replay.tools.json_output import Place

PLAT_BITS = 6
#: The end of the highest bin in nanoseconds, about 17 s, and its start.
HIGHEST_END = 1 << 34
HIGHEST_START = HIGHEST_END - (1 << 33 - PLAT_BITS)
_EXACT_BELOW = 1 << (PLAT_BITS + 1)


@dataclass(frozen=True)
class Latency:
    """Latencies in seconds. `percentiles` maps percent to seconds; `bins` the middle in nanoseconds to the count.

    `total` names what is total latency (`lat`) because there is no completion latency (`clat`): the values, or only
    their percentiles.
    """

    samples: float
    mean: float
    low: float
    high: float
    percentiles: Mapping[float, float] = field(default_factory=dict)
    bins: Mapping[int, int] = field(default_factory=dict)
    total: str = ""


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
    return Latency(samples, mean, low, high, percentiles, _bins(place.at("bins")) if unit == 1e9 else {})


def _percentiles(place: Place) -> dict[float, float]:
    """Return the printed percentiles by percent. Old releases pad them with `0.00`."""
    if not isinstance(place.value, dict):
        return {}
    percents = {text: number(text) for text in place.value}
    return {percent: place.number(text) for text, percent in percents.items() if percent}


def _bins(place: Place) -> dict[int, int]:
    if not isinstance(place.value, dict):
        return {}
    bins = {}
    for text, count in place.value.items():
        if not (text.isascii() and text.isdigit() and len(text) <= 18) or type(count) is not int or count < 0:
            place.refuse(f"not a bin: {text[:20]!r}")
        try:
            bounds_nanoseconds(int(text))
        except ValueError as error:
            place.refuse(str(error))
        bins[int(text)] = count
    return bins


def bounds_nanoseconds(middle: int) -> tuple[int, int]:
    """Return (low, high) in nanoseconds of the bin that fio reports as `middle`. The bin includes low but not high.

    Raises ValueError if no bin of fio has that middle.
    """
    if 0 <= middle < _EXACT_BELOW:
        return middle, middle + 1
    discarded_bits = max(0, middle.bit_length() - 1 - PLAT_BITS)
    width = 1 << discarded_bits
    low = middle >> discarded_bits << discarded_bits
    if middle < 0 or middle != low + width // 2 or low + width > HIGHEST_END:
        raise ValueError(f"no bin of fio has the middle {middle}")
    return low, low + width


def merge(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return the sum of histograms, each of bin to count."""
    total: Counter[int] = Counter()
    for one in histograms:
        total.update(one)
    return dict(sorted(total.items()))


def percentiles_seconds(bins: Mapping[int, int], percents: Iterable[float]) -> list[float]:
    """Return the percentiles in seconds as fio does: the middle of the first bin at which the count reaches them.

    Percentiles of several clients come from their merged bins: the average of percentiles is not a percentile.
    Raises ValueError for an empty histogram.
    """
    middles = sorted(bins)
    up_to = [*accumulate(map(bins.__getitem__, middles))]
    if not up_to or not up_to[-1]:
        raise ValueError("an empty histogram has no percentile")
    places = (bisect_left(up_to, percent / 100 * up_to[-1]) for percent in percents)
    return [middles[min(place, len(middles) - 1)] / 1e9 for place in places]
