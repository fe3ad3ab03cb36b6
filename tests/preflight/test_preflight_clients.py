"""What preflight says about hosts for clients, on a real SSH server."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from replay.base.programs import HOST_PROGRAMS
from replay.preflight import clients as preflight_clients
from replay.preflight.clients import check_client_hosts
from replay.preflight.findings import Findings
from replay.tools.running.fio_ssh import Versions
from support.programs import needs
from support.ssh_server import ssh_server

needs_tools = needs("fio", "rbd")


@pytest.fixture
def ssh(monkeypatch):
    """A server that is two hosts, and an ssh that finds it."""
    with ssh_server(("client-one", "client-two")) as server:
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
        yield server


class Hosts:
    allows = frozenset({"client_hosts"})
    primary = SimpleNamespace(programs=HOST_PROGRAMS)

    def __init__(self, *hosts):
        self.client_hosts = hosts


def said_of(*hosts):
    findings = Findings()
    check_client_hosts(Hosts(*hosts), findings)
    return findings


@needs_tools
def test_preflight_says_that_hosts_answer_and_drops_the_word_if_one_does_not(ssh):
    assert [item.level for item in said_of("client-one", "client-two").items] == ["ok", "ok"]
    lacking = said_of("client-one", "no-such-host.invalid").lacking()
    assert "client host no-such-host.invalid cannot run clients" in lacking["client_hosts"]


@needs_tools
def test_preflight_asks_a_host_for_its_versions_and_leaves_this_machine_alone(ssh, monkeypatch):
    monkeypatch.setattr(preflight_clients, "versions_here", lambda programs: Versions("fio-0", "0.1"))
    [finding] = said_of("localhost", "client-one").items
    assert (finding.level, finding.word) == ("skip", "client_hosts")
    assert "this machine's is fio-0" in finding.text
    assert said_of("localhost", "127.0.0.1").items == []
