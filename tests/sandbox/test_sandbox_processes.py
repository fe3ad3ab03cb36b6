"""Recognising our own processes, and ending only those; the ports of the monitors."""

import contextlib
import dataclasses
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay.sandbox import conf, processes
from support.patience import patient, wait_until

SLEEPER = [sys.executable, "-c", "import time; time.sleep(3600)"]


@pytest.fixture
def sleeper(tmp_path):
    process = processes.start(SLEEPER, output=tmp_path / "log" / "out", cwd=tmp_path)
    yield process
    processes.stop([process], timeout_seconds=patient(5))


def test_a_started_process_is_alive_until_it_is_stopped(sleeper):
    assert processes.is_alive(sleeper)
    processes.stop([sleeper], timeout_seconds=patient(5))
    assert not processes.is_alive(sleeper)


@pytest.mark.parametrize("difference", [{"start_ticks": 1}, {"boot": "another boot"}, {"program": "/usr/bin/ceph-osd"}])
def test_a_recycled_pid_is_not_ours_and_is_not_killed(sleeper, difference):
    ours = dataclasses.replace(sleeper, **difference)
    assert not processes.is_alive(ours)
    processes.stop([ours], timeout_seconds=0.5)
    assert processes.is_alive(sleeper)


def test_the_start_of_a_process_is_in_seconds_since_the_epoch(tmp_path):
    before = time.time()
    process = processes.start(SLEEPER, output=tmp_path / "out", cwd=tmp_path)
    try:
        # The kernel counts in hundredths of a second.
        assert before - 0.1 <= processes.started_at(process) <= time.time() + 0.1
    finally:
        processes.stop([process], timeout_seconds=patient(5))


def test_a_zombie_does_not_count_as_running():
    child = subprocess.Popen(["true"])
    wait_until(lambda: processes.identify(child.pid) is None, "the end of the child")
    child.wait()


def test_a_process_that_ignores_sigterm_is_killed_after_the_timeout(tmp_path):
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True)"
    code = f"import signal, time; {deaf}; time.sleep(3600)"
    process = processes.start([sys.executable, "-c", code], output=tmp_path / "out", cwd=tmp_path)
    wait_until(lambda: "deaf" in (tmp_path / "out").read_text(), "the deaf process")
    processes.stop([process], timeout_seconds=0.3)
    assert not processes.is_alive(process)


def test_a_pid_file_survives_a_round_trip_and_a_damaged_one_names_nobody(sleeper, tmp_path):
    path = tmp_path / "some.pid"
    sleeper.save(path)
    assert processes.read_pid_file(path) == sleeper
    path.write_text("{")
    assert processes.read_pid_file(path) is None
    assert processes.read_pid_file(tmp_path / "absent") is None


def test_a_daemon_has_its_own_session_and_no_descriptor_of_its_starter(tmp_path):
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    os.set_inheritable(lock, True)
    process = processes.start(SLEEPER, output=tmp_path / "out", cwd=tmp_path)
    try:
        assert os.getsid(process.pid) == process.pid
        links = set()
        for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it opens and closes files of its own as it starts
                links.add(descriptor.readlink())
        assert tmp_path / "lock" not in links
    finally:
        os.close(lock)
        processes.stop([process], timeout_seconds=patient(5))


def test_the_hosts_ceph_settings_do_not_reach_a_daemon(monkeypatch):
    for name in ("CEPH_ARGS", "CEPH_CONF", "CEPH_KEYRING"):
        monkeypatch.setenv(name, "/somewhere/else")
    assert not [name for name in processes.daemon_environment() if name.startswith("CEPH")]


def test_only_ceph_daemons_with_a_configuration_in_the_folder_belong_to_a_sandbox(tmp_path):
    daemon = tmp_path / "ceph-osd"
    # A program that starts no other: for a moment, a shell's child would look like the shell itself.
    daemon.symlink_to(Path(sys.executable).resolve())
    started = []
    for folder in ("a", "ab"):
        conf = tmp_path / folder / "left" / "ceph.conf"
        argv = [str(daemon), "-ISc", "import time; time.sleep(3600)", "--conf", str(conf)]
        started.append(processes.start(argv, output=tmp_path / "out", cwd=tmp_path))
        while not Path(f"/proc/{started[-1].pid}/cmdline").read_bytes():
            time.sleep(0.001)  # the kernel is still laying out the new program
    try:
        assert list(processes.of_sandbox(tmp_path / "a")) == [("ceph-osd", started[0])]
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def taken():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield listener.getsockname()[1]


def test_a_port_with_a_listener_is_not_free(taken):
    assert not conf.is_free(taken)


def test_a_port_is_free_again_after_its_listener_is_gone():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
    assert conf.is_free(port)


def test_chosen_ports_are_distinct_free_and_used_neither_by_ceph_nor_for_outgoing_connections():
    chosen = conf.choose(5)
    assert len(set(chosen)) == 5
    assert all(conf.is_free(port) and 7300 < port < 32768 for port in chosen)


def test_only_a_port_that_somebody_has_is_called_taken(monkeypatch):
    monkeypatch.setattr(conf, "LOOPBACK", "192.0.2.1")  # an address that no machine has
    with pytest.raises(OSError, match="assign"):
        conf.is_free(20000)


def test_a_busy_port_is_skipped(monkeypatch):
    monkeypatch.setattr(conf, "_FIRST", 20000)
    monkeypatch.setattr(conf, "_LAST", 20003)
    monkeypatch.setattr(conf, "is_free", lambda port: port in (20001, 20003))
    assert sorted(conf.choose(2)) == [20001, 20003]
    with pytest.raises(conf.SandboxError, match="fewer than 3 free ports"):
        conf.choose(3)
