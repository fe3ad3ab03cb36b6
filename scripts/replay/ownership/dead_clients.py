"""Has Ceph forget a client that was killed while it opened an image.

An OSD drops the watch of a client that has gone after half a minute. That of 16.2.15 starts this clock once the watch
is on disk, and not at all if the connection was lost by then. Such a watch is listed, and keeps the image from being
removed, until the OSD reads the image's header anew: once the header's placement group has peered, the clock starts.
20.2.4 starts it in either case.
"""

from __future__ import annotations

import errno

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.ownership.ledger import Entry


def group_of_header(session: MonitorSession, entry: Entry, image_id: str) -> str:
    """Return the placement group, such as `2.1f`, of an image's header. Raises CephCommandError."""
    command = {"prefix": "osd map", "pool": entry.pool, "object": f"rbd_header.{image_id}"}
    if entry.namespace:
        command["nspace"] = entry.namespace
    return str(session.command(command)["pgid"])


def peer_again(session: MonitorSession, group: str) -> bool:
    """Have a placement group peer anew, which delays what is written to it by a moment.

    Returns whether this user may. Raises CephCommandError.
    """
    try:
        session.command({"prefix": "pg repeer", "pgid": group})
    except CephCommandError as error:
        if error.exit_status_of_tool in (errno.EPERM, errno.EACCES):
            return False
        raise
    return True
