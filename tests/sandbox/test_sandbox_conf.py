"""What a sandbox is configured with, and what it requires of this machine."""

import configparser
import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, RefusedError
from replay.base.programs import Programs, Release
from replay.cluster.sandbox_options import GIB, SandboxOptions, parse_size
from replay.cluster.sandbox_record import Layout, SandboxCluster
from replay.sandbox import releases
from replay.sandbox.conf import MIRROR_CLIENT, keyrings, render, render_peer
from replay.sandbox.lifecycle import up

LAYOUT = Layout(Path("/srv/a sandbox"), Path("/srv/a sandbox/run"))
FSID = "0addf62d-b4a1-4f6e-812b-fa38a568dd60"


def cluster(name: str) -> SandboxCluster:
    return SandboxCluster(name, FSID, conf="", keyring="", monitor_port=23456, osd_uuids=[])


def conf_of(name: str, major: int = 16, **options: int) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(render(cluster(name), LAYOUT, SandboxOptions(**options), major))
    return parser


@pytest.mark.parametrize(
    ("name", "options", "replicas", "least"),
    [
        ("left", {}, "3", "2"),
        ("right", {}, "1", "1"),
        ("left", {"left_osds": 5}, "3", "2"),
        ("left", {"left_osds": 1}, "1", "1"),
    ],
)
def test_pools_have_as_many_replicas_as_the_cluster_can_hold_and_three_at_most(name, options, replicas, least):
    conf = conf_of(name, **options)
    assert conf["global"]["osd_pool_default_size"] == replicas
    assert conf["global"]["osd_pool_default_min_size"] == least


def test_every_path_is_absolute_and_inside_the_sandbox():
    for name in ("left", "right"):
        conf = conf_of(name)
        paths = [value for section in conf.sections() for value in conf[section].values() if "/srv" in value]
        assert len(paths) >= 12
        assert all(path.startswith("/srv/a sandbox/") for path in paths)
        daemon_keys = {"log_file", "admin_socket"}
        assert all(daemon_keys <= set(conf[section]) for section in ("mon", "mgr", "osd"))


@pytest.mark.parametrize(("major", "capacity"), [(16, None), (17, None), (18, "21500"), (20, "21500")])
def test_an_osd_that_schedules_by_what_its_disk_can_do_schedules_for_a_solid_state_one(major, capacity):
    osd = conf_of("left", major)["osd"]
    assert osd.get("osd_mclock_max_capacity_iops_hdd") == capacity
    assert ("osd_mclock_max_sequential_bandwidth_hdd" in osd) == (capacity is not None)


def test_only_right_configures_the_mirroring_daemon():
    assert MIRROR_CLIENT in conf_of("right")
    assert MIRROR_CLIENT not in conf_of("left")
    assert "mon_host" not in render_peer(LAYOUT)


def test_the_monitors_keyring_holds_the_key_of_every_daemon_and_client():
    numbers = itertools.count()
    seed, files = keyrings("right", LAYOUT, ["mgr.right", "osd.0", "osd.1"], lambda: f"key-{next(numbers)}")
    for entity in ("mon.", "client.admin", "mgr.right", "osd.0", "osd.1", MIRROR_CLIENT):
        assert f"[{entity}]\n\tkey = " in seed
    keys = {line for line in seed.splitlines() if "key = " in line}
    assert len(keys) == 6
    for text in files.values():
        assert {line for line in text.splitlines() if "key = " in line} <= keys
    assert "mds" not in seed.split(f"[{MIRROR_CLIENT}]")[1]
    assert "profile rbd-mirror" in seed.split(f"[{MIRROR_CLIENT}]")[1]


def test_the_folder_of_object_classes_is_set_only_if_it_is_known():
    assert "osd_class_dir" not in conf_of("left")["osd"]
    text = render(cluster("left"), LAYOUT, SandboxOptions(), 18, Path("/usr/lib64/rados-classes"))
    assert "\nosd_class_dir = /usr/lib64/rados-classes\n" in text


def test_a_full_disk_is_refused_with_the_figure_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, name: "/x")
    monkeypatch.setattr(releases, "free_bytes", lambda _: 5 * GIB)
    with pytest.raises(RefusedError) as error:
        up(tmp_path / "sandbox")
    assert "needs 17 GiB free, but only 5 GiB are" in str(error.value)
    assert "--directory" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_the_sandbox_can_outgrow_gives_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(releases, "free_bytes", lambda _: 30 * GIB)
    assert "can grow to 64 GiB, but only 30 GiB are free" in releases.check_space(tmp_path, SandboxOptions())
    monkeypatch.setattr(releases, "free_bytes", lambda _: 500 * GIB)
    assert releases.check_space(tmp_path, SandboxOptions()) is None


def test_free_space_of_a_folder_to_be_made_is_that_of_its_parent(tmp_path):
    assert releases.free_bytes(tmp_path / "not" / "there") > 0


def test_free_space_of_a_folder_behind_a_link_is_that_of_where_it_leads(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to("/proc")
    asked = []
    monkeypatch.setattr(releases.shutil, "disk_usage", lambda path: asked.append(path) or SimpleNamespace(free=1))
    assert releases.free_bytes(tmp_path / "link" / "there") == 1
    assert [path.resolve() for path in asked] == [Path("/proc")]


def test_missing_programs_are_named_with_their_debian_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, name: None if name in ("ceph-osd", "rbd-mirror") else "/x")
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path / "none"))
    with pytest.raises(ConfigurationError) as error:
        up(tmp_path / "sandbox")
    assert "not installed: ceph-osd, rbd-mirror" in str(error.value)
    assert "apt-get install ceph-osd rbd-mirror" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_program_of_the_host_is_not_missed_in_a_release(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path))
    folder = tmp_path / "18"
    folder.mkdir()
    (folder / "release.json").write_text(json.dumps(Release(18, "18.2.7", "a test", folder).to_json()))
    monkeypatch.setattr(Programs, "find", lambda self, name: None if name in ("ip", "nsenter") else "/x")
    with pytest.raises(ConfigurationError, match="not installed: ip, nsenter") as error:
        releases.check_programs(SandboxOptions(release="18", link_rtt_seconds=0.02))
    assert "apt-get install iproute2 util-linux" in error.value.next_step


def test_a_new_sandbox_is_of_the_host_else_of_the_newest_release_that_is_here(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path))
    monkeypatch.setattr(Programs, "find", lambda self, name: "/x")
    for number in (18, 20):
        folder = tmp_path / str(number)
        folder.mkdir()
        record = Release(number, f"{number}.2.7", "a test", folder).to_json()
        (folder / "release.json").write_text(json.dumps(record))
    assert releases.usual_release() == "host"
    for lacking in ("fio", "ceph-mon"):
        monkeypatch.setattr(Programs, "find", lambda self, name, lacking=lacking: None if name == lacking else "/x")
        assert releases.usual_release() == "20"
    said = []
    with pytest.raises(ConfigurationError, match="it lacks ceph-mon"):
        up(tmp_path / "sandbox", say=said.append)
    assert said == [
        f"this host lacks programs of Ceph or of the benchmark tools: using Ceph 20 (tentacle) of {tmp_path}"
    ]
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path / "none"))
    assert releases.usual_release() == "host", "whose absence is then told"


def test_a_sandbox_without_right_needs_no_mirroring_daemon(monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, name: None if name == "rbd-mirror" else "/x")
    releases.check_programs(SandboxOptions(right_osds=0))
    with pytest.raises(ConfigurationError):
        releases.check_programs(SandboxOptions())


@pytest.mark.parametrize(
    ("text", "size"), [("20GiB", 20 * GIB), ("20G", 20 * GIB), ("2.5 GiB", 5 * GIB // 2), ("512M", 1 << 29), ("7", 7)]
)
def test_sizes_are_binary(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-3G", "20 gallons"])
def test_a_text_that_is_not_a_size_is_refused(text):
    with pytest.raises(ConfigurationError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"left_osds": 0},
        {"left_osds": 17},
        {"right_osds": -1},
        {"left_osd_bytes": GIB},
        {"osd_memory_target_bytes": 600 << 20},
    ],
)
def test_impossible_shapes_are_refused(wrong):
    with pytest.raises(ConfigurationError):
        SandboxOptions(**wrong)
