"""Terminals: which streams are terminals, and drawing on them. Other streams get plain text without escape codes."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

SILENCE_SECONDS = 2.0
_PLAIN_WIDTH = 100_000


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream can be drawn on: it is a terminal, and not `TERM=dumb`."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("", "dumb", "unknown")


def drop_output(stream: TextIO) -> None:
    """Send what is still to be written to a stream nowhere: its reader is gone, and at exit Python would fail on it."""
    with contextlib.suppress(OSError, ValueError):  # it is no file, or it is closed
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def console_of(stream: TextIO) -> Console:
    """Return rich's console for a stream: on a terminal with colours (unless `NO_COLOR`) and its width, else plain.

    Text is printed unchanged: no markup, no emoji, no highlighting.
    """
    terminal = is_terminal(stream)
    return Console(
        file=stream,
        force_terminal=terminal,
        width=None if terminal else _PLAIN_WIDTH,
        color_system="auto" if terminal else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_columns(console: Console, rows: Iterable[Sequence[str | Text]], widths: Sequence[int]) -> None:
    """Print rows on a terminal: columns of these widths, and a last column that takes the rest and wraps."""
    table = Table.grid()
    for width in widths:
        table.add_column(width=width, no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    for row in rows:
        table.add_row(*row)
    console.print(table)


@contextlib.contextmanager
def waiting(what: str, *, spinner: bool = True) -> Iterator[None]:
    """Say what a command is waiting for: a spinner on a terminal, elsewhere one line after two seconds.

    It goes to standard error, so that it never mixes with a command's output. Callers that print meanwhile do not use
    the spinner.
    """
    stream = sys.stderr
    if spinner and is_terminal(stream):
        with console_of(stream).status(f"{what} …"):
            yield
        return
    timer = threading.Timer(SILENCE_SECONDS, lambda: print(f"{what} …", file=stream, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
