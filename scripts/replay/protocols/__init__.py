"""Protocols: the procedure of a cell. `prepare, run, verify, restore`; the runner calls them, and nothing else does."""

from __future__ import annotations

from replay.context import Bench
from replay.design import Design
from replay.errors import ConfigurationError
from replay.protocols.base import Protocol


def protocol_for(bench: Bench, design: Design) -> Protocol:
    """Return the protocol that the experiment names. Raises ConfigurationError when there is none of that name."""
    # Imported here, so that a broken or heavy protocol does not keep the others from running.
    name = design.configuration["protocol"]
    if name == "single_tool":
        from replay.protocols.single_tool import SingleTool as Chosen  # noqa: PLC0415
    elif name == "multi_client":
        from replay.protocols.multi_client import MultiClient as Chosen  # noqa: PLC0415
    elif name == "failover":
        from replay.protocols.failover import Failover as Chosen  # noqa: PLC0415
    else:
        raise ConfigurationError(f"no protocol {name!r}", where=f"config/experiments/{design.name}.yaml")
    return Chosen(bench, design)
