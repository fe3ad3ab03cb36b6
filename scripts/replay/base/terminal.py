"""Terminals: which streams are terminals, and drawing on them. Other streams get plain text without escape codes."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
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


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command that its reader is gone: rich would end the program with status 1."""
        raise BrokenPipeError


def console_of(stream: TextIO) -> Console:
    """Return rich's console for a stream: on a terminal with colours (unless `NO_COLOR`) and its width, else plain.

    Text is printed unchanged: no markup, no emoji, no highlighting.
    """
    terminal = is_terminal(stream)
    return _Console(
        file=stream,
        force_terminal=terminal,
        width=None if terminal else _PLAIN_WIDTH,
        color_system="auto" if terminal else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_columns(stream: TextIO, rows: Iterable[Sequence[str | Text]], widths: Sequence[int]) -> None:
    """Print rows: columns of these widths, and a last column that on a terminal takes the rest and wraps."""
    if not is_terminal(stream):
        for *cells, last in rows:
            aligned = [str(cell).ljust(width) for cell, width in zip(cells, widths, strict=True)]
            print("".join([*aligned, str(last)]).rstrip(), file=stream)
        return
    table = Table.grid()
    for width in widths:
        table.add_column(width=width, no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    for row in rows:
        table.add_row(*row)
    console_of(stream).print(table)


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


def answer_to(question: str) -> str:
    """Ask a person; return the line that was typed, empty if there was none, as after Ctrl-D."""
    try:
        return input(question).strip()
    except EOFError:
        print()
        return ""


_BAR_WIDTH = 24


class Screen:
    """Prints lines and draws the live view. Without a call of `follow` it only writes lines.

    If the reader goes away, the work continues; output that nobody reads is dropped. So are lines for a file on a disk
    that has become full.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream
        self._console: Console = console_of(stream)
        self._live: Live | None = None
        self._spinner = Spinner("dots")

    @property
    def following(self) -> bool:
        """Whether a view is being drawn."""
        return self._live is not None

    def follow(self, view: Callable[[], RenderableType]) -> None:
        """Keep drawing a view below the lines until `stop`. It is never wider than the terminal."""
        self._live = Live(get_renderable=view, console=self._console, refresh_per_second=4, transient=True)
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Remove the view."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def line(self, text: str) -> None:
        """Print a line that stays."""
        if self._live is None:
            self.write(f"{text}\n")
        else:
            self._console.print(Text(text), soft_wrap=True)

    def write(self, text: str) -> None:
        """Write text unchanged."""
        if (stream := self._stream) is None:
            return
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            self._stream = None
            drop_output(stream)

    def view(self, *, done: float, total: float, counted: str, now: str, since: str, last: str) -> Group:
        """Return what to draw: how much is done, what is running and since when, the result of the previous step."""
        bar = Table.grid(padding=(0, 1))
        bar.add_column(width=_BAR_WIDTH)
        bar.add_column(no_wrap=True, overflow="ellipsis")
        bar.add_row(ProgressBar(total=total or None, completed=done, width=_BAR_WIDTH), counted)
        spinner = self._spinner.render(self._console.get_time())
        running = Text.assemble(spinner, f" {since} ", (now, "bold"), no_wrap=True, overflow="ellipsis")
        before = Text(f"  last: {last}", style="dim", no_wrap=True, overflow="ellipsis")
        return Group(bar, running, before) if last else Group(bar, running)
