"""Reads the log of a procedure's steps (`replay.trial.steps`), one JSON object a line. Strict, pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from replay.adapters.base import OutputError, number


class Steps:
    """The steps of one log. Raises OutputError on a log that is cut off or that holds anything but steps."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        check_end(text, file)
        self.steps: list[dict[str, Any]] = []
        for line, content in enumerate(text.splitlines(), start=1):
            try:
                step = json.loads(content)
            except (ValueError, RecursionError):
                step = None
            if not isinstance(step, dict) or not isinstance(step.get("step"), str) or "exit_status" not in step:
                raise OutputError("not a step", file=file, line=line)
            self.steps.append(step)

    def refuse(self, what: str, reason: str = "unparsable") -> NoReturn:
        """Raise OutputError naming this log."""
        raise OutputError(what, file=self.file, reason=reason)

    def any(self, name: str) -> list[dict[str, Any]]:
        """Return the steps of that name in their order, none where there are none."""
        return [step for step in self.steps if step["step"] == name]

    def all(self, name: str) -> list[dict[str, Any]]:
        """Return the steps of that name, one at least. Raises OutputError (`incomplete`)."""
        found = self.any(name)
        if not found:
            self.refuse(f"no step {name!r}", reason="incomplete")
        return found

    def one(self, name: str) -> dict[str, Any]:
        """Return the only step of that name. Raises OutputError."""
        found = self.all(name)
        if len(found) > 1:
            self.refuse(f"{len(found)} steps {name!r}: logs of two runs are mixed")
        return found[0]

    def value(self, step: Mapping[str, Any], key: str) -> float:
        """Return a step's number that is 0 or more. Raises OutputError."""
        value = number(step.get(key))
        if value is None or value < 0:
            self.refuse(f"{step['step']}: no number {key!r}")
        return value

    def check_whole(self) -> None:
        """Refuse a log that lost lines: its last step `end` says how many steps stand before it."""
        last = self.steps[-1] if self.steps else {"step": ""}
        if last["step"] != "end" or last.get("steps") != len(self.steps) - 1:
            self.refuse("steps are missing", reason="incomplete")

    def end(self, step: Mapping[str, Any]) -> float:
        """Return when a step ended, in seconds since the log's origin. Raises OutputError."""
        return self.value(step, "started_seconds") + self.value(step, "seconds")


def check_end(text: str, file: str) -> None:
    """Refuse a file that was cut off: every line is written whole, its end included."""
    if text and not text.endswith("\n"):
        raise OutputError("it was cut off", file=file, line=text.count("\n") + 1, reason="incomplete")
