"""One module per benchmark tool: it builds the tool's argv and parses its output, and does nothing else.

A module of this package that holds an `ADAPTER` is the adapter of the tool of its name; there is no list to extend.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from replay.base.errors import ConfigurationError
from replay.tools.base import Adapter, OutputError, Result, judge, render

__all__ = ["Adapter", "OutputError", "Result", "adapter", "find_adapter", "judge", "render", "tool_names"]


@cache
def find_adapter(name: str) -> Adapter | None:
    """Return the adapter of a tool, or None; `rbd-bench` and `rbd_bench` name the same one."""
    module = name.replace("-", "_")
    if module not in {found.name for found in pkgutil.iter_modules(__path__)}:
        return None
    return getattr(importlib.import_module(f"{__name__}.{module}"), "ADAPTER", None)


def adapter(name: str) -> Adapter:
    """Return the adapter of a tool. Raises ConfigurationError when there is none of that name."""
    found = find_adapter(name)
    if found is None:
        raise ConfigurationError(f"no adapter for the tool {name!r}", next_step=f"use one of {', '.join(tool_names())}")
    return found


def tool_names() -> list[str]:
    """Return the names of all tools that have an adapter."""
    return [found.name for found in pkgutil.iter_modules(__path__) if find_adapter(found.name)]
