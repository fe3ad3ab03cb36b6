"""What a sandbox requires of a host."""

import json

import pytest

from replay.base.errors import ConfigurationError
from replay.base.programs import Programs
from replay.base.releases import Release
from replay.config.sandbox_options import GIB, SandboxOptions, parse_size, show_size
from replay.sandbox import requirements
from replay.sandbox.errors import MissingProgramsError, NoSpaceError
from replay.sandbox.lifecycle import up


def test_a_full_disk_is_refused_with_the_figure_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, name: "/x")
    monkeypatch.setattr(requirements, "free_bytes", lambda _: 5 * GIB)
    with pytest.raises(NoSpaceError) as error:
        up(tmp_path / "sandbox")
    assert "needs 15 GiB free, but only 5 GiB are" in str(error.value)
    assert "--directory" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_needed_space_follows_from_the_sizes():
    assert SandboxOptions().needed_bytes == GIB + (3 * 16 + 8) * GIB // 4
    assert SandboxOptions(left_osds=1, right_osds=0, left_osd_bytes=4 * GIB).needed_bytes == 2 * GIB


def test_a_disk_that_the_sandbox_can_outgrow_gives_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(requirements, "free_bytes", lambda _: 30 * GIB)
    assert "can grow to 56 GiB, but only 30 GiB are free" in requirements.check_space(tmp_path, SandboxOptions())
    monkeypatch.setattr(requirements, "free_bytes", lambda _: 500 * GIB)
    assert requirements.check_space(tmp_path, SandboxOptions()) is None


def test_free_space_of_a_folder_to_be_made_is_that_of_its_parent(tmp_path):
    assert requirements.free_bytes(tmp_path / "not" / "there") > 0


def test_missing_programs_are_named_with_their_debian_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, name: None if name in ("ceph-osd", "rbd-mirror") else "/x")
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path / "none"))
    with pytest.raises(MissingProgramsError) as error:
        up(tmp_path / "sandbox")
    assert "not installed: ceph-osd, rbd-mirror" in str(error.value)
    assert "apt-get install ceph-osd rbd-mirror" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_new_sandbox_is_of_the_host_else_of_the_newest_release_that_is_here(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path))
    monkeypatch.setattr(Programs, "find", lambda self, name: "/x")
    for number in (18, 20):
        folder = tmp_path / str(number)
        folder.mkdir()
        record = Release(number, f"{number}.2.7", "a test", folder).to_json()
        (folder / "release.json").write_text(json.dumps(record))
    assert requirements.usual_release() == "host"
    monkeypatch.setattr(Programs, "find", lambda self, name: None if name == "ceph-mon" else "/x")
    assert requirements.usual_release() == "20"
    said = []
    with pytest.raises(MissingProgramsError, match="it lacks ceph-mon"):
        up(tmp_path / "sandbox", say=said.append)
    assert said == [f"this host lacks programs of Ceph: using Ceph 20 (tentacle) of {tmp_path}"]
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path / "none"))
    assert requirements.usual_release() == "host", "whose absence is then told"


def test_a_sandbox_without_right_needs_no_mirroring_daemon(monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, name: None if name == "rbd-mirror" else "/x")
    requirements.check_programs(SandboxOptions(right_osds=0))
    with pytest.raises(MissingProgramsError):
        requirements.check_programs(SandboxOptions())


@pytest.mark.parametrize(
    ("text", "size"), [("20GiB", 20 * GIB), ("20G", 20 * GIB), ("2.5 GiB", 5 * GIB // 2), ("512M", 1 << 29), ("7", 7)]
)
def test_sizes_are_binary(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-3G", "20 gallons"])
def test_a_text_that_is_not_a_size_is_refused(text):
    with pytest.raises(ConfigurationError, match="is not a size"):
        parse_size(text)


def test_sizes_are_shown_in_gib():
    assert (show_size(22 * GIB), show_size(GIB // 2)) == ("22 GiB", "0.5 GiB")


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
