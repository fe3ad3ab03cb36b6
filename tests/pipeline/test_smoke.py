"""Every experiment that ships, at smoke scale, on a real sandbox: measured, derived, described, and explained."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from replay.base.paths import ROOT
from replay.cluster.capabilities import missing
from replay.cluster.site import load_site
from replay.config.experiments import experiment_names, load_experiment

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture
def shipped(bench):
    """A bench with the experiments that ship instead of the tiny one."""
    shutil.rmtree(bench.folder / "config" / "experiments")
    shutil.copytree(ROOT / "config" / "experiments", bench.folder / "config" / "experiments")
    return bench


@pytest.mark.parametrize("name", experiment_names())
def test_smoke(shipped, name, monkeypatch):
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(shipped.sandbox_directory))
    done = shipped.measure(name)
    assert done.returncode == 0, done.stdout + done.stderr
    derived = shipped.run("derive", "--data", "trial")
    assert derived.returncode == 0, derived.stdout + derived.stderr
    data_set = shipped.folder / "benchmarks" / "trial"
    described = json.loads((data_set / "manifest.json").read_text())["experiments"][name]
    if lacking := missing(load_experiment(name).get("requires", ()), load_site("sandbox")):
        assert [(one["requires"], one["detail"]) for one in described["skipped"]] == lacking, (
            "the reason is in the data"
        )
        assert (described["cells"], described["charts"]) == (0, {})
        return
    assert described["skipped"] == [], "a sandbox lacks nothing"
    assert "the runner's own cost" in done.stdout
    assert described["charts"]
    with (data_set / name / "tidy.csv").open() as file:
        rows = list(csv.DictReader(file))
    used = [row for row in rows if row["used"] == "1"]
    assert len(used) == described["cells"], "each cell has a valid measurement"
    assert all(row["invalid_reason"] for row in rows if row["valid"] != "1"), "each void cell is explained"
    for chart in described["charts"].values():
        assert (data_set / chart["path"]).exists()
