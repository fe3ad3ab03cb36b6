"""Deriving again whenever raw output arrives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from replay.claims.data_set import Watcher
from support.patience import patient, wait_until
from support.rawtree import RawTree

#: The watching process takes only CPU time that nobody else wants; a busy machine may have little.
SECONDS = 90


def attempts_in(manifest):
    return json.loads(manifest.read_text())["experiments"]["rbd-journaling"]["attempts"]


def test_a_look_derives_what_changed_and_nothing_else(benchmarks):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling")
    RawTree(benchmarks / "demo" / "other").measure()
    watcher = Watcher(benchmarks / "demo", (), pytest.fail)
    assert [one.name for one in watcher.look()] == ["other", "rbd-journaling"]
    assert watcher.look() == []
    tree.attempt(1, "write-seq-4096")
    assert [(one.name, one.cells) for one in watcher.look()] == [("rbd-journaling", 3)]
    assert attempts_in(benchmarks / "demo" / "manifest.json") == 1


def test_a_look_reports_an_error_once_and_continues_when_it_is_corrected(benchmarks):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling").measure()
    told = []
    watcher = Watcher(benchmarks / "demo", (), told.append)
    extra = tree.attempt(2, "write-seq-4096") / "extra"
    extra.write_text("")
    assert (watcher.look(), watcher.look()) == ([], [])
    assert len(told) == 1
    assert f"{extra}: not listed" in told[0]
    extra.unlink()
    tree.attempt(3, "write-seq-4096")
    assert watcher.look()[0].cells == 18


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["standard input closes", "SIGTERM"])
def test_watching_follows_a_measurement_at_the_lowest_priority_until(benchmarks, ending):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling")
    manifest = benchmarks / "demo" / "manifest.json"
    command = [sys.executable, "-m", "replay", "derive", "--data", "demo", "--watch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            wait_until(manifest.exists, "a manifest", seconds=SECONDS)
            assert os.sched_getscheduler(process.pid) == os.SCHED_IDLE
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
            tree.attempt(1, "write-seq-4096")
            wait_until(lambda: attempts_in(manifest) == 1, "the first attempt", seconds=SECONDS)
            if ending == "SIGTERM":
                process.send_signal(signal.SIGTERM)
            else:
                tree.attempt(1, "write-seq-65536")
                process.stdin.close()
            assert process.wait(timeout=patient(SECONDS)) == 0
        finally:
            process.kill()
    assert attempts_in(manifest) == (1 if ending == "SIGTERM" else 2)
