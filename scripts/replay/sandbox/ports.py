"""Ports of the monitors: chooses free ones, and says who holds a busy one."""

from __future__ import annotations

import contextlib
import errno
import random
import socket
from pathlib import Path

from replay.cluster.sandbox_record import SandboxError

ADDRESS = "127.0.0.1"
# Below the ports that Linux gives to outgoing connections (32768 and up), above those of OSDs and managers
# (6800 to 7300).
_FIRST, _LAST = 20000, 29999


def is_free(port: int) -> bool:
    """Return whether a daemon could listen on this port of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As Ceph does: a port in TIME_WAIT is free, one with a listener is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
            probe.listen(1)
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
        return True


def choose(count: int, *, avoid: frozenset[int] = frozenset()) -> list[int]:
    """Return `count` distinct free ports, not in `avoid`.

    The search starts at a random place, because two sandboxes that start together would otherwise choose the same
    port. Raises SandboxError if the whole range is taken.
    """
    start = random.randrange(_FIRST, _LAST + 1)
    chosen: list[int] = []
    for offset in range(_LAST - _FIRST + 1):
        port = _FIRST + (start - _FIRST + offset) % (_LAST - _FIRST + 1)
        if port not in avoid and is_free(port):
            chosen.append(port)
        if len(chosen) == count:
            return chosen
    raise SandboxError(f"fewer than {count} free ports between {_FIRST} and {_LAST}", where=ADDRESS)


def holder(port: int) -> str:
    """Describe the process that listens on `port`: `name (pid 123)`, or that it belongs to another user."""
    inodes = {inode for table in ("tcp", "tcp6") for inode in _listening_inodes(Path("/proc/net") / table, port)}
    sockets = {f"socket:[{inode}]" for inode in inodes}
    for process in Path("/proc").glob("[0-9]*"):
        # A process may have ended, or belong to another user.
        with contextlib.suppress(OSError):
            if any(_link(descriptor) in sockets for descriptor in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text().strip()} (pid {process.name})"
    return "a process of another user"


def _link(descriptor: Path) -> str | None:
    try:
        return str(descriptor.readlink())
    except OSError:
        return None  # closed meanwhile


def _listening_inodes(table: Path, port: int) -> list[str]:
    listening = "0A"
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [row[9] for row in rows if row[3] == listening and int(row[1].rsplit(":", 1)[1], 16) == port]
