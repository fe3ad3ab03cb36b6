"""The admin socket of a Ceph daemon: one question, one answer, no client start-up.

The protocol is Ceph's own: connect to the Unix socket, send the command followed by a NUL byte, read a length as four
bytes in network order, then as many bytes of payload.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from pathlib import Path
from typing import Any

from replay.base.errors import ReplayError


class AdminSocketError(ReplayError):
    """The daemon did not answer on its admin socket, or declined the command."""


class NoAnswerError(AdminSocketError):
    """Nobody answered on the admin socket."""


def ask(socket_path: str | Path, command: dict[str, Any] | str, timeout_seconds: float = 5.0) -> Any:
    """Send `command` to the daemon behind `socket_path` and return its answer.

    `command` is a command's prefix (`"perf dump"`) or the full dictionary (`{"prefix": "rbd mirror status replay"}`).
    The answer is parsed JSON, or text if the daemon answers in text; None if the answer is empty.
    `timeout_seconds` bounds the whole exchange. Raises AdminSocketError; NoAnswerError if nobody answered.
    """
    request = {"prefix": command} if isinstance(command, str) else dict(command)
    request.setdefault("format", "json")
    deadline = time.monotonic() + timeout_seconds
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_seconds)
            connection.connect(str(socket_path))
            connection.sendall(json.dumps(request).encode() + b"\0")
            (length,) = struct.unpack(">I", _receive(connection, 4, deadline))
            payload = _receive(connection, length, deadline)
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


def _receive(connection: socket.socket, count: int, deadline: float) -> bytes:
    """Return exactly `count` bytes. Raises OSError if the peer closes early or the deadline passes."""
    received = bytearray()
    while len(received) < count:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(remaining)
        chunk = connection.recv(min(1 << 20, count - len(received)))
        if not chunk:
            raise ConnectionError("the daemon closed the connection before its answer was complete")
        received += chunk
    return bytes(received)
