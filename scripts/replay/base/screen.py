"""Shows work in progress: lines that stay, and on a terminal a live view below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from replay.base.terminal import console_of, drop_output

_BAR_WIDTH = 24


@dataclass(frozen=True)
class View:
    """The live view as text: how much is done, what is running and since when, the result of the previous step."""

    done: float
    total: float
    counted: str
    now: str
    since: str
    last: str


class Screen:
    """Prints lines and draws the live view. Without a call of `follow` it only writes lines.

    If the reader goes away, the work continues; output that nobody reads is dropped.
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

    def follow(self, view: Callable[[], View]) -> None:
        """Keep drawing a view below the lines until `stop`. It is never wider than the terminal."""
        self._live = Live(
            _Drawn(view, self._spinner),
            console=self._console,
            refresh_per_second=4,
            transient=True,
        )
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
        except BrokenPipeError:
            self._stream = None
            drop_output(stream)


@dataclass(frozen=True)
class _Drawn:
    """Requests the view at each refresh."""

    view: Callable[[], View]
    spinner: Spinner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        view = self.view()
        bar = Table.grid(padding=(0, 1))
        bar.add_column(width=_BAR_WIDTH)
        bar.add_column(no_wrap=True, overflow="ellipsis")
        bar.add_row(ProgressBar(total=view.total or None, completed=view.done, width=_BAR_WIDTH), view.counted)
        yield bar
        spinner = self.spinner.render(console.get_time())
        yield Text.assemble(spinner, f" {view.since} ", (view.now, "bold"), no_wrap=True, overflow="ellipsis")
        if view.last:
            yield Text(f"  last: {view.last}", style="dim", no_wrap=True, overflow="ellipsis")
