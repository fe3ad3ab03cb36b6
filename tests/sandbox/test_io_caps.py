"""What a sandbox does to its own daemons: capped disks, and the loss of a site."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ReplayError
from replay.sandbox import daemons, interventions, processes
from replay.sandbox.interventions import (
    Hierarchy,
    IoCap,
    SiteLoss,
    device_of,
    find_hierarchy,
    parse_counts,
    release,
    remove_empty_groups,
)
from support.patience import patient, wait_until

GROUP = "replay-0a1b2c3d-osd-2"


def test_version_1_is_found_by_its_controller_and_version_2_by_what_it_delegates(tmp_path):
    for name in ("memory", "blkio", "unified"):
        (tmp_path / name).mkdir()
    mounts = tmp_path / "mounts"
    lines = [
        f"cgroup {tmp_path}/memory cgroup rw,memory 0 0",
        f"cgroup2 {tmp_path}/unified cgroup2 rw,relatime 0 0",
    ]
    mounts.write_text("\n".join(lines) + "\n")
    assert find_hierarchy(mounts) is None, "no throttle anywhere"
    (tmp_path / "unified" / "cgroup.subtree_control").write_text("cpu io memory\n")
    assert find_hierarchy(mounts) == Hierarchy(tmp_path / "unified", 2)
    mounts.write_text("\n".join([f"cgroup {tmp_path}/blkio cgroup rw,relatime,blkio 0 0", *lines]) + "\n")
    assert find_hierarchy(mounts) == Hierarchy(tmp_path / "blkio", 1)


def test_the_caps_are_written_in_the_form_of_each_version(tmp_path):
    one = IoCap(Hierarchy(tmp_path, 1), GROUP, "254:0")
    one.make(120)
    written = {path.name: path.read_text() for path in one.folder.iterdir()}
    assert written == {
        "blkio.throttle.read_iops_device": "254:0 120",
        "blkio.throttle.write_iops_device": "254:0 120",
    }
    two = IoCap(Hierarchy(tmp_path, 2), "replay-0a1b2c3d-osd-3", "254:0")
    two.make(120)
    assert (two.folder / "io.max").read_text() == "254:0 riops=120 wiops=120"


def test_a_process_that_was_moved_into_a_group_is_in_it(tmp_path):
    cap = IoCap(Hierarchy(tmp_path, 1), GROUP, "254:0")
    cap.make(1)
    assert not cap.holds(7)
    cap.take(7)
    assert cap.holds(7) and not cap.holds(77)


def test_both_versions_counts_are_read():
    v1 = "253:0 Read 9\n253:0 Write 9\n254:0 Read 2\n254:0 Write 1104\n254:0 Sync 1106\n254:0 Total 1106\nTotal 1124\n"
    v2 = "253:0 rbytes=1 wbytes=2 rios=9 wios=9 dbytes=0 dios=0\n254:0 rbytes=8192 wbytes=1 rios=2 wios=1104\n"
    assert parse_counts(v1, "254:0") == parse_counts(v2, "254:0") == (2, 1104)
    assert parse_counts("", "254:0") == (0, 0)


@given(reads=st.integers(0, 2**63), writes=st.integers(0, 2**63), others=st.integers(0, 2**63))
def test_counts_of_other_disks_are_ignored(reads, writes, others):
    rows = [f"8:0 Read {others}", f"254:0 Read {reads}", f"8:0 Write {others}", f"254:0 Write {writes}"]
    assert parse_counts("\n".join(rows), "254:0") == (reads, writes)


def test_a_group_is_removed_after_its_processes_returned_home(tmp_path, monkeypatch):
    folder, home = tmp_path / GROUP, tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    moved = []

    def write(path, text, *, gone_is_fine=False):
        moved.append((path.parent.name, text))
        (folder / "cgroup.procs").unlink()  # the kernel's file empties, and goes with the folder

    (folder / "cgroup.procs").write_text("41\n")
    monkeypatch.setattr(interventions, "_write", write)
    assert release(str(tmp_path), GROUP, "/home")
    assert (moved, folder.exists()) == ([("home", "41")], False)
    assert not release(str(tmp_path), GROUP, "/home"), "a second time there is nothing"


@pytest.mark.parametrize("name", ["", "/", "..", "system.slice", "replay-0a1b2c3d-osd-2/../../x"])
def test_no_other_group_is_ever_emptied(tmp_path, name):
    with pytest.raises(ReplayError, match="is not a group of Replay's"):
        release(str(tmp_path), name, "/")


def test_only_empty_groups_of_replay_are_removed_and_no_new_one(tmp_path):
    hierarchy, other = Hierarchy(tmp_path, 1), "replay-0a1b2c3d-osd-3"
    for name in (GROUP, other, "system.slice"):
        (tmp_path / name).mkdir()
    (tmp_path / other / "cgroup.procs").write_text("41\n")
    assert remove_empty_groups(hierarchy) == 0, "just made"
    assert remove_empty_groups(hierarchy, now=lambda: time.time() + 60) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [other, "system.slice"]
    assert remove_empty_groups(None) == 0


def test_a_file_that_is_not_on_a_disk_has_no_device(tmp_path, monkeypatch):
    class NoDisk:
        def stat(self):
            return os.stat_result((0, 0, os.makedev(0, 99999 & 0xFF), 0, 0, 0, 0, 0, 0, 0))

    assert device_of(NoDisk()) is None


@pytest.mark.skipif(os.geteuid() != 0 or find_hierarchy() is None, reason="needs root and the kernel's throttle")
def test_the_kernel_takes_a_process_in_and_gives_it_back():
    hierarchy = find_hierarchy()
    sleeper = subprocess.Popen(["sleep", "60"])
    cap = IoCap(hierarchy, f"replay-{os.getpid() % 16**8:08x}-osd-0", device_of(interventions.Path("/")) or "0:0")
    home = hierarchy.home_of(sleeper.pid)
    try:
        cap.folder.mkdir()
        cap.take(sleeper.pid)
        assert cap.holds(sleeper.pid)
        assert hierarchy.home_of(sleeper.pid) == f"/{cap.group}"
        assert release(str(hierarchy.root), cap.group, home)
        assert (hierarchy.home_of(sleeper.pid), cap.folder.exists()) == (home, False)
    finally:
        release(str(hierarchy.root), cap.group, home)
        sleeper.kill()
        sleeper.wait()


SLEEPER = [sys.executable, "-c", "import time; time.sleep(3600)"]
CLUSTER = SimpleNamespace(name="left", osd_ids=[0, 1], sites={})


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
        "one = subprocess.Popen([sys.executable, '-m', 'replay.sandbox.interventions', sys.argv[1]],"
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
        [sys.executable, "-m", "replay.sandbox.interventions", other], stdin=subprocess.DEVNULL, check=True,
        capture_output=True,
    )  # fmt: skip
    assert processes.is_frozen(ours)


def test_a_destroyed_site_is_killed_and_started_again_osds_last(running, monkeypatch):
    did = []
    monkeypatch.setattr(daemons, "start", lambda layout, role: did.append(("start", role.name)))
    monkeypatch.setattr(daemons, "await_ready", lambda layout, role, *_, **__: did.append(("ready", role.name)))
    monkeypatch.setattr(daemons, "record", lambda sandbox: did.append("record"))
    sandbox = SimpleNamespace(clusters={"left": CLUSTER}, layout=None, save=lambda: did.append("save"))
    with SiteLoss(sandbox, "left") as loss:
        assert loss.destroy() == 4
        assert not any(processes.is_alive(one) for one in running.values())
        assert did == []
    started = [what[1] for what in did if what[0] == "start"]
    assert started[-2:] == ["osd.0", "osd.1"] and set(started) == set(running)
    assert did[-2:] == ["record", "save"]


def test_only_the_daemons_of_a_stretch_clusters_site_are_lost_with_it(running):
    sites = {"mon.left": "left", "mon.right": "right", "mgr.right": "right", "osd.0": "left", "osd.1": "right"}
    stretched = SimpleNamespace(name="left", osd_ids=[0, 1], sites=sites)
    loss = SiteLoss(SimpleNamespace(clusters={"left": stretched}, layout=None), "left")
    assert loss.processes == [running["osd.0"], running["mon.left"]]


def test_a_killed_mirror_daemon_is_started_again_and_recorded(running, tmp_path, monkeypatch):
    running[daemons.MIRROR.name] = processes.start(SLEEPER, output=tmp_path / "mirror.out", cwd=tmp_path)
    did = []
    monkeypatch.setattr(daemons, "start_mirroring", lambda layout, interrupt: did.append("start"))
    monkeypatch.setattr(daemons, "record", lambda sandbox: did.append("record"))
    sandbox = SimpleNamespace(clusters={"left": CLUSTER}, layout=None, save=lambda: did.append("save"))
    with SiteLoss(sandbox, "left") as loss:
        loss.lose()
        loss.kill_mirror_daemon()
        assert not processes.is_alive(running[daemons.MIRROR.name])
        assert did == []
    assert did == ["start", "record", "save"]
