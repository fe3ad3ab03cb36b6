"""Tests of one group run in one process: what they share is neither made twice nor broken by one beside another."""

import re
import subprocess
import sys

import pytest

from support.patience import patient

GROUPED = """\
import pytest

@pytest.mark.xdist_group("shares a sandbox")
@pytest.mark.parametrize("number", range(8))
def test_one(number):
    pass
"""


@pytest.mark.slow
def test_the_tests_of_a_group_run_in_one_process(tmp_path):
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    argv = [sys.executable, "-m", "pytest", "-v", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*argv, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    processes = re.findall(r"\[(gw\d)\].* PASSED", done.stdout)
    assert len(processes) == 8, done.stdout + done.stderr
    assert len(set(processes)) == 1, done.stdout
