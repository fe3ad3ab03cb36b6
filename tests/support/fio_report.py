"""Made-up reports and latency logs of fio, and logs of a procedure's steps, that strict readers accept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from replay.base.clock import utc_text

#: How long a writer writes unless a test says otherwise: longer than any made-up log.
WRITE_SECONDS = 60.0
ORIGIN = 1_700_000_000.0


def report(jobs: Sequence[str], *, operations: int, io_size_bytes: int, seconds: float) -> str:
    """Return fio's JSON of jobs that each did this many writes, with a mean latency of 2 ms."""
    milliseconds = round(seconds * 1000)
    idle = {"total_ios": 0}
    return json.dumps(
        {
            "global options": {"bs": str(io_size_bytes), "rw": "randwrite"},
            "jobs": [
                {
                    "jobname": name,
                    "error": 0,
                    "job options": {},
                    "read": idle,
                    "write": {
                        "total_ios": operations,
                        "io_bytes": operations * io_size_bytes,
                        "runtime": milliseconds,
                        "iops": operations / (milliseconds / 1000),
                        "bw_bytes": operations * io_size_bytes / (milliseconds / 1000),
                        "clat_ns": {
                            "min": 1_000_000,
                            "mean": 2_000_000.0,
                            "max": 12_000_000,
                            "N": operations,
                            "percentile": {"50.000000": 2_000_000, "99.000000": 8_000_000},
                        },
                    },
                }
                for name in jobs
            ],
        }
    )


def latency_log(lines: Sequence[tuple[float, float]], *, io_size_bytes: int = 4096) -> str:
    """Return fio's log of (seconds of the wall clock, latency in seconds)."""
    return "".join(f"{round(at * 1000)}, {round(latency * 1e9)}, 1, {io_size_bytes}, 0\n" for at, latency in lines)


def steps_log(*steps: dict[str, Any]) -> str:
    """Return a log of steps, in the order in which they began, with its last line."""
    origin = next((step["unix_seconds_at_origin"] for step in steps if "unix_seconds_at_origin" in step), ORIGIN)
    lasting = [{"seconds": WRITE_SECONDS if step["step"] == "write" else 0.0, **step} for step in steps]
    end = {"step": "end", "started_seconds": 1e6, "seconds": 0.0, "steps": len(steps)}
    return "".join(
        json.dumps(step_line(step, origin)) + "\n"
        for step in sorted([*lasting, end], key=lambda step: step["started_seconds"])
    )


def step_line(step: dict[str, Any], origin: float = ORIGIN) -> dict[str, Any]:
    """Return a step with the fields of every step: a good end, and when it began by the wall clock."""
    moment = datetime.fromtimestamp(origin + step["started_seconds"], UTC)
    return {"exit_status": 0, "started_at": utc_text(moment), **step}
