"""iperf3 on loopback and between hosts: who serves whom, what is left running, and what names a host."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from replay.base.costs import Costs
from replay.base.errors import ReplayError
from replay.procedures.parts import network_run
from replay.procedures.parts.network_run import Ends, ends_of, hide, on_host, run_network_test
from replay.tools import adapter
from support.programs import needs

LEVELS = {"io_size_bytes": 65536, "io_depth": 2}


@pytest.fixture
def bench():
    sampler = SimpleNamespace(read=lambda: None, load=lambda before, after: {})
    return SimpleNamespace(slot=None, costs=Costs(), sampler=sampler)


@pytest.fixture
def started(monkeypatch):
    """The servers that were started."""
    servers = []

    class Recorded(network_run.Background):
        def __init__(self, argv, **more):
            super().__init__(argv, **more)
            servers.append(self)

    monkeypatch.setattr(network_run, "Background", Recorded)
    return servers


@pytest.mark.parametrize(
    ("hosts", "ends"),
    [
        ((), Ends("localhost", "localhost")),
        (("localhost", "127.0.0.1"), Ends("localhost", "localhost")),
        (("a",), Ends("a", "localhost")),
        (("localhost", "a"), Ends("a", "localhost")),
        (("a", "b", "c"), Ends("a", "b")),
    ],
)
def test_the_network_lies_between_the_first_two_hosts_that_are_not_this_machine(hosts, ends):
    assert ends_of(hosts) == ends
    assert ends.is_loopback == (ends.server == "localhost")


def test_a_program_runs_on_another_host_through_ssh_as_one_word():
    assert on_host("localhost", ["iperf3", "-s"]) == ["iperf3", "-s"]
    argv = on_host("a", ["iperf3", "a b"])
    assert argv[0] == "ssh" and "BatchMode=yes" in argv
    assert argv[-3:] == ["--", "a", "iperf3 'a b'"]


@needs("iperf3")
def test_a_real_test_on_loopback_leaves_no_server_and_no_address(bench, started):
    iperf3 = adapter("iperf3")
    template = iperf3.argv_template(LEVELS, {})
    measured = run_network_test(bench, ends_of(()), template, seconds=1)
    assert (measured.invalid, measured.exit_status) == (None, 0)
    outputs = {role: content.decode() for role, (_, content) in measured.results.items()}
    assert "127.0.0.1" not in outputs["stdout"]
    result = iperf3.parse(outputs, 0, LEVELS)
    assert result.metrics["bytes_per_second"] > 1e6 and result.metrics["streams"] == 2
    assert [server.exit_status is not None for server in started] == [True]
    assert measured.argv[:6] == ["iperf3", "--client", "{server}", "--port", "{port}", "--json"]
    assert "1" in measured.argv and "{seconds}" not in measured.argv


@needs("iperf3")
def test_a_client_that_is_refused_is_void_and_the_server_is_ended(bench, started, monkeypatch):
    template = [word.replace("{port}", "1") for word in adapter("iperf3").argv_template(LEVELS, {})]
    measured = run_network_test(bench, ends_of(()), template, seconds=1)
    report = json.loads(measured.results["stdout"][1])
    assert "refused" in report["error"]
    assert [server.exit_status is not None for server in started] == [True]


@needs("iperf3")
def test_a_port_that_is_taken_is_passed_over(bench, started, monkeypatch):
    with network_run.socket.socket() as taken:
        taken.bind((network_run.LOOPBACK, 0))
        taken.listen()
        ports = [taken.getsockname()[1]]
        free = network_run._free_port
        monkeypatch.setattr(network_run, "_free_port", lambda: ports.pop() if ports else free())
        measured = run_network_test(bench, ends_of(()), adapter("iperf3").argv_template(LEVELS, {}), seconds=1)
    assert measured.invalid is None
    assert len(started) == 2


def test_a_server_that_never_comes_up_is_an_error_and_nothing_stays(bench, started, monkeypatch):
    monkeypatch.setattr(network_run, "server_argv", lambda bind: ["false"])
    with pytest.raises(ReplayError, match="ended before it listened"):
        run_network_test(bench, ends_of(()), ["true"], seconds=1)
    assert len(started) == network_run.MOST_PORTS


def test_addresses_and_names_of_hosts_are_hidden():
    said = b'{"system_info":\t"Linux node7 6.1 #1", "local_host": "10.0.0.7", "host":\t"node8", "error": "no node8.x"}'
    assert hide(said, ["node8", "node8.x"]) == (
        b'{"system_info":\t"Linux {host} 6.1 #1", "local_host": "{host}", "host":\t"{host}", "error": "no {host}"}'
    )
