"""`./replay` in a checkout sets up what a command needs, and nothing for a question or a mistake."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from replay.base.paths import ROOT

# Each test starts several processes.
pytestmark = pytest.mark.slow

SETUP = """#!/bin/sh
echo "$@" >> "{log}"
mkdir -p "{venv}"
printf '#!/bin/sh\\nexec "{python}" "$@"\\n' > "{venv}/python"
chmod +x "{venv}/python"
exit {status}
"""


class Checkout:
    """A copy of everything that `./replay` needs, with a set-up that only records its arguments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "setup.log"
        for name in ("replay", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        shutil.copytree(ROOT / "scripts" / "replay", folder / "scripts" / "replay", ignore=lambda *_: ["__pycache__"])
        self.own = {path.name for path in folder.iterdir()}

    def fresh(self) -> Checkout:
        """Take away what an earlier command left."""
        for path in self.folder.iterdir():
            if path.name not in self.own:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.set_up(0)
        return self

    def set_up(self, status: int) -> None:
        script = self.folder / "scripts" / "setup"
        venv = self.folder / ".venv" / "bin"
        script.write_text(SETUP.format(log=self.log, venv=venv, python=sys.executable, status=status))
        script.chmod(0o755)

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("REPLAY_", "PYTHON"))}
        return subprocess.run(
            ["./replay", *words], cwd=self.folder, env=kept | environment, capture_output=True, text=True, check=False
        )

    def asked(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Copied once, so that Python compiles its modules once."""
    return Checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def checkout(copied):
    return copied.fresh()


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["measure", "--help"], 0),
        ([], 0),
        (["mesure"], 2),
        (["measure", "--site", "sandbox", "--scale", "huge"], 2),
        (["sandbox", "status", "--directory", "none"], 1),
        (["init", "here"], 0),
    ],
)
def test_a_question_and_a_mistake_install_nothing(checkout, words, status):
    done = checkout.run(*words)
    assert done.returncode == status, done.stderr
    assert checkout.asked() == []
    assert "Traceback" not in done.stderr
    assert "replay" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "level"),
    [
        (["derive", "--data", "none"], "derive"),
        (["measure", "--site", "mine", "--dry-run"], "client"),
        (["clean", "--site=none"], "client"),
    ],
)
def test_the_needs_of_a_command_are_set_up_before_it_runs(checkout, words, level):
    done = checkout.run(*words)
    assert checkout.asked() == [f"--for {level}"]
    # The command ran, and says itself that the name does not exist.
    assert done.returncode in (2, 3)
    assert "none" in done.stderr or "config/sites" in done.stderr


def test_a_command_runs_even_on_a_system_that_must_stay_as_it_is(checkout):
    checkout.set_up(3)
    assert "there is no raw output here" in checkout.run("derive", "--data", "none").stderr


def test_a_failed_set_up_ends_the_command(checkout):
    checkout.set_up(1)
    done = checkout.run("derive", "--data", "none")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
