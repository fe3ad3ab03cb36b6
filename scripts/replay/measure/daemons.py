"""What each daemon did between two moments: Ceph's own counters, and on a sandbox its CPU time and storage bytes.

OSDs are asked for `perf dump` over the session that is open anyway, so clusters on other machines answer too.
Nothing is guessed: a counter that a release lacks is absent, not 0, and so is a daemon that did not answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.measure.bench import Bench, MachineReading, MachineSampler, sandbox_of
from replay.ownership.open_site import OpenSite

PRIMARY, SECONDARY = "primary", "secondary"
ANSWER_TIMEOUT_SECONDS = 10.0

#: The stages of a write, and what is counted there. Candidates are `section.counter` of `perf dump`; the first existing
#: one counts (Ceph 17 renamed BlueStore's). Meanings: Ceph's src/osd/osd_perf_counters.cc, BlueStore.cc, BlueFS.cc.
COUNTERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    # Operations that clients sent to this OSD as a primary. One that reads and writes, such as a journal's append,
    # which checks the object's size first, is in `read_write_operations` only.
    "client": {
        "operations": ("osd.op",),
        "read_operations": ("osd.op_r",),
        "write_operations": ("osd.op_w",),
        "read_write_operations": ("osd.op_rw",),
        "in_bytes": ("osd.op_in_bytes",),
        "out_bytes": ("osd.op_out_bytes",),
        "write_in_bytes": ("osd.op_w_in_bytes",),
        "read_write_in_bytes": ("osd.op_rw_in_bytes",),
    },
    # Copies that other OSDs sent to this one.
    "replication": {
        "operations": ("osd.subop",),
        "in_bytes": ("osd.subop_in_bytes",),
    },
    # Writes of object data as BlueStore takes them: big ones fill whole allocation units, small ones do not; deferred
    # ones go through the database's log first.
    "store": {
        "transactions": ("bluestore.bluestore_txc", "bluestore.txc_count"),
        "big_writes": ("bluestore.bluestore_write_big", "bluestore.write_big"),
        "big_bytes": ("bluestore.bluestore_write_big_bytes", "bluestore.write_big_bytes"),
        "small_writes": ("bluestore.bluestore_write_small", "bluestore.write_small"),
        "small_bytes": ("bluestore.bluestore_write_small_bytes", "bluestore.write_small_bytes"),
        "deferred_writes": ("bluestore.deferred_write_ops", "bluestore.issued_deferred_writes"),
        "deferred_bytes": ("bluestore.deferred_write_bytes", "bluestore.issued_deferred_write_bytes"),
    },
    # RocksDB on BlueFS: its write-ahead log, its tables (flushes and compactions), and BlueFS's own journal.
    "database": {
        "log_bytes": ("bluefs.bytes_written_wal",),
        "table_bytes": ("bluefs.bytes_written_sst",),
        "journal_bytes": ("bluefs.logged_bytes",),
    },
}

Counters = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class DaemonReading:
    """One daemon's counters at one moment, by stage; `started` tells one process from the next of the same name."""

    counters: Counters
    started: int | None = None


@dataclass(frozen=True)
class ClusterReading:
    """All daemons at one moment. `clusters`: primary and secondary, each daemon's name to its reading.

    `clock` is a monotonic clock in seconds when the reading began, `cost_seconds` how long it took. `unanswered` names
    the OSDs that did not return their counters, and why.
    """

    clusters: Mapping[str, Mapping[str, DaemonReading]]
    machine: MachineReading | None
    clock: float
    cost_seconds: float
    unanswered: tuple[str, ...] = ()

    def osds(self) -> list[str]:
        """Return the names of the primary cluster's OSDs that returned their counters."""
        return [name for name, daemon in self.clusters.get(PRIMARY, {}).items() if "client" in daemon.counters]


class DaemonSampler:
    """Reads the counters of a bench's daemons; `secondary=False` leaves the second cluster out."""

    def __init__(
        self,
        bench: Bench,
        *,
        secondary: bool = True,
        processes: Mapping[str, Mapping[str, LocalProcess]] | None = None,
        proc: Path = Path("/proc"),
    ) -> None:
        self.bench = bench
        self.proc = proc
        self.sessions: dict[str, MonitorSession] = {PRIMARY: bench.session}
        if secondary and bench.secondary is not None:
            self.sessions[SECONDARY] = bench.secondary
        self.processes = sandbox_processes(bench) if processes is None else processes
        self._osd_ids: dict[str, list[int]] = {}

    def read(self) -> ClusterReading:
        """Return all counters now. Raises CephCommandError when the monitors do not answer."""
        with self.bench.costs.measure("sample"):
            clock = time.monotonic()
            machine = self.bench.sampler.read() if self.bench.daemons_are_here else None
            unanswered: list[str] = []
            clusters = {}
            for cluster, session in self.sessions.items():
                osds = self._ask_osds(cluster, session, unanswered)
                clusters[cluster] = self._with_processes(osds, self.processes.get(cluster, {}))
            return ClusterReading(clusters, machine, clock, time.monotonic() - clock, tuple(unanswered))

    def between(self, before: ClusterReading, after: ClusterReading) -> dict[str, Any]:
        """Return what the daemons did between two readings, as a sidecar holds it.

        `primary` and `secondary`: daemon to stage to counter to difference. `seconds` lie between the readings, which
        themselves took `cost_seconds`. `machine` is the load of this machine where the daemons are on it. A daemon that
        was restarted, or that one of the readings lacks, is left out and named in `left_out`.
        """
        left_out: list[str] = []
        clusters: dict[str, dict[str, Any]] = {}
        for cluster in after.clusters:
            first, last = before.clusters.get(cluster, {}), after.clusters[cluster]
            for name in _in_order({*first, *last}):
                difference = _difference(first.get(name), last.get(name))
                if difference is None:
                    left_out.append(f"{cluster} {name}")
                else:
                    clusters.setdefault(cluster, {})[name] = difference
        sample: dict[str, Any] = {
            "seconds": round(after.clock - before.clock, 3),
            "cost_seconds": round(before.cost_seconds + after.cost_seconds, 4),
            **clusters,
        }
        if before.machine is not None and after.machine is not None:
            sample["machine"] = MachineSampler.load(before.machine, after.machine)
        if unanswered := sorted({*before.unanswered, *after.unanswered}):
            sample["unanswered"] = unanswered
        if left_out:
            sample["left_out"] = left_out
        return sample

    def _ask_osds(self, cluster: str, session: MonitorSession, unanswered: list[str]) -> dict[str, DaemonReading]:
        if cluster not in self._osd_ids:
            self._osd_ids[cluster] = [int(number) for number in session.command({"prefix": "osd ls"})]
        readings = {}
        for number in self._osd_ids[cluster]:
            name = f"osd.{number}"
            try:
                answer = session.command({"prefix": "perf dump"}, target=name, timeout_seconds=ANSWER_TIMEOUT_SECONDS)
            except CephCommandError as error:
                unanswered.append(f"{cluster} {name}: {error.what}")
            else:
                readings[name] = DaemonReading(counters_in(answer))
        return readings

    def _with_processes(
        self, osds: Mapping[str, DaemonReading], processes: Mapping[str, LocalProcess]
    ) -> dict[str, DaemonReading]:
        """Add what the kernel reports about the daemons that run on this machine."""
        joined = dict(osds)
        for name, process in processes.items():
            if (local := read_process(process, self.proc)) is not None:
                asked = osds[name].counters if name in osds else {}
                joined[name] = DaemonReading({**asked, **local.counters}, local.started)
        return joined


def counters_in(perf_dump: Any) -> dict[str, dict[str, float]]:
    """Return an OSD's counters from its `perf dump`, by stage, without those that are not numbers."""
    stages: dict[str, dict[str, float]] = {}
    for stage, wanted in COUNTERS.items():
        for name, candidates in wanted.items():
            values = (_number_at(perf_dump, candidate) for candidate in candidates)
            value = next((value for value in values if value is not None), None)
            if value is not None:
                stages.setdefault(stage, {})[name] = value
    return stages


def _in_order(names: Iterable[str]) -> list[str]:
    """OSDs by number, then the other daemons."""

    def key(name: str) -> tuple[bool, int, str]:
        number = name.removeprefix("osd.")
        return (not number.isdigit(), int(number) if number.isdigit() else 0, name)

    return sorted(names, key=key)


def _difference(before: DaemonReading | None, after: DaemonReading | None) -> dict[str, dict[str, float]] | None:
    """Return what a daemon did between the readings; None if a reading lacks it, or if its counters restarted."""
    if before is None or after is None or before.started != after.started:
        return None
    stages: dict[str, dict[str, float]] = {}
    for stage, values in after.counters.items():
        known = before.counters.get(stage, {})
        differences = {name: round(value - known[name], 3) for name, value in values.items() if name in known}
        if any(value < 0 for value in differences.values()):
            return None
        if differences:
            stages[stage] = differences
    return stages


def _number_at(perf_dump: Any, place: str) -> float | None:
    section, _, counter = place.partition(".")
    try:
        value = perf_dump[section][counter]
    except (KeyError, TypeError, IndexError):
        return None
    # Counters are unsigned 64-bit integers; NaN fails the comparison too.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**64:
        return None
    return value


@dataclass(frozen=True)
class LocalProcess:
    """A daemon of the sandbox: its pid at the sandbox's last start, and the program that must run under it."""

    pid: int
    program: str


def sandbox_processes(bench: OpenSite) -> dict[str, dict[str, LocalProcess]]:
    """Return the daemons that Replay started, by cluster (`primary`, `secondary`) and name.

    There are none on any other site, whose daemons are not processes of this machine.
    """
    if (sandbox := sandbox_of(bench)) is None:
        return {}
    sides = {PRIMARY: sandbox.clusters["left"]}
    if bench.secondary is not None:
        sides[SECONDARY] = sandbox.clusters["right"]
    processes = {
        side: {
            # An only monitor or manager has the cluster's name as its id; a stretch cluster has several monitors.
            (daemon.name if daemon.type == "osd" or cluster.sites else daemon.type): LocalProcess(
                daemon.pid, f"ceph-{daemon.type}"
            )
            for daemon in cluster.daemons
        }
        for side, cluster in sides.items()
    }
    if sandbox.mirror is not None and SECONDARY in processes:
        processes[SECONDARY]["rbd-mirror"] = LocalProcess(sandbox.mirror.pid, "rbd-mirror")
    return processes


def read_process(process: LocalProcess, proc: Path = Path("/proc")) -> DaemonReading | None:
    """Return what a process has used since its start; None if it is gone, or if another program has its pid.

    The stage `cpu` has its seconds, `media` its storage bytes; `started` is in ticks since boot.
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
    return DaemonReading(counters, started=int(fields[19]))
