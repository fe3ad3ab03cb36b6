"""What the disk under the OSDs and the network can do without Ceph: the upper bounds of other experiments.

The disk is measured through a file of Replay's own on the file system that holds a sandbox's OSDs. The network is
measured on loopback, or between a site's client hosts: by a server that serves one client and exits, and that client.
SSH starts either on another host.
"""

from __future__ import annotations

import math
import secrets
import shlex
import socket
import subprocess
from collections.abc import Sequence
from typing import Any

from replay.base.errors import ReplayError
from replay.cluster.fio_clients import SSH
from replay.cluster.running import Background
from replay.cluster.site import LOCAL_HOSTS, Site
from replay.design.design import Cell
from replay.design.needs import WHOLE, Factor, Needs, Option
from replay.design.sizing import Write
from replay.evidence.record import Measured
from replay.measure.bench import Bench
from replay.measure.protocol import Driver, Protocol, WhileRunning
from replay.protocols.drivers.fio import FioProcess
from replay.protocols.drivers.tool import (
    ENGINE,
    FIO_FILE_OPTION,
    FIO_TYPES,
    IO_SIZE,
    ByLevel,
    hidden,
    run_observed,
)
from replay.protocols.targets.images import OsdFile
from replay.tools import iperf3
from replay.tools.base import NetworkTool, render
from replay.tools.by_level import MEDIA, NETWORK

LOOPBACK = "127.0.0.1"
#: Time on top of the test: for connecting, perhaps through SSH, and exchanging results.
PATIENCE_SECONDS = 30.0
#: Several ports are tried: a free one may be taken a moment later, and another host's free ports are unknown.
MOST_PORTS = 3
_REMOTE_PORTS = range(20000, 32000)


def ends_of(hosts: Sequence[str]) -> tuple[str, str]:
    """Return the server and the client of a site's network test: its first two client hosts other than this machine.

    If there is only one such host, this machine is the client. Without any, it is both, and the test uses loopback.
    """
    server, client, *_ = [*(host for host in hosts if host not in LOCAL_HOSTS), "localhost", "localhost"]
    return server, client


def on_host(host: str, argv: Sequence[str]) -> list[str]:
    """Return the argv that runs a program on a host."""
    return list(argv) if host in LOCAL_HOSTS else [*SSH, "--", host, shlex.join(argv)]


class TwoEnds(Driver):
    """Runs a `NetworkTool` between a site's first two client hosts, or on loopback if it has none."""

    def __init__(self, tool: NetworkTool) -> None:
        self.tool = tool

    def lacking(self, site: Site) -> dict[str, str]:
        """Return why a site's network is not measured."""
        if site.sandbox:
            return {}
        if site.ceilings.rate_bytes_per_second is not None:
            why = "the site limits the rate of its clients, and a baseline takes all the bandwidth that there is"
            return {"client_hosts": why}
        if set(site.client_hosts) <= LOCAL_HOSTS:
            return {"client_hosts": "it names no other host, so there is no network to measure"}
        return {}

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return an empty list: a network test stores nothing."""
        return []

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Start a server, run the client against it, and end the server. The seed is not used.

        Raises ReplayError if no server starts to listen. Placeholders replace host names in the results.
        """
        server_host, client_host = ends_of(self.bench.site.client_hosts)
        seconds = math.ceil(self.design.sizing.target_seconds)  # the tool takes whole seconds only
        template = self.tool.argv_template(cell.levels, self.protocol.job_options(cell))
        # The server starts first, and may take as long as the client's patience.
        most_seconds = math.ceil(seconds + 2 * PATIENCE_SECONDS)
        server, port = _start_server(self.bench, self.tool, server_host, most_seconds)
        try:
            argv = render(list(template), {"server": _address(server_host), "port": port, "seconds": seconds})
            measured = run_observed(
                self.bench,
                on_host(client_host, argv),
                {},
                timeout_seconds=PATIENCE_SECONDS + seconds,
                while_running=while_running,
            )
        finally:
            server.kill()
        measured.argv = [argument.replace("{seconds}", str(seconds)) for argument in template]
        measured.facts["network"] = "loopback" if server_host in LOCAL_HOSTS else "between two client hosts"
        measured.results = {role: (name, self.tool.hide(printed)) for role, (name, printed) in measured.results.items()}
        others = [host for host in (server_host, client_host) if host not in LOCAL_HOSTS]
        words = [word for host in others for word in (host, _address(host))]
        return hidden(measured, dict.fromkeys(sorted(words, key=len, reverse=True), "{host}"))


def _start_server(bench: Bench, tool: NetworkTool, host: str, most_seconds: int) -> tuple[Background, int]:
    bind = LOOPBACK if host in LOCAL_HOSTS else None
    for left in reversed(range(MOST_PORTS)):
        port = _free_port() if host in LOCAL_HOSTS else secrets.choice(_REMOTE_PORTS)
        argv = on_host(host, render(tool.server_argv(bind), {"port": port, "most_seconds": most_seconds}))
        server = Background(argv, programs=bench.programs, slot=bench.slot)
        try:
            server.await_that(lambda server=server: tool.listening.encode() in server.stdout(), "it listened")
            return server, port
        except BaseException as error:
            server.kill()
            if not left or not isinstance(error, ReplayError):
                raise
    raise AssertionError("the last port either listens or raises")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def _address(host: str) -> str:
    """Return a host's address: the name may be known only to SSH's configuration."""
    if host in LOCAL_HOSTS:
        return LOOPBACK
    done = subprocess.run(["ssh", "-G", "--", host], capture_output=True, text=True, timeout=10, check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line).get("hostname", host)


class ByResource(ByLevel):
    """One driver for each resource."""

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what the network lacks; the target reports what the disk lacks."""
        return self.drivers[NETWORK].lacking(site)

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Run the tool of the cell's resource."""
        measured = super().run(cell, seed, while_running=while_running)
        if cell.levels["resource"] == MEDIA:
            measured.facts["file_size_bytes"] = self.protocol.option("file_size_bytes")
        return measured


class BaselineProtocol(Protocol):
    """Runs fio on a file of the OSDs' file system (`resource` media), or iperf3 (`resource` network)."""

    needs = Needs(
        tools=("baseline",),
        factors=(
            Factor("resource", "what is measured", words=(MEDIA, NETWORK), required=True),
            Factor("io_type", "what operations do, as fio names it; only media have one", words=FIO_TYPES),
            IO_SIZE,
            Factor("io_depth", "operations in flight; of the network, parallel streams", required=True),
        ),
        options=(
            ENGINE,
            FIO_FILE_OPTION,
            Option("most_bytes", WHOLE, "bytes", "the most that a cell may move"),
        ),
        programs=("fio", "iperf3", "timeout"),
        programs_elsewhere=("ssh",),
    )
    target = OsdFile()
    driver = ByResource("resource", {MEDIA: FioProcess(), NETWORK: TwoEnds(iperf3.TOOL)})
    #: iperf3 says why it failed on stdout only.
    read_after = ("failed",)

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return the tool's options, without a ramp: these tools need none."""
        return {**self.design.options, "ramp_seconds": 0}

    def check(self) -> None:
        for cell in (cell for cell_set in self.design.sets for cell in cell_set.cells):
            if (cell.levels["resource"] == MEDIA) != ("io_type" in cell.levels):
                self.refuse(f"{cell.variant.name}: only media have an io_type")


PROTOCOL = BaselineProtocol
