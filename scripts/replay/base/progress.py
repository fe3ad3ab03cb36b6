"""Progress for a person: which cell of how many, elapsed, remaining, last value. Line-wise when not on a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from replay.base.clock import utc_now


class Progress:
    """Prints progress of one block. On a terminal one line rewrites itself; elsewhere each set's end is a line."""

    def __init__(self, stream: TextIO | None = None, clock=time.monotonic, log: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.log = log
        self.clock = clock
        self.terminal = self.stream.isatty()
        self.title = ""
        self.total = 0
        self.done = 0
        self._current = ""
        self._started = clock()
        self._first_cell: float | None = None
        self._last_line = 0.0

    def start(self, title: str, cells: int, of_all: int) -> None:
        """Announce a block: how many of its cells are to be measured."""
        self.title, self.total, self.done = title, cells, 0
        self._started = self.clock()
        kept = of_all - cells
        if not cells:
            self.line(f"{title}: complete ({of_all} cells), nothing to measure")
        else:
            self.line(f"{title}: {cells} cells to measure" + (f", {kept} are there already" if kept else ""))

    def begin(self, what: str) -> None:
        """Say which cell is being measured."""
        if self._first_cell is None:
            self._first_cell = self.clock()
        self._current = what
        self._show(f"{self._count(self.done + 1)} {what} …{self._time()}")

    def end(self, value: str) -> None:
        """Say what a cell gave."""
        self.done += 1
        text = f"{self._count(self.done)} {self._current}: {value}{self._time()}"
        if self.terminal:
            self._show(text)
        elif self.done == self.total or self.clock() - self._last_line >= 5:
            self.line(text)
            self._last_line = self.clock()

    def repeat(self, cells: int) -> None:
        """Say that a set is measured again: so many more cells."""
        self.total += cells

    def note(self, text: str) -> None:
        """Print a line that stays."""
        self.line(text)

    def line(self, text: str) -> None:
        """Print a line that stays, above the one that rewrites itself."""
        lead = "\r\x1b[K" if self.terminal else ""
        self.stream.write(f"{lead}{text}\n")
        self.stream.flush()
        if self.log is not None:
            self.log.write(f"{utc_now()} {text}\n")
            self.log.flush()

    def _show(self, text: str) -> None:
        if self.terminal:
            self.stream.write(f"\r\x1b[K{text[:140]}")
            self.stream.flush()

    def _count(self, number: int) -> str:
        return f"[{number}/{self.total}]"

    def _time(self) -> str:
        elapsed = self.clock() - self._started
        text = f" · {elapsed_text(elapsed)} elapsed"
        if self._first_cell is not None and self.done:
            remaining = (self.clock() - self._first_cell) / self.done * (self.total - self.done)
            text += f", about {elapsed_text(remaining)} left"
        return text


def elapsed_text(seconds: float) -> str:
    """Return a duration as a person says it: `45 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
