"""Why a daemon ended, from its output and its log: its last words, and causes that a person can remove."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from replay.base.invocation import replay_command

#: Only this many of the last lines are searched for a cause: older ones are from an earlier start.
_RECENT_LINES = 40
_NO_MORE_AIO = "io_setup(2) failed with EAGAIN"
_AIO_NUMBERS = Path("/proc/sys/fs")

Explanation = tuple[str, str]
"""What happened, and what to do next."""


def last_words(paths: Sequence[Path]) -> str:
    """Return the last line of the first of these files that has one."""
    for path in paths:
        if lines := _recent_lines(path):
            return lines[-1]
    return "it printed no message"


def explain(paths: Sequence[Path], numbers: Path = _AIO_NUMBERS) -> Explanation | None:
    """Return the explanation of a known cause that the files name, or None.

    `numbers` is the folder of the kernel's settings `aio-nr` and `aio-max-nr`.
    """
    lines = [line for path in paths for line in _recent_lines(path)]
    for sign, explanation in _KNOWN.items():
        if any(sign in line for line in lines):
            return explanation(numbers)
    return None


def _no_more_aio(numbers: Path) -> Explanation:
    used, limit = _number(numbers / "aio-nr"), _number(numbers / "aio-max-nr")
    wanted = max(1 << 20, 2 * (limit or 0))
    figures = f" ({used} of {limit} are taken)" if used is not None and limit is not None else ""
    return (
        f"the kernel has no asynchronous I/O left for this OSD{figures}: all processes on this machine share its limit "
        "fs.aio-max-nr",
        f"raise the limit: sudo sysctl fs.aio-max-nr={wanted}, or stop sandboxes that you do not need: "
        f"{replay_command('sandbox', 'down')}",
    )


_KNOWN: dict[str, Callable[[Path], Explanation]] = {_NO_MORE_AIO: _no_more_aio}


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _recent_lines(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_RECENT_LINES:]
    return []
