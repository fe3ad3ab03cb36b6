"""The Snakefile, as Snakemake reads and runs it: without a cluster, on a small data set."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from replay.base.paths import ROOT
from support.datasets import digests, measured
from workflow.test_plan_file import plan_of


@pytest.fixture
def benchmarks(tmp_path):
    folder = tmp_path / "benchmarks"
    measured(folder / "mine")
    measured(folder / "mine", "other")
    return folder


@pytest.fixture
def snakemake(benchmarks, tmp_path):
    """Run Snakemake on the data sets of the test; nothing of this machine's clusters can be found."""
    (tmp_path / "nothing").mkdir()
    environment = {
        **os.environ,
        "REPLAY_BENCHMARKS": str(benchmarks),
        "REPLAY_STATE": str(tmp_path / "nothing"),
        "CEPH_CONF": str(tmp_path / "nothing" / "ceph.conf"),
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "snakemake", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    return run


@pytest.mark.parametrize("reading", [["--dry-run"], ["--rulegraph", "dot"], ["--summary"]])
def test_what_only_reads_needs_no_cluster_and_writes_nothing(reading, snakemake, benchmarks):
    before = digests(benchmarks)
    done = snakemake(*reading)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert all(rule in said for rule in ("derive_experiment", "claims", "describe"))
    assert "measure_block" not in said
    assert digests(benchmarks) == before


def test_a_plan_measures_its_blocks_and_nothing_else(snakemake, benchmarks, tmp_path):
    plan = plan_of("rbd-bench").write(tmp_path / "plans")
    before = digests(benchmarks)
    done = snakemake("--dag", "dot", "--config", f"plan_file={plan}")
    assert done.returncode == 0, done.stderr
    assert "measure_block" in done.stdout
    assert "derive_experiment" not in done.stdout
    graph = snakemake("site", "--rulegraph", "dot", "--config", f"plan_file={plan}").stdout
    assert all(rule in graph for rule in ("measure_block", "derive_experiment", "claims", "describe", "site"))
    assert digests(benchmarks) == before


def test_a_typo_is_refused_before_anything_runs(snakemake):
    done = snakemake("--config", "experiments=rbd-bench")
    assert done.returncode == 1
    assert "experiments: unknown key" in done.stderr
    assert "did you mean 'experiment'?" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_picture_in_the_documentation_shows_the_rules_of_the_snakefile():
    picture = (ROOT / "docs" / "images" / "dag.svg").read_text()
    rules = re.findall(r"^ *rule (\w+):$", (ROOT / "Snakefile").read_text(), re.M)
    assert {"all", "measure_block", "derive_experiment", "claims", "describe", "site"} == set(rules)
    assert [rule for rule in rules if rule != "all" and f">{rule}</text>" not in picture] == []


@pytest.mark.slow
def test_bare_snakemake_derives_what_is_there_and_only_what_changed_again(snakemake, benchmarks):
    first = snakemake()
    assert first.returncode == 0, first.stderr
    for name in ("manifest.json", "recording.json", "datapackage.json", "claims.json", "claims.csv"):
        assert (benchmarks / "mine" / name).exists()
    assert (benchmarks / "mine" / "other" / "tidy.csv").exists()
    again = snakemake("--dry-run")
    assert "Nothing to be done" in again.stderr + again.stdout
    measured(benchmarks / "mine", "third")
    more = snakemake("--dry-run").stdout
    assert "Derive third of mine" in more
    assert "Derive other of mine" not in more
    report = benchmarks / "report.html"
    assert snakemake("--report", str(report)).returncode == 1, "third is not derived yet"
    assert snakemake().returncode == 0
    reported = snakemake("--report", str(report))
    assert reported.returncode == 0, reported.stderr
    assert "ratios.csv" in report.read_text()
