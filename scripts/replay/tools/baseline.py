"""The tool of a baseline: fio on a file, or iperf3, depending on the level `resource`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.base.errors import ConfigurationError
from replay.tools import fio, iperf3
from replay.tools.base import Result, Run, Tool

MEDIA, NETWORK = "media", "network"
_TOOLS: Mapping[str, Tool] = {MEDIA: fio.TOOL, NETWORK: iperf3.TOOL}


class Baseline(Tool):
    """Passes each call on to the tool of the cell's resource."""

    name = "baseline"
    program = package = fio.TOOL.program

    @staticmethod
    def tool_of(levels: Mapping[str, Any]) -> Tool:
        """Return the tool that measures a cell's resource. Raises ConfigurationError if no tool measures it."""
        tool = _TOOLS.get(str(levels.get("resource")))
        if tool is None:
            raise ConfigurationError(f"resource {levels.get('resource')!r} is not one of {', '.join(_TOOLS)}")
        return tool

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv of the resource's tool."""
        return self.tool_of(levels).argv_template(levels, options)

    def result_files(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return the files that the resource's tool writes."""
        return self.tool_of(levels).result_files(levels, options)

    def read(self, run: Run) -> Result:
        """Parse the output of the resource's tool."""
        return self.tool_of(run.levels).read(run)


TOOL = Baseline()
