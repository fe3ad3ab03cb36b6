"""Finds which runs of two samples are pairs: the machine's drift cancels out of a pair's ratio. Pure.

Two runs are a pair if they belong to the same block, ran on one host, and are next to each other in time: no run of
another pair of their point lies between them.
"""

from __future__ import annotations

from collections.abc import Mapping

from replay.base.clock import Times, why_not_in_turns
from replay.exchange.compare.model import Experiment, Run


def why_hosts_differ(first: Experiment, second: Experiment) -> str:
    """Return why no runs of these can be pairs; empty if one host measured each block of both."""
    if first.imported or second.imported:
        return "imported results do not say that they ran back to back"
    hosts = first.machines
    if not hosts or hosts != second.machines or any(len(one) != 1 for one in hosts.values()):
        return "not measured on the same host"
    return ""


def why_not_paired(first: Mapping[int, Run], second: Mapping[int, Run]) -> str:
    """Return why the runs of a point, by block, are not pairs; empty if they are."""
    return why_not_in_turns(_times(first), _times(second))


def _times(runs: Mapping[int, Run]) -> Times:
    return {block: (run.started_at, run.ended_at) for block, run in runs.items()}
