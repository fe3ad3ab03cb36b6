"""iperf3 on loopback and between hosts: which end serves, that no server stays, and that hosts' names are hidden."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from replay.base.errors import ReplayError
from replay.evidence.record import Measured
from replay.protocols import baseline
from replay.protocols.baseline import TwoEnds, ends_of, on_host
from replay.tools.iperf3 import TOOL
from support.bench import bench_of, site_of
from support.programs import needs

LEVELS = {"io_size_bytes": 65536, "io_depth": 2}


@pytest.fixture
def bench():
    sampler = SimpleNamespace(read=lambda: None, load=lambda before, after: {})
    return bench_of(site_of(client_hosts=()), sampler=sampler)


@pytest.fixture
def run(bench):
    """Run a test of one second, or more, with the tool, or with a changed one."""

    def of(tool=TOOL, seconds=1):
        sizing = SimpleNamespace(target_seconds=seconds)
        protocol = SimpleNamespace(bench=bench, design=SimpleNamespace(sizing=sizing), job_options=lambda cell: {})
        return TwoEnds(tool).bound_to(protocol).run(SimpleNamespace(levels=LEVELS), seed=1)

    return of


def changed(**methods):
    """Return the tool with other methods."""
    made = type("Changed", (type(TOOL),), {name: staticmethod(method) for name, method in methods.items()})
    return made()


@pytest.fixture
def started(monkeypatch):
    """The servers that were started."""
    servers = []

    class Recorded(baseline.Background):
        def __init__(self, argv, **more):
            super().__init__(argv, **more)
            servers.append(self)

    monkeypatch.setattr(baseline, "Background", Recorded)
    return servers


@pytest.mark.parametrize(
    ("hosts", "ends"),
    [
        ((), ("localhost", "localhost")),
        (("localhost", "127.0.0.1"), ("localhost", "localhost")),
        (("a",), ("a", "localhost")),
        (("localhost", "a"), ("a", "localhost")),
        (("a", "b", "c"), ("a", "b")),
    ],
)
def test_the_network_lies_between_the_first_two_hosts_that_are_not_this_machine(hosts, ends):
    assert ends_of(hosts) == ends


def test_a_program_runs_on_another_host_through_ssh_as_one_word():
    assert on_host("localhost", ["iperf3", "-s"]) == ["iperf3", "-s"]
    argv = on_host("a", ["iperf3", "a b"])
    assert argv[0] == "ssh" and "BatchMode=yes" in argv
    assert argv[-3:] == ["--", "a", "iperf3 'a b'"]


@needs("iperf3")
def test_a_real_test_on_loopback_leaves_no_server_and_no_address(run, started):
    measured = run()
    assert (measured.invalid, measured.exit_status) == (None, 0)
    outputs = {role: content.decode() for role, (_, content) in measured.results.items()}
    assert "127.0.0.1" not in outputs["stdout"]
    result = TOOL.parse(outputs, 0, LEVELS)
    assert result.metrics["bytes_per_second"] > 1e6 and result.metrics["streams"] == 2
    assert [server.exit_status is not None for server in started] == [True]
    assert measured.argv[:6] == ["iperf3", "--client", "{server}", "--port", "{port}", "--json"]
    assert "1" in measured.argv and "{seconds}" not in measured.argv


@needs("iperf3")
def test_a_refused_client_makes_the_cell_void_and_the_server_is_ended(run, started, monkeypatch):
    template = [word.replace("{port}", "1") for word in TOOL.argv_template(LEVELS, {})]
    measured = run(changed(argv_template=lambda levels, options: template))
    report = json.loads(measured.results["stdout"][1])
    assert "refused" in report["error"]
    assert [server.exit_status is not None for server in started] == [True]


@needs("iperf3")
def test_a_port_that_is_taken_is_skipped(run, started, monkeypatch):
    with baseline.socket.socket() as taken:
        taken.bind((baseline.LOOPBACK, 0))
        taken.listen()
        ports = [taken.getsockname()[1]]
        free = baseline._free_port
        monkeypatch.setattr(baseline, "_free_port", lambda: ports.pop() if ports else free())
        measured = run()
    assert measured.invalid is None
    assert len(started) == 2


def test_a_server_that_never_starts_is_an_error_and_leaves_nothing_running(run, started, monkeypatch):
    with pytest.raises(ReplayError, match="ended before it listened"):
        run(changed(server_argv=lambda bind: ["false"]))
    assert len(started) == baseline.MOST_PORTS


def test_the_server_outlasts_the_client(run, monkeypatch):
    limits = []
    measured = Measured(["x"], {"stdout": ("stdout", b"{}")}, 0, "a", "b", 1.0, {})
    monkeypatch.setattr(
        baseline.Background, "__init__", lambda self, argv, **more: limits.append(float(argv[argv.index("iperf3") - 1]))
    )
    monkeypatch.setattr(baseline.Background, "await_that", lambda self, condition, what: None)
    monkeypatch.setattr(baseline.Background, "kill", lambda self: None)
    monkeypatch.setattr(
        baseline, "run_observed", lambda *_, timeout_seconds, **__: limits.append(timeout_seconds) or measured
    )
    run(seconds=300)
    server, client = limits
    assert server > client > 300


def test_addresses_and_names_of_hosts_are_hidden(run, monkeypatch):
    said = b'{"system_info":\t"Linux node7 6.1 #1", "local_host": "10.0.0.7", "host":\t"node8", "error": "no node8.x"}'
    why = ("failed", "exit status 255: ssh: connect to host node8.x port 22: No route to host")
    measured = Measured(["x"], {"stdout": ("stdout", said)}, 255, "a", "b", 1.0, {}, invalid=why)
    monkeypatch.setattr(baseline, "ends_of", lambda hosts: ("node8", "localhost"))
    monkeypatch.setattr(baseline, "_address", lambda host: f"{host}.x")
    monkeypatch.setattr(baseline, "_start_server", lambda *_: (SimpleNamespace(kill=lambda: None), 1))
    monkeypatch.setattr(baseline, "run_observed", lambda *_, **__: measured)
    found = run()
    assert found.invalid[1] == "exit status 255: ssh: connect to host {host} port 22: No route to host"
    assert found.results["stdout"][1] == (
        b'{"system_info":\t"Linux {host} 6.1 #1", "local_host": "{host}", "host":\t"{host}", "error": "no {host}"}'
    )
