"""Checks whether two sides were measured in turns, block by block, so that drift cancels out of each pair. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise

#: By block, the first start and the last end of what was measured, as ISO 8601 writes moments; either may be empty.
Times = Mapping[int, tuple[str, str]]


def why_not_in_turns(first: Times, second: Times) -> str:
    """Return why the blocks of two sides are not pairs; empty if they are.

    They are pairs if both sides have the same blocks, and no block was measured during another pair. If one side was
    measured completely before the other, anything that changed in between would count as a difference.
    """
    if first.keys() != second.keys():
        return "the blocks differ"
    spans = []
    for block, times in first.items():
        span = _span(times, second[block])
        if span is None:
            return "runs do not state their time"
        spans.append(span)
    if any(later[0] < earlier[1] for earlier, later in pairwise(sorted(spans))):
        return "blocks did not run next to each other"
    return ""


def _span(one: tuple[str, str], other: tuple[str, str]) -> tuple[datetime, datetime] | None:
    """Return the first start and the last end of a pair; None if a moment or its time zone is missing."""
    moments = []
    for text in (one[0], other[0], one[1], other[1]):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        if moment.tzinfo is None:
            return None
        moments.append(moment)
    return min(moments[:2]), max(moments[2:])
