"""A figure's fields in one row of answer.csv, by its kind: estimate, interval, number of runs. Pure.

Values are those of valid runs, by block. A field without a value is left out, and becomes an empty one in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from replay.base import order_statistics
from replay.base import stats as statistics
from replay.claims.answer.model import Figure, Kind

Values = Mapping[int, float]
Fields = dict[str, float | int | None]

_INTERVAL = ("low", "high", "n")
#: The parts of a figure, each in a column of its own, apart from its source.
PARTS: Mapping[Kind, tuple[str, ...]] = {
    Kind.TRIALS: (
        "worst", "median", "median_low", "median_high", "p95_bound", "worst_bounds_p95_confidence", "n",
    ),
    Kind.MEAN: ("", *_INTERVAL),
    Kind.ADDED: ("", *_INTERVAL),
    Kind.RATIO: ("", *_INTERVAL),
}  # fmt: skip
_WITHOUT_UNIT = ("worst_bounds_p95_confidence", "n", "source")


def column_of(figure: Figure, part: str) -> str:
    """Return the name of the column that holds a part of a figure."""
    return f"{figure.name}_{part}" if part in _WITHOUT_UNIT else figure.column(part)


def fields_of(figure: Figure, values: Values, reference: Values) -> Fields:
    """Return a figure's fields by column; empty without values, or without pairs for a figure that is compared.

    `values` are a mode's by block, `reference` those of the reference by the same blocks.
    """
    found: dict[str, float | int | None] = {}
    if figure.kind is Kind.TRIALS:
        found = _trials(list(values.values()))
    elif figure.kind is Kind.MEAN:
        found = _estimate(statistics.mean_with_interval(list(values.values()))) if values else {}
    elif blocks := sorted(values.keys() & reference.keys()):
        pairs = [(values[block], reference[block]) for block in blocks]
        estimate = _difference(pairs) if figure.kind is Kind.ADDED else _ratio(pairs)
        found = _estimate(estimate) if estimate else {}
    return {column_of(figure, part): value for part, value in found.items()}


def _trials(values: list[float]) -> dict[str, float | int | None]:
    if not values:
        return {}
    low, high = order_statistics.median_interval(values) or (None, None)
    return {
        "worst": max(values),
        "median": statistics.median(values),
        "median_low": low,
        "median_high": high,
        "p95_bound": order_statistics.quantile_bound(values),
        "worst_bounds_p95_confidence": order_statistics.confidence_of_largest(len(values)),
        "n": len(values),
    }


def _difference(pairs: Sequence[tuple[float, float]]) -> statistics.Estimate:
    return statistics.mean_with_interval([value - reference for value, reference in pairs])


def _ratio(pairs: Sequence[tuple[float, float]]) -> statistics.Estimate | None:
    """Return the reference divided by the mode, as ratio charts and claims estimate it; pairs with a rate of 0 are out.

    None if no pair is left.
    """
    pairs = [pair for pair in pairs if min(pair) > 0]
    return statistics.paired_log_ratio([over for _, over in pairs], [under for under, _ in pairs]) if pairs else None


def _estimate(found: statistics.Estimate) -> dict[str, float | int | None]:
    return {"": found.value, "low": found.low, "high": found.high, "n": found.n}
