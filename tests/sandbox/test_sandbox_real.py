"""A real sandbox: real daemons, started, disturbed and removed. One sandbox serves all tests that leave it running."""

import configparser
import errno
import hashlib
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from replay.base.paths import ROOT
from replay.base.programs import major_of, releases_directory
from replay.cluster.cluster import ask
from replay.cluster.mirroring import MirrorDaemon
from replay.sandbox import load, owns_fsid
from replay.sandbox.releases import ceph_version
from support.patience import patient, wait_until
from support.releases import RELEASE

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.of_release,
    pytest.mark.slow,
    pytest.mark.xdist_group("a sandbox of their own"),
]

SMALL = ["--left-osd-size", "6GiB", "--right-osd-size", "6GiB", "--release", RELEASE]
MIB = 1 << 20
#: The warnings of a healthy cluster: Debian 13's manager of release 18 cannot load some of its modules.
WARNINGS = {18: r"HEALTH_WARN \(MGR_MODULE_DEPENDENCY: [^;)]*\)"}


def command(
    *arguments: object, script: Path = ROOT / "scripts" / "sandbox", **options: object
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=patient(180),
        check=False,
        **options,
    )


def up(folder: Path, *more: str) -> subprocess.CompletedProcess:
    done = command("up", "--directory", folder, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def processes_naming(folder: Path) -> dict[int, str]:
    """Every other process whose command line names the folder, found without Replay's own code."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"{folder}/" in line and state != "Z" and int(entry.name) != os.getpid():
            found[int(entry.name)] = line
    return found


def status_of(folder: Path) -> dict:
    return json.loads(command("status", "--json", "--directory", folder).stdout)


def rbd(folder: Path, cluster: str, *arguments: str, check: bool = True) -> str:
    sandbox = load(folder)
    argv = sandbox.layout.programs_at(cluster).command(["rbd", "--conf", sandbox.clusters[cluster].conf, *arguments])
    return subprocess.run(argv, capture_output=True, text=True, timeout=patient(60), check=check).stdout


@pytest.fixture(scope="module")
def place(run_folder):
    """A folder on a real disk that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="real-", dir=run_folder))
    folder.chmod(0o755)
    yield folder
    for sandbox in folder.iterdir():
        if (sandbox / "sandbox.json").exists():
            command("down", "--directory", sandbox)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def running(place):
    """A sandbox that was started by two `up` at the same moment."""
    folder = place / "one"
    began = time.monotonic()
    argv = [str(ROOT / "scripts" / "sandbox"), "up", "--directory", str(folder), *SMALL]
    starters = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    said = [starter.communicate(timeout=patient(180))[0] for starter in starters]
    print(f"\nup from nothing, started twice: {time.monotonic() - began:.1f} s")
    assert [starter.returncode for starter in starters] == [0, 0], said
    yield folder, said
    done = command("down", "--directory", folder)
    assert done.returncode == 0, done.stderr
    assert processes_naming(folder) == {}
    assert not folder.exists()


def test_if_two_start_it_one_waits_and_finds_it_running(running):
    folder, said = running
    waiter, creator = sorted(said, key=len)
    assert "waiting for it" in waiter
    assert "already running" in waiter
    assert "mirroring: connected" in creator
    assert len(processes_naming(folder)) == len(status_of(folder)["daemons"])


def test_both_clusters_are_clean_and_mirroring_is_connected(running):
    status = status_of(running[0])
    assert status["ok"] is True
    assert [each["name"] for each in status["daemons"]] == [
        *("mon.left", "mgr.left", "osd.0", "osd.1", "osd.2"),
        *("mon.right", "mgr.right", "osd.0", "rbd-mirror.right"),
    ]
    health = WARNINGS.get(major_of(ceph_version(load(running[0]).layout.programs)), "HEALTH_OK")
    clean = re.compile(rf"{health}, (\d+) of \1 PGs active\+clean")
    # The manager's own pool may be young.
    wait_until(lambda: all(map(clean.fullmatch, status_of(running[0])["health"].values())), "both clusters are clean")
    assert status["mirroring"].startswith("connected, left to right")


def test_ceph_works_with_only_the_configuration(running):
    conf = command("conf", "--directory", running[0]).stdout.strip()
    argv = load(running[0]).layout.programs.command(["ceph", "-c", conf, "osd", "dump", "--format", "json"])
    done = subprocess.run(argv, capture_output=True, timeout=patient(30))
    pool = next(pool for pool in json.loads(done.stdout)["pools"] if pool["pool_name"] == "replay")
    assert (pool["size"], pool["min_size"], pool["pg_num"], pool["pg_autoscale_mode"]) == (3, 2, 32, "off")


def test_the_daemons_listen_on_loopback_only(running):
    inodes = set()
    for pid in processes_naming(running[0]):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    rows = [row.split() for table in ("tcp", "tcp6") for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    listening = {row[1].split(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes}
    assert listening == {"0100007F"}


def comparable(value: str) -> object:
    """A setting in comparable form: 1 equals 1.000000, an address has a protocol, paths and words stay as they are."""
    value = value.removeprefix("v2:").removesuffix(":0/0")
    try:
        return float(value)
    except ValueError:
        return value


@pytest.mark.parametrize(("section", "daemon"), [("osd", "osd.0"), ("mon", "mon.left"), ("mgr", "mgr.left")])
def test_every_setting_of_the_configuration_is_in_force_in_the_running_daemons(running, section, daemon):
    # Ceph ignores an invalid value, and only writes a line to a log.
    layout = load(running[0]).layout
    conf = configparser.ConfigParser(interpolation=None)
    conf.read(layout.conf("left"))
    wanted = {**conf["global"], **conf[section]}
    in_force = ask(layout.socket("left", daemon), "config show")
    expanded = {key: value.replace("$id", daemon.partition(".")[2]) for key, value in wanted.items()}
    if in_force.get("osd_op_queue") == "mclock_scheduler":
        # From release 17 on OSDs pace their background work by this queue, and set all its pauses to 0 themselves.
        expanded |= {key: "0" for key in wanted if "_sleep" in key and section == "osd"}
    assert {key: comparable(in_force[key]) for key in wanted} == {k: comparable(v) for k, v in expanded.items()}
    assert len(wanted) > 10


def test_the_state_file_tells_other_code_what_it_needs(running, monkeypatch):
    sandbox = load(running[0])
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(running[0]))
    assert all(map(owns_fsid, sandbox.fsids))
    assert sandbox.clusters["left"].osd_ids == [0, 1, 2]
    assert {*sandbox.clusters["left"].pids, *sandbox.clusters["right"].pids, sandbox.mirror.pid} == set(
        processes_naming(running[0])
    )
    assert "rbd mirror status" in ask(sandbox.mirror.asok, "help")


def test_the_monitor_that_was_hurried_during_the_start_has_its_usual_pace(running):
    in_force = ask(load(running[0]).layout.socket("left", "mon.left"), "config show")
    assert float(in_force["paxos_propose_interval"]) == 1.0


def test_a_second_up_finds_everything_running_and_starts_nothing(running):
    before = processes_naming(running[0])
    began = time.monotonic()
    said = up(running[0]).stdout.strip().splitlines()
    assert [line.endswith("already running") for line in said] == [True, False], "it says so, and how to reach it"
    print(f"\nsecond up: {time.monotonic() - began:.2f} s")
    assert processes_naming(running[0]) == before


def test_an_image_of_left_is_mirrored_to_right(running):
    folder = running[0]
    rbd(folder, "left", "create", "--size", "16M", "--image-feature", "exclusive-lock,journaling", "replay/mirrored")
    rbd(folder, "left", "mirror", "image", "enable", "replay/mirrored", "journal")
    wait_until(lambda: "mirrored" in rbd(folder, "right", "ls", "replay").split(), "the image on right")
    daemon = MirrorDaemon(load(folder).mirror.asok, "replay")
    wait_until(lambda: daemon.state("mirrored") == "Replaying", "replay of the image")


def test_a_daemon_that_died_is_started_again_and_the_others_keep_running(running):
    folder = running[0]
    before = {each["name"] + each["cluster"]: each["pid"] for each in status_of(folder)["daemons"]}
    os.kill(before["osd.1left"], signal.SIGKILL)
    assert "8 of 9 daemons are running" in up(folder).stdout
    after = {each["name"] + each["cluster"]: each["pid"] for each in status_of(folder)["daemons"]}
    assert {name for name in before if before[name] != after[name]} == {"osd.1left"}


def bound(taker: socket.socket, port: int) -> bool:
    """Take the port; return whether it was free."""
    try:
        taker.bind(("127.0.0.1", port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


def test_after_a_kill_of_everything_and_a_busy_port_the_data_are_back(running, tmp_path):
    folder = running[0]
    data = tmp_path / "data"
    data.write_bytes(os.urandom(8 * MIB))
    rbd(folder, "left", "import", str(data), "replay/kept")
    for pid in processes_naming(folder):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not processes_naming(folder), "the end of all daemons")

    port = load(folder).clusters["left"].monitor_port
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # A killed process loses its command line first, and its sockets a moment later.
        wait_until(lambda: bound(squatter, port), "the end of the monitor's port")
        squatter.listen(1)
        refused = command("up", "--directory", folder)
    assert refused.returncode == 1
    assert f"port {port} of left's monitor is taken by another process" in refused.stderr
    assert processes_naming(folder) == {}

    began = time.monotonic()
    up(folder)
    print(f"\nup after kill -9 of everything: {time.monotonic() - began:.1f} s")
    rbd(folder, "left", "export", "replay/kept", str(tmp_path / "back"))
    assert hashlib.sha256((tmp_path / "back").read_bytes()).digest() == hashlib.sha256(data.read_bytes()).digest()


@pytest.fixture
def ordinary_user():
    """How to run a program as an ordinary user: by dropping root's rights, if the tests run as root."""
    releases = {"REPLAY_RELEASES": str(releases_directory())}
    if os.geteuid() != 0:
        return {"env": {**os.environ, **releases}}
    nobody = pwd.getpwnam("nobody")
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **releases}
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "env": environment}


def test_a_second_sandbox_of_an_ordinary_user_disturbs_nothing(running, place, ordinary_user):
    # Only a copy of the scripts: no environment of the checkout, the system's python3, the standard library.
    scripts, home = place / "copy" / "scripts", place / "theirs"
    shutil.copytree(ROOT / "scripts", scripts, ignore=shutil.ignore_patterns("__pycache__"))
    home.mkdir()
    if "user" in ordinary_user:
        shutil.chown(home, ordinary_user["user"], ordinary_user["group"])
    before = processes_naming(running[0])
    folder, run = home / "two", {"script": scripts / "sandbox", **ordinary_user}

    # Its first start is killed in the middle; the next one removes the remains.
    options = [*SMALL, "--left-osds", "1"]
    argv = [str(run["script"]), "up", "--directory", str(folder), *options]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, **ordinary_user) as starter:
        wait_until(lambda: any("ceph-osd" in line for line in processes_naming(folder).values()), "a half-made sandbox")
        starter.kill()
    began = time.monotonic()
    done = command("up", "--directory", folder, *options, **run)
    print(f"\nup beside another sandbox: {time.monotonic() - began:.1f} s")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "its creation was not finished" in done.stdout
    for pid in processes_naming(folder):
        assert Path(f"/proc/{pid}").stat().st_uid == ordinary_user.get("user", os.geteuid())
    ports = {each.monitor_port for where in (running[0], folder) for each in load(where).clusters.values()}
    assert len(ports) == 4
    assert "mirrored" not in rbd(folder, "left", "ls", "replay")

    assert command("down", "--directory", folder, **run).returncode == 0
    assert processes_naming(folder) == {}
    assert list(home.iterdir()) == []
    assert processes_naming(running[0]) == before
    assert status_of(running[0])["ok"] is True


def test_a_start_that_is_interrupted_leaves_no_process_and_no_file(place):
    """By SIGTERM, which the program turns into what Python makes of Ctrl-C."""
    folder = place / "interrupted"
    argv = [str(ROOT / "scripts" / "sandbox"), "up", "--directory", str(folder), *SMALL]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as starter:
        wait_until(lambda: any("ceph-mgr" in line for line in processes_naming(folder).values()), "a half-made sandbox")
        starter.send_signal(signal.SIGTERM)
        said = starter.stderr.read()
    assert starter.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    assert processes_naming(folder) == {}
    assert [path.name for path in place.iterdir() if "interrupted" in path.name] == []


def test_a_long_path_with_a_single_cluster_and_down_that_keeps_its_data(place):
    folder = place / ("a-folder-with-a-long-name-" * 3)
    options = f"left_osds=1, right_osds=0, left_osd_bytes={4 << 30}, release={RELEASE!r}"
    script = f"from replay.sandbox import up; up({str(folder)!r}, {options})"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=patient(120))
    run = Path(load(folder).run_dir)
    assert run.parent == Path("/tmp")
    assert [each["name"] for each in status_of(folder)["daemons"]] == ["mon.left", "mgr.left", "osd.0"]
    rbd(folder, "left", "create", "--size", "1M", "replay/kept")

    assert command("down", "--keep", "--directory", folder).returncode == 0
    assert processes_naming(folder) == {}
    assert list(run.iterdir()) == []
    run.rmdir()  # as after a reboot that empties /tmp
    up(folder)
    assert rbd(folder, "left", "ls", "replay").split() == ["kept"]
    assert command("down", "--directory", folder).returncode == 0
    assert not folder.exists()
    assert not run.exists()
