"""The record of a cell: what the tool printed, the facts around it, and the waits."""

from __future__ import annotations

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
