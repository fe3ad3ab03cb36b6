"""CPU time and storage bytes of the daemons that Replay started on this machine, from `/proc`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from replay.cluster import sandbox_record
from replay.ownership.open_site import OpenSite


@dataclass(frozen=True)
class LocalProcess:
    """A daemon of the sandbox: its pid at the sandbox's last start, and the program that must run under it."""

    pid: int
    program: str


@dataclass(frozen=True)
class ProcessReading:
    """What a process has used since its start: `counters` by stage (`cpu`, `media`); `started` in ticks since boot."""

    counters: Mapping[str, Mapping[str, float]]
    started: int


def sandbox_processes(bench: OpenSite) -> dict[str, dict[str, LocalProcess]]:
    """Return the daemons that Replay started, by cluster (`primary`, `secondary`) and name.

    There are none on any other site, whose daemons are not processes of this machine.
    """
    if not bench.daemons_are_here or not bench.site.sandbox:
        return {}
    sandbox = sandbox_record.load(bench.primary_cluster.conf.parent.parent)
    confs = {bench.primary_cluster.conf: "primary"}
    if bench.secondary is not None:
        confs[bench.secondary.cluster.conf] = "secondary"
    found: dict[str, dict[str, LocalProcess]] = {}
    for one in sandbox.clusters.values():
        cluster = confs.get(Path(one.conf))
        if cluster is not None:
            found[cluster] = {
                # The only monitor and the only manager have the cluster's name as their id.
                (daemon.name if daemon.type == "osd" else daemon.type): LocalProcess(daemon.pid, f"ceph-{daemon.type}")
                for daemon in one.daemons
                if daemon.type in ("mon", "mgr", "osd")
            }
    if sandbox.mirror is not None and "secondary" in found:
        found["secondary"]["rbd-mirror"] = LocalProcess(sandbox.mirror.pid, "rbd-mirror")
    return found


def read_process(process: LocalProcess, proc: Path = Path("/proc")) -> ProcessReading | None:
    """Return a process's CPU seconds and storage bytes; None if it is gone, or if another program has its pid.

    `write_bytes` are what it sent towards storage (proc_pid_io(5)): direct I/O at once, buffered I/O when it dirtied a
    page. Another user's `/proc/PID/io` cannot be read; the stage `media` is then absent.
    """
    folder = proc / str(process.pid)
    try:
        # The name in parentheses may contain spaces and parentheses, so fields are counted from the last one.
        head, _, tail = (folder / "stat").read_text(errors="replace").rpartition(")")
    except OSError:
        return None
    fields = tail.split()
    # The kernel keeps fifteen characters of a program's name.
    if head.partition("(")[2] != process.program[:15] or len(fields) < 20 or fields[0] in "ZX":
        return None
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    counters: dict[str, dict[str, float]] = {"cpu": {"seconds": seconds}}
    try:
        lines = (folder / "io").read_text().splitlines()
    except OSError:
        lines = []
    table = {name: int(value) for name, _, value in (line.partition(":") for line in lines)}
    if {"read_bytes", "write_bytes"} <= table.keys():
        counters["media"] = {"read_bytes": table["read_bytes"], "write_bytes": table["write_bytes"]}
    return ProcessReading(counters, started=int(fields[19]))
