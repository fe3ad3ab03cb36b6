"""Where a sandbox keeps its files, and `sandbox.json`: its parts, for other code. Reading it never contacts a daemon.

One class knows every path; no other code builds one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.paths import replay_command, working_directory
from replay.base.programs import HOST, Programs, parse_release
from replay.cluster.sandbox_options import SandboxOptions

SCHEMA_VERSION = 1
LOOPBACK = "127.0.0.1"
STATE_FILE = "sandbox.json"
# A Unix socket's path has at most 107 bytes. The longest name in the folder of sockets is rbd-mirror's:
# `right-client.rbd-mirror.right.PID.ADDRESS.asok`, with a PID of 7 and an address of 15 digits, and for the remote
# cluster `left-client.rbd-mirror-peer.PID.ADDRESS.asok`.
_LONGEST_SOCKET_PATH = 107
_LONGEST_SOCKET_NAME = 62
_SCRATCH_PARENT, _SCRATCH_PREFIX = Path("/tmp"), "replay-run-"


class SandboxError(ReplayError):
    """The sandbox cannot be started, stopped or read; the error says what to do."""


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


def sandbox_command(verb: str, directory: Path | str) -> str:
    """Return the command line of `replay sandbox VERB` for the sandbox in a folder."""
    folder, where = Path(directory).absolute(), ["--directory", str(directory)]
    with contextlib.suppress(ConfigurationError):  # outside a project, only its folder tells it from others
        if folder == default_directory():
            where = []
        elif folder.parent == working_directory() / "sandbox":
            where = ["--name", folder.name]
    return replay_command("sandbox", verb, *where)


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

    `release` is the number of the release that it runs, or `host`. `link` is the line between its sites.
    """

    directory: Path
    run: Path
    release: str = HOST
    link: Link | None = None

    @property
    def programs(self) -> Programs:
        """The programs that this sandbox runs. Raises ReplayError if its release no longer exists."""
        return Programs.of(parse_release(self.release))

    def programs_at(self, site: str) -> Programs:
        """Return these programs as they run in the network of the site `left` or `right`."""
        return self.programs if self.link is None else self.programs.inside(self.link.entry(site))

    def address(self, site: str) -> str:
        return LOOPBACK if self.link is None else self.link.addresses[site]

    def cluster(self, name: str) -> Path:
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

    def link_file(self, ending: str) -> Path:
        """A file of the line between the sites: `json` and `log` are kept, `pid` and `sock` go with its process."""
        return (self.run if ending in ("pid", "sock") else self.directory) / f"link.{ending}"

    @property
    def mirror_work(self) -> Path:
        return self.directory / "rbd-mirror"


@dataclass
class Daemon:
    """One process: `type` is mon, mgr, osd or rbd-mirror; `asok` its admin socket."""

    type: str
    id: str
    pid: int
    asok: str

    @property
    def name(self) -> str:
        """Ceph's name of the daemon, for example `osd.0`."""
        return f"{self.type}.{self.id}"


@dataclass
class SandboxCluster:
    """One cluster of the sandbox: how to reach it, and what it runs."""

    name: str
    fsid: str
    conf: str
    keyring: str
    monitor_port: int
    osd_uuids: list[str]
    client: str = "client.admin"
    run_dir: str = ""
    daemons: list[Daemon] = field(default_factory=list)
    #: Of a stretch cluster: the site of each daemon, in the order in which they start, and each monitor's port.
    sites: dict[str, str] = field(default_factory=dict)
    monitor_ports: dict[str, int] = field(default_factory=dict)

    @property
    def osd_ids(self) -> list[int]:
        return list(range(len(self.osd_uuids)))

    @property
    def pids(self) -> list[int]:
        """Pids of all daemons of this cluster, as of the last `up`."""
        return [daemon.pid for daemon in self.daemons]


@dataclass
class Link:
    """The line between the sites: the process that keeps it, and what was asked of it and measured.

    `way` says what carries the packets: `netem` (the kernel) or `tun` (the process). `namespaces` has each site's
    network namespace as a path; `user_namespace` is the one around them if they are an ordinary user's. Measured values
    are None until the line has been measured, and `measured_at` says when that was (UTC).
    """

    pid: int
    way: str
    control: str
    namespaces: dict[str, str]
    addresses: dict[str, str]
    rtt_seconds: float
    rate_bytes_per_second: float | None
    user_namespace: str | None = None
    measured_rtt_seconds: float | None = None
    measured_rate_bytes_per_second: float | None = None
    measured_at: str | None = None

    def entry(self, site: str) -> tuple[str, ...]:
        """Return the words that lead a program into the network of a site. It keeps its pid and its files."""
        user = (f"--user={self.user_namespace}", "--preserve-credentials") if self.user_namespace else ()
        return ("nsenter", *user, f"--net={self.namespaces[site]}", "--")


@dataclass
class MirrorProcess:
    """rbd-mirror on `right`. `asok` answers `rbd mirror status` and `perf dump`; `asoks` are all its sockets."""

    pid: int
    asok: str
    asoks: list[str]
    cluster: str = "right"
    peer: str = "left"


@dataclass
class Sandbox:
    """Everything that other code may know about a sandbox.

    `phase` is `creating` until the first `up` has succeeded, then `created`. Pids are those of the last `up`.
    """

    directory: str
    run_dir: str
    ceph_version: str
    options: SandboxOptions
    clusters: dict[str, SandboxCluster]
    mirror: MirrorProcess | None = None
    phase: str = "creating"
    link: Link | None = None

    @property
    def layout(self) -> Layout:
        return Layout(Path(self.directory), Path(self.run_dir), self.options.release, self.link)

    @property
    def fsids(self) -> list[str]:
        return [cluster.fsid for cluster in self.clusters.values()]

    def to_json(self) -> dict[str, Any]:
        """Return the content of the state file."""
        document = {"schema_version": SCHEMA_VERSION, "started_by_replay": True, "fsids": self.fsids, **asdict(self)}
        for name, cluster in self.clusters.items():
            document["clusters"][name] |= {"osd_ids": cluster.osd_ids, "pids": cluster.pids}
        return document

    def save(self) -> None:
        """Write the state file: whole or not at all, readable by its owner only."""
        path = Path(self.directory) / STATE_FILE
        scratch = path.with_suffix(".tmp")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps(self.to_json(), indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)


class IncompatibleStateError(SandboxError):
    """The directory was made by another version of this code, or its state file is damaged."""


def exists(directory: Path) -> bool:
    return (directory / STATE_FILE).exists()


def load(directory: Path | str | None = None) -> Sandbox:
    """Return the sandbox in `directory` (default: the default one).

    Raises SandboxError if there is none, IncompatibleStateError if its state file cannot be understood.
    """
    folder = Path(directory).absolute() if directory is not None else default_directory()
    path = folder / STATE_FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SandboxError(
            "there is no sandbox here", where=folder, next_step=f"run {sandbox_command('up', folder)}"
        ) from None
    except (OSError, ValueError) as error:
        raise IncompatibleStateError(f"unreadable: {error}", where=path, next_step=_start_again(folder)) from error
    return _parse(document, path)


def _start_again(folder: Path) -> str:
    return f"run {sandbox_command('down', folder)}, then {sandbox_command('up', folder)}"


def _parse(document: Any, path: Path) -> Sandbox:
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        raise IncompatibleStateError(
            "another version of Replay created this sandbox", where=path, next_step=_start_again(path.parent)
        )
    try:
        clusters = {}
        for name, entry in document["clusters"].items():
            known = {key: value for key, value in entry.items() if key not in ("osd_ids", "pids")}
            clusters[name] = SandboxCluster(**{**known, "daemons": [Daemon(**daemon) for daemon in known["daemons"]]})
        mirror = MirrorProcess(**document["mirror"]) if document["mirror"] else None
        return Sandbox(
            directory=document["directory"],
            run_dir=document["run_dir"],
            ceph_version=document["ceph_version"],
            options=SandboxOptions(**document["options"]),
            clusters=clusters,
            mirror=mirror,
            phase=document["phase"],
            link=Link(**document["link"]) if document.get("link") else None,
        )
    except (KeyError, TypeError, AttributeError, ConfigurationError) as error:
        raise IncompatibleStateError(f"damaged: {error!r}", where=path, next_step=_start_again(path.parent)) from error


def owns_fsid(fsid: str) -> bool:
    """Return whether Replay itself started the cluster with this fsid: elsewhere, some operations are refused."""
    return owner_of(fsid) is not None


def owner_of(fsid: str) -> Sandbox | None:
    """Return the sandbox that the cluster with this fsid belongs to; None if Replay did not start it."""
    return next((sandbox for sandbox in all_sandboxes() if fsid in sandbox.fsids), None)


def all_sandboxes() -> Iterator[Sandbox]:
    """Yield every sandbox of this project, and that in `REPLAY_SANDBOX_DIR`, as far as their records can be read."""
    for folder in dict.fromkeys([default_directory(), *sorted((working_directory() / "sandbox").glob("*/"))]):
        with contextlib.suppress(SandboxError):
            yield load(folder)
