"""Computes metrics from what a sidecar holds besides the tool's output: samples and facts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.derive.amplification import per_write
from replay.derive.utilisation import utilisation, utilisation_of_hosts
from replay.derive.write_costs import of_whole_run, write_costs


def computed_metrics(sidecar: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, float]:
    """Return further metrics of a cell, empty if nothing was sampled. `metrics` holds the tool's and the facts."""
    samples = sidecar.get("samples") or {}
    result: dict[str, float] = {}
    if ledger := samples.get("ledger"):
        counted = {**metrics, **of_whole_run(metrics)}
        result |= per_write(ledger, counted)
        if idle := samples.get("idle"):
            result |= write_costs(ledger, idle, counted)
    if daemons := samples.get("daemons"):
        result |= utilisation(daemons)
    if hosts := samples.get("prometheus"):
        result |= utilisation_of_hosts(hosts)
    offered, done = metrics.get("offered_operations_per_second"), metrics.get("operations_per_second")
    if offered and done is not None:
        # Below 1, the clients could not keep up with the offered rate, and latency grew with the length of the run.
        result["offered_share_met"] = done / offered
    return result
