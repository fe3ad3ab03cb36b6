"""Which versions measure and are measured: the tool, librbd, the cluster's daemons."""

from __future__ import annotations

from typing import Any

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.raw.provenance import program_version, short_version


def versions(session: MonitorSession, program: str) -> dict[str, Any]:
    """Return versions of the tool, librbd, and the cluster's daemons (null where this client may not ask)."""
    programs = session.cluster.programs
    found: dict[str, Any] = {
        "tool": program_version(program, programs),
        "librbd": short_version(program_version("rbd", programs)),
    }
    try:
        daemons = session.command({"prefix": "versions"})
        for kind in ("mon", "osd"):
            found[kind] = sorted(filter(None, {short_version(text) for text in daemons.get(kind, {})}))
    except CephCommandError:
        found["mon"] = found["osd"] = None
    return found
