"""Waiting that a person can follow: what for, for how long at most, and every ten seconds what is seen.

The one place for waits of all rooms: `poll` asks again and again up to a limit, `Waiting` tells a person meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from replay.base.clock import elapsed_text
from replay.base.errors import ReplayError

T = TypeVar("T")

#: A wait that is shorter is not worth a line.
SAY_AFTER_SECONDS = 5.0
SAY_EVERY_SECONDS = 10.0
#: What makes a wait hopeless must end it within fifteen seconds, and a look may take ten itself.
LOOK_EVERY_SECONDS = 3.0


def _nothing() -> str:
    return ""


class Waiting:
    """One wait; without `at_most_seconds`, `what` says what bounds it.

    `look` returns what it sees in a few words, and raises ReplayError if the wait has become hopeless. It is called
    first after a few seconds, so that short waits cost nothing.
    """

    def __init__(
        self,
        what: str,
        at_most_seconds: float | None,
        *,
        say: Callable[[str], None],
        look: Callable[[], str] = _nothing,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.what = what
        self.at_most_seconds = at_most_seconds
        self._say, self._look, self._clock, self._sleep = say, look, clock, sleep
        self._began = clock()
        self._look_due = self._began + LOOK_EVERY_SECONDS
        self._say_due = self._began + SAY_AFTER_SECONDS

    def pause(self, seconds: float) -> None:
        """Sleep, then `glance`. Raises what `look` raises."""
        self._sleep(seconds)
        self.glance()

    def glance(self) -> None:
        """Look, and say what is seen, if either is due. Call it every few seconds while a command runs."""
        if self._clock() < min(self._look_due, self._say_due):
            return
        seen = self._look()
        now = self._clock()
        self._look_due = now + LOOK_EVERY_SECONDS
        if now >= self._say_due:
            self._say_due = now + SAY_EVERY_SECONDS
            waited = elapsed_text(now - self._began)
            if self.at_most_seconds is not None:
                waited += f" of at most {elapsed_text(self.at_most_seconds)}"
            self._say(f"waiting for {self.what}: {waited}" + (f"; {seen}" if seen else ""))


class NotInTimeError(ReplayError):
    """What was waited for did not happen in time."""


def poll(
    ask: Callable[[], T | None],
    *,
    what: str,
    seconds: float,
    every: float = 0.5,
    seen: Callable[[], str] | None = None,
    where: str | Path | None = None,
    error: type[ReplayError] = NotInTimeError,
    next_step: str = "look at: ceph status; then run the same command again",
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """Ask every `every` seconds until the answer is not None, and return the answer.

    It asks at once, and for the last time when `seconds` are over. `pause` sleeps; `Waiting.pause` also tells a person
    what is waited for. What `ask` or `pause` raises ends the wait. Raises NotInTimeError (or another `error`), which
    names `what` and what was `seen` last.
    """
    deadline = clock() + seconds
    while (answer := ask()) is None:
        if clock() >= deadline:
            last = seen() if seen is not None else ""
            raise error(
                f"waited {elapsed_text(seconds)} in vain for {what}" + (f"; {last}" if last else ""),
                where=where,
                next_step=next_step,
            )
        pause(every)
    return answer
