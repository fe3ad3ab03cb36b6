"""One module per benchmark tool: it builds the tool's argv and parses its output, and does nothing else.

A module with a `TOOL` is the tool of its name, so there is no list to extend. If a cell is more than one command, the
key `tool` of an experiment names a reader instead: a module with a `READER` in `tools/logs`, which reads what the
procedure logs. For imported results it names a reader in `tools/imported`.
"""

from __future__ import annotations

from functools import cache

from replay.base import plugins
from replay.base.errors import ConfigurationError
from replay.tools.base import OutputError, Reader, Result, Tool, judge, render

__all__ = ["OutputError", "Reader", "Result", "Tool", "adapter", "find_adapter", "judge", "render", "tool_names"]

_ROOMS = ((__name__, "TOOL"), (f"{__name__}.logs", "READER"), (f"{__name__}.imported", "READER"))


@cache
def find_adapter(name: str) -> Reader | None:
    """Return the tool or reader with a name, None if there is none. `rbd-bench` and `rbd_bench` are the same name."""
    module = name.replace("-", "_")
    for package, attribute in _ROOMS:
        if module in plugins.module_names(package):
            return getattr(plugins.load(package, module), attribute, None)
    return None


def adapter(name: str) -> Reader:
    """Return the tool or reader with a name. Raises ConfigurationError if there is none."""
    found = find_adapter(name)
    if found is None:
        raise ConfigurationError(f"no adapter for the tool {name!r}", next_step=f"use one of {', '.join(tool_names())}")
    return found


def tool_names() -> list[str]:
    """Return the names that an experiment's `tool` can have."""
    return sorted(name for package, _ in _ROOMS for name in plugins.module_names(package) if find_adapter(name))
