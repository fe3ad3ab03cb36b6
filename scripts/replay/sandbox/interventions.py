"""What experiments do to a sandbox's daemons: cap their reads and writes on a disk, and lose a site.

Caps are the kernel's throttle, cgroups. It caps reads and writes separately, and counts what it lets through. Both
versions will do: `blkio.throttle.*_iops_device` of version 1, `io.max` of version 2. They need root.

A site is lost by stopping or killing all its daemons at one moment. A stopped daemon answers nobody and closes no
connection: whoever talks to it waits, as for a site without power. A guardian process lets the daemons go on when the
measuring process ends without having done so.

The mirror daemon of the other cluster waits as well, without end. If it was copying at that moment, it does not let the
image go, so that nobody can promote it: killing the daemon helps, and its lock then expires.

The guardian is `python -m replay.sandbox.interventions PROCESSES`, a JSON list of `replay.sandbox.processes.Process`.
The starter holds its standard input open: it closes with the starter, however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from replay.base.clock import poll
from replay.base.errors import ReplayError
from replay.cluster.sandbox_record import Sandbox
from replay.sandbox import daemons, processes
from replay.sandbox.tools import Interrupt

MOUNTS = Path("/proc/self/mounts")
#: Names of groups that Replay made on this machine; no other group is ever emptied or removed.
_GROUP = re.compile(r"replay-[0-9a-f]{8}-osd-\d+")
#: The kernel still handles a group's last requests after its processes have ended.
REMOVED_WITHIN_SECONDS = 10.0
JUST_MADE_SECONDS = 10.0


@dataclass(frozen=True)
class Hierarchy:
    """The kernel's throttle of block I/O: the mount of its cgroups, and their version."""

    root: Path
    version: int

    def home_of(self, pid: int) -> str:
        """Return the group of a process, such as `/`. Raises ReplayError if the process is gone."""
        try:
            lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise ReplayError(f"the process {pid} is gone: {error.strerror}", where=self.root) from error
        for number, controllers, path in (line.split(":", 2) for line in lines):
            if "blkio" in controllers.split(",") if self.version == 1 else number == "0":
                return path
        raise ReplayError(f"the process {pid} is in no group", where=self.root)


def find_hierarchy(mounts: Path = MOUNTS) -> Hierarchy | None:
    """Return the throttle that this machine offers to this process, or None."""
    for line in mounts.read_text(encoding="utf-8").splitlines():
        _, folder, kind, options, *_ = line.split()
        root = Path(folder)
        if not os.access(root, os.W_OK):
            continue
        if kind == "cgroup" and "blkio" in options.split(","):
            return Hierarchy(root, 1)
        # A child of the root has `io.max` only if the root delegates that controller.
        if kind == "cgroup2" and "io" in _words(root / "cgroup.subtree_control"):
            return Hierarchy(root, 2)
    return None


def device_of(path: Path) -> str | None:
    """Return the disk of a file as `major:minor`, None if the file is not on one (tmpfs, overlay, btrfs).

    For a partition it is the whole disk, which is what the kernel throttles.
    """
    device = path.stat().st_dev
    folder = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not folder.exists():
        return None
    disk = folder.resolve().parent if (folder / "partition").exists() else folder
    return (disk / "dev").read_text(encoding="ascii").strip()


@dataclass(frozen=True)
class IoCap:
    """A group for a single process, capped on one disk."""

    hierarchy: Hierarchy
    group: str
    device: str

    @property
    def folder(self) -> Path:
        return self.hierarchy.root / self.group

    def make(self, iops: int) -> None:
        """Make the group and cap its reads and its writes, each at `iops` a second."""
        self.folder.mkdir(exist_ok=True)
        if self.hierarchy.version == 1:
            for direction in ("read", "write"):
                _write(self.folder / f"blkio.throttle.{direction}_iops_device", f"{self.device} {iops}")
        else:
            _write(self.folder / "io.max", f"{self.device} riops={iops} wiops={iops}")

    def take(self, pid: int) -> None:
        """Move a process with all its threads into the group."""
        _write(self.folder / "cgroup.procs", str(pid))

    def holds(self, pid: int) -> bool:
        return str(pid) in _words(self.folder / "cgroup.procs")

    def counts(self) -> tuple[int, int]:
        """Return how many reads and writes the kernel has let through so far."""
        name = "blkio.throttle.io_serviced" if self.hierarchy.version == 1 else "io.stat"
        return parse_counts((self.folder / name).read_text(encoding="ascii"), self.device)


def parse_counts(text: str, device: str) -> tuple[int, int]:
    """Return (reads, writes) of a disk from `blkio.throttle.io_serviced` or `io.stat`; 0 if it is not named."""
    counts: dict[str, int] = {}
    for line in text.splitlines():
        name, *rest = line.split()
        if name != device:
            continue
        if len(rest) == 2 and "=" not in rest[0]:
            counts[rest[0]] = int(rest[1])
        else:
            counts |= {key: int(value) for key, value in (word.split("=") for word in rest if "=" in word)}
    return counts.get("Read", counts.get("rios", 0)), counts.get("Write", counts.get("wios", 0))


def release(root: str, group: str, home: str) -> bool:
    """Return a group's processes to the group `home` and remove the group. Return whether it existed.

    Raises ReplayError if it cannot be removed, and for a name that is not one of Replay's groups.
    """
    if not _GROUP.fullmatch(group):
        raise ReplayError(f"{group!r} is not a group of Replay's", where=root)
    top = Path(root)
    folder, back = top / group, top / home.lstrip("/")
    if not folder.is_dir():
        return False
    why = ""

    def remove() -> bool | None:
        nonlocal why
        for pid in _words(folder / "cgroup.procs"):
            _write((back if back.is_dir() else top) / "cgroup.procs", pid, gone_is_fine=True)
        try:
            folder.rmdir()
        except OSError as error:
            why = str(error.strerror)
            return None
        return True

    return poll(
        remove,
        what="a group to be removed",
        seconds=REMOVED_WITHIN_SECONDS,
        every=0.1,
        seen=lambda: why,
        where=folder,
        next_step="look at the processes in its cgroup.procs",
    )


def remove_empty_groups(hierarchy: Hierarchy | None, *, now: Callable[[], float] = time.time) -> int:
    """Remove Replay's groups without processes, such as those of a sandbox that was taken down.

    Returns how many. A group that was just made, and is about to get a process, stays.
    """
    if hierarchy is None:
        return 0
    removed = 0
    for folder in hierarchy.root.glob("replay-*"):
        with contextlib.suppress(OSError):  # a process came in between, or another program was faster
            is_ours = _GROUP.fullmatch(folder.name) and not _words(folder / "cgroup.procs")
            if is_ours and now() - folder.stat().st_ctime > JUST_MADE_SECONDS:
                folder.rmdir()
                removed += 1
    return removed


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return []


def _write(path: Path, text: str, *, gone_is_fine: bool = False) -> None:
    try:
        path.write_text(text, encoding="ascii")
    except OSError as error:
        if gone_is_fine and error.errno == errno.ESRCH:
            return
        raise ReplayError(f"the kernel refuses {text!r}: {error.strerror}", where=path) from error


# The loss of a site ---------------------------------------------------------------------------------------------------

#: The OSDs first: no write is acknowledged once they stand still.
_ORDER = ("osd", "mon", "mgr")
_READY = b"ready\n"


class SiteLoss:
    """The loss of one site of a sandbox, from `lose` or `destroy` to `restore`. Leaving the context restores.

    The site is a whole cluster or, of a stretch cluster, the daemons that it has there.
    """

    def __init__(self, sandbox: Sandbox, site: str) -> None:
        """Find the site's daemons. Raises ReplayError if one of them does not run."""
        self.where = f"the sandbox's site {site}"
        self.sandbox = sandbox
        self.mirror_daemon_killed = False
        self._destroyed = False
        roles = [role for each in sandbox.clusters.values() for role in daemons.roles(each) if role.site == site]
        self._roles = sorted(roles, key=lambda role: _ORDER.index(role.type))
        by_role = [(role, daemons.running(sandbox.layout, role)) for role in self._roles]
        if dead := [role.name for role, process in by_role if process is None]:
            raise ReplayError(
                f"it cannot be lost, because it is not whole: {', '.join(dead)} not running", where=self.where
            )
        self.processes = [process for _, process in by_role if process is not None]
        self._guardian: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> SiteLoss:
        """Start the guardian, and wait until it stands by."""
        identities = json.dumps([asdict(process) for process in self.processes])
        self._guardian = subprocess.Popen(
            [sys.executable, "-m", "replay.sandbox.interventions", identities],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._guardian.stdout is not None
        if self._guardian.stdout.readline() != _READY:
            raise ReplayError("the process that would let the daemons go on did not start", where=self.where)
        return self

    def __exit__(self, *_: object) -> None:
        """Let the daemons go on, start a mirror daemon that was killed again, and end the guardian."""
        self.restore()
        if self.mirror_daemon_killed:
            daemons.start_mirroring(self.sandbox.layout, Interrupt())
            self._record()
        assert self._guardian is not None
        self._guardian.communicate()  # closes its input, which ends it

    def lose(self) -> int:
        """Stop every daemon, and return how many there are. Raises ReplayError if one does not stand still."""
        if self._guardian is None or self._guardian.poll() is not None:
            raise ReplayError("nobody would let the daemons go on: the site is not lost", where=self.where)
        processes.freeze(self.processes)
        return len(self.processes)

    def destroy(self) -> int:
        """Kill every daemon at once, and return how many there were. `restore` starts them again, with their data."""
        self._destroyed = True
        processes.kill(self.processes)
        return len(self.processes)

    def kill_mirror_daemon(self) -> None:
        """Kill the mirror daemon of the other cluster. Raises ReplayError if there is none."""
        process = daemons.running(self.sandbox.layout, daemons.MIRROR)
        if process is None:
            raise ReplayError("the mirror daemon has ended by itself", where=self.where)
        self.mirror_daemon_killed = True
        processes.kill([process])

    def check_lost(self) -> None:
        """Raise ReplayError unless every daemon still stands still."""
        if moving := [process.pid for process in self.processes if not processes.is_frozen(process)]:
            raise ReplayError(f"processes {moving} went on, so that the site was not lost", where=self.where)

    def restore(self) -> None:
        """Let the daemons go on, or start those that were killed and wait until they work. May be called again."""
        processes.thaw(self.processes)
        if not self._destroyed:
            return
        for role in sorted(self._roles, key=lambda role: role.type == "osd"):
            daemons.start(self.sandbox.layout, role)
        for role in self._roles:
            daemons.await_ready(self.sandbox.layout, role, Interrupt())
        self._destroyed = False
        self._record()

    def _record(self) -> None:
        daemons.record(self.sandbox)
        self.sandbox.save()


def stand_by() -> int:
    """Say that it stands by, wait for the end of standard input, and let the processes go on.

    Signals that would end both are ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    stopped = [processes.Process(**identity) for identity in json.loads(sys.argv[1])]
    print("ready", flush=True)
    sys.stdin.buffer.read()
    processes.thaw(stopped)
    return 0


if __name__ == "__main__":
    sys.exit(stand_by())
