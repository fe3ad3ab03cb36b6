"""The record of a cell: what the tool printed, the facts around it, the waits, and what samplers saw."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Wait:
    """A wait that is part of the record: what for, how long, how it ended."""

    reason: str
    seconds: float
    outcome: str
    details: dict[str, Any] = field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        """Return the wait as the sidecar stores it."""
        return {"for": self.reason, "seconds": round(self.seconds, 3), "outcome": self.outcome, **self.details}


@dataclass
class Measured:
    """One cell's measurement: what was printed, verbatim, and the facts around it.

    `results` maps a role (`stdout`, `stderr`, `result`, …) to (file suffix, content). `invalid` is None or
    (reason, detail); docs/data-formats.md lists the reasons. `tool_seconds` is wall time, `tool_cpu_seconds` the CPU
    time of the tool's processes, None if unknown. `started_at` and `ended_at` are UTC, as `utc_now` writes them.
    """

    argv: list[str]
    results: dict[str, tuple[str, bytes]]
    exit_status: int | None
    started_at: str
    ended_at: str
    tool_seconds: float
    load: dict[str, float | None]
    facts: dict[str, Any] = field(default_factory=dict)
    samples: dict[str, Any] = field(default_factory=dict)
    waits: list[Wait] = field(default_factory=list)
    invalid: tuple[str, str] | None = None
    headline: str = ""
    tool_cpu_seconds: float | None = None


HEADER = "elapsed_seconds,entity,metric,value"
#: The last row of a table counts the rows before it, so that a table that was cut off can be recognised.
FOOTER = ("sampler", "rows")


class SampleTable:
    """Rows of samples. Entities and metrics are words without commas; values are numbers."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, str]] = []

    def add(self, elapsed_seconds: float, entity: str, metric: str, value: float) -> None:
        """Add one value. Whole numbers stay whole, however large."""
        self._rows.append((elapsed_seconds, f"{elapsed_seconds:.6f},{entity},{metric},{json.dumps(value)}"))

    def add_lines(self, lines: Iterable[str]) -> None:
        """Add rows that another process printed in this format."""
        self._rows += [(float(line.partition(",")[0]), line) for line in lines]

    def content(self) -> bytes:
        """Return the table in order of time, with its header and its last row."""
        rows = [line for _, line in sorted(self._rows, key=lambda row: row[0])]
        end = max((seconds for seconds, _ in self._rows), default=0.0)
        return "\n".join([HEADER, *rows, f"{end:.6f},{','.join(FOOTER)},{len(rows)}", ""]).encode()
