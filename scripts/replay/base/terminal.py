"""Terminals: which streams are one, and what is drawn there. Elsewhere all is plain text without escape codes."""

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
    """Say whether something may be drawn on a stream: a terminal, and not one that only prints (`TERM=dumb`)."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("", "dumb", "unknown")


def console_of(stream: TextIO) -> Console:
    """Return rich's console for a stream: colours and the terminal's width there (`NO_COLOR` counts), plain elsewhere.

    What is printed on it is taken as it stands: no markup, no emoji, nothing highlighted.
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
    """Print rows on a terminal: columns of these widths, and a last one that takes the rest and folds inside itself."""
    table = Table.grid()
    for width in widths:
        table.add_column(width=width, no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    for row in rows:
        table.add_row(*row)
    console.print(table)


@contextlib.contextmanager
def waiting(what: str, *, spinner: bool = True) -> Iterator[None]:
    """Say what a command waits for: a spinner on a terminal, elsewhere one line once two seconds have passed.

    It goes to standard error, so that it never mixes with a command's answer. What prints meanwhile does without the
    spinner.
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
