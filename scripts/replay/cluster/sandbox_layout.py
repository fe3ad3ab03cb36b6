"""Where a sandbox keeps its files. One class knows every path; no other code builds one."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.paths import working_directory
from replay.base.programs import Programs
from replay.base.releases import HOST, parse_release

CLUSTERS = ("left", "right")
STATE_FILE = "sandbox.json"
# A Unix socket's path has at most 107 bytes. The longest name in the folder of sockets is rbd-mirror's:
# `right-client.rbd-mirror.right.PID.ADDRESS.asok`, with a PID of 7 and an address of 15 digits, and for the remote
# cluster `left-client.rbd-mirror-peer.PID.ADDRESS.asok`.
_LONGEST_SOCKET_PATH = 107
_LONGEST_SOCKET_NAME = 62
_SCRATCH_PARENT, _SCRATCH_PREFIX = Path("/tmp"), "replay-run-"


def default_directory(name: str = "default") -> Path:
    """Return the state directory of the sandbox `name`; `REPLAY_SANDBOX_DIR` replaces the default one.

    Raises ConfigurationError for a name that cannot be a single folder.
    """
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise ConfigurationError(
            f"{name!r} is not a valid sandbox name", next_step="use letters, digits, dots, dashes and underscores"
        )
    if name == "default" and (override := os.environ.get("REPLAY_SANDBOX_DIR")):
        return Path(override).resolve()
    return working_directory() / "sandbox" / name


def choose_run_directory(directory: Path) -> Path:
    """Return a folder for sockets and pid files: inside the sandbox or, if that path is too long, a new one.

    Sockets have a short limit, and folders of tests or of deep checkouts exceed it. The new folder is made with
    mkdtemp (mode 0700); it is recorded in the state file and removed by `down`.
    """
    inside = directory / "run"
    if len(os.fsencode(inside)) + 1 + _LONGEST_SOCKET_NAME <= _LONGEST_SOCKET_PATH:
        inside.mkdir(parents=True, exist_ok=True)
        return inside
    return Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=_SCRATCH_PARENT))


def is_scratch(run: Path) -> bool:
    """Return whether `choose_run_directory` made this folder of sockets outside the sandbox."""
    return run.parent == _SCRATCH_PARENT and run.name.startswith(_SCRATCH_PREFIX)


@dataclass(frozen=True)
class Layout:
    """The paths of one sandbox, and its programs. `run` is the folder of admin sockets and pid files.

    `release` is the number of the release that it runs, or `host`.
    """

    directory: Path
    run: Path
    release: str = HOST

    @property
    def programs(self) -> Programs:
        """The programs that this sandbox runs. Raises ReplayError if its release no longer exists."""
        return Programs.of(parse_release(self.release))

    @property
    def state_file(self) -> Path:
        """The JSON that other code reads."""
        return self.directory / STATE_FILE

    def cluster(self, name: str) -> Path:
        """Folder of one cluster."""
        return self.directory / name

    def conf(self, name: str) -> Path:
        """`ceph.conf` of one cluster, for daemons and clients."""
        return self.cluster(name) / "ceph.conf"

    def keyring(self, name: str) -> Path:
        """Keyring of one cluster's clients (administrator, and rbd-mirror on `right`)."""
        return self.cluster(name) / "client.keyring"

    def data(self, name: str, daemon: str) -> Path:
        """Data folder of a daemon, named `mon.left`, `osd.0` and so on."""
        return self.cluster(name) / daemon

    def log(self, name: str, daemon: str) -> Path:
        """The daemon's own log."""
        return self.cluster(name) / "log" / f"{daemon}.log"

    def output(self, name: str, daemon: str) -> Path:
        """The daemon's output on stdout and stderr."""
        return self.cluster(name) / "log" / f"{daemon}.out"

    def socket(self, name: str, daemon: str) -> Path:
        """Admin socket of a monitor, manager or OSD (rbd-mirror names its own by pid)."""
        return self.run / f"{name}-{daemon}.asok"

    def pid_file(self, name: str, daemon: str) -> Path:
        """The daemon's process: its pid, and the proof that it is still the same process."""
        return self.run / f"{name}-{daemon}.pid"

    @property
    def mirror_work(self) -> Path:
        """Working directory of rbd-mirror."""
        return self.directory / "rbd-mirror"
