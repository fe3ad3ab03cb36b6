"""Results of other people: reports of fio with consistent figures, rows of elbencho, folders of CBT.

The figures are made up. Columns, quotation and the names of files are those of results that others published:
docs/importing.md names them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.exchange.importing.recognise import recognise
from replay.exchange.importing.runs import FoundRun

_LATENCY = ("min", "avg", "max")
#: The columns of elbencho 2.1-0, in the order of results that were published with it; 3.1-1 has the same ones.
ELBENCHO_HEADER = (
    "ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct IO,random,random aligned,"
    "IO depth,shared paths,truncate,operation,time ms [first],time ms [last],entries/s [first],entries/s [last],"
    "IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],CPU% [first],CPU% [last],entries [first],entries [last],"
    "MiB [first],MiB [last],"
    + "".join(f"{what} lat us [{which}]," for what in ("Ent", "IO") for which in _LATENCY)
    + "".join(f"rwmix read {what} [{which}]," for what in ("entries/s", "IOPS", "MiB/s", "entries", "MiB")
              for which in ("first", "last"))
    + "".join(f"rwmix read {what} lat us [{which}]," for what in ("Ent", "IO") for which in _LATENCY)
    + "version,command\n"
)  # fmt: skip


def direction(operations: int, size: int, *, milliseconds: int = 2000) -> dict[str, Any]:
    """Return what fio says of reads or writes, all of one size."""
    if not operations:
        return {"total_ios": 0, "io_bytes": 0, "runtime": 0, "iops": 0.0, "bw_bytes": 0}
    return {
        "total_ios": operations,
        "io_bytes": operations * size,
        "runtime": milliseconds,
        "iops": operations / (milliseconds / 1000),
        "bw_bytes": int(operations * size / (milliseconds / 1000)),
        "clat_ns": {
            "min": 1000,
            "max": 9_000_000,
            "mean": 200_000.0,
            "N": operations,
            "percentile": {"50.000000": 150_000, "95.000000": 400_000, "99.000000": 800_000, "99.900000": 2_000_000},
        },
        "lat_ns": {"min": 1100, "max": 9_100_000, "mean": 200_500.0, "N": operations},
    }


def job(name: str = "job", *, operations: int = 20_000, group: int = 0, **options: str) -> dict[str, Any]:
    """Return an entry of fio's list of jobs for these options: `rw`, `bs`, `iodepth`, …"""
    options = {"name": name, **options}
    kind = options.get("rw", "read").removeprefix("rand")
    size = {"4k": 4096, "8k": 8192, "16k": 16384, "64k": 65536, "1m": 1 << 20}[options.get("bs", "4k")]
    reads = {"read": operations, "write": 0}.get(kind, operations // 2)
    return {
        "jobname": name,
        "groupid": group,
        "error": 0,
        "job options": options,
        "read": direction(reads, size),
        "write": direction(operations - reads, size),
    }


def report(*jobs: Mapping[str, Any], at: int = 0, version: str = "fio-3.33", **options: str) -> str:
    """Return fio's JSON of jobs, printed at second `at` of a day; `options` are the global ones."""
    return json.dumps(
        {
            "fio version": version,
            "timestamp_ms": 1_700_000_000_000 + 1000 * at,
            **({"global options": options} if options else {}),
            "jobs": list(jobs),
        },
        indent=2,
    )


def elbencho_row(
    operation: str = "READ", *, size: int = 4096, iops: int = 5000, milliseconds: int = 4000, **fields: str
) -> str:
    """Return a row of elbencho's CSV with consistent figures. As elbencho does, it quotes nothing."""
    per_second = iops * size / (1 << 20)
    values = {
        "ISO date": "2026-05-22T16:09:38+0000", "path type": "file", "paths": "1", "hosts": "1", "threads": "8",
        "file size": str(1 << 30), "block size": str(size), "direct IO": "1", "random": "1", "random aligned": "1",
        "IO depth": "4", "shared paths": "1", "truncate": "0", "operation": operation,
        "time ms [first]": str(milliseconds - 5), "time ms [last]": str(milliseconds), "IOPS [first]": str(iops + 9),
        "IOPS [last]": str(iops), "MiB/s [last]": str(int(per_second)),
        "MiB [last]": str(int(per_second * milliseconds / 1000)), "IO lat us [min]": "50", "IO lat us [avg]": "700",
        "IO lat us [max]": "9000", "version": "3.0-27",
        "command": f'"/opt/bin/elbencho" "--hosts" "node1 node2 " "--block" "{size}" "/mnt/files" ', **fields,
    }  # fmt: skip
    return ",".join(values.get(name, "") for name in ELBENCHO_HEADER.rstrip("\n").split(",")) + "\n"


def found(text: str | bytes, path: str = "x/1.json") -> tuple[list[FoundRun], list[str]]:
    """Return the runs in a file, and why other results in it are left out."""
    return recognise(0, path, text if isinstance(text, bytes) else text.encode())


def only(text: str | bytes, path: str = "x/1.json") -> FoundRun:
    """Return the only run in a file of which nothing is left out."""
    (run,), reasons = found(text, path)
    assert reasons == []
    return run


def behind(prefix: str, text: str) -> str:
    """Return a text with a prefix before each line, in which `#` stands for the line's number."""
    return "".join(f"{prefix.replace('#', str(at))}{line}\n" for at, line in enumerate(text.splitlines()))


def logged(text: str) -> str:
    return behind("2024-05-06T07:08:09.# host-1 bench[77]: ", text)


def fenced(text: str) -> str:
    return f"Some words.\n\n```\n{text}\n```\n\nMore words: 16 writes.\n"


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their relative paths; return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
