"""Daemons as processes: starts them detached, recognises them, and stops exactly them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from replay.base.clock import poll
from replay.base.tables import write_if_changed
from replay.cluster.sandbox_record import SandboxError

#: The longest time to enter a release, which takes a tenth of a second on a busy machine.
BECOME_SECONDS = 60.0
DAEMON_PROGRAMS = frozenset({"ceph-mon", "ceph-mgr", "ceph-osd", "rbd-mirror"})
#: The program that keeps the line between the sites: a script, and the first one in its process' argv.
LINK_PROGRAM = "link_program.py"


@dataclass(frozen=True)
class Process:
    """A process and the proof of its identity: the kernel reuses pids.

    `start_ticks` is the start time in clock ticks since boot (field 22 of /proc/PID/stat), `boot` the kernel's boot id,
    `program` the target of /proc/PID/exe (empty if this user may not read it).
    """

    pid: int
    start_ticks: int
    boot: str
    program: str

    def save(self, path: Path) -> None:
        """Write a pid file."""
        write_if_changed(path, json.dumps(asdict(self)) + "\n")


def read_pid_file(path: Path) -> Process | None:
    """Return the process that a pid file names; None if the file is absent or damaged."""
    try:
        return Process(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def boot_id() -> str:
    """Return the kernel's identity of this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def identify(pid: int) -> Process | None:
    """Return the running process with this pid; None if there is none (a zombie does not run)."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # so that a daemon that this program started leaves no zombie
    if (ticks := start_ticks(pid)) is None:
        return None
    try:
        program = str(Path(f"/proc/{pid}/exe").readlink()).removesuffix(" (deleted)")
    except PermissionError:
        program = ""
    except OSError:
        return None
    return Process(pid, ticks, boot_id(), program)


def start_ticks(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None if there is none (a zombie does not run)."""
    fields = _fields(pid)
    return None if not fields or fields[0] in "ZX" else int(fields[19])


def started_at(process: Process) -> float:
    """Return when a process of this boot started, in seconds since the epoch."""
    uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    return time.time() - uptime + process.start_ticks / os.sysconf("SC_CLK_TCK")


def _fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat that follow the name, the state first; none without such a process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    # The name in parentheses may hold spaces and parentheses: count fields from the last one.
    return text.rpartition(")")[2].split()


def is_alive(process: Process | None) -> bool:
    """Return whether exactly this process still runs: same boot, same start time, same program."""
    if process is None:
        return False
    now = identify(process.pid)
    if now is None or (now.start_ticks, now.boot) != (process.start_ticks, process.boot):
        return False
    return not now.program or not process.program or now.program == process.program


def daemon_environment() -> dict[str, str]:
    """Return the environment of daemons and tools: the host's Ceph settings must not reach into the sandbox."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
    # The size of tcmalloc's thread caches in the packaged services (/etc/default/ceph).
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES": "134217728", **kept}


def start(
    argv: list[str],
    *,
    output: Path,
    cwd: Path,
    program: str | None = None,
    environment: dict[str, str] | None = None,
) -> Process:
    """Start a daemon in a new session and return it; its stdout and stderr go to the file `output`.

    It inherits no descriptor (a lock that a daemon held would outlive its starter) and no terminal (Ctrl-C does not
    reach it). `program` is the daemon's name: if argv first enters a release, the process becomes the daemon a moment
    later, and this waits for it. Raises SandboxError if it ends at once.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("ab") as stream:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**daemon_environment(), **(environment or {})},
            start_new_session=True,
        )
    name = program or Path(argv[0]).name
    process = _become(child.pid, name) if Path(argv[0]).name != name else identify(child.pid)
    child.returncode = 0  # the daemon is meant to outlive this program: Popen need not wait for it
    if process is None:
        raise SandboxError(f"{name} ended immediately", where=output, next_step="read this file")
    return process


def _become(pid: int, name: str) -> Process | None:
    """Wait until a process runs the program of this name, and return it; None if it ends before.

    If it takes too long, ends the process and raises SandboxError.
    """
    deadline = time.monotonic() + BECOME_SECONDS
    while (process := identify(pid)) is not None and Path(process.program).name != name:
        if time.monotonic() > deadline:
            stop([process], timeout_seconds=1.0)
            raise SandboxError(f"{name} did not start within {BECOME_SECONDS:g} s", where=process.program)
        time.sleep(0.002)
    return process


def stop(processes: list[Process], *, timeout_seconds: float) -> None:
    """End these processes together: SIGTERM, and SIGKILL for those that remain after `timeout_seconds`."""
    _signal(processes, signal.SIGTERM)
    if left := _wait_gone(processes, timeout_seconds):
        kill(left)


def freeze(processes: list[Process]) -> None:
    """Stop these processes where they are, and wait until each stands still. Raises SandboxError if one does not."""
    _signal(processes, signal.SIGSTOP)
    poll(
        lambda: True if all(map(is_frozen, processes)) else None,
        what=f"processes {', '.join(str(process.pid) for process in processes)} to stand still",
        seconds=5.0,
        every=0.0005,
        where="sandbox",
        error=SandboxError,
        next_step="look at them with ps",
    )


def thaw(processes: list[Process]) -> None:
    """Let frozen processes go on. Does nothing to others."""
    _signal(processes, signal.SIGCONT)


def is_frozen(process: Process) -> bool:
    """Say whether exactly this process is there and stopped."""
    return is_alive(process) and _fields(process.pid)[:1] == ["T"]


def kill(processes: list[Process]) -> None:
    """End these processes at once, with no chance to finish anything. Raises SandboxError if one remains."""
    _signal(processes, signal.SIGKILL)
    if left := _wait_gone(processes, 10.0):
        pids = ", ".join(str(process.pid) for process in left)
        raise SandboxError(f"processes {pids} do not end", where="sandbox", next_step="find out why with ps and dmesg")


def _signal(processes: list[Process], number: signal.Signals) -> None:
    for process in processes:
        if is_alive(process):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)


def _wait_gone(processes: list[Process], timeout_seconds: float) -> list[Process]:
    deadline = time.monotonic() + timeout_seconds
    left = list(processes)
    while left := [process for process in left if is_alive(process)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return left


def of_sandbox(directory: Path) -> Iterator[tuple[str, Process]]:
    """Yield (program's name, process) of each Ceph daemon, and of the line, whose configuration lies in `directory`.

    This also finds daemons without a pid file, whose starter was killed before it could write one.
    """
    prefix = os.fsencode(directory) + b"/"
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        names = [Path(os.fsdecode(word)).name for word in argv]
        name = LINK_PROGRAM if LINK_PROGRAM in names[:3] else names[0]
        if name not in DAEMON_PROGRAMS | {LINK_PROGRAM} or b"--conf" not in argv[:-1]:
            continue
        if argv[argv.index(b"--conf") + 1].startswith(prefix) and (process := identify(int(entry.name))):
            yield name, process


# rbd-mirror first, so that it does not report a lost cluster; monitors last, so that all others can sign off.
# The line comes after all, since daemons sign off over it.
_STOP_ORDER = (
    *(("rbd-mirror", 10.0), ("ceph-osd", 20.0), ("ceph-mgr", 5.0), ("ceph-mon", 10.0)),
    (LINK_PROGRAM, 5.0),
)


def stop_all(folder: Path, keep: Collection[Process] = ()) -> None:
    """Stop every daemon whose configuration is in `folder`, in order, except those in `keep`."""
    living = [(name, process) for name, process in of_sandbox(folder) if process not in keep]
    for program, timeout_seconds in _STOP_ORDER:
        stop([process for name, process in living if name == program], timeout_seconds=timeout_seconds)
