"""Who holds a cluster's lock, as the lock's description on the cluster says it."""

from __future__ import annotations

import getpass
import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from replay.base.clock import utc_now


@dataclass(frozen=True)
class Holder:
    """A process that measures or cleans up: where it runs, and what tells it from a later one of the same number."""

    host: str
    user: str
    process: int
    #: When it started, in ticks since its machine started; that start; and the space of its process number.
    began: int
    boot: str
    space: str
    since: str

    def sentence(self) -> str:
        """Return it for people."""
        return f"process {self.process} of {self.user} on {self.host}, since {self.since}"

    def text(self) -> str:
        """Return it for a lock's description."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def is_dead(self) -> bool:
        """Return whether this machine knows that the process has ended. Another machine's is never known to."""
        if (self.boot, self.space) != (_boot(), _space()):
            return False
        return _began(self.process) != self.began


def this_process() -> Holder:
    """Return the running process."""
    began = _began(os.getpid())
    assert began is not None, "this process is running"
    return Holder(platform.node(), getpass.getuser(), os.getpid(), began, _boot(), _space(), utc_now())


def parse(description: str) -> Holder | None:
    """Return the holder that a description names, None if Replay did not write it."""
    try:
        return Holder(**json.loads(description))
    except (ValueError, TypeError):
        return None


def _began(process: int) -> int | None:
    """Return when a process started, None if there is none of that number."""
    try:
        # The second word is the program's name, which may contain spaces and brackets.
        words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if words[0] in ("Z", "X") else int(words[19])


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()


def _space() -> str:
    return str(Path("/proc/self/ns/pid").readlink())
