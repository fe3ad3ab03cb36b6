"""How pools of Replay's own are told from others, and whether a cluster lets anybody remove a pool."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession

#: How the names of everything begin that Replay makes.
NAME_PREFIX = "replay-"
#: The mark of an experiment's pool, among the metadata of its application: a user's rights can refer to it.
OWN_KEY, OWN_VALUE = "replay", "own"
POOL_DELETE_OPTION = "mon_allow_pool_delete"


def pools_can_be_deleted(session: MonitorSession, status: Mapping[str, Any] | None = None) -> bool | None:
    """Return whether the monitors delete pools; None if this user may not ask, or no manager knows."""
    monitors = (status or session.status())["quorum_names"]
    asked = {"prefix": "config show", "who": f"mon.{monitors[0]}", "key": POOL_DELETE_OPTION}
    try:
        return bool(session.command(asked, target="mgr"))
    except CephCommandError as error:
        if error.exit_status_of_tool in (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EINVAL):
            return None
        raise


def refuse_lasting_pools(session: MonitorSession, where: str) -> None:
    """Raise RefusedError if a pool made now could not be removed again."""
    if pools_can_be_deleted(session) is False:
        raise RefusedError(
            f"no pool is made, because the monitors do not delete any: {POOL_DELETE_OPTION} is false",
            where=where,
            next_step=f"an administrator allows it: ceph config set mon {POOL_DELETE_OPTION} true",
        )
