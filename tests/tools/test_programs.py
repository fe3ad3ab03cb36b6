"""The programs of the benchmark tools: preflight, releases, the set-up and the container read them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from replay.base.paths import ROOT
from replay.tools import reader, tools
from replay.tools.programs import Program, programs


def test_each_program_is_listed_once_with_its_package():
    listed = programs()
    assert Program("rbd", "ceph-common", ("--version",)) in listed
    assert sorted({tool.program for tool in tools()}) == [program.name for program in listed]


def test_a_program_that_no_package_has_is_left_to_the_person(monkeypatch):
    """A package that Debian lacks would keep the set-up and the container from installing any other."""
    monkeypatch.setattr(type(reader("iperf3")), "package", "")
    names = [program.name for program in programs()]
    assert "iperf3" not in names and "fio" in names


PLAN = """
checkout=$1 level=$2 system= packages=()
for part in host programs environments; do source "$checkout/scripts/setup.d/$part.sh"; done
has_program() { return 1; }  # a host that has none of them, and where apt may be used
host_reason() { return 0; }
may_install() { return 0; }
apt-get() { return 0; }
plan_programs
printf '%s\\n' "${packages[@]}"
"""


@pytest.mark.parametrize("level", ["client", "sandbox"])
def test_the_set_up_installs_their_packages_without_an_environment(tmp_path, level):
    """In a checkout that has no .venv yet, by the Python of the system."""
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    argv = ["bash", "-euc", PLAN, "bash", str(tmp_path), level]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    planned = done.stdout.splitlines()
    assert {program.package for program in programs()} <= {*planned}
    assert len(planned) == len({*planned})
    assert ("ceph-osd" in planned) == (level == "sandbox")


def test_they_can_be_listed_before_anything_is_installed(tmp_path):
    """Without site-packages, `-S`, and from any folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run(
        [sys.executable, "-S", "-m", "replay.tools.programs"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = (" ".join([program.name, program.package, *program.version_arguments]) for program in programs())
    assert done.stdout.splitlines() == [*lines]
