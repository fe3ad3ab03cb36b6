"""What an error says about a daemon that ended: its last words, or a cause that a person can remove."""

from __future__ import annotations

import subprocess
import sys

import pytest

from replay.cluster.sandbox_layout import Layout
from replay.sandbox import causes, create, daemons
from replay.sandbox.errors import SandboxError
from replay.sandbox.tools import Interrupt
from support.samples import fixtures

#: What `ceph-osd --mkfs` of 16.2.15 prints and logs if io_setup fails with EAGAIN.
PRINTED, LOGGED = (fixtures("sandbox")[f"osd-mkfs-no-aio.{kind}"] for kind in ("out", "log"))


@pytest.fixture
def printed(tmp_path):
    (tmp_path / "printed").write_bytes(PRINTED)
    return tmp_path / "printed"


@pytest.fixture
def logged(tmp_path):
    (tmp_path / "logged").write_bytes(LOGGED)
    return tmp_path / "logged"


@pytest.fixture
def numbers(tmp_path):
    (tmp_path / "aio-nr").write_text("65536\n")
    (tmp_path / "aio-max-nr").write_text("65536\n")
    return tmp_path


def test_a_kernel_without_asynchronous_io_left_is_named_with_its_figures_and_the_setting(printed, logged, numbers):
    said, next_step = causes.explain([printed, logged], numbers)
    assert "no asynchronous I/O left" in said
    assert "65536 of 65536 are taken" in said
    assert "sudo sysctl fs.aio-max-nr=1048576" in next_step
    assert "sandbox down" in next_step


def test_a_limit_that_is_already_large_is_doubled(logged, numbers):
    (numbers / "aio-max-nr").write_text("1048576\n")
    assert "fs.aio-max-nr=2097152" in causes.explain([logged], numbers)[1]


def test_if_the_kernel_does_not_report_its_figures_none_are_given(logged, tmp_path):
    said, next_step = causes.explain([logged], tmp_path)
    assert "taken" not in said
    assert "fs.aio-max-nr=1048576" in next_step


def test_messages_of_an_earlier_start_are_ignored(tmp_path):
    log = tmp_path / "osd.0.log"
    log.write_text(LOGGED.decode() + "".join(f"line {number} of a later start\n" for number in range(50)))
    assert causes.explain([log]) is None
    assert causes.last_words([tmp_path / "absent", log]) == "line 49 of a later start"


def test_a_daemon_that_printed_nothing_is_reported_as_such(tmp_path):
    (tmp_path / "empty").touch()
    assert causes.last_words([tmp_path / "empty", tmp_path / "absent"]) == "it printed no message"


def test_an_osd_that_could_not_be_made_is_an_error_that_names_the_cause(tmp_path):
    layout = Layout(tmp_path, tmp_path)
    cluster = create.plan("left", 3300, 1, layout)
    printed, logged = daemons.told_by(layout, daemons.Role("left", "osd", "0"))
    for content, path in ((PRINTED, printed), (LOGGED, logged)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    making = [subprocess.Popen([sys.executable, "-c", "raise SystemExit(250)"])]
    with pytest.raises(SandboxError, match=r"ended with status 250: the kernel has no asynchronous I/O left") as error:
        create._await_made(making, cluster, layout, Interrupt())
    assert "fs.aio-max-nr" in error.value.next_step
    assert error.value.where == str(printed)
