"""fio clients that start together: a server process for each, here or on other hosts, and the files they need.

Servers listen on sockets in a folder that only this user may enter. On a port, even of loopback, any local user could
hand them a job, and a job may run commands. Servers on other hosts are reached through SSH (fio_ssh.py); the
controller sees a socket in the same folder for each of them.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from replay.cluster.cluster import Cluster, client_conf, write_client_conf
from replay.cluster.fio_ssh import RemoteServers, check_versions, spread, versions_here
from replay.cluster.running import Background, Inherited
from replay.cluster.site import LOCAL_HOSTS
from replay.tools.fio import server_argv


class FioServers:
    """Running servers. `values` maps `server_N` and `job_N` to their values in the controller's argv."""

    def __init__(self, folder: Path, jobs: Sequence[str]) -> None:
        self.values: dict[str, str] = {}
        #: The names that the client machines give themselves.
        self.host_names = [socket.gethostname()]
        for number, text in enumerate(jobs, start=1):
            job = folder / f"client-{number}.fio"
            job.write_text(text)
            self.values[f"job_{number}"] = str(job)
            self.values[f"server_{number}"] = f"sock:{folder / f'client-{number}.sock'}"

    def socket_of(self, number: int) -> Path:
        """Return the path at which the controller reaches a client's server."""
        return Path(self.values[f"server_{number}"].removeprefix("sock:"))

    def hide(self, content: bytes) -> bytes:
        """Return a tool's output with placeholders for sockets and host names.

        fio prints `<host> …` at the start of a client's lines, and the socket in place of a client's address.
        """
        for name, value in self.values.items():
            content = content.replace(value.removeprefix("sock:").encode(), f"{{{name}}}".encode())
        for name in self.host_names:
            content = content.replace(f"<{name}>".encode(), b"<{host}>")
        return content


@contextlib.contextmanager
def fio_servers(
    cluster: Cluster,
    options: Mapping[str, str],
    jobs: Sequence[str],
    *,
    slot: Inherited | None = None,
    hosts: Sequence[str] = ("localhost",),
    say: Callable[[str], None] = print,
) -> Iterator[FioServers]:
    """Yield clients that are ready to take their jobs. Afterwards end and reap them, and remove their files.

    `options` are the clients' Ceph options; `jobs` has the text of each client's job file. The `hosts` take jobs in
    turns. `say` is called for a host that could not be cleaned up. Raises ReplayError if a server does not come up, and
    RefusedError if a host's fio or librbd has another version than this machine's.
    """
    with tempfile.TemporaryDirectory(prefix="replay-fio-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        clients = FioServers(folder, jobs)
        remote = []
        for host, numbers in spread(len(jobs), hosts).items():
            sockets = {number: clients.socket_of(number) for number in numbers}
            if host in LOCAL_HOSTS:
                _start_here(stack, folder, cluster, options, sockets, slot)
            else:
                remote.append(_connect(stack, host, cluster, options, sockets, slot, say))
        check_versions(
            versions_here(cluster.programs), {servers.host: servers.await_ready(is_listening) for servers in remote}
        )
        clients.host_names += [servers.name for servers in remote]
        yield clients


def _start_here(
    stack: contextlib.ExitStack,
    folder: Path,
    cluster: Cluster,
    options: Mapping[str, str],
    sockets: Mapping[int, Path],
    slot: Inherited | None,
) -> None:
    conf = write_client_conf(folder / "ceph.conf", cluster, options)
    for path in sockets.values():
        environment = {"CEPH_CONF": str(conf)}
        server = Background(server_argv(f"sock:{path}"), programs=cluster.programs, slot=slot, environment=environment)
        stack.callback(server.kill)
        table = Path(f"/proc/{server.pid}/net/unix")  # of its own network, which may be a sandbox's site
        server.await_that(lambda path=path, table=table: is_listening(path, table), "its socket")


def _connect(
    stack: contextlib.ExitStack,
    host: str,
    cluster: Cluster,
    options: Mapping[str, str],
    sockets: Mapping[int, Path],
    slot: Inherited | None,
    say: Callable[[str], None],
) -> RemoteServers:
    site_conf, keyring = cluster.conf.read_text(encoding="utf-8"), cluster.keyring
    servers = RemoteServers(
        host,
        sockets,
        # If the site names no keyring, the host uses the one that its own Ceph finds.
        conf=lambda there: client_conf(site_conf, cluster.client, there if keyring else None, options),
        keyring=keyring.read_bytes() if keyring else b"",
        slot=slot,
    )

    def end() -> None:
        if (problem := servers.end()) is not None:
            say(problem)

    stack.callback(end)
    return servers


def is_listening(path: Path, table: Path = Path("/proc/net/unix")) -> bool:
    """Return whether a process accepts connections on a socket. Connecting would look like a client to fio."""
    accepting = 0x10000
    try:
        lines = table.read_text(errors="replace").splitlines()[1:]
    except OSError:
        return False  # the process whose table it is has ended
    for line in lines:
        words = line.split(maxsplit=7)
        if len(words) == 8 and words[7] == os.fspath(path) and int(words[3], 16) & accepting:
            return True
    return False
