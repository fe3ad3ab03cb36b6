"""Cells of the protocol of the same name: a run of `rados bench`, and the placement of the pool's data before it."""

from __future__ import annotations

from dataclasses import replace

from replay.tools.base import Reader, Result, Run
from replay.tools.logs.placement_entities import ROLES, entities_of, placement_metrics, read_placement
from replay.tools.rados_bench import TOOL as RADOS


class Placement(Reader):
    """Reads a cell, whose tool is `rados bench`."""

    name = "placement"

    def read(self, run: Run) -> Result:
        """Parse the run's output, and `groups`, `tree` and `usage` into entities.

        Metrics besides the tool's: `last_osd_placement_groups`, `…_primaries`, `…_bytes` and `…_weight_share`, of the
        OSD with the highest number; `placement_groups_deviation_worst` and others, the largest deviation of any OSD.
        """
        of_tool = {role: text for role, text in run.texts.items() if role not in ROLES}
        result = RADOS.read(replace(run, texts=of_tool))
        entities = entities_of(*read_placement(run.texts, run.names))
        metrics = {**result.metrics, **placement_metrics(entities)} if result.complete else {}
        return replace(result, metrics=metrics, entities=tuple(entities))


READER = Placement()
