"""Releases by name and number, and whose programs run."""

import json

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.programs import (
    HOST_PROGRAMS,
    MissingProgramError,
    Programs,
    Release,
    find_release,
    known_releases,
    major_of,
    parse_release,
    releases_directory,
)


@pytest.fixture
def releases(tmp_path, monkeypatch):
    """A separate folder of releases, with a release 18 whose fio is a file that nobody runs."""
    monkeypatch.setenv("REPLAY_RELEASES", str(tmp_path))
    folder = tmp_path / "18"
    (folder / "usr" / "bin").mkdir(parents=True)
    for name in ("fio", "ceph"):
        (folder / "usr" / "bin" / name).touch(mode=0o755)
    (folder / "usr" / "lib" / "x86_64-linux-gnu" / "rados-classes").mkdir(parents=True)
    release = Release(18, "18.2.7", "Debian's packages (trixie)", folder)
    (folder / "release.json").write_text(json.dumps(release.to_json()))
    return tmp_path


@pytest.mark.parametrize(("text", "number"), [("18", 18), (18, 18), ("Reef", 18), ("tentacle", 20), ("host", None)])
def test_a_release_has_a_number_and_a_name(text, number):
    assert parse_release(text) == number


@pytest.mark.parametrize("text", ["", "18.2.7", "3", "reeef", "latest"])
def test_a_text_that_is_not_a_release_is_refused_with_examples(text):
    with pytest.raises(ConfigurationError, match="such as 18 or reef"):
        parse_release(text)


def test_a_typo_is_answered_with_the_likely_name():
    with pytest.raises(ConfigurationError, match="did you mean 'reef'"):
        parse_release("reeef")


def test_a_version_belongs_to_a_release():
    assert [major_of(text) for text in ("18.2.7", "20.2.4", "unknown", None)] == [18, 20, None, None]


def test_a_release_is_found_by_its_record_and_a_damaged_one_is_not(releases):
    assert find_release(18).version == "18.2.7"
    assert find_release(20) is None
    assert [one.number for one in known_releases()] == [18]
    for damaged in ("{", "[]", '{"schema_version": 2}', '{"schema_version": 1, "number": 18}'):
        (releases / "18" / "release.json").write_text(damaged)
        assert find_release(18) is None
    assert releases_directory() == releases


def test_programs_of_a_release_that_is_not_here_say_how_to_get_it(releases):
    with pytest.raises(ReplayError, match=r"sandbox releases --get 20"):
        Programs.of(20)
    assert Programs.of(None) == HOST_PROGRAMS


def test_the_host_runs_its_programs_as_they_are():
    assert HOST_PROGRAMS.command(["sh", "-c", "true"])[1:] == ["-c", "true"]
    bound = HOST_PROGRAMS.command(["sh", "-c", "true"], dies_with_parent=True)
    assert bound[:4] == ["setpriv", "--pdeathsig", "KILL", "--"]


def test_a_missing_program_is_named_with_the_next_step(releases):
    with pytest.raises(MissingProgramError, match="no-such-program is not installed\n"):
        HOST_PROGRAMS.command(["no-such-program"])
    with pytest.raises(MissingProgramError, match=r"rados is not installed in Ceph 18 \(reef\)"):
        Programs.of(18).command(["rados", "ls"])


def test_ceph_and_fio_come_from_the_release_and_everything_else_from_the_host(releases):
    programs = Programs.of(18)
    assert str(programs.find("fio")) == "/usr/bin/fio"
    command = programs.command(["fio", "--version"])
    assert command[0] == "unshare"
    assert command[-3:] == [str(releases / "18"), "/usr/bin/fio", "--version"]
    assert programs.command(["sh", "-c", "true"]) == HOST_PROGRAMS.command(["sh", "-c", "true"])
    assert str(programs.folder_of("rados-classes")) == "/usr/lib/x86_64-linux-gnu/rados-classes"
    assert programs.folder_of("no-such-folder") is None


def test_a_tool_of_a_release_dies_with_its_parent_even_though_it_enters_namespaces(releases):
    # The kernel drops this setting when a process enters a user namespace, so it must be made inside.
    command = Programs.of(18).command(["fio"], dies_with_parent=True)
    assert command.index("setpriv") > command.index("--")
