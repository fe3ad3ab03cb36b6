"""What a sidecar records of a cell: output, waits, samples, its bottleneck, and the code, machine and versions.

Nothing in it names a person, a host or an address.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from replay.base.paths import ROOT, version
from replay.base.programs import HOST_PROGRAMS, NAMES, MissingProgramError, Programs, major_of, title_of
from replay.base.tables import SAMPLES_FOOTER, SAMPLES_HEADER

# What was printed and seen -------------------------------------------------------------------------------------------


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
        return "\n".join([SAMPLES_HEADER, *rows, f"{end:.6f},{','.join(SAMPLES_FOOTER)},{len(rows)}", ""]).encode()


# What it was measured with -------------------------------------------------------------------------------------------


@cache
def measuring_code() -> dict[str, Any]:
    """Return the version of Replay, its commit, and whether the code differs from that commit.

    An installed package has no commit: the last two are None.
    """
    changed = _git("status", "--porcelain", "--", "scripts", "config", "Snakefile")
    return {
        "replay_version": version(),
        "git_commit": _git("rev-parse", "HEAD"),
        "git_dirty": None if changed is None else bool(changed),
    }


def _git(*words: str) -> str | None:
    if ROOT is None:
        return None
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def host() -> dict[str, Any]:
    """Return the machine: a pseudonym (digest of machine-id, hostname and CPU model), kernel, CPU model, cores, memory.

    A virtual machine keeps its machine-id when it moves to another host. With another CPU model it counts as another
    machine, so that pilots from the first host do not size its cells.
    """
    identity = platform.node()
    for path in (Path("/etc/machine-id"), Path("/proc/sys/kernel/random/boot_id")):
        if path.exists():
            # Without a machine-id every boot counts as another machine, and pilots run again.
            identity += path.read_text().strip()
            break
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    memory = next((int(line.split()[1]) * 1024 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "id": hashlib.sha256((identity + model).encode()).hexdigest()[:8],
        "kernel": platform.release(),
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_bytes": memory,
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


@cache
def program_version(program: str, programs: Programs = HOST_PROGRAMS) -> str | None:
    """Return the first line that `program --version` prints; None if it prints none or cannot be run."""
    try:
        argv = programs.command([program, "--version"])
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    except (MissingProgramError, OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[0].strip() if lines else None


def short_version(text: str | None) -> str | None:
    """Return the number in a version text (`ceph version 16.2.15 (6184…)` → `16.2.15`), None if there is none."""
    match = re.search(r"\d+(?:\.\d+)+", text or "")
    return match[0] if match else None


# The versions of the cluster's daemons and of the client, as sidecars record them ------------------------------------

#: What to call daemons, by their keys in a sidecar's `versions`.
DAEMONS = {"osd": "OSDs", "mon": "monitors", "mgr": "managers", "rbd_mirror": "mirror daemons"}
SECOND_SITE = "second_site"
CLIENT = "client"
Versions = Mapping[str, Any]


def ceph_versions(versions: Versions) -> set[str]:
    """Return the versions of all daemons that a sidecar names, including those of the second cluster."""
    return {version for _, running in _daemons(versions) for version in running}


def releases_in(versions: Versions) -> dict[str, frozenset[int]]:
    """Return the major releases of daemons and client, by what each is called. Unknown ones are left out."""
    client = [version] if (version := versions.get("librbd")) else []
    majors = {
        what: frozenset(filter(None, map(major_of, running)))
        for what, running in [*_daemons(versions), (CLIENT, client)]
    }
    return {what: releases for what, releases in majors.items() if releases}


@dataclass(frozen=True)
class ReleaseChange:
    """Daemons, or the client, with another release now: their major releases when measured, and those of now."""

    what: str
    measured: frozenset[int]
    now: frozenset[int]


def changes(measured: Versions, now: Versions) -> list[ReleaseChange]:
    """Return what is known to have another major release now than when it was measured, OSDs first."""
    before, after = releases_in(measured), releases_in(now)
    return [
        ReleaseChange(what, before[what], after[what]) for what in after if before.get(what, after[what]) != after[what]
    ]


def in_words(changed: list[ReleaseChange]) -> str:
    """Return changes in words: `OSDs and monitors 16 (pacific), now 18 (reef); client 16 (pacific), now 18 (reef)`."""
    alike: dict[tuple[str, str], list[str]] = {}
    for change in changed:
        alike.setdefault((_titles(change.measured), _titles(change.now)), []).append(change.what)
    return "; ".join(f"{_listed(what)} {measured}, now {now}" for (measured, now), what in alike.items())


def unknown_releases(versions: Versions) -> list[str]:
    """Return a sentence for each release that Replay does not know, and one about releases that are unknown."""
    releases = releases_in(versions)
    majors = sorted({major for several in releases.values() for major in several} - NAMES.keys())
    sentences = [f"Replay does not know Ceph {major}, but measures it all the same" for major in majors]
    if unknown := [what for what in ("OSDs", CLIENT) if what not in releases]:
        sentences.append(f"the release of {' and '.join(unknown)} is unknown, so it is not recorded")
    return sentences


def _daemons(versions: Versions) -> Iterator[tuple[str, list[str]]]:
    """Yield what the daemons of both clusters are called, and their versions: several if they are mixed."""
    for key, what in DAEMONS.items():
        yield what, versions.get(key) or []
    for key, what in DAEMONS.items():
        yield f"{what} of the second cluster", (versions.get(SECOND_SITE) or {}).get(key) or []


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _titles(releases: frozenset[int]) -> str:
    return " and ".join(map(title_of, sorted(releases)))


# What a cell ran out of first: its bottleneck, by rules for one machine and for several. Pure.
#
# Measuring records it in the sidecar as `limiter`, over the whole run of the tool. If the machine was sampled while the
# load was steady, derive judges that sample instead: while a tool starts and ends, little is busy, and neither is part
# of the measurement.


#: A resource is the bottleneck if it is at least this busy during a cell. Every sidecar states this as `limiter_rule`.
CPU_BUSY_FRACTION = 0.85
DISK_BUSY_FRACTION = 0.80
BOTTLENECK_RULE = f"cpu when busy >= {CPU_BUSY_FRACTION}, else disk when busy >= {DISK_BUSY_FRACTION}, else none"
#: The same for the busiest of several machines. The sidecar states it as `limiter_rule`.
HOSTS_BOTTLENECK_RULE = (
    f"cpu when the busiest OSD host was busy >= {CPU_BUSY_FRACTION}, else disk when the busiest OSD's disk was "
    f"busy >= {DISK_BUSY_FRACTION}, else none; unknown where a host or a disk was not seen"
)

#: The facts of a cell that nobody knows unless the machines that run the OSDs were observed.
FACTS_OF_MACHINES = ("idle_cpu_fraction", "limiter")
#: What is missing where they were not, and what adds it.
UNSEEN_MACHINES = "that of the OSDs' machines is missing, and one line in the site's file, `prometheus`, would add it"

#: The stretch of time that decides: the part in which the load was steady, or the whole run of the tool.
STEADY, WHOLE = "steady part", "whole run"


class Bottleneck(NamedTuple):
    """`resource` is cpu, disk, network, none or unknown. `rule` may be None. `over` is STEADY or WHOLE."""

    resource: str
    rule: str | None
    over: str


#: Of a cell whose sidecar does not say.
UNKNOWN = Bottleneck("unknown", None, WHOLE)


def bottleneck_of(sidecar: Mapping[str, Any]) -> Bottleneck:
    """Return a cell's bottleneck: by `samples.daemons.machine` if that states the CPU, otherwise as it was recorded.

    If a Prometheus server observed other machines, the recorded one counts.
    """
    samples = sidecar.get("samples") or {}
    steady = (samples.get("daemons") or {}).get("machine") or {}
    if steady.get("cpu_idle_fraction") is not None and "prometheus" not in samples:
        load = {"disk_busy_fraction": None, **steady}
        return Bottleneck(bottleneck_here(load, daemons_are_here=True), BOTTLENECK_RULE, STEADY)
    return Bottleneck(str(sidecar.get("limiter") or "unknown"), sidecar.get("limiter_rule"), WHOLE)


def bottleneck_here(load: dict[str, float | None], *, daemons_are_here: bool) -> str:
    """Return `cpu`, `disk`, `none`, or `unknown` if the daemons run on machines that this one does not observe."""
    if not daemons_are_here or load["cpu_idle_fraction"] is None:
        return "unknown"
    if 1 - load["cpu_idle_fraction"] >= CPU_BUSY_FRACTION:
        return "cpu"
    if load["disk_busy_fraction"] is not None and load["disk_busy_fraction"] >= DISK_BUSY_FRACTION:
        return "disk"
    return "none"


def busy_fractions(sample: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return how busy the observed hosts' CPUs and the observed OSDs' disks were, from 0 to 1."""
    hosts: Mapping[str, Any] = sample.get("hosts", {})
    osds: Mapping[str, Any] = sample.get("osds", {})
    cpus = [1 - host["cpu_idle_seconds"] / (host["cpus"] * host["seconds"]) for host in hosts.values()]
    disks = [osd["disk"]["busy_seconds"] / osd["disk"]["seconds"] for osd in osds.values() if "disk" in osd]
    return [_fraction(fraction) for fraction in cpus], [_fraction(fraction) for fraction in disks]


def bottleneck_of_hosts(sample: Mapping[str, Any]) -> str:
    """Return `cpu`, `disk`, `none` or `unknown` by HOSTS_BOTTLENECK_RULE.

    One host that was busy enough decides, even if others were not observed. Otherwise all must be known.
    """
    cpus, disks = busy_fractions(sample)
    if cpus and max(cpus) >= CPU_BUSY_FRACTION:
        return "cpu"
    unseen = [name for name in sample.get("left_out", {}) if not name.endswith(" cpu")]
    if not cpus or not disks or unseen:
        return "unknown"
    return "disk" if max(disks) >= DISK_BUSY_FRACTION else "none"


def _fraction(value: float) -> float:
    return min(1.0, max(0.0, value))
