"""One iperf3 test: a server that serves one client and ends, and who reaches it from where."""

from __future__ import annotations

import re
import secrets
import shlex
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replay.base.errors import ReplayError
from replay.cluster.capabilities import LOCAL_HOSTS
from replay.measure.bench import Bench
from replay.procedures.parts.tool_run import run_observed
from replay.raw.record import Measured
from replay.tools.base import render
from replay.tools.iperf3 import LISTENING, server_argv
from replay.tools.running.background import Background
from replay.tools.running.fio_ssh import OPTIONS

LOOPBACK = "127.0.0.1"
#: On top of the test itself: connecting, also through SSH, and the exchange of results.
PATIENCE_SECONDS = 30.0
#: A port that was free may be taken a moment later, and on another host nobody knows which one is free.
MOST_PORTS = 3
_REMOTE_PORTS = (20000, 32000)
_ADDRESSES = re.compile(rb'("(?:local_host|remote_host|host)":\s*)"[^"]*"')
_HOST_NAME = re.compile(rb'("system_info":\s*"\S+ )\S+')


@dataclass(frozen=True)
class Ends:
    """The hosts of a test, by the site's names; two times this machine is a test of loopback."""

    server: str
    client: str

    @property
    def is_loopback(self) -> bool:
        """Tell whether no network is between them."""
        return self.server in LOCAL_HOSTS


def ends_of(hosts: Sequence[str]) -> Ends:
    """Return the ends between which a site's network is measured: its first two client hosts that are not this one.

    Of one such host and this machine the host is the server; without one both are this machine.
    """
    others = [host for host in hosts if host not in LOCAL_HOSTS]
    server = others[0] if others else "localhost"
    return Ends(server, others[1] if len(others) > 1 else "localhost")


def on_host(host: str, argv: Sequence[str]) -> list[str]:
    """Return the argv that runs a program on a host."""
    if host in LOCAL_HOSTS:
        return list(argv)
    options = [word for name, value in OPTIONS for word in ("-o", f"{name}={value}")]
    return ["ssh", *options, "--", host, shlex.join(argv)]


def run_network_test(bench: Bench, ends: Ends, template: Sequence[str], *, seconds: int) -> Measured:
    """Run the client's `template` against a server of its own, which is gone when this returns.

    Raises ReplayError when no server comes up. What names a host is hidden in all that is returned.
    """
    server, port = _start_server(bench, ends)
    try:
        argv = render(list(template), {"server": _address(ends.server), "port": port, "seconds": seconds})
        measured = run_observed(bench, on_host(ends.client, argv), {}, timeout_seconds=PATIENCE_SECONDS + seconds)
    finally:
        server.kill()
    measured.argv = [argument.replace("{seconds}", str(seconds)) for argument in template]
    names = [name for host in (ends.server, ends.client) if host not in LOCAL_HOSTS for name in (host, _address(host))]
    measured.results = {role: (name, hide(content, names)) for role, (name, content) in measured.results.items()}
    return measured


def hide(content: bytes, names: Sequence[str] = ()) -> bytes:
    """Return a tool's output with a placeholder for addresses and the hosts' names."""
    content = _ADDRESSES.sub(rb'\1"{host}"', _HOST_NAME.sub(rb"\1{host}", content))
    for name in sorted(names, key=len, reverse=True):
        content = content.replace(name.encode(), b"{host}")
    return content


def _start_server(bench: Bench, ends: Ends) -> tuple[Background, int]:
    bind = LOOPBACK if ends.is_loopback else None
    for left in reversed(range(MOST_PORTS)):
        port = (
            _free_port()
            if ends.is_loopback
            else _REMOTE_PORTS[0] + secrets.randbelow(_REMOTE_PORTS[1] - _REMOTE_PORTS[0])
        )
        server = Background(on_host(ends.server, render(server_argv(bind), {"port": port})), slot=bench.slot)
        try:
            server.await_that(lambda server=server: LISTENING.encode() in server.stdout(), "it listened")
        except ReplayError:
            server.kill()
            if not left:
                raise
        except BaseException:
            server.kill()
            raise
        else:
            return server, port
    raise AssertionError("the last port either listens or raises")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def _address(host: str) -> str:
    """Return what a host is reached at: SSH may know it by another name than the network does."""
    if host in LOCAL_HOSTS:
        return LOOPBACK
    return _words_of_ssh(host).get("hostname", host)


def _words_of_ssh(host: str) -> Mapping[str, str]:
    done = subprocess.run(["ssh", "-G", "--", host], capture_output=True, text=True, timeout=10, check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
