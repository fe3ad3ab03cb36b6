"""The line between the two sites of a sandbox: starts it, measures it, changes it, and says what it is.

`link_program.py` makes the line and each site's network namespace. What is asked of it and what is measured on it are
two things, and both are recorded: a line that is not what was asked for is refused.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from replay.base.clock import poll, utc_now
from replay.base.programs import Programs
from replay.cluster import sandbox_record
from replay.cluster.cluster import monitor_addresses
from replay.cluster.running import Background
from replay.cluster.sandbox_options import SandboxOptions, show_rate
from replay.cluster.sandbox_record import Layout, Link, Sandbox, SandboxError, default_directory, sandbox_command
from replay.cluster.site import Site, Stop
from replay.sandbox import daemons, link_program, processes
from replay.sandbox.tools import Interrupt, Say, run

PROGRAM = Path(link_program.__file__)
ECHOES = 200
#: So many are enough to find out what carrying a packet takes on this machine.
FIRST_ECHOES = 20
#: A line counts as what was asked for if its round trip is that far from it at most.
TOLERANCE_FRACTION, TOLERANCE_SECONDS = 0.05, 0.0003
#: A busy machine may disturb a measurement; a line that is wrong stays wrong.
MOST_MEASUREMENTS = 3
#: One stream is limited by its window where the round trip is long.
STREAMS, STREAM_SECONDS, RAMP_SECONDS = 4, 3, 2
_ECHO_PORT, _STREAM_PORT = 5200, 5201


def start(layout: Layout, options: SandboxOptions, interrupt: Interrupt) -> Link:
    """Start the line that the options ask for, unless it is running, and return it, not measured yet.

    Raises SandboxError with the program's last words if it cannot be made.
    """
    control, log, conf = (layout.link_file(ending) for ending in ("sock", "log", "json"))
    settings = {"control": str(control), "rtt_seconds": options.link_rtt_seconds}
    conf.write_text(json.dumps(settings | {"rate_bytes_per_second": options.link_rate_bytes_per_second}) + "\n")
    process = daemons.running_link(layout)
    if process is None:
        argv = [sys.executable, "-I", str(PROGRAM), "--conf", str(conf)]
        process = processes.start(argv, output=log, cwd=layout.directory)
        process.save(layout.link_file("pid"))

    def state() -> dict[str, Any] | None:
        with contextlib.suppress(OSError):
            return ask(control)
        if daemons.running_link(layout) is None:
            raise SandboxError(
                f"the line between the sites ended: {daemons.last_words([log])}",
                where=log,
                next_step="run this as root, or allow ordinary users namespaces of their own and open /dev/net/tun "
                "to them",
            )
        return None

    ready = poll(
        state,
        what="the line between the sites",
        seconds=30.0,
        every=0.02,
        where=log,
        next_step="read this log, then run this again",
        pause=interrupt.pause,
    )
    namespaces = {site: f"/proc/{process.pid}/fd/{number}" for site, number in ready["namespaces"].items()}
    return Link(
        pid=process.pid,
        way=ready["way"],
        control=str(control),
        namespaces=namespaces,
        addresses=dict(link_program.ADDRESSES),
        rtt_seconds=ready["rtt_seconds"],
        rate_bytes_per_second=ready["rate_bytes_per_second"],
        user_namespace=None if ready["is_root"] else f"/proc/{process.pid}/ns/user",
    )


def ask(control: Path | str, **wanted: float | None) -> dict[str, Any]:
    """Return the line's state, after changing what is `wanted`. Raises OSError if its process does not answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(10.0)
        connection.connect(str(control))
        connection.sendall(json.dumps(wanted).encode() + b"\n")
        answer = connection.makefile().readline()
    if not answer:
        raise OSError("the line's process ended")
    return json.loads(answer)


def checked(link: Link, programs: Programs, say: Say) -> Link:
    """Set the line right, measure it, say what it is, and return it: the median of 200 echoes, and iperf3's sum.

    Carrying a packet takes time, which the line then waits less: the least that it took. What a busy machine adds
    now, it may not add later, and no line is shorter than asked. Raises SandboxError if its round trip is not as asked.
    """
    left, right = (programs.inside(link.entry(site)) for site in ("left", "right"))
    address = link.addresses["right"]
    for _ in range(MOST_MEASUREMENTS):
        too_long = min(_echoes(left, right, address, FIRST_ECHOES)) - link.rtt_seconds
        ask(link.control, correction_seconds=ask(link.control)["correction_seconds"] - too_long)
        link = replace(
            link,
            measured_rtt_seconds=median(_echoes(left, right, address, ECHOES)),
            measured_rate_bytes_per_second=_rate(left, right, address),
            measured_at=utc_now(),
        )
        if is_as_asked(link):
            say(f"line between the sites: {describe(link)}")
            return link
    raise SandboxError(
        f"the line between the sites is not as asked: {describe(link)}",
        where=f"process {link.pid}",
        next_step="end what else runs on this machine, then run this again",
    )


def is_as_asked(link: Link) -> bool:
    """Return whether the measured round trip is the one that was asked for."""
    assert link.measured_rtt_seconds is not None, "it was measured"
    allowed = max(TOLERANCE_SECONDS, TOLERANCE_FRACTION * link.rtt_seconds)
    return abs(link.measured_rtt_seconds - link.rtt_seconds) <= allowed


def change(sandbox: Sandbox, say: Say, **wanted: float | None) -> None:
    """Give a running sandbox's line another `rtt_seconds` or `rate_bytes_per_second`, measure it, and record both.

    Raises SandboxError if the sandbox has no line, if it does not run, or if it is not as asked.
    """
    link = sandbox.link
    if link is None:
        raise SandboxError(
            "this sandbox has no line between its sites",
            where=sandbox.directory,
            next_step=f"run {sandbox_command('down', sandbox.directory)}, then up with --rtt",
        )
    try:
        state = ask(link.control, **wanted)
    except OSError as error:
        raise SandboxError(
            f"the line between the sites does not answer: {error.strerror or error}",
            where=link.control,
            next_step=f"run {sandbox_command('up', sandbox.directory)}",
        ) from error
    link = replace(
        link,
        rtt_seconds=state["rtt_seconds"],
        rate_bytes_per_second=state["rate_bytes_per_second"],
        measured_rtt_seconds=None,
        measured_rate_bytes_per_second=None,
        measured_at=None,
    )
    sandbox.options = replace(
        sandbox.options,
        link_rtt_seconds=link.rtt_seconds,
        link_rate_bytes_per_second=link.rate_bytes_per_second,
    )
    try:
        link = checked(link, sandbox.layout.programs, say)
    finally:
        sandbox.link = link
        sandbox.save()


def describe(link: Link) -> str:
    """Return what was asked and what was measured, for people."""
    rate = "no limit" if link.rate_bytes_per_second is None else show_rate(link.rate_bytes_per_second)
    text = f"asked {link.rtt_seconds * 1e3:g} ms and {rate} ({link.way})"
    rtt, rate_now = link.measured_rtt_seconds, link.measured_rate_bytes_per_second
    if rtt is None or rate_now is None:
        return f"{text}, not measured"
    return f"{text}, measured {rtt * 1e3:.2f} ms and {show_rate(rate_now)}"


def link_facts(site: Site) -> dict[str, float]:
    """Return what was asked of the line of a site's sandbox, and what was measured, for sidecars; empty without a line.

    A line without a limit has no rate that was asked.
    """
    if site.sandbox is None or (link := sandbox_record.load(default_directory(site.sandbox)).link) is None:
        return {}
    facts = {
        "link_rtt_seconds": link.rtt_seconds,
        "link_rate_bytes_per_second": link.rate_bytes_per_second,
        "measured_link_rtt_seconds": link.measured_rtt_seconds,
        "measured_link_rate_bytes_per_second": link.measured_rate_bytes_per_second,
    }
    return {name: value for name, value in facts.items() if value is not None}


def round_trip_seconds(site: Site) -> float | None:
    """Return the round trip to a site's second cluster: that of its line, or of a TCP connection to its monitors.

    None if there is no line, and no cluster that takes a connection.
    """
    if site.sandbox is not None:
        return link_facts(site).get("measured_link_rtt_seconds")
    return connect_seconds(site.secondary.conf) if site.secondary else None


def lost_line(site: Site) -> Stop | None:
    """Return why a cell must end if the line between the sites of a site's sandbox has ended; asks no cluster."""
    if site.sandbox is None:
        return None
    try:
        sandbox = sandbox_record.load(default_directory(site.sandbox))
    except SandboxError:
        return Stop("line_lost", "the sandbox was removed")
    if not daemons.lost_its_line(sandbox):
        return None
    return Stop("line_lost", "the line between the sites has ended, and they reach each other no more")


def connect_seconds(conf: Path) -> float | None:
    """Return the median time of connecting to the nearest of a cluster's monitors; None if none takes a connection."""
    medians = []
    for address in monitor_addresses(conf):
        seconds = []
        with contextlib.suppress(OSError):
            for _ in range(5):
                began = time.monotonic()
                socket.create_connection(address, timeout=3.0).close()
                seconds.append(time.monotonic() - began)
        if seconds:
            medians.append(median(seconds))
    return min(medians, default=None)


def _echoes(left: Programs, right: Programs, address: str, echoes: int) -> list[float]:
    """Return the round trips of so many echoes of one byte, in seconds."""
    python, where = [sys.executable, "-I", str(PROGRAM)], [address, str(_ECHO_PORT)]
    server = Background([*python, "--answer", *where], programs=right)
    try:
        return json.loads(run(left, [*python, "--echo", *where, str(echoes)], timeout_seconds=120.0))
    finally:
        server.kill()


def _rate(left: Programs, right: Programs, address: str) -> float:
    """Return what iperf3 received in a second, in bytes, with several streams."""
    where = ["--port", str(_STREAM_PORT)]
    server = Background(["iperf3", "--server", "--bind", address, *where], programs=right)
    argv = ["iperf3", "--client", address, *where, "--json", "--parallel", str(STREAMS)]
    argv = left.command([*argv, "--time", str(STREAM_SECONDS), "--omit", str(RAMP_SECONDS)])
    why = ""

    def stream() -> float | None:
        nonlocal why
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60.0, check=False)
        except subprocess.TimeoutExpired as error:
            why = f"it did not end within {error.timeout:.0f} s"
            return None
        report = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        if received := report.get("end", {}).get("sum_received"):
            return received["bits_per_second"] / 8
        # The server may not listen yet. Some versions end with status 0 all the same.
        why = report.get("error") or done.stderr.strip()
        return None

    try:
        return poll(
            stream,
            what="iperf3 on the line between the sites",
            seconds=10.0,
            every=0.1,
            seen=lambda: why,
            next_step="run this again",
            error=SandboxError,
        )
    finally:
        server.kill()
