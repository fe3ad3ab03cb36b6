"""The experiments whose tool follows from a level of the cell: that of a resource, or of a layer of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from replay.base.errors import ConfigurationError
from replay.tools import fio, iperf3, rados_bench
from replay.tools.base import Reader, Result, Run

MEDIA, NETWORK = "media", "network"
DISK, OBJECTS, BLOCK_DEVICE = "disk", "objects", "block-device"


class ReaderByLevel(Reader):
    """Leaves each cell to the tool of its level of one factor."""

    def __init__(self, name: str, factor: str, tools: Mapping[str, Reader]) -> None:
        self.name = name
        self._factor = factor
        self._tools = tools

    def read(self, run: Run) -> Result:
        level = run.levels.get(self._factor)
        if level not in self._tools:
            raise ConfigurationError(f"{self._factor} {level!r} is not one of {', '.join(self._tools)}")
        return self._tools[level].read(replace(run, levels=levels_of(run.levels)))


BASELINE = ReaderByLevel("baseline", "resource", {MEDIA: fio.TOOL, NETWORK: iperf3.TOOL})
LAYERS = ReaderByLevel("layers", "layer", {DISK: fio.TOOL, OBJECTS: rados_bench.TOOL, BLOCK_DEVICE: fio.TOOL})


def levels_of(levels: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell's levels in the words of its tool: `rados bench` writes and reads whole objects."""
    if levels.get("layer") != OBJECTS:
        return dict(levels)
    return {**levels, "object_size_bytes": levels["io_size_bytes"], "threads": levels["io_depth"]}
