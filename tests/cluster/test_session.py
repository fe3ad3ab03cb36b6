from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.session import SERVER, MonitorSession
from support.patience import patient, wait_until
from support.programs import descendants, is_running

pytestmark = pytest.mark.sandbox


@pytest.fixture
def session(administrator: Cluster) -> Iterator[MonitorSession]:
    with MonitorSession(administrator) as one:
        yield one


def server_of(session: MonitorSession) -> int:
    """Return the process id of the session's server."""
    assert session._child is not None
    return session._child.pid


def _await_end(pid: int) -> None:
    wait_until(lambda: not is_running(pid), "the end of the session's server")


def test_a_status_starts_no_program(session: MonitorSession) -> None:
    session.status()
    server, running = server_of(session), descendants(os.getpid())
    for _ in range(20):
        assert session.status()["health"]["status"].startswith("HEALTH_")
    assert session.transport == "rados"
    assert (server_of(session), descendants(os.getpid())) == (server, running)


def test_a_recent_status_serves_those_whom_it_suffices_and_nobody_else(session: MonitorSession) -> None:
    first = session.status()
    assert session.status(at_most_seconds_old=patient(60)) is first
    assert session.status() is not first


def test_an_error_carries_cephs_own_number_and_words(session: MonitorSession) -> None:
    with pytest.raises(CephCommandError, match="unrecognized pool 'nope'") as caught:
        session.command({"prefix": "osd pool get", "pool": "nope", "var": "size"})
    assert caught.value.exit_status_of_tool == 2
    assert session.command({"prefix": "osd pool get", "pool": "replay", "var": "size"})["size"] == 3


def test_an_osd_answers_too(session: MonitorSession) -> None:
    assert "osd" in session.command({"prefix": "perf dump"}, target="osd.0")


def test_a_dead_server_is_replaced(session: MonitorSession) -> None:
    session.status()
    first = server_of(session)
    os.kill(first, signal.SIGKILL)
    assert session.status()["health"]
    assert server_of(session) != first


def test_a_server_that_does_not_answer_is_ended_in_time_and_replaced(session: MonitorSession) -> None:
    session.status()
    stuck = server_of(session)
    os.kill(stuck, signal.SIGSTOP)
    with pytest.raises(CephCommandError, match=r"no answer within \d+ s"):
        session.command({"prefix": "status"}, timeout_seconds=1)
    _await_end(stuck)
    assert session.status()["health"]


def test_threads_share_one_session(session: MonitorSession) -> None:
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(session.status()["fsid"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patient(30))
    assert answers == [session.fsid()] * 8


def test_the_ceph_program_takes_over_if_the_module_is_missing(
    administrator: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MonitorSession, "python", sys.executable)
    with MonitorSession(administrator) as session:
        fsid = session.status()["fsid"]
        assert session.transport == "ceph"
        assert session.fsid() == fsid
        assert session.command({"prefix": "osd pool get", "pool": "replay", "var": "size"})["size"] == 3
        with pytest.raises(CephCommandError):
            session.command({"prefix": "osd pool get", "pool": "nope", "var": "size"})


def test_a_wrong_key_is_an_error_and_not_a_wait(administrator: Cluster, tmp_path: Path) -> None:
    keyring = tmp_path / "keyring"
    keyring.write_text("[client.nobody]\n\tkey = AQCSkABryti3NBAAoGUx7aZ3ddXSaBeudP36tA==\n")
    with MonitorSession(Cluster(administrator.conf, "client.nobody", keyring)) as session:
        started = time.monotonic()
        with pytest.raises(CephCommandError, match="cannot connect"):
            session.status()
        assert time.monotonic() - started < patient(20)


def test_the_server_dies_with_its_parent_even_when_that_is_killed(administrator: Cluster) -> None:
    program = (
        "import sys, time; from pathlib import Path; from replay.cluster.cluster import Cluster;"
        "from replay.cluster.session import MonitorSession;"
        f"s = MonitorSession(Cluster(Path({str(administrator.conf)!r}), keyring=Path({str(administrator.keyring)!r})));"
        "s.status(); print(s._child.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert str(SERVER) in Path(f"/proc/{pid}/cmdline").read_text()
        parent.kill()
    _await_end(pid)
