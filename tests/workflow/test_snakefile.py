"""The Snakefile, as Snakemake reads and runs it: without a cluster, on a small data set."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from replay.base.paths import ROOT
from replay.base.snakemake import end_of, run_snakemake
from replay.claims.workflow import job, warm
from replay.claims.workflow.dataset import derive_data_set
from replay.cli.derive_command import main
from replay.design.plan_file import PlannedBlock
from support.datasets import append, append_raw, digests, measured
from support.patience import patient
from workflow.test_settings import plan_of


@pytest.fixture
def benchmarks(tmp_path):
    folder = tmp_path / "benchmarks"
    measured(folder / "mine")
    measured(folder / "mine", "other")
    return folder


#: Runs Snakemake for each line that it reads, in a process of its own: a fork of this one, which has loaded Snakemake.
#: Loading takes most of the time of a run.
SNAKEMAKE = """
import json, os, sys
import jsonschema, orjson, smart_open, yaml, yte  # which it loads when it runs, and so do the rules
import snakemake.api, snakemake.dag, snakemake.scheduling.job_scheduler, snakemake.workflow
from snakemake.cli import main

for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["snakemake", *asked["arguments"]]
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def snakemakes():
    """The process of which each run of Snakemake is a fork."""
    command = [sys.executable, "-c", SNAKEMAKE]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        yield one


@pytest.fixture
def snakemake(benchmarks, tmp_path, snakemakes):
    """Run Snakemake on the data sets of the test, without access to this machine's clusters."""
    (tmp_path / "nothing").mkdir()
    environment = {
        **os.environ,
        "REPLAY_BENCHMARKS": str(benchmarks),
        "REPLAY_STATE": str(tmp_path / "nothing"),
        "CEPH_CONF": str(tmp_path / "nothing" / "ceph.conf"),
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        said = {name: tmp_path / "nothing" / name for name in ("stdout", "stderr")}
        asked = {name: str(path) for name, path in said.items()}
        snakemakes.stdin.write(json.dumps(asked | {"environment": environment, "arguments": arguments}) + "\n")
        snakemakes.stdin.flush()
        status = int(snakemakes.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, *(path.read_text() for path in said.values()))

    return run


# Each run of Snakemake takes a third of a second: these tests are slow.
@pytest.mark.slow
@pytest.mark.parametrize("reading", [["--dry-run"], ["--dag", "dot"], ["--rulegraph", "dot"], ["--summary"]])
def test_options_that_only_read_need_no_cluster_and_write_nothing(reading, snakemake, benchmarks):
    before = digests(benchmarks)
    done = snakemake(*reading)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert all(rule in said for rule in ("derive_experiment", "claims", "answer", "describe"))
    assert "measure_block" not in said
    assert digests(benchmarks) == before


@pytest.mark.slow
def test_a_plan_measures_its_blocks_and_nothing_else(snakemake, benchmarks, tmp_path):
    plan = plan_of("rbd-bench").write(tmp_path / "plans")
    before = digests(benchmarks)
    done = snakemake("--dag", "dot", "--config", f"plan_file={plan}")
    assert done.returncode == 0, done.stderr
    assert "measure_block" in done.stdout
    assert "derive_experiment" not in done.stdout
    graph = snakemake("site", "--rulegraph", "dot", "--config", f"plan_file={plan}").stdout
    assert all(rule in graph for rule in ("measure_block", "derive_experiment", "claims", "answer", "describe", "site"))
    assert digests(benchmarks) == before


@pytest.mark.slow
def test_a_typo_is_refused_before_anything_runs(snakemake):
    done = snakemake("--config", "experiments=rbd-bench")
    assert done.returncode == 1
    assert "experiments: unknown key" in done.stderr
    assert "did you mean 'experiment'?" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_picture_in_the_documentation_shows_the_rules_of_the_snakefile():
    picture = (ROOT / "docs" / "images" / "dag.svg").read_text()
    rules = re.findall(r"^ *rule (\w+):$", (ROOT / "Snakefile").read_text(), re.M)
    assert {"all", "measure_block", "changed", "derive_experiment", "claims", "answer", "describe", "site"} == set(
        rules
    )
    # `changed` has a job only if a note no longer fits.
    assert [rule for rule in rules if rule not in ("all", "changed") and f">{rule}</text>" not in picture] == []


@pytest.mark.slow
def test_snakemake_leaves_alone_what_the_command_derived(snakemake, benchmarks, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(benchmarks))
    derive_data_set(benchmarks / "mine")
    in_future = time.time() + 3600
    for path in benchmarks.rglob("raw/*"):
        os.utime(path, (in_future, in_future))
    done = snakemake("--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr


@pytest.mark.slow
def test_changed_inputs_are_due_for_snakemake_too_however_old_they_look(snakemake, benchmarks, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(benchmarks))
    derive_data_set(benchmarks / "mine")
    for path in (
        benchmarks / "mine" / "other" / "aggregate" / "throughput-write-seq.csv",
        benchmarks / "mine" / "claims.csv",
    ):
        append(path)
        os.utime(path, (0, 0))
    due = snakemake("--dry-run").stdout
    assert "Derive other of mine" in due
    assert "Judge every claim against mine" in due
    assert "Derive rbd-journaling of mine" not in due


@pytest.mark.slow
def test_the_command_leaves_alone_what_snakemake_derived(snakemake, benchmarks, monkeypatch, capsys):
    assert snakemake().returncode == 0
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(benchmarks))
    before = {path: path.stat().st_mtime_ns for path in benchmarks.rglob("*") if path.is_file()}
    assert main(["--data", "mine"]) == 0
    assert "complete (2 experiments), nothing to derive" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in benchmarks.rglob("*") if path.is_file()} == before


@pytest.fixture
def sealed(benchmarks):
    """A pack of the data set."""
    (pack,) = (benchmarks / "mine" / "rbd-journaling" / "raw").glob("block-01-*.tar.gz")
    return pack


@pytest.fixture
def plan_of_sealed(sealed, tmp_path):
    """A plan of nothing but the block that this pack holds."""
    block = PlannedBlock("rbd-journaling", 1, sealed.name.removesuffix(".tar.gz").rpartition("-")[2])
    return replace(plan_of("rbd-journaling"), blocks=(block,)).write(tmp_path / "plans")


def evidence_in(benchmarks):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in benchmarks.glob("*/*/raw/*")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "forced", [["--forceall"], ["--forcerun", "derive_experiment"], ["--delete-all-output"], ["--touch"]]
)
@pytest.mark.parametrize("planned", [True, False])
def test_no_option_removes_replaces_or_touches_a_pack(forced, planned, snakemake, benchmarks, plan_of_sealed):
    before = evidence_in(benchmarks)
    target = [str(benchmarks / "mine" / "manifest.json"), "--config", f"plan_file={plan_of_sealed}"] if planned else []
    done = snakemake(*forced, *target)
    assert "measure_block" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    assert evidence_in(benchmarks) == before


@pytest.mark.slow
@pytest.mark.parametrize(("target", "status"), [("all", 0), ("manifest.json", 0), ("the pack", 1)])
def test_forcing_the_rule_that_measures_does_not_run_it_for_a_sealed_block(
    target, status, snakemake, benchmarks, sealed, plan_of_sealed
):
    before = evidence_in(benchmarks)
    named = {"manifest.json": str(benchmarks / "mine" / "manifest.json"), "the pack": str(sealed)}.get(target, target)
    done = snakemake(named, "--forcerun", "measure_block", "--config", f"plan_file={plan_of_sealed}")
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    assert "rule measure_block:" not in said and "Measure rbd-journaling, block" not in said
    assert evidence_in(benchmarks) == before


@pytest.mark.slow
def test_the_rule_that_measures_would_say_that_it_runs(snakemake, benchmarks, tmp_path):
    plan = plan_of("rbd-bench").write(tmp_path / "plans")
    done = snakemake("--dry-run", "--forcerun", "measure_block", "--config", f"plan_file={plan}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Measure rbd-bench, block" in done.stdout + done.stderr


@pytest.mark.slow
def test_bare_snakemake_derives_every_data_set_and_repeats_only_what_changed(snakemake, benchmarks):
    first = snakemake()
    assert first.returncode == 0, first.stderr
    for name in ("manifest.json", "recording.json", "datapackage.json", "claims.json", "claims.csv", "answer.csv"):
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


@pytest.mark.parametrize(
    ("ends", "status", "said"),
    [("kill -KILL $$", 137, "was ended by SIGKILL"), ("exit 3", 3, "ended with status 3")],
)
def test_a_snakemake_that_was_killed_is_no_status_of_its_own(ends, status, said, tmp_path, monkeypatch):
    (tmp_path / "setpriv").write_text(f"#!/bin/sh\n{ends}\n")
    (tmp_path / "setpriv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert run_snakemake((), (), tmp_path / "log", lambda line: None) == status
    assert end_of(status) == said


# Jobs that share one start: each is a fork of a process that has imported the modules that they need ------------------


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
    assert job.main(derive(tmp_path)) == 0
    assert capsys.readouterr().out == (tmp_path / "log").read_text() == "rbd-journaling: 12 cells, 27 files changed\n"


def test_a_warm_process_runs_jobs_passes_on_their_output_and_status_and_ends(data_set, tmp_path, capsys):
    with warm.warm_jobs():
        socket = Path(os.environ["REPLAY_WARM_JOBS"])
        ends = time.monotonic() + patient(60)
        # The socket is there a moment before it listens.
        while (status := warm.run_warm(derive(tmp_path))) is None:
            assert time.monotonic() < ends, "it does not listen"
            time.sleep(0.02)
        assert status == 0
        assert capsys.readouterr().out == "rbd-journaling: 12 cells, 27 files changed\n"
        append_raw(data_set)
        assert warm.run_warm(derive(tmp_path)) == 3
        assert "altered" in (tmp_path / "log").read_text()
        assert warm.run_warm(["dance"]) == 1, "a job that breaks fails, and nothing else with it"
    assert not socket.exists()
    assert "REPLAY_WARM_JOBS" not in os.environ
