"""Records what a measurement was made with: code, tools, machine. Nothing in it names a person, host or address."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from replay.base.paths import ROOT
from replay.base.programs import HOST_PROGRAMS, MissingProgramError, Programs
from replay.base.version import version


@cache
def measuring_code() -> dict[str, Any]:
    """Return the version of Replay, its commit, and whether the code differs from that commit.

    An installed package has no commit: the last two are None.
    """
    if ROOT is None:
        return {"replay_version": version(), "git_commit": None, "git_dirty": None}

    def git(*args: str) -> str | None:
        done = subprocess.run(["git", "-C", str(ROOT), *args], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain", "--", "scripts", "config", "Snakefile")
    return {
        "replay_version": version(),
        "git_commit": commit,
        "git_dirty": None if changed is None else bool(changed),
    }


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
    said = done.stdout.strip().splitlines()
    return said[0].strip() if said else None


def short_version(text: str | None) -> str | None:
    """Return the number in a version text (`ceph version 16.2.15 (6184…)` → `16.2.15`), None if there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text or "")
    return found.group(0) if found else None
