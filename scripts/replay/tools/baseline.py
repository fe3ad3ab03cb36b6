"""What a baseline runs: fio on a file, or iperf3, as the level `resource` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.base.errors import ConfigurationError
from replay.tools import fio, iperf3
from replay.tools.base import Adapter, Result

MEDIA, NETWORK = "media", "network"
_TOOLS: Mapping[str, Adapter] = {MEDIA: fio.ADAPTER, NETWORK: iperf3.ADAPTER}


def tool_of(levels: Mapping[str, Any]) -> Adapter:
    """Return the adapter that measures a cell's resource. Raises ConfigurationError for one that nothing measures."""
    found = _TOOLS.get(str(levels.get("resource")))
    if found is None:
        raise ConfigurationError(f"resource {levels.get('resource')!r} is none of {', '.join(_TOOLS)}")
    return found


class Baseline:
    """The adapter of both tools."""

    name = "baseline"
    program = "fio"
    client_options_in = "argv"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the tool's argv, see its own adapter."""
        return tool_of(levels).argv_template(levels, options)

    def environment_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return nothing: neither tool talks to a cluster here."""
        return {}

    def result_files(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return the files that the tool writes beside stdout and stderr."""
        return tool_of(levels).result_files(levels, options)

    def parse(
        self,
        outputs: Mapping[str, str],
        exit_status: int | None,
        levels: Mapping[str, Any],
        *,
        names: Mapping[str, str] | None = None,
    ) -> Result:
        """Parse the tool's output; see `Adapter.parse`."""
        return tool_of(levels).parse(outputs, exit_status, levels, names=names)


ADAPTER = Baseline()
