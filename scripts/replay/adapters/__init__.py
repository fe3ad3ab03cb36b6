"""One module per benchmark tool: it builds the tool's argv and parses its output, and does nothing else."""

from __future__ import annotations

import importlib

from replay.adapters.base import Adapter, OutputError, Result, judge, render
from replay.errors import ConfigurationError

NAMES = ("fio", "rados_bench", "rbd_bench")

__all__ = ["NAMES", "Adapter", "OutputError", "Result", "adapter", "judge", "render"]


def adapter(name: str) -> Adapter:
    """Return the adapter of a tool; `rbd-bench` and `rbd_bench` name the same one.

    Raises ConfigurationError when there is none of that name.
    """
    module = name.replace("-", "_")
    if module not in NAMES:
        raise ConfigurationError(f"no adapter for the tool {name!r}", next_step=f"use one of {', '.join(NAMES)}")
    return importlib.import_module(f"replay.adapters.{module}").ADAPTER
