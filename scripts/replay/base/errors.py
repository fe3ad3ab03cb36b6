"""Errors for people: what happened, where, and what to do next."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

#: The exit status of a program that Ctrl-C or SIGTERM ended.
INTERRUPTED = 130
_DURING, _AFTERWARDS = "  in: ", "  cleaning up then met: "


class ReplayError(Exception):
    """A failure that is explained to the person who runs Replay.

    `what` says what happened, `where` names the file, key or cell, `next_step` says what to do about it.
    Programs print `str(error)` and exit with `exit_status`; they never print a traceback for it.

    Those who let it pass may add to it: `during` names the work that failed, such as a cell, `because` a cause that
    was found out, and `afterwards` what cleaning up met.
    """

    exit_status = 1

    def __init__(self, what: str, *, where: str | Path | None = None, next_step: str = "") -> None:
        self.what = what
        self.where = str(where) if where is not None else None
        self.next_step = next_step
        self.during = ""
        self.because = ""
        self.afterwards: list[str] = []
        super().__init__(self.__str__())

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        lines += [f"{_DURING}{self.during}"] if self.during else []
        more = {"because": self.because, "next": self.next_step}
        lines += [f"  {word}: {text}" for word, text in more.items() if text]
        for each in self.afterwards:
            lines.append(_AFTERWARDS + each.replace("\n", "\n  "))
        return "\n".join(lines)


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
    """Name the work inside in every ReplayError that leaves it; work inside that work keeps its own name."""
    try:
        yield
    except ReplayError as error:
        error.during = error.during or what
        raise
    except Exception as error:
        if not any(note.startswith(_DURING) for note in getattr(error, "__notes__", ())):
            error.add_note(f"{_DURING}{what}")
        raise


@contextlib.contextmanager
def cleaning_up(*steps: Callable[[], None]) -> Iterator[None]:
    """Do the work inside, then every step, whatever the work and the steps before it met.

    The first failure is raised, because it is the cause. What later steps met is added to it (`afterwards`, or a note
    of an exception that is not Replay's).
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
                _add_afterwards(first, error)
    if first is not None:
        raise first


def _add_afterwards(first: BaseException, met: BaseException) -> None:
    text = str(met) if isinstance(met, ReplayError) else f"{type(met).__name__}: {met}".removesuffix(": ")
    if isinstance(first, ReplayError):
        first.afterwards.append(text)
    else:
        first.add_note(_AFTERWARDS + text.replace("\n", "\n  "))


def take_notes(made: ReplayError, other: BaseException) -> None:
    """Give a ReplayError what `during` and `cleaning_up` added to the exception that it stands for."""
    for note in getattr(other, "__notes__", ()):
        if note.startswith(_DURING):
            made.during = note.removeprefix(_DURING)
        elif note.startswith(_AFTERWARDS):
            made.afterwards.append(note.removeprefix(_AFTERWARDS).replace("\n  ", "\n"))
