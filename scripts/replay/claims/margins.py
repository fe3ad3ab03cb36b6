"""The margin of a ratio chart: the differences that do not count, according to claims of no difference. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replay.claims.model import Claim, Condition, Count, Region
from replay.claims.output import six_digits

#: The key of a chart's margin in a manifest. It comes from today's claims, never from those that were registered.
KEY = "margin"


def with_margins(
    experiments: Mapping[str, Mapping[str, Any]], claims: Iterable[Claim] = ()
) -> dict[str, Mapping[str, Any]]:
    """Return a manifest's experiments with the margin of each ratio chart, if the claims state exactly one.

    A claim states a margin if one of its conditions of no difference (`within_factor`) divides the chart's reference by
    one of its variants, or the reverse, at the same points, and some of these are on the chart. If two margins differ,
    there is none, because one picture cannot show both.
    """
    claims = list(claims)
    return {name: _with_margins(name, entry, claims) for name, entry in experiments.items()}


def _with_margins(name: str, entry: Mapping[str, Any], claims: list[Claim]) -> Mapping[str, Any]:
    if "charts" not in entry:
        return entry
    mine = [(claim.id, one) for claim in claims if claim.experiment == name for one in claim.conditions]
    conditions = [(claim, one) for claim, one in mine if _says_no_difference(one)]
    charts = {}
    for key, chart in entry["charts"].items():
        kept = {part: value for part, value in chart.items() if part != KEY}
        found = _margin(chart, entry, conditions) if str(chart.get("metric")).startswith("ratio-") else None
        charts[key] = {**kept, KEY: found} if found else kept
    return {**entry, "charts": charts}


def _margin(
    chart: Mapping[str, Any], entry: Mapping[str, Any], conditions: Iterable[tuple[str, Condition]]
) -> dict[str, Any] | None:
    """Return `low`, `high`, the series that they apply to and the claims that state them.

    Returns None if no claim states them, or if two claims differ.
    """
    stated: dict[tuple[float, float], list[tuple[str, str]]] = {}
    for claim, condition in conditions:
        if (drawn := _as_drawn(condition, chart, entry)) is not None:
            series, region = drawn
            stated.setdefault((region.low, region.high), []).append((series, claim))
    if len(stated) != 1:
        return None
    [((low, high), found)] = stated.items()
    return {
        "low": six_digits(low),
        "high": six_digits(high),
        "series": list(dict.fromkeys(series for series, _ in found)),
        "claims": list(dict.fromkeys(claim for _, claim in found)),
    }


def _says_no_difference(condition: Condition | Count) -> bool:
    """Return whether a condition says that one ratio is 1 within a margin."""
    return isinstance(condition, Condition) and condition.region.equivalence and len(condition.terms) == 2


def _as_drawn(condition: Condition, chart: Mapping[str, Any], entry: Mapping[str, Any]) -> tuple[str, Region] | None:
    """Return the series that a condition compares with the reference, and its region as the chart draws it.

    Returns None if the chart does not draw what the condition compares.
    """
    if condition.metric != chart.get("column"):
        return None
    (_, over), (_, under) = condition.terms
    reference = next((one["name"] for one in entry["variants"] if one.get("reference")), None)
    if over.levels != under.levels or (over.variant == reference) == (under.variant == reference):
        return None
    if any(level not in over.levels.get(factor, ()) for factor, level in chart["workload"].items()):
        return None
    variant = under.variant if over.variant == reference else over.variant
    label = next((one["label"] for one in entry["variants"] if one["name"] == variant), None)
    if label not in chart["series"]:
        return None
    region = condition.region
    if (over.variant == reference) == (entry["ratio_direction"] == "reference/variant"):
        return label, region
    return label, Region(1 / region.high, 1 / region.low, equivalence=True)
