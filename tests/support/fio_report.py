"""fio's report and latency log, made up: as strict readers want them, of any size."""

from __future__ import annotations

import json
from collections.abc import Sequence


def report(jobs: Sequence[str], *, operations: int, io_size_bytes: int, seconds: float) -> str:
    """Return fio's JSON of jobs that each wrote so many times, with a mean latency of 2 ms."""
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
                            "max": 9_000_000,
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


def steps_log(*steps: dict) -> str:
    """Return a log of steps with its last line."""
    whole = [{"exit_status": 0, "seconds": 0.0, **step} for step in steps]
    end = {"step": "end", "exit_status": 0, "started_seconds": 1e6, "seconds": 0.0, "steps": len(whole)}
    return "".join(json.dumps(step) + "\n" for step in [*whole, end])
