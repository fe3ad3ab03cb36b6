"""A terminal of 80 columns: runs a program in it, and reads its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Sequence
from dataclasses import dataclass

import pyte

COLUMNS, ROWS = 80, 24


@dataclass(frozen=True)
class Shown:
    """The final screen of a program, every screen before it, its bytes and its exit status."""

    lines: list[str]
    screens: list[list[str]]
    output: bytes
    status: int
    cursor_hidden: bool


def run_in_terminal(argv: Sequence[str], environment: dict[str, str] | None = None) -> Shown:
    """Run a program on a pseudo-terminal until it ends."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    env |= {"TERM": "xterm-256color"} | (environment or {})
    screen = pyte.Screen(COLUMNS, ROWS)
    stream, output, screens = pyte.ByteStream(screen), b"", []
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        try:
            while data := os.read(ours, 65536):
                output += data
                stream.feed(data)
                screens.append(_lines(screen))
        except OSError:
            pass  # Linux reports in this way that the other end is closed
        finally:
            os.close(ours)
    return Shown(_lines(screen), screens, output, process.returncode, screen.cursor.hidden)


def _lines(screen: pyte.Screen) -> list[str]:
    lines = [line.rstrip() for line in screen.display]
    while lines and not lines[-1]:
        lines.pop()
    return lines
