"""fio clients that start together: a server process for each, here or on other hosts, and the files they need.

Servers listen on sockets in a folder that only this user may enter. On a port, even of loopback, any local user could
hand them a job, and a job may run commands. Servers on other hosts are reached through SSH: the controller sees a
socket in the same folder for each of them.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from replay.base.errors import RefusedError, ReplayError
from replay.base.programs import Programs
from replay.cluster.cluster import Cluster, client_conf, write_client_conf
from replay.cluster.running import Background, Inherited, last_line
from replay.cluster.site import LOCAL_HOSTS
from replay.evidence.record import program_version, short_version
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

    @property
    def words(self) -> dict[str, str]:
        """What names sockets and hosts in fio's output, and the placeholder for each.

        fio prints `<host> …` at the start of a client's lines, and the socket in place of a client's address.
        """
        paths = {value.removeprefix("sock:"): f"{{{name}}}" for name, value in self.values.items()}
        return paths | {f"<{name}>": "<{host}>" for name in self.host_names}


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
        folder, site_conf, keyring = Path(name), cluster.conf.read_text(encoding="utf-8"), cluster.keyring
        clients = FioServers(folder, jobs)
        remote: list[RemoteServers] = []
        for host, numbers in spread(len(jobs), hosts).items():
            sockets = {number: clients.socket_of(number) for number in numbers}
            if host not in LOCAL_HOSTS:
                # If the site names no keyring, the host uses the one that its own Ceph finds.
                servers = RemoteServers(
                    host,
                    sockets,
                    conf=lambda there: client_conf(site_conf, cluster.client, there if keyring else None, options),
                    keyring=keyring.read_bytes() if keyring else b"",
                    slot=slot,
                )
                stack.callback(_end, servers, say)
                remote.append(servers)
                continue
            environment = {"CEPH_CONF": str(write_client_conf(folder / "ceph.conf", cluster, options))}
            for path in sockets.values():
                argv = server_argv(f"sock:{path}")
                server = Background(argv, programs=cluster.programs, slot=slot, environment=environment)
                stack.callback(server.kill)
                table = Path(f"/proc/{server.pid}/net/unix")  # of its own network, which may be a sandbox's site
                server.await_that(lambda path=path, table=table: is_listening(path, table), "its socket")
        check_versions(versions_here(cluster.programs), {servers.host: servers.await_ready() for servers in remote})
        clients.host_names += [servers.name for servers in remote]
        yield clients


def _end(servers: RemoteServers, say: Callable[[str], None]) -> None:
    if (problem := servers.end()) is not None:
        say(problem)


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


# fio servers on another host. One SSH connection starts them, reaches them and ends them.
#
# The far end of each tunnel is a socket in a folder that only the remote user may enter. On a port, even of loopback,
# any local user of that host could hand a server a job, and a job may run commands. Configuration and key are written
# to that host's memory (/dev/shm), never to its disk, and are removed with the connection, however it ends.


#: How long a host may take to clean up. Then its connection is cut, which also makes it clean up.
END_SECONDS = 10.0
READY = "ready"

#: Runs on the host, in any shell. $1: folder; $2, $3: how many bytes of configuration and of key standard input begins
#: with; then a number per server. When standard input closes, it ends and removes everything it made. The flags
#: 00010000 in /proc/net/unix say that a process accepts connections; fio would mistake a test connection for a client.
SERVE = r"""set -eu
umask 077
folder=$1 conf_bytes=$2 keyring_bytes=$3
shift 3
servers=
finish() {
    status=$?
    trap - EXIT
    for server in $servers; do kill -s KILL -- "-$server" 2>/dev/null || kill -s KILL "$server" 2>/dev/null || :; done
    rm -rf -- "$folder"
    exit "$status"
}
take() {
    dd bs=1 count="$1" of="$2" 2>/dev/null
    [ "$(wc -c <"$2")" -eq "$1" ] || { echo "the configuration was cut off" >&2; exit 1; }
}
said=$(fio --version)
echo "fio $said"
said=$(rbd --version)
echo "rbd $said"
echo "host $(uname -n)"
mkdir -- "$folder"
trap finish EXIT
trap 'exit 129' HUP INT TERM
take "$conf_bytes" "$folder/ceph.conf"
take "$keyring_bytes" "$folder/keyring"
for number in "$@"; do
    CEPH_CONF=$folder/ceph.conf setsid fio --server="sock:$folder/$number.sock" >"$folder/$number.log" 2>&1 &
    servers="$servers $!"
done
for number in "$@"; do
    looks=0
    until grep -q "^[^ ]* [^ ]* [^ ]* 00010000 .* $folder/$number[.]sock\$" /proc/net/unix; do
        looks=$((looks + 1))
        [ "$looks" -le 200 ] || { echo "fio did not listen: $(tail -n 1 "$folder/$number.log")" >&2; exit 1; }
        sleep 0.05
    done
done
echo ready
cat >/dev/null
"""

OPTIONS = (
    # Nobody can answer a question here. As usual with ssh, an unknown host is refused.
    ("BatchMode", "yes"),
    ("ConnectTimeout", "10"),
    ("ExitOnForwardFailure", "yes"),
    # If a host disappears, the connection ends; the cell need not wait for its time limit.
    ("ServerAliveInterval", "5"),
    ("ServerAliveCountMax", "3"),
    # A connection of its own: a shared one would outlive this process.
    ("ControlMaster", "no"),
    ("ControlPath", "none"),
    ("ForwardAgent", "no"),
    ("ForwardX11", "no"),
    ("RequestTTY", "no"),
    ("EscapeChar", "none"),
    ("LogLevel", "ERROR"),
)
#: The first words of every connection.
SSH = ("ssh", *(word for name, value in OPTIONS for word in ("-o", f"{name}={value}")))


@dataclass(frozen=True)
class Versions:
    """Versions that must be equal on all client hosts: fio only talks to its own version, and librbd is measured."""

    fio: str | None
    librbd: str | None


def versions_here(programs: Programs) -> Versions:
    """Return the versions that clients on this machine have; None for a program that cannot be run."""
    return Versions(program_version("fio", programs), short_version(program_version("rbd", programs)))


def check_versions(here: Versions, there: Mapping[str, Versions]) -> None:
    """Raise RefusedError naming the first host whose versions differ from this machine's."""
    for host, theirs in there.items():
        for name in ("fio", "librbd"):
            mine, its = getattr(here, name), getattr(theirs, name)
            if its is None or its != mine:
                raise RefusedError(
                    f"its {name} is {its or 'unknown'}, this machine's is {mine or 'unknown'}",
                    where=f"client host {host}",
                    next_step=f"install the same {name} on all client hosts and here",
                )


def spread(clients: int, hosts: Sequence[str]) -> dict[str, list[int]]:
    """Return each host's clients, numbered from 1. Hosts take turns, so none has two more than another."""
    return {host: numbers for n, host in enumerate(hosts) if (numbers := list(range(n + 1, clients + 1, len(hosts))))}


def ssh_argv(host: str, folder: str, sockets: Mapping[int, Path], *, conf_bytes: int, keyring_bytes: int) -> list[str]:
    """Return the argv of one host's connection: a tunnel from each socket here to its server's, and the servers."""
    argv = [*SSH]
    for number, here in sockets.items():
        argv += ["-L", f"{here}:{folder}/{number}.sock"]
    script = ["sh", "-c", SERVE, "replay", folder, str(conf_bytes), str(keyring_bytes), *map(str, sockets)]
    return [*argv, "--", host, shlex.join(script)]


def ask_versions(host: str, *, timeout_seconds: float = 20.0) -> Versions:
    """Ask a host for its versions, without changing anything there. Raises ReplayError if it does not answer."""
    question = "fio --version && rbd --version"
    where, next_step = f"client host {host}", f"try: ssh -o BatchMode=yes {host} '{question}'"
    try:
        done = subprocess.run(
            [*SSH, "--", host, question], capture_output=True, text=True, timeout=timeout_seconds, check=False
        )
    except FileNotFoundError as error:
        raise ReplayError("the program ssh is not installed", where=where) from error
    except subprocess.TimeoutExpired as error:
        raise ReplayError(f"no answer within {timeout_seconds:g} s", where=where, next_step=next_step) from error
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) < 2:
        why = last_line(done.stderr)[:200] or f"exit status {done.returncode}"
        raise ReplayError(why, where=where, next_step=next_step)
    return Versions(lines[0].strip(), short_version(lines[1]))


class RemoteServers:
    """One host's servers. `sockets` maps a client's number to the path on this machine where its tunnel begins."""

    def __init__(
        self,
        host: str,
        sockets: Mapping[int, Path],
        *,
        conf: Callable[[PurePosixPath], str],
        keyring: bytes,
        slot: Inherited | None = None,
    ) -> None:
        """Connect, and send the configuration. `conf` returns its text, given the path of the key on the host.

        Raises ReplayError if ssh is missing; `await_ready` reports everything else.
        """
        self.host = host
        self.sockets = sockets
        self.folder = f"/dev/shm/replay-fio-{os.urandom(8).hex()}"
        text = conf(PurePosixPath(self.folder) / "keyring").encode()
        argv = ssh_argv(host, self.folder, sockets, conf_bytes=len(text), keyring_bytes=len(keyring))
        self._served = False
        self._ssh = Background(argv, slot=slot)
        with contextlib.suppress(ReplayError):  # if ssh has ended already, `await_ready` reports that, with the host
            self._ssh.send(text + keyring)

    def await_ready(self) -> Versions:
        """Wait until all servers can be reached; return the host's versions.

        Raises ReplayError naming the host if it cannot be reached, or a server does not come up.
        """
        try:
            self._ssh.await_that(lambda: READY in self._lines(), "its fio servers")
            self._ssh.await_that(lambda: all(map(is_listening, self.sockets.values())), "its tunnels")
        except ReplayError as error:
            raise ReplayError(
                error.what,
                where=f"client host {self.host}",
                next_step=f"try: ssh -o BatchMode=yes {self.host} 'fio --version && rbd --version'",
            ) from error
        self._served = True
        return Versions(self._said("fio"), short_version(self._said("rbd")))

    @property
    def name(self) -> str:
        """The host's own name, which fio prints."""
        return self._said("host") or self.host

    def end(self) -> str | None:
        """End the servers and the connection. Return a warning for the person, None if nothing was left behind."""
        status = self._ssh.end(END_SECONDS)
        complaint = None if status == 0 else self._ssh.complaint()
        self._ssh.kill()
        if complaint is None or not self._served:
            return None
        return f"client host {self.host}: its connection ended badly ({complaint}); {self.folder} may still be there"

    def _lines(self) -> list[str]:
        return self._ssh.stdout().decode(errors="replace").splitlines()

    def _said(self, what: str) -> str | None:
        return next((line.removeprefix(f"{what} ") for line in self._lines() if line.startswith(f"{what} ")), None)
