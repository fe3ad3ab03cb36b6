"""The line between two sites: what it asks of the kernel, when packets arrive, and what is recorded of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.clock import poll
from replay.base.errors import ConfigurationError, ReplayError
from replay.base.programs import Programs
from replay.cluster.cluster import monitor_addresses
from replay.cluster.sandbox_options import SandboxOptions, parse_rate, parse_rtt, show_rate
from replay.cluster.sandbox_record import Layout, Link, Sandbox, SandboxError
from replay.cluster.site import Stop
from replay.sandbox import daemons, lifecycle, link, link_program, processes
from replay.sandbox.link_program import NetemLine, OneWay, TunLine, make_line, netem_words
from replay.sandbox.tools import Interrupt
from support.commands import run_sandbox
from support.patience import patient, wait_until

GIGABIT = 125e6
HEADER = bytes(10)


@pytest.mark.parametrize(
    ("text", "seconds"), [("20ms", 0.02), ("0ms", 0.0), ("500us", 0.0005), ("0.1s", 0.1), ("1.5ms", 0.0015)]
)
def test_a_round_trip_is_written_with_its_unit(text, seconds):
    assert parse_rtt(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["20", "ms", "-1ms", "3s", "20 m"])
def test_another_round_trip_is_refused(text):
    with pytest.raises(ConfigurationError, match="is not a round trip"):
        parse_rtt(text)


def test_a_rate_is_in_decimal_bits():
    assert (parse_rate("1gbit"), parse_rate("100mbit"), parse_rate("1.5Gbit/s")) == (125e6, 12.5e6, 187.5e6)
    assert [show_rate(rate) for rate in (125e6, 12.5e6)] == ["1 Gbit/s", "100 Mbit/s"]
    for text in ("1g", "100", "10kbit", "1 gbit"):
        with pytest.raises(ConfigurationError, match="is not a rate"):
            parse_rate(text)


def test_a_line_has_a_round_trip_and_a_stretch_cluster_an_even_number_of_osds():
    with pytest.raises(ConfigurationError, match="needs a round trip"):
        SandboxOptions(link_rate_bytes_per_second=GIGABIT)
    with pytest.raises(ConfigurationError, match="same number of OSDs"):
        SandboxOptions(stretch=True, left_osds=3, right_osds=0)
    assert SandboxOptions(stretch=True, left_osds=4, right_osds=0).stretch


# The kernel's way: the commands ------------------------------------------------------------------------------------


def test_netem_delays_half_the_round_trip_at_each_end_and_holds_what_is_under_way():
    assert netem_words(0.02, None) == ["netem", "delay", "10000us", "limit", "100000"]
    packets = int(GIGABIT * (0.01 + 0.2) / 1500)
    assert netem_words(0.02, GIGABIT) == [
        "netem", "delay", "10000us", "rate", "1000000000bit", "limit", str(packets),
    ]  # fmt: skip


class RecordedNamespaces:
    """Namespaces in which commands are only noted; `refuses` is the word of a command that fails."""

    def __init__(self, refuses: str = "") -> None:
        self.descriptors = {"left": 3, "right": 4}
        self.refuses, self.ran = refuses, []

    def run(self, site, argv):
        self.ran.append((site, " ".join(argv)))
        if self.refuses and self.refuses in argv:
            raise OSError(f"{argv[0]}: the kernel has no {self.refuses}")

    def enter(self, site):
        self.ran.append((site, "entered"))


def test_a_kernel_with_netem_joins_the_sites_by_a_pair_of_devices():
    namespaces = RecordedNamespaces()
    line = make_line(namespaces, 0.02, GIGABIT)
    assert isinstance(line, NetemLine)
    netem = " ".join(netem_words(0.02, GIGABIT))
    assert namespaces.ran == [
        ("left", f"ip link add replay0 type veth peer name replay0 netns /proc/{os.getpid()}/fd/4"),
        ("left", f"tc qdisc add dev replay0 root {netem}"),
        ("right", f"tc qdisc add dev replay0 root {netem}"),
        ("left", "ip link set lo up"),
        ("left", "ip address add 10.77.0.1 peer 10.77.0.2 dev replay0"),
        ("left", "ip link set replay0 mtu 1500 up"),
        ("right", "ip link set lo up"),
        ("right", "ip address add 10.77.0.2 peer 10.77.0.1 dev replay0"),
        ("right", "ip link set replay0 mtu 1500 up"),
    ]
    namespaces.ran.clear()
    line.change(0.08, None)
    assert namespaces.ran == [
        *((site, "tc qdisc delete dev replay0 root") for site in ("left", "right")),
        *((site, f"tc qdisc add dev replay0 root {' '.join(netem_words(0.08, None))}") for site in ("left", "right")),
    ]


@pytest.mark.parametrize("refuses", ["netem", "veth"])
def test_a_kernel_without_it_leaves_the_packets_to_the_program(monkeypatch, refuses, capsys):
    monkeypatch.setattr(TunLine, "_open", staticmethod(lambda: 9))
    namespaces = RecordedNamespaces(refuses)
    assert isinstance(make_line(namespaces, 0.02, None), TunLine)
    assert (("left", "ip link delete replay0") in namespaces.ran) == (refuses == "netem")
    assert f"the kernel has no {refuses}" in capsys.readouterr().err


# The program's way: when packets arrive ----------------------------------------------------------------------------


def test_packets_arrive_after_half_the_round_trip_in_their_order():
    direction = OneWay(0.01, None)
    for moment, packet in ((1.0, b"a"), (1.001, b"b")):
        direction.send(HEADER + packet, moment)
    assert direction.arrived(1.0099) == []
    assert direction.next_arrival() == pytest.approx(1.01)
    assert direction.arrived(1.0105) == [HEADER + b"a"]
    direction.delay_seconds = 0.0
    direction.send(HEADER + b"c", 1.0106)
    assert direction.arrived(1.0106) == [], "a shorter line lets nobody overtake"
    assert direction.arrived(1.02) == [HEADER + b"b", HEADER + b"c"]
    assert direction.next_arrival() is None


def test_the_rate_spaces_packets_and_what_would_wait_too_long_is_dropped():
    direction = OneWay(0.0, 1000.0)
    for _ in range(4):
        direction.send(HEADER + bytes(100), 0.0)
    moments = (0.05, 0.11, 0.21, 0.31, 0.41)
    arrived = [len(direction.arrived(moment)) for moment in moments]
    assert arrived == [0, 1, 1, 1, 0], "the line is free again after 0.3 s, which is more than a buffer holds"
    direction.send(HEADER + bytes(100), 10.0)
    assert direction.arrived(10.1) == [HEADER + bytes(100)]


# What is asked, measured and recorded ------------------------------------------------------------------------------


def a_link(**changes) -> Link:
    made = Link(
        pid=4711,
        way="tun",
        control="/nowhere/link.sock",
        namespaces={"left": "/proc/4711/fd/3", "right": "/proc/4711/fd/4"},
        addresses=dict(link_program.ADDRESSES),
        rtt_seconds=0.02,
        rate_bytes_per_second=GIGABIT,
        measured_rtt_seconds=0.0203,
        measured_rate_bytes_per_second=1e8,
    )
    return replace(made, **changes)


def test_every_program_of_a_site_is_led_into_its_network():
    programs = Programs().inside(a_link().entry("right"))
    assert programs.command(["sh", "-c", "true"])[:4] == [
        "nsenter",
        "--net=/proc/4711/fd/4",
        "--",
        programs.find("sh").as_posix(),
    ]
    bound = programs.command(["sh"], dies_with_parent=True)
    assert bound[:3] == ["nsenter", "--net=/proc/4711/fd/4", "--"] and bound[3] == "setpriv"
    own = a_link(user_namespace="/proc/4711/ns/user").entry("left")
    assert own == ("nsenter", "--user=/proc/4711/ns/user", "--preserve-credentials", "--net=/proc/4711/fd/3", "--")


@pytest.mark.parametrize(
    ("asked", "found", "fits"),
    [(0.02, 0.0209, True), (0.02, 0.0211, False), (0.02, 0.0188, False), (0.0, 0.00029, True), (0.0, 0.0004, False),
     (0.005, 0.0053, True), (0.005, 0.00531, False)],
)  # fmt: skip
def test_a_line_is_what_was_asked_for_within_a_twentieth_or_a_third_of_a_millisecond(asked, found, fits):
    assert link.is_as_asked(a_link(rtt_seconds=asked, measured_rtt_seconds=found)) is fits


def test_a_line_that_is_not_as_asked_is_refused_after_three_measurements(monkeypatch):
    took, corrections = [], []
    monkeypatch.setattr(link, "_echoes", lambda left, right, address, echoes: [0.05, 0.03, 0.04])
    monkeypatch.setattr(
        link, "ask", lambda control, **wanted: corrections.append(wanted) or {"correction_seconds": 0.001}
    )
    monkeypatch.setattr(link, "_rate", lambda left, right, address: took.append(1) or 1e8)
    with pytest.raises(SandboxError, match=r"not as asked: asked 20 ms and 1 Gbit/s \(tun\), measured 40\.00 ms"):
        link.checked(a_link(), Programs(), print)
    assert len(took) == 3
    assert corrections[1] == {"correction_seconds": pytest.approx(0.001 - 0.01)}


def test_the_facts_of_a_sandbox_are_what_was_asked_and_measured(monkeypatch):
    sandbox = SimpleNamespace(link=a_link(rate_bytes_per_second=None))
    monkeypatch.setattr(link.sandbox_record, "load", lambda folder: sandbox)
    assert link.link_facts(SimpleNamespace(sandbox="default")) == {
        "link_rtt_seconds": 0.02,
        "measured_link_rtt_seconds": 0.0203,
        "measured_link_rate_bytes_per_second": 1e8,
    }
    assert link.round_trip_seconds(SimpleNamespace(sandbox="default")) == 0.0203
    sandbox.link = None
    assert link.link_facts(SimpleNamespace(sandbox="default")) == {}
    assert link.round_trip_seconds(SimpleNamespace(sandbox="default")) is None


def test_between_foreign_clusters_only_the_round_trip_to_the_monitors_is_known(tmp_path):
    conf = tmp_path / "ceph.conf"
    with socket.create_server(("127.0.0.1", 0)) as server:
        conf.write_text(f"[global]\nmon_host = [v2:127.0.0.1:{server.getsockname()[1]}/0]\n")
        site = SimpleNamespace(sandbox=None, secondary=SimpleNamespace(conf=conf))
        found = link.round_trip_seconds(site)
    assert found is not None and 0 < found < patient(1)
    assert link.round_trip_seconds(site) is None, "nobody listens any more"
    assert link.round_trip_seconds(SimpleNamespace(sandbox=None, secondary=None)) is None
    assert link.link_facts(site) == {}, "no cell of a foreign cluster asks its monitors"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0] [v2:10.0.0.2:3301/0]", [("10.0.0.1", 3300), ("10.0.0.2", 3301)]),
        ("10.0.0.1, mon-b:6789", [("10.0.0.1", 3300), ("mon-b", 6789)]),
        ("v1:10.0.0.1:6789/0", [("10.0.0.1", 6789)]),
        ("[v2:[fd00::1]:3300/0]", [("fd00::1", 3300)]),
    ],
)
def test_monitors_are_found_in_every_form_of_their_list(tmp_path, text, found):
    (tmp_path / "ceph.conf").write_text(f"[global]\nmon host = {text}\n")
    assert monitor_addresses(tmp_path / "ceph.conf") == found


def test_a_dead_line_is_named_before_the_daemons_that_miss_it(tmp_path, monkeypatch):
    made = Sandbox(str(tmp_path), str(tmp_path), "20.2.4", SandboxOptions(link_rtt_seconds=0.02), {}, link=a_link())
    monkeypatch.setattr(daemons.sandbox_record, "load", lambda folder: made)
    assert daemons.absent_daemons(SimpleNamespace(sandbox="default")) == ["the line between the sites does not run"]
    assert link.lost_line(SimpleNamespace(sandbox="default")).reason == "line_lost"
    monkeypatch.setattr(daemons, "running_link", lambda layout: "alive")
    assert link.lost_line(SimpleNamespace(sandbox="default")) is None
    assert link.lost_line(SimpleNamespace(sandbox=None)) is None


def test_a_sandbox_that_was_removed_ends_the_cell(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path))
    assert link.lost_line(SimpleNamespace(sandbox="default")) == Stop("line_lost", "the sandbox was removed")


def test_an_iperf3_that_hangs_is_the_reason_why_the_line_was_not_measured(monkeypatch):
    def hang(argv, *, timeout, **_):
        raise subprocess.TimeoutExpired(argv, timeout)

    monkeypatch.setattr(link.subprocess, "run", hang)
    monkeypatch.setattr(link, "Background", lambda *_, **__: SimpleNamespace(kill=lambda: None))
    monkeypatch.setattr(link, "poll", lambda ask, **how: poll(ask, **{**how, "seconds": 0.0}))
    programs = SimpleNamespace(command=lambda argv: argv)
    with pytest.raises(SandboxError, match=r"in vain for iperf3 .*; it did not end within 60 s"):
        link._rate(programs, programs, "10.77.0.2")


def test_a_line_that_ends_at_its_start_and_one_that_does_not_get_ready_say_what_to_do(tmp_path, monkeypatch):
    process = SimpleNamespace(pid=4711, save=lambda path: None)
    monkeypatch.setattr(processes, "start", lambda argv, **how: process)
    monkeypatch.setattr(daemons, "running_link", lambda layout: None)
    layout, options = Layout(tmp_path, tmp_path), SandboxOptions(link_rtt_seconds=0.02)
    with pytest.raises(SandboxError) as ended:
        link.start(layout, options, Interrupt())
    assert ended.value.next_step.startswith("run this as root, or allow ordinary users")
    monkeypatch.setattr(daemons, "running_link", lambda layout: process)
    monkeypatch.setattr(link, "poll", lambda ask, **how: poll(ask, **{**how, "seconds": 0.0}))
    with pytest.raises(ReplayError, match="in vain for the line") as waited:
        link.start(layout, options, Interrupt())
    assert waited.value.next_step == "read this log, then run this again"


def test_a_line_that_does_not_answer_is_started_by_up_of_the_same_sandbox(tmp_path, capsys):
    options = SandboxOptions(link_rtt_seconds=0.02)
    Sandbox(str(tmp_path), str(tmp_path), "20.2.4", options, {}, link=a_link(), phase="created").save()
    assert run_sandbox(["link", "--directory", str(tmp_path), "--rtt", "5ms"]) == 1
    assert f"sandbox up --directory {tmp_path}\n" in capsys.readouterr().err


def test_a_sandbox_without_a_line_cannot_change_it(tmp_path, capsys):
    Sandbox(str(tmp_path), str(tmp_path), "20.2.4", SandboxOptions(), {}, phase="created").save()
    assert run_sandbox(["link", "--directory", str(tmp_path), "--rtt", "5ms"]) == 1
    assert "has no line between its sites" in capsys.readouterr().err
    assert run_sandbox(["link", "--directory", str(tmp_path)]) == 2
    assert "nothing to change" in capsys.readouterr().err


def test_another_line_is_asked_of_a_sandbox_that_has_one_by_link_and_anything_else_by_down(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(lifecycle.releases, "ceph_version", lambda programs: "20.2.4")
    options = SandboxOptions(link_rtt_seconds=0.02)
    Sandbox(str(tmp_path), str(tmp_path), "20.2.4", options, {}, link=a_link(), phase="created").save()
    for words, verb in ((["--rtt", "80ms"], "link"), (["--rtt", "80ms", "--left-osds", "1"], "down")):
        assert run_sandbox(["up", "--directory", str(tmp_path), *words]) == 1
        said = capsys.readouterr().err
        assert "link_rtt_seconds is 0.02, not 0.08" in said and f"sandbox {verb} " in said


# A real line -------------------------------------------------------------------------------------------------------

needs_a_line = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK) or not Programs().find("ip"),
    reason="making a line of its own needs root, /dev/net/tun and iproute2 here",
)


@pytest.fixture
def line(tmp_path):
    """A line of 20 ms without a limit, of a sandbox without clusters."""
    layout = Layout(tmp_path, tmp_path)
    made = link.start(layout, SandboxOptions(link_rtt_seconds=0.02), Interrupt())
    yield layout, made
    processes.stop_all(tmp_path)


def answers(made: Link) -> subprocess.Popen[bytes]:
    argv = [*made.entry("right"), sys.executable, "-I", str(link.PROGRAM), "--answer", "10.77.0.2", "7"]
    return subprocess.Popen(argv)


def round_trip(made: Link, times: int = 20) -> float:
    with answers(made) as server:
        argv = [*made.entry("left"), sys.executable, "-I", str(link.PROGRAM), "--echo", "10.77.0.2", "7", str(times)]
        text = subprocess.run(argv, capture_output=True, text=True, timeout=patient(60), check=True).stdout
        server.wait(patient(10))
    return min(json.loads(text))


@needs_a_line
@pytest.mark.slow
def test_a_real_line_takes_its_round_trip_changes_it_and_leaves_nothing(line):
    layout, made = line
    mounts = Path("/proc/self/mounts").read_text()
    assert made.way in ("netem", "tun")
    assert 0.02 <= round_trip(made) < patient(0.03)
    link.ask(made.control, rtt_seconds=0.005)
    assert 0.005 <= round_trip(made) < patient(0.015)
    interfaces = subprocess.run(
        [*made.entry("left"), "ip", "-o", "link"], capture_output=True, text=True, check=True
    ).stdout
    assert {row.split(": ")[1].partition("@")[0] for row in interfaces.splitlines()} == {"lo", "replay0"}
    assert not Path("/sys/class/net/replay0").exists(), "the host's own network knows nothing of it"
    ((name, process),) = processes.of_sandbox(layout.directory)
    assert name == processes.LINK_PROGRAM and process.pid == made.pid
    processes.stop_all(layout.directory)
    assert daemons.running_link(layout) is None
    # A process that has ended may still be closing its files.
    wait_until(lambda: not Path(made.namespaces["left"]).exists(), "the namespace to go")
    assert Path("/proc/self/mounts").read_text() == mounts


@needs_a_line
@pytest.mark.slow
def test_a_real_line_keeps_its_rate(line):
    _, made = line
    link.ask(made.control, rtt_seconds=0.0, rate_bytes_per_second=2e6)
    code = "import socket,sys,time\ns=socket.create_server(('10.77.0.2',9)).accept()[0]\nn=0\nb=time.monotonic()\n"
    code += "while d:=s.recv(65536):\n n+=len(d)\nprint(n/(time.monotonic()-b))"
    with subprocess.Popen(
        [*made.entry("right"), sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as sink:
        send = "import socket,time\nfor _ in range(100):\n try: s=socket.create_connection(('10.77.0.2',9)); break\n"
        send += " except OSError: time.sleep(0.05)\ns.sendall(bytes(4_000_000)); s.close()"
        subprocess.run([*made.entry("left"), sys.executable, "-c", send], timeout=patient(60), check=True)
        rate = float(sink.communicate(timeout=patient(60))[0])
    assert rate < 2.2e6, "never faster"


@needs_a_line
@pytest.mark.slow
def test_two_lines_at_once_use_the_same_addresses_and_do_not_meet(line, tmp_path_factory):
    _, first = line
    folder = tmp_path_factory.mktemp("other")
    second = link.start(Layout(folder, folder), SandboxOptions(link_rtt_seconds=0.04), Interrupt())
    try:
        found = {}
        both = [
            threading.Thread(target=lambda one=one: found.update({one.pid: round_trip(one)})) for one in (first, second)
        ]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join(patient(60))
        assert found[first.pid] < 0.04 <= found[second.pid]
    finally:
        processes.stop_all(folder)


@needs_a_line
@pytest.mark.slow
def test_a_line_that_cannot_be_made_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(processes, "daemon_environment", lambda: {"PATH": str(tmp_path)})
    broken = tmp_path / "broken.py"
    broken.write_text("import sys\nsys.exit('the line cannot be made: no')\n")
    monkeypatch.setattr(link, "PROGRAM", broken)
    with pytest.raises(SandboxError, match="ended: the line cannot be made: no"):
        link.start(Layout(tmp_path, tmp_path), SandboxOptions(link_rtt_seconds=0.02), Interrupt())


@needs_a_line
@pytest.mark.slow
def test_the_program_that_is_killed_takes_its_devices_with_it(line):
    layout, made = line
    with answers(made) as server:
        os.kill(made.pid, 9)
        wait_until(lambda: daemons.running_link(layout) is None, "the line to end")
        began = time.monotonic()
        with pytest.raises(OSError):
            link.ask(made.control)
        assert time.monotonic() - began < patient(5)
        server.kill()
