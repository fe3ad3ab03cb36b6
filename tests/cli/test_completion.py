"""Shell completion: the scripts are valid, and offer what exists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from replay.base.paths import ROOT
from replay.cli.main import SHELLS, main


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_valid_and_names_the_command(shell, capsys, tmp_path):
    assert main(["--completion", shell]) == 0
    script = capsys.readouterr().out
    assert "replay" in script
    (tmp_path / "script").write_text(script)
    if shutil.which(shell) is None:
        assert shell != "bash", "bash is what scripts/setup needs itself"
        pytest.skip(f"{shell} is not installed: the script was made, and not parsed")
    done = subprocess.run([shell, "-n", str(tmp_path / "script")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def offered(line: str, tmp_path) -> set[str]:
    """Return what the shell would offer at the end of a line, by the protocol of argcomplete's scripts."""
    target = tmp_path / "offered"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(target),
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    done = subprocess.run([str(ROOT / "replay")], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "", done.stderr
    return {word.strip() for word in target.read_text().split("\n")}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("./replay me", "measure"),
        ("./replay measure --sc", "--scale"),
        ("./replay measure --scale ", "talk"),
        ("./replay measure --site san", "sandbox"),
        ("./replay derive --data ref", "reference"),
        ("./replay claims --data reference --experiment rbd-j", "rbd-journaling"),
        ("./replay sandbox ", "status"),
    ],
)
def test_commands_options_and_names_are_offered(line, word, tmp_path):
    assert word in offered(line, tmp_path)


def test_outside_of_a_project_no_name_is_offered_and_nothing_fails(tmp_path):
    code = (
        "import replay.base.paths as paths; paths.ROOT = None\n"
        "from replay.base.command_line import _names; print(list(_names(paths.benchmarks_directory, '*/')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
