"""The line between the two sites of a sandbox: two network namespaces, and what carries packets from one to the other.

    python -I link_program.py --conf FILE            FILE is JSON: control, rtt_seconds, rate_bytes_per_second
    python -I link_program.py --answer ADDRESS PORT        sends back what one client sends
    python -I link_program.py --echo ADDRESS PORT TIMES    prints the seconds of each echo of one byte

It makes the namespaces, and they last as long as it or a process in them does. Where the kernel has netem, a pair of
virtual Ethernet devices joins them, and the kernel delays packets. Elsewhere each has a TUN device, and this program
reads a packet on one, waits half the round trip, and writes it on the other. With IFF_VNET_HDR the kernel hands over up
to 64 KiB at once, so that Python is fast enough for a gigabit a second, and TCP sees an ordinary path.

On the Unix socket `control` it answers a line of JSON with one: `{}` asks for its state, and `rtt_seconds` or
`rate_bytes_per_second` (null: no limit) change it. `correction_seconds` is added to the round trip, to make up for what
carrying the packets takes. It needs nothing but Python's standard library and iproute2, as root
or, with user namespaces, as any user. Nothing outside of the namespaces is touched, and nothing outlives it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

SITES = ("left", "right")
#: The addresses are the namespaces' own: any number of sandboxes may use the same ones.
ADDRESSES = {"left": "10.77.0.1", "right": "10.77.0.2"}
DEVICE = "replay0"
#: A packet that would wait longer for its turn is dropped, as by a switch whose buffer is full.
QUEUE_SECONDS = 0.2
MTU = 1500

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_TUNSETIFF, _TUNSETOFFLOAD, _TUNSETVNETHDRSZ = 0x400454CA, 0x400454D0, 0x400454D8
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
_CSUM_AND_TSO = 0x01 | 0x02 | 0x04
_HEADER_BYTES = 10
_LARGEST_PACKET = _HEADER_BYTES + 65536
_PR_SET_TIMERSLACK = 29
#: So many packets are taken from one end before the others are looked at.
_AT_ONCE = 64


class OneWay:
    """One direction of the line: when each packet arrives at the other end.

    The line sends one packet after the other (`rate_bytes_per_second`, None for no limit). Each then takes
    `delay_seconds`, and packets arrive in their order.
    """

    def __init__(self, delay_seconds: float, rate_bytes_per_second: float | None) -> None:
        self.delay_seconds, self.rate_bytes_per_second = delay_seconds, rate_bytes_per_second
        self._free_at = self._last_arrival = 0.0
        self._under_way: deque[tuple[float, bytes]] = deque()

    def send(self, packet: bytes, now: float) -> None:
        """Take a packet, or drop it if too many wait."""
        sent = now
        if self.rate_bytes_per_second is not None:
            begin = max(now, self._free_at)
            if begin - now > QUEUE_SECONDS:
                return
            sent = self._free_at = begin + (len(packet) - _HEADER_BYTES) / self.rate_bytes_per_second
        self._last_arrival = max(self._last_arrival, sent + self.delay_seconds)
        self._under_way.append((self._last_arrival, packet))

    def arrived(self, now: float) -> list[bytes]:
        """Return the packets that have arrived by now."""
        packets = []
        while self._under_way and self._under_way[0][0] <= now:
            packets.append(self._under_way.popleft()[1])
        return packets

    def next_arrival(self) -> float | None:
        """Return when the next packet arrives, None if none is under way."""
        return self._under_way[0][0] if self._under_way else None


def netem_words(rtt_seconds: float, rate_bytes_per_second: float | None) -> list[str]:
    """Return the words of `tc` for one end of the line: half the round trip, the rate, and room for what waits."""
    delay = rtt_seconds / 2
    words = ["netem", "delay", f"{delay * 1e6:.0f}us"]
    packets = 100_000
    if rate_bytes_per_second is not None:
        words += ["rate", f"{rate_bytes_per_second * 8:.0f}bit"]
        packets = max(100, int(rate_bytes_per_second * (delay + QUEUE_SECONDS) / MTU))
    return [*words, "limit", str(packets)]


def address_commands(site: str) -> list[list[str]]:
    """Return the commands that give a site's end of the line its address, in the site's namespace."""
    other = next(address for name, address in ADDRESSES.items() if name != site)
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "address", "add", ADDRESSES[site], "peer", other, "dev", DEVICE],
        ["ip", "link", "set", DEVICE, "mtu", str(MTU), "up"],
    ]


def veth_command(other_namespace: str) -> list[str]:
    """Return the command that makes a pair of devices, one here and one in the other namespace (a path)."""
    return ["ip", "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", other_namespace]


class Namespaces:
    """A network namespace for each site, made by this process and held by its descriptors."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        if os.geteuid() != 0:
            self._become_root_of_a_namespace()
        self.descriptors = {site: self._make() for site in SITES}

    def run(self, site: str, argv: list[str]) -> None:
        """Run a command in a site's namespace. Raises OSError with what it printed if it fails."""
        self.enter(site)
        path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
        if done.returncode != 0:
            raise OSError(f"{' '.join(argv)}: {done.stderr.strip() or f'exit status {done.returncode}'}")

    def enter(self, site: str) -> None:
        self._call(self._libc.setns(self.descriptors[site], _CLONE_NEWNET), "setns")

    def _make(self) -> int:
        self._call(self._libc.unshare(_CLONE_NEWNET), "a network namespace")
        return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def _become_root_of_a_namespace(self) -> None:
        user, group = os.geteuid(), os.getegid()
        self._call(self._libc.unshare(_CLONE_NEWUSER), "a user namespace")
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            Path("/proc/self", name).write_text(text, encoding="ascii")

    def _call(self, status: int, what: str) -> None:
        if status != 0:
            raise OSError(f"the kernel refuses {what}: {os.strerror(ctypes.get_errno())}")


class NetemLine:
    """A line of the kernel's: two virtual Ethernet devices whose queues delay packets."""

    way = "netem"

    def __init__(self, namespaces: Namespaces, rtt_seconds: float, rate_bytes_per_second: float | None) -> None:
        self._namespaces = namespaces
        namespaces.run("left", veth_command(f"/proc/{os.getpid()}/fd/{namespaces.descriptors['right']}"))
        try:
            self._each("add", netem_words(rtt_seconds, rate_bytes_per_second))
        except OSError:
            namespaces.run("left", ["ip", "link", "delete", DEVICE])
            raise
        for site in SITES:
            for argv in address_commands(site):
                namespaces.run(site, argv)

    def change(self, rtt_seconds: float, rate_bytes_per_second: float | None) -> None:
        """Give the line another round trip and rate. A queue that is only changed would keep an old rate."""
        self._each("delete", [])
        self._each("add", netem_words(rtt_seconds, rate_bytes_per_second))

    def descriptors(self) -> list[int]:
        """Return what has to be read."""
        return []

    def serve(self, readable: list[int]) -> float | None:
        """Do nothing: the kernel carries the packets."""
        return None

    def _each(self, what: str, words: list[str]) -> None:
        for site in SITES:
            self._namespaces.run(site, ["tc", "qdisc", what, "dev", DEVICE, "root", *words])


class TunLine:
    """A line of this program's: a TUN device at each end, and the packets that are under way between them."""

    way = "tun"

    def __init__(self, namespaces: Namespaces, rtt_seconds: float, rate_bytes_per_second: float | None) -> None:
        self._ends = {}
        for site in SITES:
            namespaces.enter(site)
            self._ends[site] = self._open()
            for argv in address_commands(site):
                namespaces.run(site, argv)
        self._directions = {site: OneWay(rtt_seconds / 2, rate_bytes_per_second) for site in SITES}

    def change(self, rtt_seconds: float, rate_bytes_per_second: float | None) -> None:
        """Give the line another round trip and rate, for packets that are sent from now on."""
        for direction in self._directions.values():
            direction.delay_seconds, direction.rate_bytes_per_second = rtt_seconds / 2, rate_bytes_per_second

    def descriptors(self) -> list[int]:
        """Return what has to be read."""
        return list(self._ends.values())

    def serve(self, readable: list[int]) -> float | None:
        """Carry packets; return when the next one arrives (time.monotonic), None if none is under way."""
        for site, end in self._ends.items():
            direction = self._directions[site]
            if end in readable:
                with contextlib.suppress(BlockingIOError):
                    for _ in range(_AT_ONCE):
                        direction.send(os.read(end, _LARGEST_PACKET), time.monotonic())
            other = next(descriptor for name, descriptor in self._ends.items() if name != site)
            for packet in direction.arrived(time.monotonic()):
                # A device that is down or full loses the packet, as a network does.
                with contextlib.suppress(OSError):
                    os.write(other, packet)
        return min(filter(None, (direction.next_arrival() for direction in self._directions.values())), default=None)

    @staticmethod
    def _open() -> int:
        """Open a new TUN device in the namespace that this process is in."""
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        flags = _IFF_TUN | _IFF_NO_PI | _IFF_VNET_HDR
        fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), flags))
        fcntl.ioctl(descriptor, _TUNSETVNETHDRSZ, struct.pack("i", _HEADER_BYTES))
        fcntl.ioctl(descriptor, _TUNSETOFFLOAD, _CSUM_AND_TSO)
        return descriptor


def make_line(namespaces: Namespaces, rtt_seconds: float, rate: float | None) -> NetemLine | TunLine:
    """Join the namespaces: by the kernel where it can delay packets, else by this program. Raises OSError."""
    try:
        return NetemLine(namespaces, rtt_seconds, rate)
    except OSError as error:
        print(f"the kernel does not delay packets ({error}): this program does", file=sys.stderr, flush=True)
        return TunLine(namespaces, rtt_seconds, rate)


def run_soon() -> None:
    """Let packets arrive in time on a busy machine, too, if this user may: they cost little of a processor."""
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def answer(address: str, port: int) -> None:
    """Send back what one client sends, until it closes the connection."""
    with socket.create_server((address, port)) as server, server.accept()[0] as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := connection.recv(1):
            connection.sendall(data)


def echo(address: str, port: int, times: int) -> list[float]:
    """Return how many seconds each echo of one byte takes. Waits ten seconds at most for the other end."""
    deadline = time.monotonic() + 10.0
    while True:
        try:
            connection = socket.create_connection((address, port), timeout=10.0)
            break
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        seconds = []
        for _ in range(times):
            began = time.perf_counter()
            connection.sendall(b"?")
            connection.recv(1)
            seconds.append(time.perf_counter() - began)
    return seconds


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--conf", type=Path)
    parser.add_argument("--answer", nargs=2)
    parser.add_argument("--echo", nargs=3)
    options = parser.parse_args()
    if options.answer:
        answer(options.answer[0], int(options.answer[1]))
    elif options.echo:
        print(json.dumps(echo(options.echo[0], *map(int, options.echo[1:]))))
    else:
        keep_line(json.loads(options.conf.read_text(encoding="utf-8")))


def keep_line(conf: dict[str, Any]) -> None:
    """Make the line, and keep it until this process ends."""
    asked = {"rtt_seconds": conf["rtt_seconds"], "rate_bytes_per_second": conf["rate_bytes_per_second"]}
    asked["correction_seconds"] = 0.0
    is_root = os.geteuid() == 0
    namespaces = Namespaces()
    line = make_line(namespaces, asked["rtt_seconds"], asked["rate_bytes_per_second"])
    run_soon()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        Path(conf["control"]).unlink(missing_ok=True)
        control.bind(conf["control"])
        control.listen()
        control.setblocking(False)
        due: float | None = None
        while True:
            wait = None if due is None else max(0.0, due - time.monotonic())
            readable, _, _ = select.select([control, *line.descriptors()], [], [], wait)
            due = line.serve([each for each in readable if isinstance(each, int)])
            if control in readable:
                with control.accept()[0] as connection:
                    connection.settimeout(1.0)
                    # Whoever asked may have gone.
                    with contextlib.suppress(OSError, ValueError):
                        wanted = json.loads(connection.makefile().readline())
                        if wanted:
                            asked |= wanted
                            rtt = max(0.0, asked["rtt_seconds"] + asked["correction_seconds"])
                            line.change(rtt, asked["rate_bytes_per_second"])
                        state = {"way": line.way, "namespaces": namespaces.descriptors, "is_root": is_root}
                        connection.sendall(json.dumps(state | asked).encode() + b"\n")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"the line cannot be made: {error}")
