"""How the report says figures: with their unit, in two or three digits, and never more than was measured. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from replay.base.stats import median
from replay.design.link import RTT
from replay.exchange.page import Column

#: Of what has no value: nobody measured it, or it has no meaning there.
NOTHING = "—"
_UNITS_OF_TIME = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))
_RAN_OUT = {"none": "nothing", "unknown": "not known"}


@dataclass(frozen=True)
class Part:
    """What the report says about one question. What was not measured is empty, and a line of `missing`.

    `headline` is the sentence for the top of the page, `basis` what it rests on, `body` the section as HTML.
    """

    headline: str = ""
    basis: str = ""
    body: str = ""
    missing: tuple[str, ...] = ()


def values(runs: pd.DataFrame, column: str) -> list[float]:
    """Return the values of a column that exist."""
    return runs[column].dropna().astype(float).tolist() if column in runs else []


def middle(runs: pd.DataFrame, column: str) -> float | None:
    """Return the median of a column; None if it has no value."""
    found = values(runs, column)
    return median(found) if found else None


def largest(runs: pd.DataFrame, column: str) -> float | None:
    """Return the largest value of a column; None if it has none."""
    return max(values(runs, column), default=None)


def seconds(value: float | None) -> str:
    """Return a time: `870 µs`, `9.8 ms`, `152 ms`, `4.8 s`, `60.7 s`, `124 s`."""
    if not value:
        return NOTHING if value is None else "0 s"
    unit, factor = next((one for one in _UNITS_OF_TIME if value * one[1] >= 0.9995), _UNITS_OF_TIME[-1])
    scaled = value * factor
    return f"{scaled:.1f} s" if unit == "s" and scaled < 99.95 else f"{_digits(scaled)} {unit}"


def per_second(value: float | None) -> str:
    """Return how many a second, without a unit."""
    return NOTHING if value is None else _digits(value)


def bytes_per_second(value: float | None) -> str:
    """Return a rate: `17 MB/s`. The prefixes are decimal, as the network's."""
    if value is None:
        return NOTHING
    for unit, factor in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if value >= 0.9995 * factor:
            return f"{_digits(value / factor)} {unit}"
    return f"{_digits(value)} B/s"


def distance_of(levels: Mapping[str, Any]) -> str:
    """Return how far apart the sites were where that is a level: `; 20 ms between the sites`; else nothing."""
    return f"; {seconds(float(levels[RTT]))} between the sites" if RTT in levels else ""


def size(value: float) -> str:
    """Return a size of a write: `4 KiB`, `4 MiB`, `1,000 bytes`."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor and value % factor == 0:
            return f"{value / factor:,.0f} {unit}"
    return f"{value:,.0f} bytes"


def share(value: float | None) -> str:
    """Return a fraction in per cent."""
    return NOTHING if value is None else f"{100 * value:.0f} %"


def times(row: pd.Series | None) -> str:
    """Return a ratio with its interval: `3.00 (2.57 to 3.50)`; without an interval that of a single pair."""
    if row is None:
        return NOTHING
    ends = "" if pd.isna(row["low"]) else f" ({row['low']:#.3g} to {row['high']:#.3g})"
    return f"{row['ratio']:#.3g}{ends}"


def _digits(value: float) -> str:
    """Return a number in two digits, or whole if it has more: `0.29`, `9.8`, `33`, `1,509`. No exponent."""
    if value >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.995 else f"{value:.2g}"


def between(found: Sequence[float], said: Callable[[float], str]) -> str:
    """Return the ends of values: `248 to 397`; one text if both read the same."""
    low, high = said(min(found)), said(max(found))
    return low if low == high else f"{low} to {high}"


def ran_out(runs: pd.DataFrame) -> str:
    """Return what runs ran out of: `nothing`, or `cpu 4, nothing 2` with the most frequent first."""
    counts = Counter(_RAN_OUT.get(word, word) for word in runs["limiter"].fillna("unknown"))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ranked[0][0] if len(ranked) == 1 else ", ".join(f"{word} {count}" for word, count in ranked)


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun: `1 run`, `6 runs`."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def n_of(groups: Iterable[pd.DataFrame]) -> str:
    """Return how many runs each group has: `6 runs each`; a single run has no spread, and that is said."""
    counts = [len(one) for one in groups]
    if max(counts) == 1:
        return "one run each, which cannot say how much runs differ"
    return f"{between(counts, str)} runs each"


def told(columns: Iterable[Column]) -> list[Column]:
    """Return the columns that say something: the first one, and those with a value in some row."""
    return [one for place, one in enumerate(columns) if not place or any(text != NOTHING for text in one.texts)]
