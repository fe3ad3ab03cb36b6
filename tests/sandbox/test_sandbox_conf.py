"""The configuration and keyrings of a sandbox."""

import configparser
import itertools
from pathlib import Path

import pytest

from replay.cluster.sandbox_layout import Layout
from replay.config.sandbox_options import SandboxOptions
from replay.sandbox.conf import MIRROR_CLIENT, SOLID_STATE, keyrings, render, render_peer

LAYOUT = Layout(Path("/srv/a sandbox"), Path("/srv/a sandbox/run"))
FSID = "0addf62d-b4a1-4f6e-812b-fa38a568dd60"


def conf_of(name: str, **options: int) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(render(name=name, fsid=FSID, port=23456, layout=LAYOUT, options=SandboxOptions(**options)))
    return parser


def test_the_monitor_listens_on_loopback_with_messenger_version_2_only():
    conf = conf_of("left")
    assert conf["global"]["mon_host"] == "[v2:127.0.0.1:23456/0]"
    assert conf["global"]["ms_bind_msgr1"] == "false"
    for section in ("mgr", "osd"):
        assert conf[section]["public_addr"] == "127.0.0.1"


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


def test_managers_keep_the_modules_that_are_always_on_and_that_of_rbd():
    for name in ("left", "right"):
        left_out = set(conf_of(name)["mgr"]["mgr_disabled_modules"].split(","))
        assert {"dashboard", "restful", "prometheus"} <= left_out
        assert left_out.isdisjoint(
            {"balancer", "crash", "devicehealth", "iostat", "orchestrator", "pg_autoscaler", "progress"}
            | {"rbd_support", "status", "telemetry", "volumes"}
        )


def test_no_setting_that_affects_writes_depends_on_device_detection():
    conf = conf_of("left")
    assert {key: conf["osd"][key] for key in SOLID_STATE} == {key: str(value) for key, value in SOLID_STATE.items()}
    assert conf["osd"]["bluestore_prefer_deferred_size_hdd"] == conf["osd"]["bluestore_prefer_deferred_size_ssd"] == "0"


def test_clients_find_their_keyring_and_nothing_else_in_the_configuration():
    assert dict(conf_of("left")["client"]) == {"keyring": "/srv/a sandbox/left/client.keyring"}


def test_only_right_configures_the_mirroring_daemon():
    assert MIRROR_CLIENT in conf_of("right")
    assert MIRROR_CLIENT not in conf_of("left")
    assert "mon_host" not in render_peer(LAYOUT)


def test_the_monitors_keyring_holds_the_key_of_every_daemon_and_client():
    numbers = itertools.count()
    seed, files = keyrings("right", LAYOUT, 2, lambda: f"key-{next(numbers)}")
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
    text = render(
        name="left",
        fsid=FSID,
        port=1,
        layout=LAYOUT,
        options=SandboxOptions(),
        classes=Path("/usr/lib64/rados-classes"),
    )
    assert "\nosd_class_dir = /usr/lib64/rados-classes\n" in text
