"""Made-up reports, latency logs, steps of trials and answers of Ceph that strict readers accept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from replay.base.clock import utc_text
from replay.evidence.record import SampleTable

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


def snapshot_step(number: int, at: float, **more: Any) -> dict[str, Any]:
    """Return the step of a mirror snapshot that was ordered `at` seconds after the origin."""
    return {"step": "snapshot", "started_seconds": at, "said": f"Snapshot ID: {number}", **more}


def counters(rows: Iterable[tuple[float, str, str, float]]) -> str:
    """Return the table of a sampler."""
    table = SampleTable()
    for row in rows:
        table.add(*row)
    return table.content().decode()


def writer_cell(
    log: Sequence[tuple[float, float]],
    snapshots: Iterable[dict[str, Any]] = (),
    samples: Iterable[tuple[float, str, str, float]] = (),
    *,
    operations: int,
    seconds: float,
    io_size_bytes: int = 4096,
    log_lines: int | None = None,
) -> dict[str, str]:
    """Return the files of a cell of one writer. `log` has (seconds since the origin, latency in seconds)."""
    write = {
        "step": "write", "started_seconds": 0.5, "unix_seconds_at_origin": ORIGIN,
        "log_lines": len(log) if log_lines is None else log_lines,
    }  # fmt: skip
    return {
        "output": report(["image-1"], operations=operations, io_size_bytes=io_size_bytes, seconds=seconds),
        "latency": latency_log([(ORIGIN + at, latency) for at, latency in log], io_size_bytes=io_size_bytes),
        "steps": steps_log(write, *snapshots),
        "counters": counters(samples),
    }


#: The share of the time for which each thread waits for an operation.
OCCUPIED = 0.97


def rados_json(
    kind: str, operations: int, seconds: float, object_size_bytes: int, *, threads: int = 16, host: str = "vm"
) -> str:
    """Return the JSON of a run; `kind` is `write` or `read`.

    Its figures agree as far as their six decimals allow: each is rounded separately, as the tool does.
    """
    mean = OCCUPIED * min(threads, operations) * seconds / operations
    finished = {second: int(operations * second / seconds) for second in range(int(seconds) + 1)}
    rows = [{"sec": str(second), "finished": str(count)} for second, count in finished.items()]
    asked = {"concurrent_ios": str(threads), "object_prefix": f"benchmark_data_{host}_4711"} if kind == "write" else {}
    return json.dumps(
        {
            **asked,
            "object_size": str(object_size_bytes),
            "datas": rows,
            "total_time_run": f"{seconds:.6f}",
            f"total_{kind}s_made": str(operations),
            f"{kind}_size": str(object_size_bytes),
            "bandwidth": f"{operations * object_size_bytes / seconds / 2**20:.6f}",
            "average_iops": str(int(operations / seconds)),
            "average_latency": f"{mean:.6f}",
            "max_latency": f"{min(seconds, 1.05 * mean):.6f}",
            "min_latency": f"{0.5 * mean:.6f}",
        }
    )


MIB = 2**20


def placement_files(
    groups: Sequence[Sequence[int]],
    weights: Mapping[int, float],
    *,
    objects: int = 10,
    **changes,
) -> dict[str, str]:
    """Return `groups`, `tree` and `usage`: a placement group for each list of OSDs, its primary first.

    `changes` are keys of the first placement group.
    """
    rows = [
        {
            "pgid": f"2.{number:x}",
            "state": "active+clean",
            "up": list(osds),
            "acting": list(osds),
            "up_primary": osds[0],
            "acting_primary": osds[0],
            "stat_sum": {"num_objects": objects, "num_bytes": objects * MIB},
        }
        for number, osds in enumerate(groups)
    ]
    rows[0].update(changes)
    for row in rows:
        if row["stat_sum"] is not None:
            row["stat_sum"] = {"num_object_copies": objects * len(row["acting"]), **row["stat_sum"]}
    buckets = [{"id": -1, "name": "default", "type": "root", "children": [-2]}]
    osds = [
        {
            "id": number,
            "name": f"osd.{number}",
            "type": "osd",
            "crush_weight": weight,
            "reweight": 1,
            "primary_affinity": 1,
        }
        for number, weight in weights.items()
    ]
    usage = [{"id": number, "crush_weight": weight, "kb_used_data": 1024} for number, weight in weights.items()]
    return {
        "groups": json.dumps({"pg_ready": True, "pg_stats": rows}),
        "tree": json.dumps({"nodes": buckets + osds, "stray": []}),
        "usage": json.dumps({"nodes": usage, "stray": []}),
    }
