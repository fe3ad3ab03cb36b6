"""Ports of the monitors."""

import os
import socket

import pytest

from replay.sandbox import ports


@pytest.fixture
def taken():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield listener.getsockname()[1]


def test_a_port_with_a_listener_is_not_free(taken):
    assert not ports.is_free(taken)


def test_a_port_is_free_again_after_its_listener_is_gone():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
    assert ports.is_free(port)


def test_chosen_ports_are_distinct_free_and_used_neither_by_ceph_nor_for_outgoing_connections():
    chosen = ports.choose(5)
    assert len(set(chosen)) == 5
    assert all(ports.is_free(port) and 7300 < port < 32768 for port in chosen)


def test_a_busy_port_is_skipped(monkeypatch):
    monkeypatch.setattr(ports, "_FIRST", 20000)
    monkeypatch.setattr(ports, "_LAST", 20003)
    monkeypatch.setattr(ports, "is_free", lambda port: port in (20001, 20003))
    assert sorted(ports.choose(2)) == [20001, 20003]
    with pytest.raises(ports.SandboxError, match="fewer than 2 free ports"):
        ports.choose(2, avoid=frozenset({20001}))


def test_the_holder_of_a_port_is_named_with_its_pid(taken):
    assert f"(pid {os.getpid()})" in ports.holder(taken)


def test_the_holder_of_a_free_port_is_not_invented():
    assert ports.holder(1) == "a process of another user"
