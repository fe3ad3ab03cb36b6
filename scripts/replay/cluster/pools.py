"""What Replay keeps in pools: single objects, and pools of its own, which are told from others by name and mark."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replay.base.disk import size_text
from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import Pool

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


@dataclass(frozen=True)
class Room:
    """How many more bytes clients can write into a pool; `quota` is the one that limits them, empty if none does."""

    bytes: float
    quota: str = ""


def room_in(pool: Mapping[str, Any], stats: Mapping[str, Any]) -> Room:
    """Return the room in a pool of `osd pool ls detail`, whose `stats` are those of `df`. A quota is a limit too."""
    room = Room(float(stats["max_avail"]))
    if (most := pool.get("quota_max_bytes")) and (left := max(0.0, most - stats["stored"])) < room.bytes:
        room = Room(left, size_text(most))
    if (most := pool.get("quota_max_objects")) and stats["objects"] >= most:
        room = Room(0.0, f"{most} objects")
    return room


def room_of(session: MonitorSession, name: str, timeout_seconds: float = 30.0) -> Room | None:
    """Ask for the room in a pool; None if there is no such pool. Raises CephCommandError."""
    asked = {"prefix": "osd pool ls", "detail": "detail"}
    pools = {pool["pool_name"]: pool for pool in session.command(asked, timeout_seconds=timeout_seconds)}
    usage = session.command({"prefix": "df"}, timeout_seconds=timeout_seconds)["pools"]
    stats = {pool["name"]: pool["stats"] for pool in usage}
    return room_in(pools[name], stats[name]) if name in pools and name in stats else None


#: An object of a few bytes is answered in milliseconds; a full pool or a frozen OSD never answers.
WITHIN_SECONDS = 5


def place(pool: Pool) -> list[str]:
    """Return the words that lead the program `rados` to a pool, and to its namespace."""
    return ["--pool", pool.name, *(["--namespace", pool.namespace] if pool.namespace else [])]


@dataclass(frozen=True)
class Object:
    """An object in a pool that Replay may use, in the pool's namespace."""

    session: MonitorSession
    pool: Pool
    name: str

    @property
    def spec(self) -> str:
        """`pool[/namespace]/object`."""
        return f"{self.pool.spec}/{self.name}"

    def read(self) -> str | None:
        """Return the first bytes of the object as text, None if there is no such object or no such pool."""
        try:
            return self._ask("read")["text"]
        except CephCommandError as error:
            if error.exit_status_of_tool == errno.ENOENT:
                return None
            if error.exit_status_of_tool != errno.ENOTSUP:
                raise
        done = self.session.cluster.run("rados", *place(self.pool), "get", self.name, "-", check=False)
        return done.stdout if done.returncode == 0 else None

    def lock(self, name: str, cookie: str, description: str, seconds: float, *, renew: bool = False) -> None:
        """Lock the object for some seconds, creating it; `renew` fails unless this connection holds the lock.

        Raises CephCommandError, with EBUSY if somebody else holds it.
        """
        self._ask("lock", name=name, cookie=cookie, description=description, seconds=seconds, renew=renew)

    def remove(self) -> None:
        """Remove the object with its locks. Raises CephCommandError, with ENOENT if it does not exist."""
        self._ask("remove")

    def lockers(self, name: str) -> list[dict[str, str]]:
        """Return who holds the lock: `name` of the client, `cookie`, `description`, `expiration`."""
        done = self._rados("lock", "info", self.name, name, "--format", "json")
        return json.loads(done.stdout)["lockers"] if done.returncode == 0 else []

    def break_lock(self, name: str, locker: dict[str, str]) -> None:
        """Take the lock from its holder; it is no error if the holder has just released it."""
        self._rados("lock", "break", self.name, name, locker["name"], "--lock-cookie", locker["cookie"])

    def _rados(self, *words: str) -> Any:
        return self.session.cluster.run("rados", *place(self.pool), *words, check=False)

    def _ask(self, prefix: str, **more: Any) -> Any:
        command = {"prefix": prefix, "pool": self.pool.name, "namespace": self.pool.namespace, "object": self.name}
        return self.session.command(command | more, target="object", timeout_seconds=WITHIN_SECONDS)
