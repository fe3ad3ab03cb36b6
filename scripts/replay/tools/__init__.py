"""Benchmark tools, and readers of other cells. A Tool builds its argv; a Reader reads what a run left. All are pure.

A module's instances of Reader are found by their names, so there is no list to extend. A Tool also names its program
and Debian's package of it, which `programs.py` lists for releases, preflight, the set-up and the container.

If a cell is more than one command, the key `tool` of an experiment names a Reader of what the protocol logs. The
evidence of imported results names a Reader of files that somebody else made.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from replay.base.errors import ConfigurationError
from replay.tools.base import OutputError, Reader, Result, Tool, judge, render

__all__ = [
    "OutputError", "Reader", "Result", "Tool", "find_reader", "judge", "reader", "render", "tool_names", "tools",
]  # fmt: skip


@cache
def _readers() -> dict[str, Reader]:
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {value.name: value for module in modules for value in vars(module).values() if isinstance(value, Reader)}


def find_reader(name: str) -> Reader | None:
    """Return the tool or reader with a name, None if there is none. `rbd-bench` and `rbd_bench` are the same name."""
    return _readers().get(name.replace("-", "_"))


def reader(name: str) -> Reader:
    """Return the tool or reader with a name. Raises ConfigurationError if there is none."""
    named = find_reader(name)
    if named is None:
        raise ConfigurationError(f"nothing reads the tool {name!r}", next_step=f"use one of {', '.join(tool_names())}")
    return named


def tool_names() -> list[str]:
    """Return the names that an experiment's `tool` can have."""
    return sorted(_readers())


def tools() -> list[Tool]:
    return [tool for _, tool in sorted(_readers().items()) if isinstance(tool, Tool)]
