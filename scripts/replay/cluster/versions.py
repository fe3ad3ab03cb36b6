"""Which versions measure and are measured: the tool, librbd, the daemons of one or two clusters."""

from __future__ import annotations

from typing import Any

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.evidence.record import DAEMONS, SECOND_SITE, program_version, short_version


def versions(session: MonitorSession, program: str, secondary: MonitorSession | None = None) -> dict[str, Any]:
    """Return versions of the tool, librbd, and each cluster's daemons (null where this client may not ask).

    A kind of daemon has several versions if they are mixed. `client_release` is present if the client's programs come
    from a release instead of the host.
    """
    programs = session.cluster.programs
    found: dict[str, Any] = {
        "tool": program_version(program, programs),
        "librbd": short_version(program_version("rbd", programs)),
        **_daemons(session),
    }
    if secondary is not None:
        found[SECOND_SITE] = _daemons(secondary)
    if programs.release is not None:
        found["client_release"] = programs.release.number
    return found


def _daemons(session: MonitorSession) -> dict[str, list[str] | None]:
    try:
        said = session.command({"prefix": "versions"})
    except CephCommandError:
        return dict.fromkeys(DAEMONS)
    return {
        kind: sorted(filter(None, {short_version(text) for text in said.get(kind.replace("_", "-"), {})}))
        for kind in DAEMONS
    }
