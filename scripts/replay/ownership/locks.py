"""What keeps two runs on a cluster apart: the slot, the cluster's lock, and the administrator's stop switch.

The slot is a file of this machine. It keeps processes of one machine apart, also without a pool, and tools inherit it.
The lock and the stop switch are objects in the site's data pool, for runs on other hosts. The lock names its holder and
lapses a minute after its holder has died.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import getpass
import json
import os
import platform
import secrets
import shlex
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from replay.base.clock import poll, utc_now
from replay.base.errors import RefusedError
from replay.base.paths import replay_command, state_directory
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession, Object, place
from replay.cluster.site import Site, Stop
from replay.ownership.ledger import Ledger
from replay.sandbox.processes import boot_id, start_ticks

LOCK_OBJECT, STOP_OBJECT = "replay-lock", "replay-stop"
KIND = "lock"
_NAME = "replay"
LASTS_SECONDS = 60.0
RENEW_EVERY_SECONDS = 15.0
#: What librados says of an operation that a full pool, or a frozen OSD, does not take.
UNSERVED = (errno.ETIMEDOUT, errno.ENOSPC, errno.EDQUOT)


class SlotLock:
    """The one place on a cluster where a benchmark may run. Tools inherit it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None

    @classmethod
    def of(cls, fsid: str) -> SlotLock:
        """Return the slot of a cluster."""
        return cls(state_directory() / "locks" / f"{fsid}.lock")

    def acquire(self, wait_seconds: float = 60.0, say: Callable[[str], None] | None = None) -> None:
        """Take the slot, waiting a little for a leftover to end. Raises RefusedError naming the holder."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("a+")

        def take() -> bool | None:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            return None

        def holder() -> str:
            file.seek(0)
            return f"process {file.read().strip() or 'unknown'}"

        try:
            if not take():
                if say:
                    say(f"another measurement uses this cluster ({holder()}); waiting up to {wait_seconds:g} s")
                poll(
                    take,
                    what="another measurement on this cluster to end",
                    seconds=wait_seconds,
                    every=0.2,
                    seen=lambda: f"it is {holder()}",
                    where=self.path,
                    next_step="wait for it, or end it, then start again: nothing is lost",
                    error=RefusedError,
                )
        except BaseException:
            file.close()
            raise
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that a tool inherits."""
        return (self._file.fileno(),) if self._file is not None else ()


@dataclass(frozen=True)
class Holder:
    """A process that measures or cleans up: where it runs, and what tells it from a later one of the same number."""

    host: str
    user: str
    process: int
    #: When it started, in ticks since its machine started; that start; and the space of its process number.
    began: int
    boot: str
    space: str
    since: str

    def sentence(self) -> str:
        return f"process {self.process} of {self.user} on {self.host}, since {self.since}"

    def text(self) -> str:
        """Return it for a lock's description."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def is_dead(self) -> bool:
        """Return whether this machine knows that the process has ended. Another machine's is never known to."""
        if (self.boot, self.space) != (boot_id(), _space()):
            return False
        return start_ticks(self.process) != self.began


def this_process() -> Holder:
    began = start_ticks(os.getpid())
    assert began is not None, "this process is running"
    return Holder(platform.node(), _user(), os.getpid(), began, boot_id(), _space(), utc_now())


def parse(description: str) -> Holder | None:
    """Return the holder that a description names, None if Replay did not write it."""
    try:
        return Holder(**json.loads(description))
    except (ValueError, TypeError):
        return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user that it does not know
        return str(os.getuid())


def _space() -> str:
    return str(Path("/proc/self/ns/pid").readlink())


class ClusterLock:
    """The lock of one process on a site's cluster; as a context manager, it is held inside."""

    def __init__(
        self,
        site: Site,
        session: MonitorSession,
        ledger: Ledger,
        *,
        data_set: str = "",
        wait_seconds: float = LASTS_SECONDS + 10,
        say: Callable[[str], None] = print,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.site, self.session, self.ledger, self.data_set, self.say = site, session, ledger, data_set, say
        self.wait_seconds, self.clock, self.sleep = wait_seconds, clock, sleep
        self.object = Object(session, site.pools.data, LOCK_OBJECT)
        self.cookie = secrets.token_hex(8)
        self.holder = this_process()
        self.is_held = False
        self._renewed = 0.0

    def __enter__(self) -> ClusterLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock, waiting for a dead holder's to lapse. Raises RefusedError naming the holder, or the user.

        Nothing is locked where the pool does not exist, because nothing can run there, and where the package
        python3-rados is missing, which is said.
        """
        who = ""

        def take() -> int | None:
            nonlocal who
            for _ in range(2):  # the second time where the holder has ended, which is known now
                if (busy := self._first()) != errno.EBUSY:
                    return busy
                if (holder := self._holder()) is not None:
                    if not who:
                        self.say(f"another run uses this cluster: {holder}; waiting up to {self.wait_seconds:g} s")
                    who = holder
                    return None
            return None

        self._enter()
        busy = poll(
            take,
            what="another run on this cluster to end",
            seconds=self.wait_seconds,
            seen=lambda: f"it is {who or 'one that the lock does not name'}",
            where=f"site {self.site.name}, object {self.object.spec}",
            next_step=f"wait for it to end. If it has died, its lock lapses within {LASTS_SECONDS:.0f} s",
            error=RefusedError,
            pause=self.sleep,
            clock=self.clock,
        )
        self.is_held = busy == 0
        if not self.is_held:
            self._leave()
        if busy == errno.ENOTSUP:
            self.say("python3-rados is missing: no lock on the cluster keeps runs of other hosts away")

    def _first(self) -> int:
        """Try to take the lock. A user who may not has created nothing, and is refused."""
        try:
            return self._try(renew=False)
        except CephCommandError as error:
            if error.exit_status_of_tool not in (errno.EPERM, errno.EACCES):
                raise
            self._leave()
            raise RefusedError(
                f"this user may not write to pool {self.site.pools.data.spec}: {error.what}",
                where=f"site {self.site.name}",
                next_step=f"see what it lacks: {replay_command('preflight', '--site', self.site.name)}",
            ) from error

    def renew_when_due(self) -> Stop | None:
        """Renew the lock if it is time; return why the run must end if somebody else has it by now.

        Raises CephCommandError if the cluster does not serve it, which is no loss: nobody else is served either.
        """
        if not self.is_held or self.clock() - self._renewed < RENEW_EVERY_SECONDS:
            return None
        if not self._again():
            return None
        why = self._holder() or "somebody has broken it"
        return Stop("lock_lost", f"the lock on the cluster ({self.object.spec}) was lost: {why}")

    def keep(self) -> None:
        """Renew the lock if it is time, while things are removed. Raises RefusedError if somebody else has it."""
        try:
            # With the pool, which may be one of these things, the lock is gone, and no other run can begin.
            stop = self.renew_when_due() if self.is_held and self._pool_exists() else None
        except CephCommandError:
            return  # nobody else is served either
        if stop is not None:
            raise RefusedError(
                stop.detail,
                where=f"site {self.site.name}",
                next_step=f"wait for that run to end, then run {replay_command('clean', '--site', self.site.name)}",
            )

    def release(self) -> None:
        """Remove the object, and with it the lock: only while it is certain that it is held."""
        if not self.is_held:
            return
        self.is_held = False
        try:
            # With the pool, which `clean` may have removed, the lock is gone. The pool's OSDs would never answer.
            if self._pool_exists() and not self._again():
                self.object.remove()
        except CephCommandError as error:
            if error.exit_status_of_tool != errno.ENOENT:
                self.say(f"the lock on the cluster lapses by itself in {LASTS_SECONDS:.0f} s: {error.what}")
                return
        self._leave()

    def _pool_exists(self) -> bool:
        pools = self.session.command({"prefix": "osd lspools"})
        return self.site.pools.data.name in {pool["poolname"] for pool in pools}

    def _try(self, *, renew: bool) -> int:
        """Lock or renew; return 0, or the errno of a refusal that means something."""
        try:
            self.object.lock(_NAME, self.cookie, self.holder.text(), LASTS_SECONDS, renew=renew)
        except CephCommandError as error:
            if error.exit_status_of_tool in (errno.EBUSY, errno.EEXIST):
                return errno.EBUSY
            if error.exit_status_of_tool in (errno.ENOENT, errno.ENOTSUP):
                return error.exit_status_of_tool
            raise
        self._renewed = self.clock()
        return 0

    def _again(self) -> int:
        """Renew the lock, or take it again if it has lapsed; return 0, or EBUSY if somebody else has it."""
        if not self._try(renew=True):
            return 0
        # After its connection broke, the cluster takes this process for another client.
        for locker in self.object.lockers(_NAME):
            if locker["cookie"] == self.cookie:
                self.object.break_lock(_NAME, locker)
        return self._try(renew=False)

    def _holder(self) -> str | None:
        """Return who holds the lock, None if nobody does any more. Breaks the lock of this machine's dead."""
        for locker in self.object.lockers(_NAME):
            who = parse(locker["description"])
            if who is not None and who.is_dead():
                self.object.break_lock(_NAME, locker)
                continue
            return who.sentence() if who else f"{locker['name']} ({locker['description'] or 'no description'})"
        return None

    def _entry(self) -> str | None:
        pool = self.site.pools.data
        wanted = (KIND, pool.name, pool.namespace, LOCK_OBJECT)
        for entry in self.ledger.owned():
            if (entry.kind, entry.pool, entry.namespace, entry.name) == wanted:
                return entry.id
        return None

    def _enter(self) -> None:
        if self._entry() is None:
            pool = self.site.pools.data
            self.ledger.intend(
                KIND, pool.name, pool.namespace, LOCK_OBJECT, site=self.site.name, data_set=self.data_set
            )

    def _leave(self) -> None:
        if (entry := self._entry()) is not None:
            self.ledger.removed(entry)


def stop_switch(site: Site, session: MonitorSession) -> Callable[[], Stop | None]:
    """Return a function that returns why an administrator wants every run on this cluster to end, or None."""
    switch = Object(session, site.pools.data, STOP_OBJECT)

    def look() -> Stop | None:
        if (text := switch.read()) is None:
            return None
        why = " ".join(text.split()) or "no reason is given in it"
        return Stop("stopped", f"an administrator has stopped Replay here, by the object {switch.spec}: {why[:200]}")

    return look


def stop_command(site: Site) -> str:
    """Return the command that ends every run on the site, for whoever administers its cluster."""
    return shlex.join(["rados", *place(site.pools.data), "create", STOP_OBJECT])


def go_command(site: Site) -> str:
    """Return the command that allows runs again."""
    return shlex.join(["rados", *place(site.pools.data), "rm", STOP_OBJECT])
