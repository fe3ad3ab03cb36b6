"""A sandbox's daemons that do not run are named, with the command that brings them back; only processes are asked."""

from __future__ import annotations

import os
import signal
import subprocess
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.sandbox_record import Sandbox, SandboxCluster
from replay.config.sandbox_options import SandboxOptions
from replay.sandbox import daemons, processes
from replay.sandbox.absent import absent_daemons, naming_absent_daemons
from support.patience import wait_until

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
