"""The programs of the benchmark tools, which one function lists for set-up, releases, preflight and the container."""

from __future__ import annotations

import os
import subprocess
import sys

from replay.base.paths import ROOT
from replay.tools import tools
from replay.tools.programs import Program, programs


def test_each_program_is_listed_once_with_its_package():
    found = programs()
    assert Program("rbd", "ceph-common", ("--version",)) in found
    assert sorted({one.program for one in tools()}) == [one.name for one in found]


def test_set_up_can_ask_before_anything_is_installed(tmp_path):
    """Without site-packages, `-S`, and from any folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run(
        [sys.executable, "-S", "-m", "replay.tools.programs"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = (" ".join([one.name, one.package, *one.version_arguments]) for one in programs())
    assert done.stdout.splitlines() == [*lines]
