"""Which tests plain `pytest` runs: none that starts Ceph, a container or Slurm."""

from __future__ import annotations

import subprocess
import sys

import pytest

from replay.base.paths import ROOT

STARTS_CEPH = "test_a_block_measures_disk_and_network_and_leaves_nothing_behind"
STARTS_NOTHING = "test_the_file_is_beside_the_osds_and_is_removed_with_the_block"


@pytest.mark.slow
def test_a_test_that_starts_ceph_is_only_run_where_it_is_asked_for():
    argv = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*argv, "tests/protocols/test_baseline.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert STARTS_NOTHING in done.stdout and STARTS_CEPH not in done.stdout
