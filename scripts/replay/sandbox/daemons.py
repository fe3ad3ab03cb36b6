"""The daemons of a sandbox: how each is started, when it is ready, which are absent, why one ended; and mirroring."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, EvidenceError, ReplayError
from replay.base.paths import replay_command
from replay.cluster import sandbox_record
from replay.cluster.cluster import AdminSocketError, ask
from replay.cluster.sandbox_record import (
    Daemon,
    Layout,
    MirrorProcess,
    Sandbox,
    SandboxCluster,
    SandboxError,
    default_directory,
)
from replay.cluster.site import Site
from replay.sandbox import conf, processes
from replay.sandbox.tools import Interrupt, rbd

#: Only this many of the last lines are searched for a cause: older ones are from an earlier start.
_RECENT_LINES = 40
_NO_MORE_AIO = "io_setup(2) failed with EAGAIN"


def last_words(paths: Sequence[Path]) -> str:
    """Return the last line of the first of these files that has one."""
    for path in paths:
        if lines := _recent_lines(path):
            return lines[-1]
    return "it printed no message"


def explain(paths: Sequence[Path]) -> tuple[str, str] | None:
    """Return what happened and what to do next if the files name a known cause, or None."""
    if not any(_NO_MORE_AIO in line for path in paths for line in _recent_lines(path)):
        return None
    return (
        "the kernel has no asynchronous I/O left for this OSD: all processes on this machine share its limit "
        "fs.aio-max-nr",
        "raise the limit: sudo sysctl fs.aio-max-nr=$((16 * $(cat /proc/sys/fs/aio-max-nr))), or stop sandboxes that "
        f"you do not need: {replay_command('sandbox', 'down')}",
    )


def _recent_lines(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_RECENT_LINES:]
    return []


@dataclass(frozen=True)
class Role:
    """A daemon that a cluster should run."""

    cluster: str
    type: str
    id: str
    #: The site of a stretch cluster's daemon; another cluster has a site of its own, of the same name.
    stretch_site: str = ""

    @property
    def name(self) -> str:
        """Ceph's name, for example `osd.0`."""
        return f"{self.type}.{self.id}"

    @property
    def site(self) -> str:
        """The site in whose network it runs."""
        return self.stretch_site or self.cluster


MIRROR = Role("right", "rbd-mirror", "right")


def roles(cluster: SandboxCluster) -> list[Role]:
    """Return the daemons of a cluster in the order in which they start."""
    if cluster.sites:
        return [Role(cluster.name, *name.split(".", 1), site) for name, site in cluster.sites.items()]
    return [
        Role(cluster.name, "mon", cluster.name),
        Role(cluster.name, "mgr", cluster.name),
        *(Role(cluster.name, "osd", str(osd)) for osd in cluster.osd_ids),
    ]


def all_roles(sandbox: Sandbox) -> list[Role]:
    """Return every daemon of the sandbox, rbd-mirror last."""
    wanted = [role for cluster in sandbox.clusters.values() for role in roles(cluster)]
    return [*wanted, MIRROR] if "right" in sandbox.clusters else wanted


def running(layout: Layout, role: Role) -> processes.Process | None:
    return _alive(layout.pid_file(role.cluster, role.name))


def running_link(layout: Layout) -> processes.Process | None:
    return _alive(layout.link_file("pid"))


def lost_its_line(sandbox: Sandbox) -> bool:
    """Return whether the line between the sites should run, and does not."""
    return sandbox.link is not None and running_link(sandbox.layout) is None


def _alive(pid_file: Path) -> processes.Process | None:
    process = processes.read_pid_file(pid_file)
    return process if processes.is_alive(process) else None


def start(layout: Layout, role: Role) -> processes.Process:
    """Start a daemon unless it is already running, write its pid file and return its process."""
    if process := running(layout, role):
        return process
    layout.socket(role.cluster, role.name).unlink(missing_ok=True)
    for old in layout.run.glob("*client.rbd-mirror*.asok") if role == MIRROR else ():
        old.unlink(missing_ok=True)
    program = role.type if role == MIRROR else f"ceph-{role.type}"
    name = ["--name", conf.MIRROR_CLIENT] if role == MIRROR else ["--id", role.id]
    argv = [program, "-f", "--cluster", role.cluster, *name, "--conf", str(layout.conf(role.cluster))]
    process = processes.start(
        layout.programs_at(role.site).command(argv),
        program=program,
        output=layout.output(role.cluster, role.name),
        cwd=layout.cluster(role.cluster),
        # rbd-mirror looks up `left.conf` and `right.conf` for a pool's connections. Naming the folder keeps it from
        # using files of these names in /etc/ceph or in the user's home.
        environment={"CEPH_CONF": f"{layout.mirror_work}/$cluster.conf"} if role == MIRROR else None,
    )
    process.save(layout.pid_file(role.cluster, role.name))
    return process


def _answer(socket: Path, command: str) -> Any:
    """Query a daemon on its admin socket; None if it does not answer (yet)."""
    try:
        return ask(socket, command, timeout_seconds=3.0)
    except AdminSocketError:
        return None


def is_ready(layout: Layout, role: Role) -> bool:
    """Return whether a daemon works: the monitor is in quorum, the OSD active, manager and rbd-mirror answer."""
    if role == MIRROR:
        return mirror_is_connected(layout)
    socket = layout.socket(role.cluster, role.name)
    if role.type == "mon":
        return (_answer(socket, "mon_status") or {}).get("state") in ("leader", "peon")
    if role.type == "osd":
        return (_answer(socket, "status") or {}).get("state") == "active"
    return _answer(socket, "version") is not None


def await_ready(layout: Layout, role: Role, interrupt: Interrupt, timeout_seconds: float = 120.0) -> None:
    """Wait until a daemon works; SandboxError with the end of its log if it dies or takes too long."""
    log = layout.log(role.cluster, role.name)

    def ready() -> bool:
        if is_ready(layout, role):
            return True
        if running(layout, role) is None:
            down = sandbox_record.sandbox_command("down", layout.directory)
            what, next_step = f"{role.name} of {role.cluster} ended", f"read this log; {down} removes the sandbox"
            raise ended(layout, role, what, log, next_step)
        return False

    interrupt.wait_until(
        ready,
        what=f"{role.name} of {role.cluster} to be ready",
        where=log,
        timeout_seconds=timeout_seconds,
    )


@contextlib.contextmanager
def hurried(layout: Layout, monitor: Role) -> Iterator[None]:
    """While starting, let the monitor publish each change of its maps at once instead of once a second.

    A start makes a dozen consecutive changes. This is set only on the running daemon, and reset to Ceph's default
    afterwards, so that it never affects a measurement.
    """
    socket, option = layout.socket(monitor.cluster, monitor.name), "paxos_propose_interval"
    ask(socket, {"prefix": "config set", "var": option, "val": ["0.05"]})
    try:
        yield
    finally:
        with contextlib.suppress(AdminSocketError):
            ask(socket, {"prefix": "config unset", "var": option})


def ended(layout: Layout, role: Role, what: str, where: Path, next_step: str) -> SandboxError:
    """Return the error of a daemon that ended, with why, as its output and its log say; `next_step` if they do not."""
    files = layout.output(role.cluster, role.name), layout.log(role.cluster, role.name)
    why, next_step = explain(files) or (last_words(files), next_step)
    return SandboxError(f"{what}: {why}", where=where, next_step=next_step)


def mirror_daemon(layout: Layout) -> MirrorProcess | None:
    """Return the running rbd-mirror with the socket that knows its status, or None."""
    process = running(layout, MIRROR)
    if process is None:
        return None
    # Its own socket, and one for each connection of a pool.
    sockets = sorted(layout.run.glob(f"*client.rbd-mirror*.{process.pid}.*.asok"))
    status_socket = next((path for path in sockets if _mirror_status(path) is not None), None)
    return MirrorProcess(process.pid, str(status_socket), list(map(str, sockets))) if status_socket else None


def _mirror_status(path: Path) -> dict[str, Any] | None:
    status = _answer(path, "rbd mirror status")
    return status if isinstance(status, dict) and "pool_replayers" in status else None


def mirror_is_connected(layout: Layout) -> bool:
    """Return whether rbd-mirror reports that it replays every mirrored pool from its peer.

    It replays nothing until it leads: after a crash it first waits for its predecessor's lock to expire.
    """
    daemon = mirror_daemon(layout)
    status = _mirror_status(Path(daemon.asok)) if daemon else None
    replayers = (status or {}).get("pool_replayers", [])
    return bool(replayers) and all(
        each.get("state") == "running" and each.get("peer") and each.get("leader") for each in replayers
    )


def connect_mirroring(layout: Layout) -> None:
    """Make `left` the peer from which `right` replays.

    Mirroring is enabled per image; the peer is one-way (rx-only): `right` receives, `left` runs no daemon.
    """
    for name in ("left", "right"):
        rbd(layout, name, "mirror", "pool", "enable", conf.POOL, "image", "--site-name", name)
    token = rbd(layout, "left", "mirror", "pool", "peer", "bootstrap", "create", conf.POOL).strip()
    token_file = layout.cluster("right") / "bootstrap-token"
    token_file.touch(mode=0o600)
    try:
        token_file.write_text(token + "\n", encoding="utf-8")
        given = ["--direction", "rx-only", conf.POOL, str(token_file)]
        rbd(layout, "right", "mirror", "pool", "peer", "bootstrap", "import", *given)
    finally:
        token_file.unlink()


def start_mirroring(layout: Layout, interrupt: Interrupt) -> None:
    """Start rbd-mirror, and wait until it is connected. Raises SandboxError if it does not replay.

    For each cluster the daemon reads `NAME.conf` in its working directory: `right.conf` is that of the local cluster,
    `left.conf` contains only the paths of the log and the socket of that connection.
    """
    work = layout.mirror_work
    work.mkdir(exist_ok=True)
    link = work / "right.conf"
    link.unlink(missing_ok=True)
    link.symlink_to(layout.conf("right"))
    (work / "left.conf").write_text(conf.render_peer(layout), encoding="utf-8")
    start(layout, MIRROR)
    # After a crash it waits until the lock of the one before it has expired.
    await_ready(layout, MIRROR, interrupt, timeout_seconds=180.0)


def record(sandbox: Sandbox) -> None:
    """Update the pids and sockets in `sandbox` to the running daemons."""
    layout = sandbox.layout
    for cluster in sandbox.clusters.values():
        by_role = [(role, running(layout, role)) for role in roles(cluster)]
        cluster.daemons = [
            Daemon(role.type, role.id, process.pid, str(layout.socket(role.cluster, role.name)))
            for role, process in by_role
            if process
        ]
    sandbox.mirror = mirror_daemon(layout)


def absent_daemons(site: Site, *, clusters: tuple[str, ...] = ("left", "right")) -> list[str]:
    """Return a phrase for each daemon that does not run or is stopped; none for a site that is no sandbox.

    Only looks at processes: it answers at once even if no daemon does.
    """
    if site.sandbox is None:
        return []
    try:
        sandbox = sandbox_record.load(default_directory(site.sandbox))
    except sandbox_record.SandboxError:
        return []  # it was removed meanwhile, which the error that brought us here says better
    phrases = []
    if lost_its_line(sandbox):
        phrases.append("the line between the sites does not run")
    for role in all_roles(sandbox):
        if role.cluster not in clusters:
            continue
        process = running(sandbox.layout, role)
        if process is None:
            phrases.append(f"{role.name} of {role.cluster} does not run")
        elif processes.is_frozen(process):
            phrases.append(f"{role.name} of {role.cluster} is stopped")
    return phrases


def up_command(site: Site) -> str:
    """Return the command that starts what does not run of a site's sandbox."""
    return sandbox_record.sandbox_command("up", default_directory(site.sandbox or "default"))


@contextlib.contextmanager
def naming_absent_daemons(site: Site) -> Iterator[None]:
    """Let every ReplayError that leaves name the daemons that do not run, as its cause, and how to start them.

    Errors about files are left as they are: no daemon has anything to do with them.
    """
    try:
        yield
    except (ConfigurationError, EvidenceError):
        raise
    except ReplayError as error:
        if absent := absent_daemons(site):
            error.because = ", ".join(absent)
            error.next_step = f"run {up_command(site)}, then this again; finished sets are kept"
        raise
