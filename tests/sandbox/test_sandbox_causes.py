"""What an error says of a daemon that ended or does not run: last words, a cause, and how to bring it back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import Layout, Sandbox, SandboxCluster, SandboxError
from replay.sandbox import create, daemons, processes
from replay.sandbox.daemons import absent_daemons, naming_absent_daemons
from replay.sandbox.tools import Interrupt
from support.patience import wait_until
from support.samples import fixtures

#: What `ceph-osd --mkfs` of 16.2.15 prints and logs if io_setup fails with EAGAIN.
PRINTED, LOGGED = (fixtures("ceph")[f"osd-mkfs-no-aio.{kind}"] for kind in ("out", "log"))


def test_messages_of_an_earlier_start_are_ignored(tmp_path):
    log = tmp_path / "osd.0.log"
    log.write_text(LOGGED.decode() + "".join(f"line {number} of a later start\n" for number in range(50)))
    assert daemons.explain([log]) is None
    assert daemons.last_words([tmp_path / "absent", log]) == "line 49 of a later start"


def test_a_daemon_that_printed_nothing_is_reported_as_such(tmp_path):
    (tmp_path / "empty").touch()
    assert daemons.last_words([tmp_path / "empty", tmp_path / "absent"]) == "it printed no message"


def test_an_osd_that_could_not_be_made_is_an_error_that_names_the_cause(tmp_path):
    layout = Layout(tmp_path, tmp_path)
    osd = daemons.Role("left", "osd", "0")
    printed, logged = layout.output("left", "osd.0"), layout.log("left", "osd.0")
    for content, path in ((PRINTED, printed), (LOGGED, logged)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    making = [subprocess.Popen([sys.executable, "-c", "raise SystemExit(250)"])]
    with pytest.raises(SandboxError, match=r"ended with status 250: the kernel has no asynchronous I/O left") as error:
        create._await_made(making, [osd], layout, Interrupt())
    assert "fs.aio-max-nr" in error.value.next_step
    assert error.value.where == str(printed)


SITE = SimpleNamespace(sandbox="default")


@pytest.fixture
def sandbox(tmp_path, monkeypatch):
    """A sandbox of one cluster whose three daemons are processes that sleep."""
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path))
    monkeypatch.setattr(processes, "DAEMON_PROGRAMS", frozenset())
    cluster = SandboxCluster("left", "f", str(tmp_path / "left/ceph.conf"), "", 6789, ["u"])
    made = Sandbox(str(tmp_path), str(tmp_path / "run"), "20.2.4", SandboxOptions(), {"left": cluster}, phase="created")
    made.save()
    started = {}
    for role in daemons.all_roles(made):
        path = made.layout.pid_file(role.cluster, role.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        started[role.name] = subprocess.Popen(["sleep", "600"])
        processes.identify(started[role.name].pid).save(path)
    yield started
    for each in started.values():
        each.kill()
        each.wait()


def test_nothing_is_absent_while_all_run_and_on_a_site_that_is_no_sandbox(sandbox):
    assert absent_daemons(SITE) == []
    sandbox["osd.0"].kill()
    assert absent_daemons(SimpleNamespace(sandbox=None)) == []


def test_a_killed_and_a_stopped_daemon_are_named_with_the_command_that_brings_them_back(sandbox):
    sandbox["osd.0"].kill()
    sandbox["osd.0"].wait()
    os.kill(sandbox["mon.left"].pid, signal.SIGSTOP)
    wait_until(lambda: len(absent_daemons(SITE)) == 2, "both to be gone or stopped", 20.0)
    with pytest.raises(ReplayError) as raised, naming_absent_daemons(SITE):
        raise ReplayError("no answer within 32 s", next_step="look")
    assert raised.value.because == "mon.left of left is stopped, osd.0 of left does not run"
    assert "sandbox up" in raised.value.next_step


def test_an_error_in_a_file_is_left_as_it_is(sandbox):
    sandbox["osd.0"].kill()
    with pytest.raises(ConfigurationError) as raised, naming_absent_daemons(SITE):
        raise ConfigurationError("no such key", next_step="remove it")
    assert (raised.value.because, raised.value.next_step) == ("", "remove it")
