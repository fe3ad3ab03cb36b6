"""Reads the log of a procedure's steps (`replay.protocols.drivers.tool`), one JSON object a line. Strict, pure."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn

from replay.base.clock import seconds_of
from replay.tools.base import OutputError, Run, agrees, number

#: A step states its start twice: by the wall clock, in milliseconds, and in seconds since the log's origin. Between
#: reading the two clocks, a process on a busy machine may wait this long for a CPU. It is worse to void good trials,
#: and slow ones more often, than to miss an altered digit here, which SHA256SUMS reveals anyway.
CLOCKS_AGREE_WITHIN_SECONDS = 0.25


class Step(dict[str, Any]):
    """A step as it was logged, and its line in the log."""

    def __init__(self, said: Mapping[str, Any], line: int) -> None:
        super().__init__(said)
        self.line = line


class Steps:
    """The steps of one log. Raises OutputError if the log is cut off or holds anything but steps."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        check_end(text, file)
        self.steps: list[Step] = []
        for line, content in enumerate(text.splitlines(), start=1):
            try:
                step = json.loads(content)
            except (ValueError, RecursionError):
                step = None
            if not isinstance(step, dict) or not isinstance(step.get("step"), str) or "exit_status" not in step:
                raise OutputError("not a step", file=file, line=line)
            self.steps.append(Step(step, line))

    def refuse(self, what: str, step: Step | None = None, *, reason: str = "unparsable") -> NoReturn:
        """Raise OutputError naming this log, and the line of a step."""
        raise OutputError(what, file=self.file, line=step.line if step else None, reason=reason)

    def any(self, name: str) -> list[Step]:
        """Return all steps of that name, in order; there may be none."""
        return [step for step in self.steps if step["step"] == name]

    def all(self, name: str) -> list[Step]:
        """Return all steps of that name. Raises OutputError (`incomplete`) if there are none."""
        found = self.any(name)
        if not found:
            self.refuse(f"no step {name!r}", reason="incomplete")
        return found

    def one(self, name: str) -> Step:
        """Return the only step of that name. Raises OutputError."""
        found = self.all(name)
        if len(found) > 1:
            self.refuse(f"{len(found)} steps {name!r}: logs of two runs are mixed", found[1])
        return found[0]

    def value(self, step: Step, key: str) -> float:
        """Return a step's number that is 0 or more. Raises OutputError."""
        value = number(step.get(key))
        if value is None or value < 0:
            self.refuse(f"{step['step']}: no number {key!r}", step)
        return value

    def start(self, step: Step) -> float:
        """Return when a step began, in seconds since the log's origin. Raises OutputError."""
        return self.value(step, "started_seconds")

    def end(self, step: Step) -> float:
        """Return when a step ended, in seconds since the log's origin. Raises OutputError."""
        return self.start(step) + self.value(step, "seconds")

    @cached_property
    def origins(self) -> list[float]:
        """What the wall clock showed at the log's origin according to each step, in seconds since 1970."""
        return [self._origin(step) for step in self.steps]

    def check_times(self) -> None:
        """Refuse steps that are not in order of their start, and a step whose two start times differ."""
        for before, step in itertools.pairwise(self.steps):
            if self.start(step) < self.start(before) or step == before:
                self.refuse("its steps are not in order of time: logs of two runs are mixed", step)
        for origin, step in zip(self.origins, self.steps, strict=True):
            if not agrees(origin, self.origins[0], absolute=CLOCKS_AGREE_WITHIN_SECONDS):
                self.refuse(f"{step['step']}: 'started_at' and 'started_seconds' are different moments", step)

    def check_whole(self) -> None:
        """Refuse a log that lost lines: its last step `end` says how many steps precede it."""
        last = self.steps[-1] if self.steps else None
        if last is None or last["step"] != "end" or last.get("steps") != len(self.steps) - 1:
            self.refuse("steps are missing", last, reason="incomplete")
        self.check_times()

    def _origin(self, step: Step) -> float:
        try:
            return seconds_of(str(step.get("started_at"))) - self.start(step)
        except (ValueError, OverflowError):
            self.refuse(f"{step['step']}: no moment 'started_at'", step)


def whole_steps(run: Run) -> Steps:
    """Return the steps of a run's log. Raises OutputError if it is cut off."""
    steps = Steps(run.text("steps"), run.file("steps"))
    steps.check_whole()
    return steps


def check_end(text: str, file: str) -> None:
    """Refuse a file that was cut off: every line ends with a newline."""
    if text and not text.endswith("\n"):
        raise OutputError("it was cut off", file=file, line=text.count("\n") + 1, reason="incomplete")
