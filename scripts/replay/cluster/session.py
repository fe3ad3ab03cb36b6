"""Sends many small queries to a cluster's monitors cheaply, over one connection that stays open.

Each start of the `ceph` program costs a third of a second of CPU, which would show in a measurement. A session keeps
one child process (`session_server.py`, on the system's Python, which has Ceph's `rados` module) and costs milliseconds
for each query. Without that module the session falls back to the `ceph` program and says so in `.transport`.
"""

from __future__ import annotations

import errno
import json
import os
import selectors
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from replay.base.programs import SYSTEM_PYTHON, MissingProgramError
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.running import last_line
from replay.cluster.site import Pool
from replay.evidence.record import DAEMONS, SECOND_SITE, program_version, short_version

SERVER = Path(__file__).with_name("session_server.py")


class _ServerDiedError(Exception):
    """The child ended, or closed its output, before it answered."""


class _ModuleMissingError(Exception):
    """The system's Python has no `rados` module."""


class MonitorSession:
    """A connection to one cluster as one client. Safe to use from several threads; use it as a context manager.

    The first command starts the child. A dead child is replaced at the next command; one that does not answer in time
    is killed, and the command raises CephCommandError.
    """

    #: The child's Python, and its program.
    python: Path | str = SYSTEM_PYTHON
    server = SERVER

    def __init__(self, cluster: Cluster, *, connect_timeout_seconds: float = 15.0) -> None:
        self.cluster = cluster
        self.transport = "rados"
        self._connect_timeout_seconds = connect_timeout_seconds
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._buffer = b""
        self._requests = 0
        self._fsid: str | None = None
        self._last_status: tuple[float, dict[str, Any]] | None = None

    def __enter__(self) -> MonitorSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def command(self, command: dict[str, Any], *, timeout_seconds: float = 30.0, target: str = "mon") -> Any:
        """Run a Ceph command and return its answer, parsed; None if the answer is empty.

        `command` is what Ceph's API takes, `{"prefix": "osd pool get", "pool": …, "var": "size"}`, keys in the order
        of the command line's arguments; `target` is `mon`, `mgr`, `osd.N`, `object` as `Object` uses it, or `images`.
        Raises CephCommandError with Ceph's errno as `exit_status_of_tool`, or None for a timeout or a lost connection.
        """
        asked = {**command, "format": "json"}
        with self._lock:
            if self.transport == "rados":
                try:
                    return self._parsed(self._ask(asked, timeout_seconds, target), command)
                except _ModuleMissingError:
                    self.transport = "ceph"
                except _ServerDiedError as error:
                    raise self._failure(command, f"the connection ended: {error}") from error
                except KeyboardInterrupt:
                    self._stop()  # the answer to this question would be taken for that to the next one
                    raise
        return self._by_program(command, timeout_seconds, target)

    def status(self, *, timeout_seconds: float = 30.0, at_most_seconds_old: float = 0.0) -> dict[str, Any]:
        """Return `ceph status`; asks a second time if the connection has died meanwhile.

        An answer that somebody else got through this session, at most so many seconds ago, is returned without asking.
        """
        if (last := self._last_status) is not None and time.monotonic() - last[0] < at_most_seconds_old:
            return last[1]
        asked = time.monotonic()
        try:
            answer = self.command({"prefix": "status"}, timeout_seconds=timeout_seconds)
        except CephCommandError as error:
            if "the connection ended" not in error.what:
                raise
            answer = self.command({"prefix": "status"}, timeout_seconds=timeout_seconds)
        # Before 15.2.5, the figures of the map of OSDs are one level deeper.
        if "osdmap" in (osdmap := answer.get("osdmap", {})):
            answer["osdmap"] = osdmap["osdmap"]
        self._last_status = (asked, answer)
        return answer

    def fsid(self) -> str:
        """Return the cluster's fsid (asked once)."""
        if self._fsid is None:
            self._fsid = self.command({"prefix": "fsid"})["fsid"]
        return self._fsid

    def close(self) -> None:
        """End the child. The session can be used again; it then starts another one."""
        with self._lock:
            self._stop()

    def _ask(self, command: dict[str, Any], timeout_seconds: float, target: str) -> dict[str, Any]:
        if self._child is None or self._child.poll() is not None:
            self._start()
        self._requests += 1
        request = {"id": self._requests, "target": target, "command": command, "timeout_seconds": timeout_seconds}
        assert self._child is not None and self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request).encode() + b"\n")
            self._child.stdin.flush()
        except OSError as error:
            raise self._died() from error
        # The library's own timeout is shorter, so that a slow answer is an error and does not cost the connection.
        reply = self._read_line(timeout_seconds + 2.0, command)
        if reply.get("id") != self._requests:
            raise self._died("it answered another question")
        return reply

    def _start(self) -> None:
        self._stop()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        argv = [str(self.python), "-I", str(self.server), str(self.cluster.conf), self.cluster.client]
        argv += [str(self.cluster.keyring or ""), f"{self._connect_timeout_seconds:g}"]
        try:
            # A separate session: Ctrl-C must not close the connection that the clean-up needs.
            self._child = subprocess.Popen(
                self.cluster.programs.command(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                start_new_session=True,
            )
        except MissingProgramError as error:
            raise _ModuleMissingError from error
        hello = self._read_line(self._connect_timeout_seconds + 5.0, {"prefix": "connect"})
        if hello.get("ready"):
            self._fsid = hello["fsid"]
            return
        self._stop()
        if hello.get("reason") == "module":
            raise _ModuleMissingError
        raise CephCommandError(
            f"cannot connect: {hello.get('error', 'no reason was given')}",
            where=f"{self.cluster.name} as {self.cluster.client}",
            next_step=f"check {self.cluster.conf}, the keyring, and that its monitors can be reached",
        )

    def _read_line(self, timeout_seconds: float, command: dict[str, Any]) -> dict[str, Any]:
        assert self._child is not None and self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        deadline = time.monotonic() + timeout_seconds
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not selector.select(remaining):
                    self._stop()
                    raise self._failure(command, f"no answer within {timeout_seconds:g} s")
                chunk = os.read(descriptor, 1 << 20)
                if not chunk:
                    raise self._died()
                self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return json.loads(line)

    def _died(self, why: str = "") -> _ServerDiedError:
        printed = ""
        if self._said is not None:
            self._said.seek(0)
            printed = last_line(self._said.read())
        self._stop()
        return _ServerDiedError(why or printed or "nothing was printed")

    def _stop(self) -> None:
        child, self._child, self._buffer = self._child, None, b""
        if child is not None:
            child.kill()
            child.communicate()  # closes its pipes, whatever is still buffered in them
        if self._said is not None:
            self._said.close()
            self._said = None

    def _parsed(self, reply: dict[str, Any], command: dict[str, Any]) -> Any:
        if reply["status"] != 0:
            why = reply["error"].strip() or os.strerror(reply["status"])
            raise self._failure(command, f"error {reply['status']}: {why}", reply["status"])
        return self._json(reply["output"], command)

    def _by_program(self, command: dict[str, Any], timeout_seconds: float, target: str) -> Any:
        if target in ("object", "images"):
            raise self._failure(command, "this needs the package python3-rados", errno.ENOTSUP)
        words = ["tell", target] if target.startswith("osd.") else []
        for key, value in command.items():
            if key == "prefix":
                words += value.split()
            elif isinstance(value, bool):
                words += [f"--{key.replace('_', '-')}"] if value else []
            elif isinstance(value, list):
                words += [str(item) for item in value]
            else:
                words.append(str(value))
        done = self.cluster.run("ceph", *words, "--format", "json", timeout_seconds=timeout_seconds)
        return self._json(done.stdout, command)

    def _json(self, text: str, command: dict[str, Any]) -> Any:
        """Parse Ceph's answer; Ceph prints nothing at all for some commands."""
        try:
            return json.loads(text) if text.strip() else None
        except json.JSONDecodeError as error:
            raise self._failure(command, f"printed no JSON: {error}") from error

    def _failure(self, command: dict[str, Any], what: str, status: int | None = None) -> CephCommandError:
        return CephCommandError(
            what,
            where=f"ceph {command.get('prefix', '')} ({self.cluster.name})",
            next_step="" if status else f"check that the monitors named in {self.cluster.conf} can be reached",
            exit_status_of_tool=status,
        )


def versions(session: MonitorSession, program: str, secondary: MonitorSession | None = None) -> dict[str, Any]:
    """Return versions of the tool, librbd, and each cluster's daemons (null where this client may not ask).

    A kind of daemon has several versions if they are mixed. `client_release` is present if the client's programs come
    from a release instead of the host.
    """
    programs = session.cluster.programs
    known: dict[str, Any] = {
        "tool": program_version(program, programs),
        "librbd": short_version(program_version("rbd", programs)),
        **_daemons(session),
    }
    if secondary is not None:
        known[SECOND_SITE] = _daemons(secondary)
    if programs.release is not None:
        known["client_release"] = programs.release.number
    return known


def _daemons(session: MonitorSession) -> dict[str, list[str] | None]:
    try:
        answer = session.command({"prefix": "versions"})
    except CephCommandError:
        return dict.fromkeys(DAEMONS)
    return {
        kind: sorted(filter(None, {short_version(text) for text in answer.get(kind.replace("_", "-"), {})}))
        for kind in DAEMONS
    }


# What Replay keeps in a pool: single objects -------------------------------------------------------------------------

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
        try:
            return self.session.cluster.run("rados", *place(self.pool), "get", self.name, "-").stdout
        except CephCommandError as error:
            # The program's exit status is 1, whatever the reason.
            if os.strerror(errno.ENOENT) in error.what:
                return None
            raise

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
