"""Says whether an administrator has stopped Replay on a cluster, and how to do so. Read-only."""

from __future__ import annotations

import errno

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.ownership.locks import go_command, stop_command, stop_switch
from replay.preflight.findings import Findings


def check_stop_switch(site: Site, session: MonitorSession, findings: Findings) -> None:
    """Refuse a cluster whose stop switch is set; else say how its administrator sets it."""
    try:
        stop = stop_switch(site, session)()
    except CephCommandError as error:
        if error.exit_status_of_tool in (errno.EPERM, errno.EACCES):
            return  # the user cannot read the pool, which is a finding already
        raise
    if stop is not None:
        findings.add("stop", "refused", f"{stop.detail}; when it may run again: {go_command(site)}")
    elif site.sandbox is None:
        findings.add("stop", "note", f"an administrator ends any run within ten seconds: {stop_command(site)}")
