"""What sampling cost: the time that samplers' readings took, as sidecars and tables of samples record it. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from replay.base import stats as statistics
from replay.base.tables import rounded
from replay.tools.base import number

#: Samplers that observe while a cell is measured. The others read before it begins or after it has ended.
BESIDE = ("daemons", "machine", "mirror", "replica", "trims")
#: Those of them that continue after the tool has ended, as long as the wait of this name lasts.
_OBSERVING_ON = {"mirror": "replay_level", "replica": "replay_level"}
#: The row of a table of samples in which the probe of a replica states the CPU time that it has used so far.
_PROBE_ROW = ",probe,cost_seconds,"


def sampler_seconds(sidecar: Mapping[str, Any], outputs: Mapping[str, str]) -> dict[str, float]:
    """Return the cost of each sampler of a cell in seconds, if it states one.

    This is the wall time of its readings. For `replica`, a process of its own, it is the CPU time from the table of
    samples.
    """
    samples = {"machine": sidecar.get("load"), **(sidecar.get("samples") or {})}
    seconds = {
        name: cost
        for name, sample in sorted(samples.items())
        if isinstance(sample, Mapping) and (cost := number(sample.get("cost_seconds"))) is not None
    }
    if (probe := _probe_seconds(outputs.get("counters", ""))) is not None:
        seconds["replica"] = probe
    return seconds


def sampler_shares(seconds: Mapping[str, float], sidecar: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of the observed time that each sampler took, for samplers that observe while a cell runs."""
    shares = {}
    for name in BESIDE:
        observed = _observed_seconds(name, sidecar)
        if name in seconds and observed > 0:
            shares[name] = seconds[name] / observed
    return shares


def sampling_metrics(seconds: Mapping[str, float], sidecar: Mapping[str, Any]) -> dict[str, float]:
    """Return `sampler_cost_seconds` and `sampler_cost_share` over these samplers; empty if none states its cost."""
    shares = sampler_shares(seconds, sidecar)
    if not shares:
        return {}
    return {
        "sampler_cost_seconds": math.fsum(seconds[name] for name in shares),
        "sampler_cost_share": math.fsum(shares.values()),
    }


def sampling_entry(cells: Iterable[tuple[Mapping[str, float], Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return what each sampler cost, for the manifest. Each cell is given as (its samplers' seconds, its sidecar).

    An entry has `cells` (how many state the cost), `median_seconds`, `largest_seconds`, and `share`, the largest share
    of the observed time. A sampler that reads before or after the measurement has no share.
    """
    seconds_of: dict[str, list[float]] = {}
    shares_of: dict[str, list[float]] = {}
    for seconds, sidecar in cells:
        for name, value in seconds.items():
            seconds_of.setdefault(name, []).append(value)
        for name, share in sampler_shares(seconds, sidecar).items():
            shares_of.setdefault(name, []).append(share)
    return {
        name: {
            "cells": len(values),
            "median_seconds": rounded(statistics.median(values)),
            "largest_seconds": rounded(max(values)),
            **({"share": rounded(max(shares_of[name]))} if name in shares_of else {}),
        }
        for name, values in sorted(seconds_of.items())
    }


def costliest(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the largest share of all experiments, with its experiment and sampler; empty if none has one."""
    shares = [
        (sampler["share"], experiment, name)
        for experiment, entry in sorted(entries.items())
        for name, sampler in entry.get("samplers", {}).items()
        if "share" in sampler
    ]
    if not shares:
        return {}
    share, experiment, name = max(shares, key=lambda triple: triple[0])
    return {"share": share, "experiment": experiment, "sampler": name}


def _observed_seconds(name: str, sidecar: Mapping[str, Any]) -> float:
    """Return how long a sampler observed, in seconds: while the tool ran, and in its wait after that."""
    waits = [wait for wait in sidecar.get("waits") or () if wait.get("for") == _OBSERVING_ON.get(name, "")]
    return float(sidecar.get("tool_seconds") or 0) + math.fsum(float(wait.get("seconds") or 0) for wait in waits)


def _probe_seconds(counters: str) -> float | None:
    """Return the seconds in the probe's last row; None without one. The reader of the table has judged it."""
    at = counters.rfind(_PROBE_ROW)
    if at < 0:
        return None
    return number(counters[at + len(_PROBE_ROW) :].partition("\n")[0])
