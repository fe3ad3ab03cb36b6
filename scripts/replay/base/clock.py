"""Time: in the format that evidence uses, durations for people, and waits that a person can follow."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from replay.base.errors import ReplayError


def utc_now() -> str:
    """Return the time now, UTC, ISO 8601 with milliseconds and `Z`."""
    return utc_text(datetime.now(UTC))


def utc_text(moment: datetime) -> str:
    """Return a moment as UTC, ISO 8601 with milliseconds and `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(text: str) -> float:
    """Return a moment that `utc_text` wrote as seconds since 1970. Raises ValueError for other text."""
    return datetime.fromisoformat(text).timestamp()


def elapsed_text(seconds: float) -> str:
    """Return a duration for people: `45 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


#: What is not the runner's own cost. `tool` is measurement, `pilot` its sizing, `wait` is recorded waits,
#: `prepare` creates, fills and removes images (Ceph's own tools, not the runner).
OUTSIDE = ("tool", "pilot", "wait", "prepare")


@dataclass
class Costs:
    """Seconds by component. Everything between start and end that no component claims is `other`."""

    started: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=dict)
    _stack: list[list[float]] = field(default_factory=list)

    @contextlib.contextmanager
    def measure(self, component: str) -> Iterator[None]:
        """Charge the time inside to `component`, less what components nested in it claim."""
        begin = time.monotonic()
        self._stack.append([0.0])
        try:
            yield
        finally:
            spent = time.monotonic() - begin
            nested = self._stack.pop()[0]
            self.seconds[component] = self.seconds.get(component, 0.0) + spent - nested
            if self._stack:
                self._stack[-1][0] += spent

    def summary(self) -> dict[str, float]:
        """Return seconds by component with `total`, `other`, `own` and `own_fraction` (own over total)."""
        total = time.monotonic() - self.started
        rounded = {name: round(value, 3) for name, value in sorted(self.seconds.items())}
        outside = sum(self.seconds.get(name, 0.0) for name in OUTSIDE)
        own = total - outside
        return {
            **rounded,
            "other": round(total - sum(self.seconds.values()), 3),
            "total": round(total, 3),
            "own": round(own, 3),
            "own_fraction": round(own / total, 5) if total > 0 else 0.0,
        }


#: By block, the first start and the last end of what was measured, as ISO 8601 writes moments; either may be empty.
Times = Mapping[int, tuple[str, str]]


def why_not_in_turns(first: Times, second: Times) -> str:
    """Return why the blocks of two sides are not pairs; empty if they are.

    They are pairs if both sides have the same blocks, and no block was measured during another pair. If one side was
    measured completely before the other, anything that changed in between would count as a difference.
    """
    if first.keys() != second.keys():
        return "the blocks differ"
    spans = []
    for block, times in first.items():
        span = _span(times, second[block])
        if span is None:
            return "runs do not state their time"
        spans.append(span)
    if any(later[0] < earlier[1] for earlier, later in pairwise(sorted(spans))):
        return "blocks did not run next to each other"
    return ""


def _span(first: tuple[str, str], second: tuple[str, str]) -> tuple[datetime, datetime] | None:
    """Return the first start and the last end of a pair; None if a moment or its time zone is missing."""
    moments = []
    for text in (first[0], second[0], first[1], second[1]):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        if moment.tzinfo is None:
            return None
        moments.append(moment)
    return min(moments[:2]), max(moments[2:])


# Waiting that a person can follow: what for, for how long at most, and every ten seconds what is seen.
#
# The one place for waits of all rooms: `poll` asks again and again up to a limit, `Waiting` tells a person meanwhile.


T = TypeVar("T")

#: A wait that is shorter is not worth a line.
SAY_AFTER_SECONDS = 5.0
SAY_EVERY_SECONDS = 10.0
#: What makes a wait hopeless must end it within fifteen seconds, and a look may take ten itself.
LOOK_EVERY_SECONDS = 3.0


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
        look: Callable[[], str] = lambda: "",
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
