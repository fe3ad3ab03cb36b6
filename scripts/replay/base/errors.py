"""Errors for people: what happened, where, and what to do next."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

#: The exit status of a program that Ctrl-C or SIGTERM ended.
INTERRUPTED = 130
_DURING, _AFTERWARDS = "  in: ", "  cleaning up then met: "
#: Characters that a terminal obeys, and those that show other text out of its order.
_COMMANDS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return a text of others as one line that cannot change what else is on the terminal: `\\x1b` for Escape."""
    return _COMMANDS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class ReplayError(Exception):
    """A failure that is explained to the person who runs Replay.

    `what` says what happened, `where` names the file, key or cell, `next_step` says what to do about it.
    Programs print `str(error)` and exit with `exit_status`; they never print a traceback for it.

    Those who let it pass may add to it: `because` is a cause that was found out, and notes name the work that failed
    (`during`), such as a cell, and what cleaning up met (`cleaning_up`).
    """

    exit_status = 1

    def __init__(self, what: str, *, where: str | Path | None = None, next_step: str = "") -> None:
        self.what = what
        self.where = visible(str(where)) if where is not None else None
        self.next_step = next_step
        self.because = ""
        self.notes: list[str] = []
        super().__init__(self.__str__())

    def __str__(self) -> str:
        more = {"because": self.because, "next": self.next_step}
        lines = [
            f"{self.where}: {self.what}" if self.where else self.what,
            *_notes(self, _DURING),
            *(f"  {word}: {text}" for word, text in more.items() if text),
            *_notes(self, _AFTERWARDS),
        ]
        return "\n".join(lines)

    def add_note(self, note: str) -> None:
        """Keep a note for `__str__`, because Python would print one of its own once more below a traceback."""
        self.notes.append(note)


class ConfigurationError(ReplayError):
    """Configuration that is refused before anything runs; names the file, the key and what was expected."""

    exit_status = 2


class EvidenceError(ReplayError):
    """Raw output that is missing, altered or unreadable; names the file (and line where there is one)."""

    exit_status = 3


class RefusedError(ReplayError):
    """Replay declines to touch the cluster: it is unhealthy, not allowed, not Replay's own, or a ceiling is reached."""

    exit_status = 4


@contextlib.contextmanager
def during(what: str) -> Iterator[None]:
    """Name the work inside in a note of every exception that leaves it; work inside that work keeps its own name."""
    try:
        yield
    except Exception as error:
        name_work(error, what)
        raise


def name_work(error: BaseException, what: str) -> None:
    """Name the work that failed in a note of an exception, unless one does."""
    if not _notes(error, _DURING):
        error.add_note(f"{_DURING}{what}")


def _notes(error: BaseException, beginning: str = "") -> list[str]:
    noted = error.notes if isinstance(error, ReplayError) else getattr(error, "__notes__", ())
    return [note for note in noted if note.startswith(beginning)]


@contextlib.contextmanager
def cleaning_up(*steps: Callable[[], None]) -> Iterator[None]:
    """Do the work inside, then every step, whatever the work and the steps before it met.

    The first failure is raised, because it is the cause. What later steps met is added to it as notes.
    """
    first: BaseException | None = None
    try:
        yield
    except BaseException as error:
        first = error
    for step in steps:
        try:
            step()
        except BaseException as error:
            if first is None:
                first = error
            else:
                text = str(error) if isinstance(error, ReplayError) else f"{type(error).__name__}: {error}"
                first.add_note(_AFTERWARDS + text.removesuffix(": ").replace("\n", "\n  "))
    if first is not None:
        raise first


def take_notes(made: ReplayError, other: BaseException) -> None:
    for note in _notes(other):
        made.add_note(note)


@contextlib.contextmanager
def handling(handlers: Mapping[signal.Signals, Any]) -> Iterator[None]:
    """Handle these signals inside as `handlers` says, and afterwards as before."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
