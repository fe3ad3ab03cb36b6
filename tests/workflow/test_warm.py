"""Jobs that share one start: each is a fork of a process that has imported the modules that they need."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from replay.workflow import warm
from replay.workflow.job import main
from support.datasets import append_raw, measured
from support.patience import patient


@pytest.fixture
def data_set(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    measured(tmp_path / "mine")
    return tmp_path / "mine"


def derive(folder: Path) -> list[str]:
    return ["derive", "--data", "mine", "--experiment", "rbd-journaling", "--log", str(folder / "log")]


def test_without_a_warm_process_a_job_does_its_step_itself(data_set, tmp_path, capsys, monkeypatch):
    assert warm.run_warm(derive(tmp_path)) is None
    monkeypatch.setenv("REPLAY_WARM_JOBS", str(tmp_path / "nobody"))
    assert warm.run_warm(derive(tmp_path)) is None
    assert main(derive(tmp_path)) == 0
    assert capsys.readouterr().out == (tmp_path / "log").read_text() == "rbd-journaling: 12 cells, 27 files changed\n"


def test_a_warm_process_runs_jobs_passes_on_their_output_and_status_and_ends(data_set, tmp_path, capsys):
    with warm.warm_jobs():
        socket = Path(os.environ["REPLAY_WARM_JOBS"])
        ends = time.monotonic() + patient(60)
        while not socket.exists():
            assert time.monotonic() < ends, "it does not listen"
            time.sleep(0.02)
        assert warm.run_warm(derive(tmp_path)) == 0
        assert capsys.readouterr().out == "rbd-journaling: 12 cells, 27 files changed\n"
        append_raw(data_set)
        assert warm.run_warm(derive(tmp_path)) == 3
        assert "altered" in (tmp_path / "log").read_text()
        assert warm.run_warm(["dance"]) == 1, "a job that breaks fails, and nothing else with it"
    assert not socket.exists()
    assert "REPLAY_WARM_JOBS" not in os.environ
