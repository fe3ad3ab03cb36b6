"""Metrics that an experiment's configuration has gained since its data were measured.

A metric says what of a cell is drawn, and changes nothing of how the cell is measured. So one that is added to
`config/experiments/` later is drawn of older raw output too, where this says anything of it. All else of a design, the
metrics that it lists included, stays as it was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from replay.base.paths import config_directory
from replay.config.experiments import load_experiment

#: Marks a metric that the recorded design does not list.
ADDED = "added"


def configured_metrics(experiment: str) -> list[Mapping[str, Any]]:
    """Return the metrics of `config/experiments/<experiment>.yaml`; none if there is no such file.

    Raises ConfigurationError where the file makes no sense: a mistake in it must not take charts away unseen.
    """
    if not (config_directory() / "experiments" / f"{experiment}.yaml").is_file():
        return []
    return load_experiment(experiment)["metrics"]


def with_added(design: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a recorded design with those of the metrics that it does not list by name, marked as added."""
    listed = {metric["name"] for metric in design.get("metrics", ())}
    added = [{**metric, ADDED: True} for metric in metrics if metric["name"] not in listed]
    return {**design, "metrics": [*design.get("metrics", ()), *added]}
