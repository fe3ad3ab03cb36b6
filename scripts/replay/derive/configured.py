"""Adds the metrics that an experiment's configuration has gained since its data were measured.

A metric says what is drawn about a cell, and changes nothing in how the cell is measured. So a metric that is added to
`config/experiments/` later is drawn from older raw output too, if that contains it. Everything else in a design,
including the metrics that it lists, stays as it was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from replay.base.paths import config_directory
from replay.design.configuration import load_experiment

#: Marks a metric that the recorded design does not list.
ADDED = "added"


def configured_metrics(experiment: str) -> list[Mapping[str, Any]]:
    """Return the metrics of `config/experiments/<experiment>.yaml`; empty if there is no such file.

    Raises ConfigurationError if the file is invalid, so that a mistake in it cannot remove charts unnoticed.
    """
    if not (config_directory() / "experiments" / f"{experiment}.yaml").is_file():
        return []
    return load_experiment(experiment)["metrics"]


def with_added(design: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a recorded design with the metrics whose names it does not list, marked as added."""
    listed = {metric["name"] for metric in design.get("metrics", ())}
    added = [{**metric, ADDED: True} for metric in metrics if metric["name"] not in listed]
    return {**design, "metrics": [*design.get("metrics", ()), *added]}
