"""Clients on other hosts: the commands for ssh, what must be equal, and that nothing stays on the hosts."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import RefusedError, ReplayError
from replay.cluster import fio_clients as fio_clients_module
from replay.cluster.cluster import Cluster
from replay.cluster.fio_clients import (
    OPTIONS,
    SERVE,
    RemoteServers,
    Versions,
    check_versions,
    fio_servers,
    is_listening,
    spread,
    ssh_argv,
)
from replay.cluster.running import Background
from replay.cluster.site import missing
from support.patience import patient, wait_until
from support.programs import needs, processes
from support.ssh_server import folders_of_clients, ssh_server

SAME = Versions("fio-3.33", "16.2.15")
NULL_JOB = "[global]\nioengine=null\nsize=1M\nrw=write\nbs=4k\n\n[client-{}]\n"
needs_tools = needs("fio", "rbd")


# What is asked -----------------------------------------------------------------------------------------------------


@given(clients=st.integers(1, 200), hosts=st.integers(1, 12))
def test_every_client_runs_on_one_host_and_no_host_has_two_more_than_another(clients, hosts):
    names = [f"host-{n}" for n in range(hosts)]
    found = spread(clients, names)
    assert sorted(number for numbers in found.values() for number in numbers) == list(range(1, clients + 1))
    counts = [len(found.get(name, [])) for name in names]
    assert max(counts) - min(counts) <= 1


def test_ssh_makes_a_tunnel_per_client_and_runs_one_command_that_every_shell_reads_in_the_same_way(tmp_path):
    sockets = {1: tmp_path / "client-1.sock", 3: tmp_path / "client-3.sock"}
    argv = ssh_argv("me@node-1", "/dev/shm/x", sockets, conf_bytes=10, keyring_bytes=20)
    assert argv[-3:-1] == ["--", "me@node-1"], "a host is never taken for an option"
    tunnels = [argv[i + 1] for i, word in enumerate(argv) if word == "-L"]
    assert tunnels == [f"{tmp_path}/client-1.sock:/dev/shm/x/1.sock", f"{tmp_path}/client-3.sock:/dev/shm/x/3.sock"]
    assert shlex.split(argv[-1]) == ["sh", "-c", SERVE, "replay", "/dev/shm/x", "10", "20", "1", "3"]


def test_ssh_asks_nobody_shares_no_connection_and_gives_up_without_its_tunnels():
    options = dict(OPTIONS)
    assert (options["BatchMode"], options["ExitOnForwardFailure"]) == ("yes", "yes")
    assert (options["ControlMaster"], options["ForwardAgent"]) == ("no", "no")
    assert "StrictHostKeyChecking" not in options, "whom to trust is the operator's decision"


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (Versions("fio-3.28", "16.2.15"), "its fio is fio-3.28, this machine's is fio-3.33"),
        (Versions("fio-3.33", "17.2.7"), "its librbd is 17.2.7, this machine's is 16.2.15"),
        (Versions("fio-3.33", None), "its librbd is unknown"),
    ],
)
def test_a_host_with_another_version_is_refused_by_name(there, said):
    check_versions(SAME, {"node-1": SAME})
    with pytest.raises(RefusedError, match=said) as raised:
        check_versions(SAME, {"node-1": SAME, "node-2": there})
    assert raised.value.where == "client host node-2"


def test_unknown_versions_are_not_equal():
    with pytest.raises(RefusedError):
        check_versions(Versions(None, None), {"node-1": Versions(None, None)})


def test_other_hosts_need_the_program_ssh(monkeypatch):
    class Site:
        allows = frozenset({"client_hosts"})
        client_hosts = ("node-1",)

    assert missing(["client_hosts"], Site()) == []
    monkeypatch.setenv("PATH", "/nowhere")
    [(_, why)] = missing(["client_hosts"], Site())
    assert "ssh is not installed" in why


# What the host does, without ssh --------------------------------------------------------------------------------------


class Host:
    """The script that ssh would start, started here."""

    def __init__(self, folder, conf=b"[global]\n", keyring=b"secret\n", promised=None, numbers=("1",)):
        self.folder = folder
        sizes = [str(promised or len(conf)), str(len(keyring))]
        command = shlex.join(["sh", "-c", SERVE, "replay", str(folder), *sizes, *numbers])
        self.process = subprocess.Popen(
            ["sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.process.stdin.write((conf + keyring).decode())
        self.process.stdin.flush()

    def said(self):
        lines = []
        for line in self.process.stdout:
            lines.append(line.strip())
            if line == "ready\n":
                break
        return lines

    def end(self):
        _, stderr = self.process.communicate(timeout=patient(20))
        return self.process.returncode, stderr


def servers_in(folder):
    return processes(f"--server=sock:{folder}/")


def await_end(folder):
    wait_until(lambda: not servers_in(folder) and not folder.exists(), f"the end of {folder}")


@needs_tools
def test_a_host_writes_its_secrets_for_its_user_only_and_removes_them_when_input_ends(tmp_path):
    host = Host(tmp_path / "made", numbers=("1", "2"))
    words = {line.split(" ", 1)[0]: line for line in host.said()}
    assert set(words) == {"fio", "rbd", "host", "ready"}
    assert (tmp_path / "made" / "ceph.conf").read_text() == "[global]\n"
    assert (tmp_path / "made" / "keyring").read_text() == "secret\n"
    assert (tmp_path / "made").stat().st_mode & 0o077 == 0
    assert (tmp_path / "made" / "keyring").stat().st_mode & 0o077 == 0
    assert len(servers_in(tmp_path / "made")) == 2
    assert all(is_listening(tmp_path / "made" / f"{n}.sock") for n in (1, 2))
    assert host.end() == (0, "")
    await_end(tmp_path / "made")


@needs_tools
def test_a_host_that_is_cut_off_while_it_receives_the_key_keeps_nothing(tmp_path):
    host = Host(tmp_path / "made", promised=1000)
    status, said = host.end()
    assert status == 1
    assert "cut off" in said
    await_end(tmp_path / "made")


@needs_tools
def test_a_folder_of_somebody_else_is_neither_used_nor_removed(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").write_text("precious")
    status, said = Host(tmp_path / "theirs").end()
    assert status != 0
    assert "exists" in said
    assert (tmp_path / "theirs" / "file").read_text() == "precious"


# Through a real server -----------------------------------------------------------------------------------------------


@pytest.fixture
def ssh(monkeypatch):
    """A server that is two hosts, and an ssh that finds it."""
    with ssh_server(("client-one", "client-two")) as server:
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
        yield server


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "ceph.conf").write_text("[global]\n")
    (tmp_path / "keyring").write_text("[client.replay]\n\tkey = none\n")
    return Cluster(tmp_path / "ceph.conf", "client.replay", tmp_path / "keyring")


@needs_tools
def test_clients_of_two_hosts_and_of_this_one_start_together_and_all_report(ssh, cluster, tmp_path):
    before = folders_of_clients()
    hosts = ("client-one", "localhost", "client-two")
    jobs = [NULL_JOB.format(n) for n in range(1, 6)]
    with fio_servers(cluster, {"rbd_cache": "false"}, jobs, hosts=hosts) as clients:
        assert len(folders_of_clients() - before) == 2
        argv = ["fio", "--output-format=json"]
        for number in range(1, 6):
            argv += [f"--client={clients.values[f'server_{number}']}", clients.values[f"job_{number}"]]
        done = subprocess.run(argv, capture_output=True, timeout=patient(60), check=False)
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode()
        for word, placeholder in clients.words.items():
            text = text.replace(word, placeholder)
    stats = json.loads(text[text.index("\n{") :])["client_stats"]
    assert sorted(one["jobname"] for one in stats if one["jobname"] != "All clients") == [
        f"client-{n}" for n in range(1, 6)
    ]
    assert f"<{os.uname().nodename}>" not in text
    assert "replay-fio" not in text
    assert folders_of_clients() == before


@needs_tools
def test_a_host_with_another_librbd_is_refused_and_left_clean(ssh, cluster, monkeypatch):
    before = folders_of_clients()
    monkeypatch.setattr(fio_clients_module, "versions_here", lambda programs: Versions(SAME.fio, "1.0"))
    with pytest.raises(RefusedError, match="client host client-one"):  # noqa: SIM117
        with fio_servers(cluster, {}, [NULL_JOB.format(1)], hosts=("client-one",)):
            raise AssertionError("the clients were handed out")
    assert folders_of_clients() == before


def test_a_host_that_cannot_be_reached_is_named_with_what_to_try(ssh, cluster):
    with pytest.raises(ReplayError) as raised:  # noqa: SIM117
        with fio_servers(cluster, {}, ["", ""], hosts=("client-one", "no-such-host.invalid")):
            raise AssertionError("the clients were handed out")
    assert raised.value.where == "client host no-such-host.invalid"
    assert "BatchMode" in raised.value.next_step


def test_an_ssh_that_ends_before_it_was_sent_anything_is_reported_with_its_host(tmp_path, monkeypatch):
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\necho refused >&2\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    send = Background.send

    def too_late(self, data):
        wait_until(lambda: self.exit_status is not None, "the end of ssh")
        send(self, data)

    monkeypatch.setattr(Background, "send", too_late)
    servers = RemoteServers("client-one", {1: tmp_path / "1.sock"}, conf=lambda key: "", keyring=b"key")
    with pytest.raises(ReplayError, match="refused") as raised:
        servers.await_ready()
    servers.end()
    assert raised.value.where == "client host client-one"


@needs_tools
def test_when_the_runner_is_killed_its_hosts_are_left_clean(ssh, tmp_path):
    program = (
        "import sys, time, pathlib\n"
        "from replay.cluster.fio_clients import RemoteServers\n"
        "made = RemoteServers('client-one', {1: pathlib.Path(sys.argv[1])}, conf=lambda key: '', keyring=b'')\n"
        "made.await_ready()\n"
        "print(made.folder, flush=True)\n"
        "time.sleep(3600)\n"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "here.sock")], stdout=subprocess.PIPE, text=True
    )
    folder = Path(runner.stdout.readline().strip())
    assert folder.name.startswith("replay-fio-")
    assert servers_in(folder)
    runner.send_signal(signal.SIGKILL)
    runner.communicate(timeout=patient(20))
    await_end(folder)


@needs_tools
def test_a_broken_connection_is_reported_with_the_folder_to_look_at(ssh, tmp_path):
    made = RemoteServers("client-one", {1: tmp_path / "here.sock"}, conf=lambda key: "", keyring=b"")
    made.await_ready()
    [connection] = processes(f"-L {tmp_path}/here.sock:{made.folder}/1.sock ")
    os.kill(connection, signal.SIGKILL)
    problem = made.end()
    assert problem is not None
    assert made.folder in problem
    await_end(Path(made.folder)), "the host cleans up by itself as soon as it notices"
