"""The tool of each layer of a cluster: fio on the disk and on a block device, `rados bench` for objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from replay.base.errors import ConfigurationError
from replay.tools import fio, rados_bench
from replay.tools.base import Result, Run, Tool

DISK, OBJECTS, BLOCK_DEVICE = "disk", "objects", "block-device"
_TOOLS: Mapping[str, Tool] = {DISK: fio.TOOL, OBJECTS: rados_bench.TOOL, BLOCK_DEVICE: fio.TOOL}


class Layers(Tool):
    """Passes each call on to the tool of the cell's layer."""

    name = "layers"
    program = package = fio.TOOL.program

    @staticmethod
    def tool_of(levels: Mapping[str, Any]) -> Tool:
        """Return the tool that measures a cell's layer. Raises ConfigurationError if no tool measures it."""
        tool = _TOOLS.get(str(levels.get("layer")))
        if tool is None:
            raise ConfigurationError(f"layer {levels.get('layer')!r} is not one of {', '.join(_TOOLS)}")
        return tool

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv of the layer's tool."""
        return self.tool_of(levels).argv_template(levels_of(levels), options)

    def result_files(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return the files that the layer's tool writes."""
        return self.tool_of(levels).result_files(levels_of(levels), options)

    def read(self, run: Run) -> Result:
        """Parse the output of the layer's tool."""
        return self.tool_of(run.levels).read(replace(run, levels=levels_of(run.levels)))


TOOL = Layers()


def levels_of(levels: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell's levels in the words of its tool: `rados bench` writes and reads whole objects."""
    if levels.get("layer") != OBJECTS:
        return dict(levels)
    return {**levels, "object_size_bytes": levels["io_size_bytes"], "threads": levels["io_depth"]}
