"""A lost site: its daemons stand still together, and go on whatever becomes of who stopped them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from replay.base.errors import ReplayError
from replay.sandbox import daemons, processes
from replay.sandbox.site_loss import SiteLoss
from support.patience import patient, wait_until

SLEEPER = [sys.executable, "-c", "import time; time.sleep(3600)"]
CLUSTER = SimpleNamespace(name="left", osd_ids=[0, 1])


@pytest.fixture
def running(tmp_path, monkeypatch):
    """Processes that stand for the daemons of a cluster, by their names."""
    found = {
        role.name: processes.start(SLEEPER, output=tmp_path / f"{role.name}.out", cwd=tmp_path)
        for role in daemons.roles(CLUSTER)
    }
    monkeypatch.setattr(daemons, "running", lambda layout, role: found.get(role.name))
    yield found
    processes.thaw(list(found.values()))
    processes.stop(list(found.values()), timeout_seconds=patient(5))


def loss_of():
    return SiteLoss(SimpleNamespace(clusters={"left": CLUSTER}, layout=None), "left")


def test_all_daemons_stop_at_once_and_go_on(running):
    with loss_of() as loss:
        assert loss.lose() == 4
        assert all(processes.is_frozen(one) for one in running.values())
        loss.check_lost()
        loss.restore()
        wait_until(lambda: not any(processes.is_frozen(one) for one in running.values()), "the daemons to go on")
    assert all(processes.is_alive(one) for one in running.values())


def test_the_osds_stop_first_because_they_acknowledge_writes(running):
    assert loss_of().processes[:2] == [running["osd.0"], running["osd.1"]]


def test_leaving_a_loss_by_an_error_lets_the_daemons_go_on(running):
    with pytest.raises(ReplayError, match="the promotion failed"), loss_of() as loss:
        loss.lose()
        raise ReplayError("the promotion failed")
    wait_until(lambda: not any(processes.is_frozen(one) for one in running.values()), "the daemons to go on")


def test_a_daemon_that_went_on_voids_the_loss(running):
    with loss_of() as loss:
        loss.lose()
        processes.thaw([running["osd.1"]])
        wait_until(lambda: not processes.is_frozen(running["osd.1"]), "the OSD to go on")
        with pytest.raises(ReplayError, match=f"processes .{running['osd.1'].pid}. went on"):
            loss.check_lost()


def test_a_cluster_that_is_not_whole_cannot_be_lost(running):
    ended = running.pop("osd.1")
    processes.stop([ended], timeout_seconds=patient(5))
    with pytest.raises(ReplayError, match=r"not whole: osd\.1 not running"):
        loss_of()


def test_nothing_stops_without_a_guardian(running):
    with pytest.raises(ReplayError, match="nobody would let the daemons go on"):
        loss_of().lose()
    assert not any(processes.is_frozen(one) for one in running.values())


def test_the_guardian_lets_them_go_on_when_its_starter_is_killed(running, tmp_path):
    told = json.dumps([asdict(one) for one in running.values()])
    code = (
        "import subprocess, sys, time\n"
        "one = subprocess.Popen([sys.executable, '-m', 'replay.sandbox.site_loss_guardian', sys.argv[1]],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)\n"
        "one.stdout.readline(); print('ready', flush=True); time.sleep(3600)"
    )
    with subprocess.Popen([sys.executable, "-c", code, told], stdout=subprocess.PIPE) as starter:
        assert starter.stdout.readline() == b"ready\n"
        processes.freeze(list(running.values()))
        os.kill(starter.pid, signal.SIGKILL)
    wait_until(lambda: not any(processes.is_frozen(one) for one in running.values()), "the daemons to go on")


def test_the_guardian_leaves_a_recycled_pid_alone(running):
    ours = running["osd.0"]
    processes.freeze([ours])
    other = json.dumps([asdict(ours) | {"start_ticks": 1}])
    subprocess.run(
        [sys.executable, "-m", "replay.sandbox.site_loss_guardian", other], stdin=subprocess.DEVNULL, check=True,
        capture_output=True,
    )  # fmt: skip
    assert processes.is_frozen(ours)


def test_a_killed_mirror_daemon_is_started_again_and_recorded(running, tmp_path, monkeypatch):
    running[daemons.MIRROR.name] = processes.start(SLEEPER, output=tmp_path / "mirror.out", cwd=tmp_path)
    did = []
    monkeypatch.setattr(daemons, "start", lambda layout, role: did.append(("start", role)))
    monkeypatch.setattr(daemons, "await_ready", lambda layout, role, *_, **__: did.append(("ready", role)))
    monkeypatch.setattr(daemons, "record", lambda sandbox: did.append("record"))
    sandbox = SimpleNamespace(clusters={"left": CLUSTER}, layout=None, save=lambda: did.append("save"))
    with SiteLoss(sandbox, "left") as loss:
        loss.lose()
        loss.kill_mirror_daemon()
        assert not processes.is_alive(running[daemons.MIRROR.name])
        assert did == []
    assert did == [("start", daemons.MIRROR), ("ready", daemons.MIRROR), "record", "save"]
