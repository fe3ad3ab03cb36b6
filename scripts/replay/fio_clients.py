"""fio clients on this machine that start together: a server process for each, and what they must find on disk.

Servers listen on sockets in a folder that only this user may enter. On a port, even of loopback, any local user could
hand them a job, and a job may run commands.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from replay.adapters.fio import server_argv
from replay.background import Background
from replay.ceph.cluster import Cluster
from replay.client_conf import write_client_conf
from replay.process import SlotLock


class FioClients:
    """Running servers. `values` maps `server_N` and `job_N` to what stands for them in the controller's argv."""

    def __init__(self, folder: Path, jobs: Sequence[str]) -> None:
        self.values: dict[str, str] = {}
        for number, text in enumerate(jobs, start=1):
            job = folder / f"client-{number}.fio"
            job.write_text(text)
            self.values[f"job_{number}"] = str(job)
            self.values[f"server_{number}"] = f"sock:{folder / f'client-{number}.sock'}"

    def servers(self) -> list[tuple[str, Path]]:
        """Return what each server listens on, as fio writes it, and the path of its socket."""
        words = [value for name, value in self.values.items() if name.startswith("server_")]
        return [(word, Path(word.removeprefix("sock:"))) for word in words]

    def hide(self, content: bytes) -> bytes:
        """Return a tool's output with placeholders for what names this machine: sockets, and the host's name.

        fio says `<host> …` at the start of a client's lines, and the socket in the place of a client's address.
        """
        for name, value in self.values.items():
            content = content.replace(value.removeprefix("sock:").encode(), f"{{{name}}}".encode())
        return content.replace(f"<{socket.gethostname()}>".encode(), b"<{host}>")


@contextlib.contextmanager
def fio_clients(
    cluster: Cluster, options: Mapping[str, str], jobs: Sequence[str], *, slot: SlotLock | None = None
) -> Iterator[FioClients]:
    """Yield clients that are ready to take their jobs; end and reap them, and remove their files.

    `options` are the clients' Ceph options; `jobs` the text of each client's job file. Raises ReplayError when a server
    does not come up.
    """
    with tempfile.TemporaryDirectory(prefix="replay-fio-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        conf = write_client_conf(folder / "ceph.conf", cluster, options)
        clients = FioClients(folder, jobs)
        for word, path in clients.servers():
            server = Background(server_argv(word), slot=slot, environment={"CEPH_CONF": str(conf)})
            stack.callback(server.kill)
            server.await_that(lambda path=path: is_listening(path), "its socket")
        yield clients


def is_listening(path: Path, table: Path = Path("/proc/net/unix")) -> bool:
    """Tell whether a process accepts connections on a socket, without making one: fio would take it for a client."""
    accepting = 0x10000
    for line in table.read_text(errors="replace").splitlines()[1:]:
        words = line.split(maxsplit=7)
        if len(words) == 8 and words[7] == os.fspath(path) and int(words[3], 16) & accepting:
            return True
    return False
