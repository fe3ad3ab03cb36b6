"""Finds the procedure that an experiment's `protocol` names, for rooms below the procedures.

A module in replay.protocols with a class `PROTOCOL` is the procedure of its name, so there is no list to extend. It is
imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from replay.base import plugins
from replay.base.errors import ConfigurationError
from replay.design.needs import Needs, check_declared

PACKAGE = "replay.protocols"


def protocol_names() -> list[str]:
    """Return the names of all procedures, without importing their modules."""
    return plugins.module_names(PACKAGE)


def protocol_class(name: str) -> Any:
    """Return the class of the procedure of that name. Raises ConfigurationError if there is none."""
    if name not in protocol_names():
        raise ConfigurationError(f"no protocol {name!r}", next_step=f"protocols: {', '.join(protocol_names())}")
    # Imported here, so that a broken or slow procedure does not affect the others.
    return plugins.load(PACKAGE, name).PROTOCOL


def protocol_for(bench: Any, design: Any) -> Any:
    """Return the procedure of a design's cells, for one block."""
    return protocol_class(design.configuration["protocol"])(bench, design)


def needs_of(name: str) -> Needs:
    """Return the declarations of the procedure of that name."""
    return protocol_class(name).needs


def check_experiment(configuration: Mapping[str, Any], where: Callable[..., str] | None = None) -> None:
    """Refuse options and factors that the experiment's protocol does not know. Raises ConfigurationError.

    `where(*keys)` returns a key's place in the file; without it errors only name the file.
    """
    file = f"config/experiments/{configuration['name']}.yaml"
    check_declared(configuration, needs_of(configuration["protocol"]), where or (lambda *keys: file))


def lacking(name: str, site: Any) -> dict[str, str]:
    """Return what the procedure of that name needs and the site lacks: a word of `requires` to the reason."""
    return protocol_class(name).lacking(site)
