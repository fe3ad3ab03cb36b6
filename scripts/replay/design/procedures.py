"""Protocols: the procedure of a cell. `prepare, run, verify, restore`; the runner calls them, and nothing else does.

A module of this package that holds a `PROTOCOL`, a class, is the protocol of its name; there is no list to extend.
"""

from __future__ import annotations

from typing import Any

from replay.base import plugins
from replay.base.errors import ConfigurationError

PACKAGE = "replay.procedures"


def protocol_names() -> list[str]:
    """Return the names of all protocols, without reading their modules."""
    return plugins.module_names(PACKAGE)


def protocol_class(name: str) -> Any:
    """Return the class of the protocol of that name. Raises ConfigurationError when there is none."""
    if name not in protocol_names():
        raise ConfigurationError(f"no protocol {name!r}", next_step=f"protocols: {', '.join(protocol_names())}")
    # Imported here, so that a broken or heavy protocol does not keep the others from running.
    return plugins.load(PACKAGE, name).PROTOCOL


def protocol_for(bench: Any, design: Any) -> Any:
    """Return the protocol of a design's cells, for one block."""
    return protocol_class(design.configuration["protocol"])(bench, design)


def lacking(name: str, site: Any) -> dict[str, str]:
    """Return what the protocol of that name needs and the site has not: word of `requires` to the reason."""
    return protocol_class(name).lacking(site)
