"""The state file, the lock, and directories in an unexpected state."""

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from replay.base.errors import ConfigurationError
from replay.base.programs import Programs
from replay.cluster import sandbox_record as state
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import (
    Daemon,
    Link,
    MirrorProcess,
    Sandbox,
    SandboxCluster,
    SandboxError,
    choose_run_directory,
    default_directory,
    is_scratch,
)
from replay.sandbox import down, lifecycle, load, owns_fsid, processes, up
from replay.sandbox.tools import locked
from support.commands import run_sandbox
from support.patience import patient


def a_sandbox(folder: Path, **changes: object) -> Sandbox:
    cluster = SandboxCluster(
        name="left",
        fsid="0addf62d-b4a1-4f6e-812b-fa38a568dd60",
        conf=str(folder / "left/ceph.conf"),
        keyring=str(folder / "left/client.keyring"),
        monitor_port=23456,
        osd_uuids=["one", "two"],
        daemons=[Daemon("mon", "left", 4194305, "/run/mon"), Daemon("osd", "0", 4194306, "/run/osd.0")],
    )
    fields = {
        "directory": str(folder),
        "run_dir": str(folder / "run"),
        "ceph_version": "16.2.15",
        "options": SandboxOptions(left_osds=2, right_osds=0),
        "clusters": {"left": cluster},
        "mirror": MirrorProcess(4194307, "/run/mirror", ["/run/mirror"]),
        "phase": "created",
    }
    sandbox = Sandbox(**{**fields, **changes})
    folder.mkdir(parents=True, exist_ok=True)
    sandbox.save()
    return sandbox


def test_a_saved_sandbox_is_loaded_as_it_was(tmp_path):
    sandbox = a_sandbox(tmp_path)
    assert load(tmp_path) == sandbox


def test_the_file_says_who_started_it_and_what_other_code_needs(tmp_path):
    a_sandbox(tmp_path)
    document = json.loads((tmp_path / "sandbox.json").read_text())
    assert document["started_by_replay"] is True
    assert document["fsids"] == ["0addf62d-b4a1-4f6e-812b-fa38a568dd60"]
    assert document["clusters"]["left"]["osd_ids"] == [0, 1]
    assert document["clusters"]["left"]["pids"] == [4194305, 4194306]
    assert document["clusters"]["left"]["client"] == "client.admin"
    assert (tmp_path / "sandbox.json").stat().st_mode & 0o077 == 0


def test_replay_owns_the_clusters_of_its_sandboxes_and_no_other(tmp_path, monkeypatch):
    fsid = a_sandbox(tmp_path).fsids[0]
    assert not owns_fsid(fsid)
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path / "elsewhere"))
    assert not owns_fsid(fsid)
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path))
    assert owns_fsid(fsid)
    assert not owns_fsid("ffffffff-0000-0000-0000-000000000000")


def test_without_a_sandbox_the_error_says_how_to_get_one(tmp_path):
    with pytest.raises(SandboxError, match=f"replay sandbox up --directory {tmp_path}"):
        load(tmp_path)


def test_the_commands_that_errors_name_are_about_the_same_sandbox(tmp_path, monkeypatch):
    monkeypatch.delenv("REPLAY_SANDBOX_DIR", raising=False)
    for name, words in (("default", ""), ("author", " --name author")):
        with pytest.raises(SandboxError) as raised:
            load(default_directory(name))
        assert raised.value.next_step == f"run ./replay sandbox up{words}"
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path))
    (tmp_path / "sandbox.json").write_text("{}")
    with pytest.raises(SandboxError) as raised:
        load()
    assert raised.value.next_step == "run ./replay sandbox down, then ./replay sandbox up"


def test_up_says_how_a_sandbox_with_a_name_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lifecycle, "up", lambda directory, **options: a_sandbox(tmp_path))
    monkeypatch.setattr(Programs, "find", lambda self, name: Path("/usr/bin") / name)
    assert run_sandbox(["up", "--name", "author"]) == 0
    said = capsys.readouterr().out
    assert "copy config/sites/sandbox.yaml" in said and "sandbox: author" in said
    assert run_sandbox(["up"]) == 0
    assert "config/sites" not in capsys.readouterr().out


def test_up_prints_a_command_that_reaches_the_sandbox_through_its_line_and_can_be_typed(tmp_path, monkeypatch, capsys):
    namespaces = {"left": "/proc/7/fd/3", "right": "/proc/7/fd/4"}
    link = Link(7, "tun", "", namespaces, {}, 0.02, None, user_namespace="/proc/7/ns/user")
    sandbox = a_sandbox(tmp_path / "My Sandbox", link=link)
    monkeypatch.setattr(lifecycle, "up", lambda directory, **options: sandbox)
    monkeypatch.setattr(Programs, "find", lambda self, name: Path("/usr/bin") / name)
    assert run_sandbox(["up", "--directory", sandbox.directory]) == 0
    entered = "nsenter --user=/proc/7/ns/user --preserve-credentials --net=/proc/7/fd/3 --"
    conf = f"'{sandbox.directory}/left/ceph.conf'"
    assert f"the sandbox is up: {entered} /usr/bin/ceph -c {conf} -s\n" in capsys.readouterr().out


def test_down_without_a_sandbox_is_not_an_error(tmp_path, capsys):
    assert down(tmp_path / "none") is False
    before = signal.getsignal(signal.SIGTERM)
    assert run_sandbox(["down", "--directory", str(tmp_path / "none")]) == 0
    assert signal.getsignal(signal.SIGTERM) is before, "SIGTERM is like Ctrl-C only while the command runs"
    assert "no sandbox in" in capsys.readouterr().out


@pytest.mark.parametrize("command", [up, down])
def test_daemons_whose_files_somebody_removed_are_stopped(tmp_path, monkeypatch, command):
    monkeypatch.setattr(lifecycle, "_create", lambda folder, options, say: None)
    folder, daemon = tmp_path / "sandbox", tmp_path / "ceph-osd"
    # A program that starts no other: for a moment, a shell's child would look like the shell itself.
    daemon.symlink_to(Path(sys.executable).resolve())
    argv = [str(daemon), "-ISc", "import time; time.sleep(3600)", "--conf", str(folder / "left" / "ceph.conf")]
    process = processes.start(argv, output=tmp_path / "out", cwd=tmp_path)
    while not Path(f"/proc/{process.pid}/cmdline").read_bytes():
        time.sleep(0.001)  # the kernel is still laying out the new program
    try:
        command(folder)
        assert not processes.is_alive(process)
        assert not down(folder), "the second time there is nothing"
    finally:
        processes.stop([process], timeout_seconds=patient(5))


def test_a_sandbox_is_kept_after_a_reboot_that_emptied_tmp(tmp_path):
    sandbox = a_sandbox(tmp_path / "sandbox", run_dir="/tmp/replay-run-of-no-sandbox")
    assert down(tmp_path / "sandbox", keep=True) is True
    assert load(tmp_path / "sandbox") == sandbox


@pytest.mark.parametrize("command", [up, down])
def test_a_folder_with_other_files_is_refused_and_untouched(tmp_path, command):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(SandboxError, match="do not belong to a sandbox"):
        command(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize("command", ["up", "down"])
def test_a_folder_that_is_a_file_is_a_sentence_and_no_traceback(tmp_path, command, capsys):
    (tmp_path / "file").touch()
    assert run_sandbox([command, "--directory", str(tmp_path / "file")]) == 1
    assert f"Not a directory: '{tmp_path / 'file'}'" in capsys.readouterr().err


def test_a_sandbox_that_was_moved_is_refused(tmp_path):
    a_sandbox(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")
    with pytest.raises(SandboxError, match="was made in"):
        up(tmp_path / "new")


def leftovers() -> list:
    return [
        pytest.param(lambda folder: a_sandbox(folder, phase="creating"), "was not finished", id="half made"),
        pytest.param(lambda folder: a_sandbox(folder, ceph_version="12.2.1"), "Ceph 12.2.1", id="another Ceph"),
        pytest.param(lambda folder: (folder / "sandbox.json").write_text("{"), "unreadable", id="damaged file"),
        pytest.param(
            lambda folder: (folder / "sandbox.json").write_text("{}"),
            "another version",
            id="old file",
        ),
    ]


@pytest.mark.parametrize(("leave", "reason"), leftovers())
def test_a_leftover_that_cannot_be_used_is_removed_with_the_reason(tmp_path, monkeypatch, leave, reason):
    folder = tmp_path / "sandbox"
    folder.mkdir()
    leave(folder)
    (folder / "left").mkdir()
    (folder / "left" / "block").write_text("old")
    made, said = [], []
    monkeypatch.setattr(lifecycle.releases, "ceph_version", lambda programs: "16.2.15")
    monkeypatch.setattr(lifecycle, "_create", lambda folder, options, say: made.append(folder.exists()))
    up(folder, say=said.append)
    assert made == [False]
    assert reason in said[0]


def test_other_options_than_the_existing_ones_are_refused_by_name(tmp_path, monkeypatch):
    a_sandbox(tmp_path)
    monkeypatch.setattr(lifecycle.releases, "ceph_version", lambda programs: "16.2.15")
    with pytest.raises(SandboxError, match="left_osds is 2, not 5"):
        up(tmp_path, left_osds=5)


@pytest.mark.parametrize(
    ("there", "asked", "said"),
    [
        ({}, {"stretch": True}, "stretch is False, not True"),
        ({"stretch": True, "left_osds": 4, "right_osds": 0}, {"right_osds": 1}, "right_osds is 0, not 1"),
    ],
)
def test_an_option_that_does_not_go_with_the_existing_ones_is_another_option(tmp_path, monkeypatch, there, asked, said):
    a_sandbox(tmp_path, options=SandboxOptions(**there))
    monkeypatch.setattr(lifecycle.releases, "ceph_version", lambda programs: "16.2.15")
    with pytest.raises(SandboxError, match=f"already exists with other options: {said}"):
        up(tmp_path, **asked)


def test_an_image_needs_a_release_and_is_of_that_one_alone(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "sandbox"
    for words in ([], ["--release", "host"]):
        assert run_sandbox(["up", "--directory", str(folder), "--image", "one", *words]) == 2
        assert "--image works only with --release" in capsys.readouterr().err

    def ensure(number, say, image=None):
        raise SandboxError(f"{number} from {image}")

    monkeypatch.setattr(lifecycle.releases, "ensure", ensure)
    a_sandbox(folder, ceph_version="18.2.7", options=SandboxOptions(release="18"))
    for release, said in (("18", "18 from one"), ("20", "18 from None")):
        with pytest.raises(SandboxError, match=said):
            up(folder, release=release, image="one")


def test_what_a_start_left_that_was_killed_before_its_first_record_is_no_sandbox(tmp_path, monkeypatch):
    folder, made = tmp_path / "sandbox", []
    (folder / "run").mkdir(parents=True)
    (folder / "sandbox.tmp").write_text("{")
    monkeypatch.setattr(lifecycle, "_create", lambda folder, options, say: made.append(folder))
    assert down(folder) is False
    up(folder)
    assert made == [folder]
    (folder / "run" / "precious").touch()
    with pytest.raises(SandboxError, match="do not belong to a sandbox"):
        up(folder)


def test_a_daemon_of_a_foreign_pid_in_the_state_is_left_alone_by_down(tmp_path):
    sandbox = a_sandbox(tmp_path / "sandbox")
    sandbox.clusters["left"].daemons = [Daemon("osd", "0", os.getpid(), "/run/osd.0")]
    sandbox.save()
    assert down(tmp_path / "sandbox") is True
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_option_is_explained_and_exits_with_2(tmp_path, capsys):
    assert run_sandbox(["up", "--directory", str(tmp_path / "s"), "--left-osds", "0"]) == ConfigurationError.exit_status
    assert "1 to 16 OSDs" in capsys.readouterr().err


def test_status_and_conf_without_a_sandbox_fail_and_say_what_to_do(tmp_path, capsys):
    for command in ("status", "conf"):
        assert run_sandbox([command, "--directory", str(tmp_path)]) == 1
        assert "replay sandbox up" in capsys.readouterr().err
    assert run_sandbox(["status", "--json", "--directory", str(tmp_path)]) == 3
    assert json.loads(capsys.readouterr().out)["ok"] is False


def test_status_of_a_stopped_sandbox_names_every_daemon_as_stopped(tmp_path, capsys):
    a_sandbox(tmp_path)
    assert run_sandbox(["status", "--directory", str(tmp_path)]) == 3
    shown = capsys.readouterr().out
    assert shown.count("  stopped\n") == len(["mon", "mgr", "osd.0", "osd.1"])
    assert "the monitor does not answer" in shown


def test_conf_prints_the_path_and_nothing_else(tmp_path, capsys):
    a_sandbox(tmp_path)
    assert run_sandbox(["conf", "--directory", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/left/ceph.conf\n"
    assert run_sandbox(["conf", "right", "--directory", str(tmp_path)]) == 1
    assert "no cluster right" in capsys.readouterr().err


def test_sockets_move_to_a_short_folder_if_their_path_is_too_long(tmp_path):
    assert choose_run_directory(Path("/tmp") / f"s{os.getpid()}") == Path("/tmp") / f"s{os.getpid()}" / "run"
    (Path("/tmp") / f"s{os.getpid()}" / "run").rmdir()
    (Path("/tmp") / f"s{os.getpid()}").rmdir()
    run = choose_run_directory(tmp_path / ("long" * 20))
    try:
        assert is_scratch(run)
        assert run.stat().st_mode & 0o077 == 0
        assert not is_scratch(tmp_path)
    finally:
        run.rmdir()


def hold(folder: Path, begun, awaited, released) -> None:
    with locked(folder):
        begun.set()
        awaited.wait()
        released.set()


def test_the_second_waits_for_the_first_and_no_lock_file_remains(tmp_path):
    context = multiprocessing.get_context("fork")
    begun, awaited, released = (context.Event() for _ in range(3))
    first = context.Process(target=hold, args=(tmp_path / "s", begun, awaited, released))
    first.start()
    assert begun.wait(patient(10))
    # The first continues only after the second has begun to wait.
    with locked(tmp_path / "s", say=lambda line: awaited.set()):
        assert released.is_set()
    first.join()
    assert list(tmp_path.iterdir()) == []


def test_waiting_for_the_lock_ends_with_an_error_that_names_the_sandbox(tmp_path):
    refused = pytest.raises(SandboxError, match=r"in vain for another program that is changing this sandbox")
    with locked(tmp_path / "s"), refused, locked(tmp_path / "s", timeout_seconds=0.2):
        pass


def test_two_never_hold_the_lock_although_each_removes_its_file(tmp_path):
    inside, most = [], []

    def work() -> None:
        for _ in range(5):
            with locked(tmp_path / "s"):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.002)
                inside.pop()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert max(most) == 1
    assert len(most) == 20


def test_the_environment_moves_the_default_sandbox_only(monkeypatch, tmp_path):
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path))
    assert state.default_directory() == tmp_path
    assert state.default_directory("other").name == "other"
    assert state.default_directory("other") != tmp_path


@pytest.mark.parametrize("name", ["", "../else", ".", "a/b"])
def test_a_name_that_is_not_a_single_folder_is_refused(name, capsys):
    assert run_sandbox(["down", "--name", name]) == ConfigurationError.exit_status
    assert "is not a valid sandbox name" in capsys.readouterr().err
