"""A cell with several runs of `rados bench`: instances that ran at once, and passes one after another. Pure.

Each run leaves a file of its own. The role `output` is the first pass of the first instance; the others are
`output-<instance>-<pass>`. All instances make the same number of passes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from replay.tools.base import OutputError, Result

_ROLE = re.compile(r"output(?:-([1-9]\d{0,4})-([1-9]\d{0,4}))?", re.ASCII)


def role_of(instance: int, number: int) -> str:
    """Return the role of the result file of an instance's pass, both counted from 1."""
    return "output" if (instance, number) == (1, 1) else f"output-{instance}-{number}"


def roles_by_instance(outputs: Mapping[str, str], instances: int, file: str) -> list[list[str]]:
    """Return the roles of each instance's passes, in order, for the requested number of instances.

    Raises OutputError if a run is missing, because a sum without it would be wrong, or if there are more instances.
    """
    found = set()
    for role in outputs:
        if match := _ROLE.fullmatch(role):
            found.add((int(match[1] or 1), int(match[2] or 1)))
    seen, passes = {instance for instance, _ in found}, max((number for _, number in found), default=0)
    if lost := set(range(1, instances + 1)) - seen:
        raise OutputError(
            f"{len(lost)} of {instances} instances left no output: {', '.join(map(str, sorted(lost)))}",
            file=file,
            reason="client_lost",
        )
    wanted = {(instance, number) for instance in range(1, instances + 1) for number in range(1, passes + 1)}
    if found - wanted:
        raise OutputError(f"output of {len(seen)} instances, expected {instances}", file=file)
    if wanted - found:
        instance, number = min(wanted - found)
        raise OutputError(f"no output of instance {instance}, pass {number}", file=file, reason="incomplete")
    return [[role_of(instance, number) for number in range(1, passes + 1)] for instance in range(1, instances + 1)]


def combined(instances: Sequence[Sequence[Result]]) -> Result:
    """Return the combined result of a cell's runs. `instances` holds each instance's passes, in order.

    Passes: operations and seconds are summed; the rate is their quotient. Instances: rates are summed, since they ran
    at once; `duration_seconds` is the longest. The mean latency is weighted by operations. A single run is unchanged.
    """
    runs = [run for passes in instances for run in passes]
    if not all(run.complete for run in runs):
        return Result(series=_series(instances), complete=False)
    if len(runs) == 1:
        return runs[0]

    def total(passes: Sequence[Result], metric: str) -> float:
        return math.fsum(run.metrics[metric] for run in passes)

    seconds = [total(passes, "duration_seconds") for passes in instances]
    operations, transferred = total(runs, "operations"), total(runs, "bytes")
    waited = math.fsum(run.metrics["operations"] * run.metrics["latency_mean_seconds"] for run in runs)
    rates = {
        f"{metric}_per_second": math.fsum(
            total(passes, metric) / spent for passes, spent in zip(instances, seconds, strict=True)
        )
        for metric in ("operations", "bytes")
    }
    return Result(
        metrics={
            "operations": operations,
            "bytes": transferred,
            "duration_seconds": max(seconds),
            **rates,
            "latency_mean_seconds": waited / operations,
            "latency_max_seconds": max(run.metrics["latency_max_seconds"] for run in runs),
            "latency_min_seconds": min(run.metrics["latency_min_seconds"] for run in runs),
        },
        series=_series(instances),
    )


def _series(instances: Sequence[Sequence[Result]]) -> tuple[tuple[float, str, float], ...]:
    """Return the rates over time of a single instance: its passes in a row, without the pauses between them.

    Instances that ran at once do not share their seconds, so several have no series.
    """
    if len(instances) != 1:
        return ()
    series, offset = [], 0.0
    for run in instances[0]:
        series += [(offset + elapsed, metric, value) for elapsed, metric, value in run.series]
        offset += run.metrics.get("duration_seconds", 0.0)
    return tuple(series)
