"""Caps a process's reads and writes per second on a disk with the kernel's throttle: cgroups.

Supports both versions: `blkio.throttle.*_iops_device` of version 1, `io.max` of version 2. The kernel caps reads and
writes separately, and counts what it lets through. Needs root.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from replay.base.clock import poll
from replay.base.errors import ReplayError

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
    hierarchies = []
    for line in mounts.read_text(encoding="utf-8").splitlines():
        _, folder, kind, options, *_ = line.split()
        root = Path(folder)
        if not os.access(root, os.W_OK):
            continue
        if kind == "cgroup" and "blkio" in options.split(","):
            hierarchies.append(Hierarchy(root, 1))
        # A child of the root has `io.max` only if the root delegates that controller.
        elif kind == "cgroup2" and "io" in _words(root / "cgroup.subtree_control"):
            hierarchies.append(Hierarchy(root, 2))
    return hierarchies[0] if hierarchies else None


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
        """The group's folder."""
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
        """Return whether the process is in the group."""
        return str(pid) in _words(self.folder / "cgroup.procs")

    def counts(self) -> tuple[int, int]:
        """Return how many reads and writes the kernel has let through so far."""
        name = "blkio.throttle.io_serviced" if self.hierarchy.version == 1 else "io.stat"
        return parse_counts((self.folder / name).read_text(encoding="ascii"), self.device)


def parse_counts(text: str, device: str) -> tuple[int, int]:
    """Return (reads, writes) of a disk from `blkio.throttle.io_serviced` or `io.stat`; 0 if it is not named."""
    said: dict[str, int] = {}
    for line in text.splitlines():
        name, *rest = line.split()
        if name != device:
            continue
        if len(rest) == 2 and "=" not in rest[0]:
            said[rest[0]] = int(rest[1])
        else:
            said |= {key: int(value) for key, value in (word.split("=") for word in rest if "=" in word)}
    return said.get("Read", said.get("rios", 0)), said.get("Write", said.get("wios", 0))


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
