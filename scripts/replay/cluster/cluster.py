"""A Ceph cluster as a client sees it: its files, bounded commands, and the admin sockets of daemons on this machine."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from replay.base.errors import ReplayError
from replay.base.programs import HOST_PROGRAMS, MissingProgramError, Programs
from replay.cluster.running import last_line

#: Where monitors listen if nothing else is said.
MONITOR_PORT = 3300


class CephCommandError(ReplayError):
    """A Ceph command failed or did not end in time. `exit_status_of_tool` is None for a timeout."""

    def __init__(self, what: str, *, where: str, next_step: str = "", exit_status_of_tool: int | None = None) -> None:
        super().__init__(what, where=where, next_step=next_step)
        self.exit_status_of_tool = exit_status_of_tool


@dataclass(frozen=True)
class Cluster:
    """How to reach one cluster as one client.

    `client` is the full entity name (`client.replay`), `programs` are those that speak to the cluster. Every command
    has a timeout: an unreachable monitor makes Ceph's tools wait forever.
    """

    conf: Path
    client: str = "client.admin"
    keyring: Path | None = None
    name: str = "primary"
    programs: Programs = HOST_PROGRAMS

    def arguments(self) -> list[str]:
        """Return the options that select this cluster and client, for `ceph`, `rbd` and `rados` alike."""
        options = ["--conf", str(self.conf), "--name", self.client]
        if self.keyring is not None:
            options += ["--keyring", str(self.keyring)]
        return options

    def run(
        self,
        tool: str,
        *args: str,
        timeout_seconds: float = 30.0,
        check: bool = True,
        while_running: Callable[[], None] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `tool` (`ceph`, `rbd`, `rados`, …) on this cluster and return the completed process.

        The command dies with this thread, which waits for it: after a `kill -9`, a fill would write on.
        `while_running` is called once a second; what it raises ends the command. Raises CephCommandError on a timeout,
        on a missing program and, when `check`, on a non-zero exit status.
        """
        shown = f"{tool} {' '.join(args)} ({self.name})"
        try:
            argv = self.programs.command([tool, *self.arguments(), *args], dies_with_parent=True)
            done = _run(argv, timeout_seconds, while_running)
        except MissingProgramError as error:
            raise CephCommandError(error.what, where=shown, next_step=error.next_step) from error
        except subprocess.TimeoutExpired as error:
            raise CephCommandError(
                f"no answer within {timeout_seconds:g} s",
                where=shown,
                next_step=f"check that the monitors named in {self.conf} can be reached",
            ) from error
        if check and done.returncode != 0:
            raise CephCommandError(
                f"exit status {done.returncode}: {last_line(done.stderr or done.stdout) or 'nothing was printed'}",
                where=shown,
                exit_status_of_tool=done.returncode,
            )
        return done

    def json(self, tool: str, *args: str, **more: Any) -> Any:
        """Run a command with `--format json` and return what it printed, parsed; `more` is for `run`."""
        done = self.run(tool, *args, "--format", "json", **more)
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError as error:
            raise CephCommandError(f"printed no JSON: {error}", where=f"{tool} {' '.join(args)}") from error


def unless_gone(ask: Callable[[], Any]) -> Any:
    """Return what a command of Ceph returns, None if the thing does not exist (yet, or any more)."""
    try:
        return ask()
    except CephCommandError as error:
        if error.exit_status_of_tool != errno.ENOENT:
            raise
        return None


def why_unreadable(path: Path) -> str:
    """Return why this user cannot read a file; "" if it can."""
    if os.access(path, os.R_OK):
        return ""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return "there is no such file"
    except OSError:
        pass  # such as in a folder that this user may not enter
    return "cannot be read by this user"


def monitors_in(conf: Path) -> str:
    """Return the monitors as a ceph.conf names them; "" if it names none (they may be in the DNS)."""
    named = re.search(r"^\s*mon[ _]host\s*=\s*(\S.*?)\s*$", conf.read_text(encoding="utf-8", errors="replace"), re.M)
    return named[1] if named else ""


def monitor_addresses(conf: Path) -> list[tuple[str, int]]:
    """Return host and port of the monitors that a ceph.conf names."""
    text = monitors_in(conf)
    version_2 = re.findall(r"v2:(\[[^\]]+\]|[^:,\s\]]+):(\d+)", text)
    plain = [] if version_2 else re.findall(r"(?:v1:)?(\[[0-9a-fA-F:]+\]|[^:,;\s\[\]/]+)(?::(\d+))?(?:/\d+)?", text)
    return [(host.strip("[]"), int(port or MONITOR_PORT)) for host, port in version_2 or plain]


def _run(
    argv: list[str], timeout_seconds: float, while_running: Callable[[], None] | None
) -> subprocess.CompletedProcess[str]:
    """Run a program like `subprocess.run`; an exception of `while_running` kills it and goes on."""
    deadline = time.monotonic() + timeout_seconds
    # Names that others gave to images and objects may be any bytes.
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    with subprocess.Popen(argv, **pipes) as process:
        try:
            while True:
                try:
                    out, err = process.communicate(timeout=max(0.0, min(1.0, deadline - time.monotonic())))
                    return subprocess.CompletedProcess(argv, process.returncode, out, err)
                except subprocess.TimeoutExpired:
                    if time.monotonic() >= deadline:
                        raise
                    if while_running is not None:
                        while_running()
        except BaseException:
            process.kill()
            raise


def client_conf(site_conf: str, client: str, keyring: PurePath | None, options: Mapping[str, str]) -> str:
    """Return the site's configuration with a client's section after it.

    Ceph merges sections of the same name, the last value wins, and the section with the client's full name takes
    precedence over `[client]` and `[global]`.
    """
    lines = [f"{name} = {value}" for name, value in sorted(options.items())]
    if keyring is not None:
        lines.insert(0, f"keyring = {keyring}")
    return "\n".join([site_conf.rstrip("\n"), "", f"[{client}]", *lines, ""])


def write_client_conf(path: Path, cluster: Cluster, options: Mapping[str, str]) -> Path:
    """Write the configuration of a cluster's client, readable by its owner alone; return its path."""
    text = client_conf(cluster.conf.read_text(encoding="utf-8"), cluster.client, cluster.keyring, options)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


# Admin sockets --------------------------------------------------------------------------------------------------------


class AdminSocketError(ReplayError):
    """The daemon did not answer on its admin socket, or declined the command."""


class NoAnswerError(AdminSocketError):
    """Nobody answered on the admin socket."""


def ask(socket_path: str | Path, command: dict[str, Any] | str, timeout_seconds: float = 5.0) -> Any:
    """Send `command` to the daemon behind `socket_path` and return its answer; no client of the cluster is started.

    The protocol is Ceph's own: connect to the Unix socket, send the command followed by a NUL byte, read a length as
    four bytes in network order, then as many bytes of payload.

    `command` is a command's prefix (`"perf dump"`) or the full dictionary (`{"prefix": "rbd mirror status replay"}`).
    The answer is parsed JSON, or text if the daemon answers in text; None if the answer is empty.
    `timeout_seconds` bounds each silence. Raises AdminSocketError; NoAnswerError if nobody answered.
    """
    request = {"prefix": command} if isinstance(command, str) else dict(command)
    request.setdefault("format", "json")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_seconds)
            connection.connect(str(socket_path))
            connection.sendall(json.dumps(request).encode() + b"\0")
            with connection.makefile("rb") as answer:
                header = answer.read(4)
                payload = answer.read(int.from_bytes(header, "big"))
            if len(header) < 4 or len(payload) < int.from_bytes(header, "big"):
                raise ConnectionError("the daemon closed the connection before its answer was complete")
    except OSError as error:
        raise NoAnswerError(
            f"no answer to {request['prefix']!r}: {error.strerror or error or 'timed out'}",
            where=socket_path,
            next_step="check that the daemon is running",
        ) from error
    text = payload.decode("utf-8", "replace")
    try:
        return json.loads(text) if text.strip() else None
    except json.JSONDecodeError:
        if text.startswith("ERROR:"):
            raise AdminSocketError(f"{request['prefix']!r} was declined: {text.strip()}", where=socket_path) from None
        return text
