"""Protocols: the procedure of a cell. `prepare, run, verify, restore`; the runner calls them, and nothing else does.

A module of this package that holds a `PROTOCOL`, a class, is the protocol of its name; there is no list to extend.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from replay.context import Bench
from replay.design import Design
from replay.errors import ConfigurationError
from replay.protocols.base import Protocol

if TYPE_CHECKING:
    from replay.site import Site

_NO_PROTOCOLS = {"base"}


def protocol_names() -> list[str]:
    """Return the names of all protocols, without reading their modules."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _NO_PROTOCOLS)


def protocol_for(bench: Bench, design: Design) -> Protocol:
    """Return the protocol that the experiment names. Raises ConfigurationError when there is none of that name."""
    name = design.configuration["protocol"]
    if name not in protocol_names():
        raise ConfigurationError(
            f"no protocol {name!r}",
            where=f"config/experiments/{design.name}.yaml",
            next_step=f"protocols: {', '.join(protocol_names())}",
        )
    return protocol_class(name)(bench, design)


def protocol_class(name: str) -> type[Protocol]:
    """Return the class of the protocol of that name, one of `protocol_names`."""
    # Imported here, so that a broken or heavy protocol does not keep the others from running.
    return importlib.import_module(f"{__name__}.{name}").PROTOCOL


def lacking(name: str, site: Site) -> dict[str, str]:
    """Return what the protocol of that name needs and the site has not: word of `requires` to the reason."""
    return protocol_class(name).lacking(site)
