"""Single RADOS objects, through the connection that is open already: read, locked, removed."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass
from typing import Any

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import Pool

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
