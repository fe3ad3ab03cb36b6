"""fio's latency bins (`json+`): their bounds, how bins of several clients are merged, and their percentiles. Pure.

fio keeps 64 bins per power of two and reports each by its middle (fio's stat.c, `plat_val_to_idx`, `plat_idx_to_val`,
FIO_IO_U_PLAT_BITS = 6). Each value below 128 ns has a bin of its own. Above, the bin of a value whose highest bit is
`m` is `2 ** (m - 6)` ns wide and starts at a multiple of its width. The highest bin ends at 2 ** 34 ns
(FIO_IO_U_PLAT_GROUP_NR = 29), and also counts whatever took longer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate

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
