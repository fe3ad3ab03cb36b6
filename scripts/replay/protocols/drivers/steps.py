"""The log of a cell's steps, one JSON object per line: what was done, when, for how long, and what was printed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from replay.base.clock import utc_text
from replay.base.programs import Programs
from replay.cluster.running.process import ToolRun, run_tool
from replay.ownership.slot import SlotLock
from replay.tools import render

MOST_SAID = 2000


class StepLog:
    """Runs commands and logs each as a step. Times are seconds of the monotonic clock since `origin`.

    `values` fill the placeholders of argv. In the log, placeholders stay in place of names and paths of this site, and
    of the values in `also_hidden`. `programs` says which installation's programs the commands run.
    """

    def __init__(
        self,
        values: Mapping[str, str | None],
        slot: SlotLock | None = None,
        run: Callable[..., ToolRun] = run_tool,
        also_hidden: Sequence[str] = (),
        *,
        programs: Programs,
    ) -> None:
        self.origin = time.monotonic()
        self.values = dict(values)
        self.slot = slot
        self.programs = programs
        self.lines: list[dict[str, Any]] = []
        self._run = run
        self._hidden = (*_HIDDEN, *also_hidden)

    def now(self) -> float:
        """Return the seconds since `origin`."""
        return time.monotonic() - self.origin

    def command(
        self,
        step: str,
        template: Sequence[str],
        *,
        timeout_seconds: float = 60.0,
        while_running: Callable[[], None] | None = None,
        **more: Any,
    ) -> ToolRun:
        """Run a command as a step and return its run. Any exit status is accepted.

        `while_running` is called again and again; what it raises ends the command.
        """
        started = self.now()
        argv = render(list(template), self.values)
        watched = {} if while_running is None else {"while_running": lambda elapsed: while_running()}
        run = self._run(argv, timeout_seconds=timeout_seconds, programs=self.programs, slot=self.slot, **watched)
        said = (run.stdout + run.stderr).decode(errors="replace")
        self.add(step, started, run.seconds, argv=template, exit_status=run.exit_status, said=said, **more)
        return run

    def add(
        self,
        step: str,
        started_seconds: float,
        seconds: float,
        *,
        argv: Sequence[str] = (),
        exit_status: int | None = 0,
        said: str = "",
        **more: Any,
    ) -> dict[str, Any]:
        """Log a step; return its line, to which the caller may add."""
        began = datetime.now(UTC).timestamp() - (self.now() - started_seconds)
        line = {
            "step": step,
            "argv": list(argv),
            "started_at": utc_text(datetime.fromtimestamp(began, UTC)),
            "started_seconds": round(started_seconds, 6),
            "seconds": round(seconds, 6),
            "exit_status": exit_status,
            "said": self.hide(said.strip())[:MOST_SAID],
            **more,
        }
        self.lines.append(line)
        return line

    def hide(self, text: str) -> str:
        """Return `text` with placeholders instead of this site's names and paths. The longest are replaced first."""
        named = [(value, name) for name, value in self.values.items() if value and name in self._hidden]
        for value, name in sorted(named, key=lambda pair: -len(pair[0])):
            text = text.replace(value, f"{{{name}}}")
        return text

    def content(self) -> bytes:
        """Return the log as JSON lines, in the order in which the steps started."""
        ordered = sorted(self.lines, key=lambda line: line["started_seconds"])
        return "".join(json.dumps(line, sort_keys=True) + "\n" for line in ordered).encode()


_HIDDEN = ("conf", "keyring", "second_conf", "second_keyring", "image", "image_name", "copy")
