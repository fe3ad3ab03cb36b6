"""Replay outside of a checkout: built as a wheel, installed, and used in a separate project. No cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from replay.base.paths import ROOT
from support.lab import write_lab
from support.rawtree import RawTree

# One worker builds the wheel, once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("installed")]


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and without anything of the checkout."""

    programs: Path
    project: Path

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("REPLAY_", "PYTHON"))}
        environment = {**kept, "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            ["replay", *words], cwd=cwd or self.project, env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    """Build the wheel and install it beside the locked packages, which uv has in its cache since the set-up."""
    folder = tmp_path_factory.mktemp("installed")
    uv = shutil.which("uv") or str(ROOT / ".cache/uv-env/bin/uv")
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment |= {"UV_PROJECT_ENVIRONMENT": str(folder / "venv"), "UV_PYTHON_DOWNLOADS": "never"}

    def run(*words: str) -> None:
        done = subprocess.run([uv, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    run("build", "--wheel", "--out-dir", str(folder / "dist"))
    run("sync", "--locked", "--no-dev", "--no-install-project", "--python", sys.executable)
    (wheel,) = (folder / "dist").glob("*.whl")
    run("pip", "install", "--no-deps", "--python", str(folder / "venv/bin/python"), str(wheel))
    return Installed(folder / "venv" / "bin", folder / "project")


def test_a_project_is_made_derived_and_planned_without_a_checkout(installed):
    outside = installed.run("derive", "--data", "mine", cwd=installed.programs)
    assert (outside.returncode, outside.stdout) == (2, "")
    assert "next: go to your project's folder, or create a project here: replay init" in outside.stderr

    made = installed.run("init", str(installed.project), cwd=installed.programs)
    assert made.returncode == 0, made.stderr
    assert "replay measure --site sandbox" in made.stdout

    RawTree(installed.project / "benchmarks" / "mine" / "rbd-journaling").measure(blocks=2)
    derived = installed.run("derive", "--data", "mine")
    assert derived.returncode == 0, derived.stderr
    assert (installed.project / "benchmarks/mine/rbd-journaling/tidy.csv").stat().st_size > 0

    write_lab(installed.project)
    planned = installed.run("measure", "--site", "lab", "--dry-run", "--scale", "smoke")
    assert planned.returncode == 0, planned.stderr
    assert "rbd-journaling at scale smoke: 1 block(s)" in planned.stdout
    assert "second_site" in planned.stdout

    none = installed.run("measure", "--site", "sandbox", "--dry-run")
    assert none.returncode != 0
    assert "next: run replay sandbox up" in none.stderr


def test_it_uses_nothing_of_the_checkout(installed):
    code = "import replay.base.paths as paths; print(paths.ROOT, paths.program_file('Snakefile').is_file())"
    argv = [str(installed.programs / "python"), "-P", "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, env={"PATH": "/usr/bin"}, check=True)
    assert done.stdout == "None True\n"
    assert installed.run("--version", cwd=installed.programs).stdout.startswith("replay ")
