"""Progress of work with many steps: how much is done, what is running, the last result, how long it takes.

    with Progress(unit="experiments", verb="derive") as progress:
        progress.start("derive reference", 20)
        for name in names:
            progress.begin(name)
            progress.end("44 cells")        # its result
        progress.line("a line that stays")

On a terminal a bar at the bottom follows the work and disappears at the end. Elsewhere lines report results, at most
one in five seconds. If nothing was reported for two seconds, a line says what is running; while that goes on, such
lines come more and more rarely, so that a log of hours stays short.

A process that works on behalf of another one (`EVENTS` in its environment) reports to it and draws nothing itself.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from rich.console import Group

from replay.base.clock import elapsed_text, utc_now
from replay.base.terminal import SILENCE_SECONDS, Screen, is_terminal

#: Set to `1` for a process whose standard output another process reads and shows with `Progress.tell`.
EVENTS = "REPLAY_PROGRESS_EVENTS"
_EVENT = "\x1e"
"""ASCII's record separator: no line of text starts with it."""
_SECONDS_BETWEEN_LINES = 5
_LONGEST_SILENCE_SECONDS = 60.0


@dataclass
class Part:
    """A part of the work: its remaining steps, and how long they all take, if known."""

    steps: int
    seconds: float | None = None


@dataclass
class Account:
    """Steps done and remaining over all parts, and the remaining time at the current pace. Pure."""

    parts: dict[str, Part] = field(default_factory=dict)
    done: int = 0
    #: How long the finished steps were expected to take. Compared with how long they took, this gives the pace.
    expected_seconds: float = 0.0

    @property
    def left(self) -> int:
        return sum(part.steps for part in self.parts.values())

    @property
    def total(self) -> int:
        return self.done + self.left

    def step_done(self, name: str) -> None:
        """Count one step of a part."""
        part = self.parts[name]
        seconds = self._each(part)
        self.done += 1
        self.expected_seconds += seconds
        if part.seconds is not None:
            part.seconds -= seconds
        part.steps -= 1

    def resize(self, name: str, steps: int) -> None:
        """Set how many steps of a part remain; the expected time of each stays the same."""
        part = self.parts.setdefault(name, Part(0))
        if part.seconds is not None and part.steps:
            part.seconds *= steps / part.steps
        part.steps = steps

    def remaining_seconds(self, elapsed_seconds: float) -> float | None:
        """Return the remaining time in seconds, None while it is unknown."""
        rest = sum(part.steps * self._each(part) for part in self.parts.values())
        if self.expected_seconds:
            return rest * elapsed_seconds / self.expected_seconds
        known = all(part.seconds is not None or not part.steps for part in self.parts.values())
        return rest if known and self.parts else None

    @staticmethod
    def _each(part: Part) -> float:
        return 1.0 if part.seconds is None or not part.steps else part.seconds / part.steps


class Progress:
    """Shows the progress of some work. A context manager; without entering it, it only prints lines."""

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        log: TextIO | None = None,
        *,
        unit: str = "cells",
        verb: str = "measure",
    ) -> None:
        self.stream = stream or sys.stdout
        self.log = log
        self.clock = clock
        self.unit, self.verb = unit, verb
        self.events = os.environ.get(EVENTS) == "1"
        self.screen = Screen(self.stream)
        self.account = Account()
        # The screen requests its view from another thread. Nothing is printed while this lock is held.
        self._counting = threading.RLock()
        self.title = ""
        self.now = ""
        self.last = ""
        #: What ended a job of the process that `tell` listens to, and its exit status.
        self.failures: list[tuple[str, int]] = []
        self._began = self._started = clock()
        self._first_step: float | None = None
        self._last_line = 0.0
        self._reports: threading.Thread | None = None
        self._over = threading.Event()
        #: When something was last reported, and how long after that a line says what is running.
        self._reported, self._patience = clock(), SILENCE_SECONDS

    def __enter__(self) -> Progress:
        """Draw on a terminal; elsewhere make sure that lines keep coming."""
        if not self.events and is_terminal(self.stream):
            self.screen.follow(self._view)
        elif not self.events:
            self._reports = threading.Thread(target=self._break_silence, daemon=True)
            self._reports.start()
        return self

    def __exit__(self, *raised: object) -> None:
        """Leave the terminal as it was; lines stay."""
        self._over.set()
        if self._reports is not None:
            self._reports.join()
        self.screen.stop()

    def plan(self, parts: Mapping[str, Part]) -> None:
        """Set the parts of the whole work, keyed by the titles that `start` gets."""
        with self._counting:
            self.account = Account(dict(parts))

    def start(self, title: str, steps: int, of_all: int | None = None) -> None:
        """Start a part with this many steps to do; `of_all` counts its finished steps too."""
        of_all = steps if of_all is None else of_all
        self.title, self.now = title, ""
        with self._counting:
            self.account.resize(title, steps)
        if not self._emit("start", title=title, steps=steps, of_all=of_all):
            self._say(self._announced(title, steps, of_all))

    def begin(self, what: str) -> None:
        """Set the running step."""
        self._started = self.clock()
        if self._first_step is None:
            self._first_step = self._started
        self.now = what
        self._emit("begin", what=what)

    def end(self, value: str) -> None:
        """Report the result of the step."""
        with self._counting:
            self.account.step_done(self.title)
        self.last = f"{self.now}: {value}"
        self.now = ""
        if self._emit("end", value=value) or self.screen.following:
            return
        last_of_part = not self.account.parts[self.title].steps
        if last_of_part or self.clock() - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._say(f"[{self.account.done}/{self.account.total}] {self.last} · {self._time()}")
            self._last_line = self.clock()

    def repeat(self, steps: int) -> None:
        """Add steps to the part that runs; a negative number takes away those that will not run."""
        with self._counting:
            self.account.resize(self.title, self.account.parts[self.title].steps + steps)
        self._emit("repeat", steps=steps)

    def line(self, text: str) -> None:
        """Print a line that stays, above the bar."""
        if self._emit("line", text=text):
            self.record(text)
        else:
            self._say(text)

    def record(self, text: str) -> None:
        """Write text to the log only."""
        if self.log is None:
            return
        try:
            self.log.write(f"{utc_now()} {text}\n")
            self.log.flush()
        except OSError as error:
            # The work goes on, and says itself what it cannot write.
            self.log = None
            self.line(f"the log ends here: {error.strerror}")

    def doing(self, what: str, title: str = "") -> None:
        """Say what happens between steps, or before the part of that title starts. A pipe shows it if it takes long."""
        self.title, self.now = title or self.title, what
        self._started = self.clock()
        self._emit("doing", what=what, title=self.title)

    def tell(self, line: str) -> None:
        """Handle a line of another process's standard output: a progress event, or else text that stays."""
        if not line.startswith(_EVENT):
            self.line(line.rstrip("\n"))
            return
        event: dict[str, Any] = json.loads(line[len(_EVENT) :])
        getattr(self, event.pop("event"))(**event)

    def failed(self, text: str, status: int) -> bool:
        """Keep what ended a job, for whoever started the jobs; return whether another process was told of it."""
        self.failures.append((text, status))
        return self._emit("failed", text=text, status=status)

    def _emit(self, event: str, **facts: Any) -> bool:
        """Report to the process that this one works for; return whether there is one."""
        if self.events:
            self.screen.write(f"{_EVENT}{json.dumps({'event': event, **facts}, ensure_ascii=False)}\n")
        return self.events

    def still_running(self) -> str:
        """Return the line that breaks a silence; empty unless it has lasted long enough and something is running."""
        now = self.clock()
        if now - self._reported < self._patience or not self.now:
            return ""
        self._reported, self._patience = now, min(2 * self._patience, _LONGEST_SILENCE_SECONDS)
        with self._counting:
            done, total = self.account.done, self.account.total
        what = ": ".join(text for text in (self.title, self.now) if text)
        return f"[{done}/{total}] {what} … {elapsed_text(now - self._started)}"

    def _break_silence(self) -> None:
        while not self._over.wait(SILENCE_SECONDS / 4):
            if text := self.still_running():
                self.screen.line(text)  # not for the log, which has the results

    def _say(self, text: str) -> None:
        self._reported, self._patience = self.clock(), SILENCE_SECONDS
        self.screen.line(text)
        self.record(text)

    def _view(self) -> Group:
        with self._counting:
            done, total, time_text = self.account.done, self.account.total, self._time()
        return self.screen.view(
            done=done,
            total=total,
            counted=f"{done} of {total} {self.unit} · {time_text}",
            now=": ".join(text for text in (self.title, self.now) if text),
            since=elapsed_text(self.clock() - self._started),
            last=self.last,
        )

    def _announced(self, title: str, steps: int, of_all: int) -> str:
        if not steps:
            return f"{title}: complete ({of_all} {self.unit}), nothing to {self.verb}"
        kept = of_all - steps
        return f"{title}: {steps} {self.unit} to {self.verb}" + (f", {kept} already done" if kept else "")

    def _time(self) -> str:
        now = self.clock()
        text = f"{elapsed_text(now - self._began)} elapsed"
        working = 0.0 if self._first_step is None else now - self._first_step
        remaining = self.account.remaining_seconds(working)
        return text if remaining is None else f"{text}, about {elapsed_text(remaining)} left"
