"""Errors for people: what happened, where, and what to do next."""

from __future__ import annotations

from pathlib import Path


class ReplayError(Exception):
    """A failure that is explained to the person who runs Replay.

    `what` says what happened, `where` names the file, key or cell, `next_step` says what to do about it.
    Programs print `str(error)` and exit with `exit_status`; they never print a traceback for it.
    """

    exit_status = 1

    def __init__(self, what: str, *, where: str | Path | None = None, next_step: str = "") -> None:
        self.what = what
        self.where = str(where) if where is not None else None
        self.next_step = next_step
        super().__init__(self.__str__())

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}\n  next: {self.next_step}" if self.next_step else text


class ConfigurationError(ReplayError):
    """Configuration that is refused before anything runs; names the file, the key and what was expected."""

    exit_status = 2


class EvidenceError(ReplayError):
    """Raw output that is missing, altered or unreadable; names the file (and line where there is one)."""

    exit_status = 3


class RefusedError(ReplayError):
    """Replay declines to touch the cluster: it is unhealthy, not allowed, not Replay's own, or a ceiling is reached."""

    exit_status = 4
