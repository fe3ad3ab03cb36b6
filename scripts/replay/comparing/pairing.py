"""Finds which runs of two samples are pairs: the machine's drift cancels out of a pair's ratio. Pure.

Two runs are a pair if they belong to the same block, ran on one host, and are next to each other in time: no run of
another pair of their point lies between them. If all runs of one data set were measured before all runs of the other,
they are not pairs: anything that changed in between would count as a difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise

from replay.comparing.model import Experiment, Run


def why_hosts_differ(first: Experiment, second: Experiment) -> str:
    """Return why no runs of these can be pairs; empty if both were measured on the same host."""
    if first.imported or second.imported:
        return "imported results do not say that they ran back to back"
    if len(first.machines) != 1 or first.machines != second.machines:
        return "not measured on the same host"
    return ""


def why_not_paired(first: Mapping[int, Run], second: Mapping[int, Run]) -> str:
    """Return why the runs of a point, by block, are not pairs; empty if they are."""
    if first.keys() != second.keys():
        return "the blocks differ"
    spans = []
    for block, run in first.items():
        span = _span(run, second[block])
        if span is None:
            return "runs do not state their time"
        spans.append(span)
    if any(later[0] < earlier[1] for earlier, later in pairwise(sorted(spans))):
        return "blocks did not run next to each other"
    return ""


def _span(one: Run, other: Run) -> tuple[datetime, datetime] | None:
    """Return the first start and the last end of two runs; None if a moment or its time zone is missing."""
    moments = []
    for text in (one.started_at, other.started_at, one.ended_at, other.ended_at):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        if moment.tzinfo is None:
            return None
        moments.append(moment)
    return min(moments[:2]), max(moments[2:])
