"""Releases are fetched whole or not at all, and once; none is removed while a sandbox runs it."""

import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from replay.base.errors import ConfigurationError, RefusedError, ReplayError
from replay.base.programs import Programs, find_release
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import Sandbox, SandboxError
from replay.sandbox import release_sources, releases
from replay.sandbox.release_sources import debian_archive, source_of, unpack_usr

PROGRAMS = list(releases.PACKAGE_OF_PROGRAM)


def an_image(path: Path, names=PROGRAMS, extra=()) -> Path:
    """An archive of a container's file system that has these programs, and some that must not be unpacked."""
    with tarfile.open(path, "w") as archive:
        for name in [*(f"usr/bin/{one}" for one in names), "etc/passwd", "usr/share/man/page", *extra]:
            member = tarfile.TarInfo(name)
            member.mode, content = 0o755, b"program"
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        device = tarfile.TarInfo("usr/bin/device")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
    return path


@pytest.fixture
def podman(tmp_path, monkeypatch):
    """A podman that records how it was called, and exports the image of the test."""
    folder, calls = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    program = folder / "podman"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {calls}\n'
        "case $1 in create) echo container-1 ;; "
        f'export) cp {tmp_path / "image.tar"} "$3" ;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path / "releases"))
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path / "sandbox"))
    # The programs of the image cannot run: the test says what they would print.
    monkeypatch.setattr(Programs, "check_entry", lambda self: None)
    monkeypatch.setattr(releases, "ceph_version", lambda programs: "18.2.7")
    an_image(tmp_path / "image.tar")
    return calls


def test_an_image_becomes_a_release_without_being_run(podman, tmp_path):
    said = []
    made = releases.ensure(18, said.append, "registry/ceph:v18")
    assert (made.version, made.source, made.folder) == (
        "18.2.7",
        "the image registry/ceph:v18",
        tmp_path / "releases/18",
    )
    assert [line.split()[0] for line in podman.read_text().splitlines()] == ["create", "export", "rm"]
    assert "create registry/ceph:v18 true" in podman.read_text()
    assert sorted(path.name for path in made.folder.iterdir()) == ["release.json", "usr"]
    assert sorted(path.name for path in (made.folder / "usr" / "bin").iterdir()) == sorted(PROGRAMS)
    assert not (made.folder / "usr" / "share" / "man").exists()
    assert sorted(path.name for path in made.folder.parent.iterdir()) == ["18"], "nothing else is left"
    # Before it begins, it says what it fetches, where to, how long that takes and how much space it needs.
    assert "the image registry/ceph:v18" in said[0] and str(made.folder) in said[0]
    assert "minutes" in said[0] and "GiB" in said[0]


def test_a_release_that_is_here_is_not_fetched_again(podman):
    releases.ensure(18, print, "one")
    podman.unlink()
    assert releases.ensure(18, print).version == "18.2.7"
    assert releases.ensure(None, print) is None
    with pytest.raises(SandboxError, match="is already here, from the image one"):
        releases.ensure(18, print, "another")
    assert not podman.exists()


def test_two_at_once_fetch_it_once(podman):
    found, threads = [], []
    for _ in range(2):
        one = threading.Thread(target=lambda: found.append(releases.ensure(18, lambda line: None, "one")))
        threads.append(one)
        one.start()
    for one in threads:
        one.join()
    assert [one.version for one in found] == ["18.2.7", "18.2.7"]
    assert podman.read_text().count("create") == 1


def test_leftovers_of_an_interrupted_attempt_are_replaced(podman, tmp_path):
    half = tmp_path / "releases" / ".18.making" / "usr" / "bin"
    half.mkdir(parents=True)
    (half / "half-a-program").touch()
    # A release whose record is lost is of no use either.
    (tmp_path / "releases" / "18").mkdir()
    made = releases.ensure(18, print, "one")
    assert not (made.folder / "usr" / "bin" / "half-a-program").exists()


@pytest.mark.parametrize(
    ("image", "version", "words"),
    [
        ({"names": PROGRAMS[1:]}, "18.2.7", f"it lacks {PROGRAMS[0]}"),
        ({}, "19.2.1", r"it has Ceph 19\.2\.1, not 18 \(reef\)"),
        ({"extra": ["usr/../../outside"]}, "18.2.7", "outside"),
    ],
)
def test_an_unsuitable_image_is_refused_and_leaves_no_release(podman, tmp_path, monkeypatch, image, version, words):
    an_image(tmp_path / "image.tar", **image)
    monkeypatch.setattr(releases, "ceph_version", lambda programs: version)
    with pytest.raises(ReplayError, match=words):
        releases.ensure(18, print, "one")
    assert find_release(18) is None
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "releases" / ".18.making").exists()
    assert podman.read_text().splitlines()[-1].startswith("rm "), "the container goes too"


def test_an_engine_that_fails_is_reported_with_its_last_words_and_its_log(podman, tmp_path):
    (tmp_path / "bin" / "podman").write_text("#!/bin/sh\necho 'no such image' >&2; exit 125\n")
    with pytest.raises(ReplayError, match=r"status 125: no such image\n  next: read .*18\.log"):
        releases.ensure(18, print, "one")
    assert "no such image" in (tmp_path / "releases" / "18.log").read_text()


def test_a_full_disk_is_refused_before_anything_is_fetched(podman, tmp_path, monkeypatch):
    monkeypatch.setattr(releases, "free_bytes", lambda _: 1 << 20)
    with pytest.raises(RefusedError, match="needs 4 GiB free"):
        releases.ensure(18, print, "one")
    assert not podman.exists()


def test_a_release_is_removed_only_if_no_sandbox_runs_it(podman, tmp_path):
    releases.ensure(18, print, "one")
    folder = tmp_path / "sandbox"
    folder.mkdir()
    Sandbox(str(folder), str(folder / "run"), "18.2.7", SandboxOptions(release="18"), {}, phase="created").save()
    assert "sandbox" in releases.table().splitlines()[1].split()
    with pytest.raises(RefusedError, match=f"is used by the sandbox in {folder}"):
        releases.remove(18)
    assert find_release(18) is not None
    (folder / "sandbox.json").unlink()
    assert releases.remove(18) > 0
    assert list((tmp_path / "releases").iterdir()) == []
    with pytest.raises(SandboxError, match="there is no Ceph 18"):
        releases.remove(18)


def test_a_release_is_not_removed_while_a_process_has_its_programs(podman, tmp_path):
    usr = releases.ensure(18, print, "one").folder / "usr"
    usr.rename(tmp_path / "usr")
    usr.symlink_to("/usr")  # every process here has this one
    with pytest.raises(RefusedError, match=r"is used by process \d+"):
        releases.remove(18)
    usr.unlink()
    releases.remove(18)
    assert find_release(18) is None


def test_debian_has_some_releases_and_the_others_need_an_image():
    assert [source_of(number, None).name for number in (16, 18, 20)] == ["bookworm", "trixie", "unstable"]
    with pytest.raises(ConfigurationError, match=r"no packages of Ceph 19 \(squid\)") as error:
        source_of(19, None)
    assert "--image IMAGE" in error.value.next_step
    assert source_of(19, "one").title == "the image one"


def test_the_archive_is_the_one_that_apt_uses(tmp_path, monkeypatch):
    program = tmp_path / "apt-get"
    program.write_text("#!/bin/sh\necho 'Other|http://other.example/x'\necho 'Debian|http://archive.example/debian'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert debian_archive() == "http://archive.example/debian"
    monkeypatch.setenv(release_sources.MIRROR_VARIABLE, "http://mine.example/debian")
    assert debian_archive() == "http://mine.example/debian"
    monkeypatch.delenv(release_sources.MIRROR_VARIABLE)
    program.write_text("#!/bin/sh\n")
    with pytest.raises(ReplayError, match="no Debian archive"):
        debian_archive()


def test_an_archive_without_programs_is_not_a_release(tmp_path):
    with tarfile.open(tmp_path / "image.tar", "w"):
        pass
    with pytest.raises(ReplayError, match="has no /usr/bin"):
        unpack_usr(tmp_path / "image.tar", tmp_path)
