"""Output of `rados bench` with made-up figures, in the form of release 16.2's `--format json -o FILE`."""

from __future__ import annotations

import json

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
