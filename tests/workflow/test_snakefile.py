"""The Snakefile, as Snakemake reads and runs it: without a cluster, on small data sets."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from replay.base import paths
from replay.base.paths import ROOT, program_digest
from replay.base.snakemake import end_of, run_snakemake, setting
from replay.design.design import PlannedBlock
from support.datasets import append, append_raw, digests, measured
from support.plans import plan_of

DESCRIBE = "Judge the claims, answer the question, and describe mine"


@pytest.fixture
def benchmarks(tmp_path):
    folder = tmp_path / "benchmarks"
    measured(folder / "mine")
    measured(folder / "mine", "other")
    return folder


@pytest.fixture
def configuration(tmp_path):
    """A copy of the configuration, which a test may edit."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path / "config"


@pytest.fixture
def snakemake(benchmarks, configuration, tmp_path, snakemakes):
    """Run Snakemake on the data sets and configuration of the test, without access to this machine's clusters.

    Return what it says, once its exit status is as it should be.
    """
    (tmp_path / "nothing").mkdir()
    environment = {
        **os.environ,
        "REPLAY_BENCHMARKS": str(benchmarks),
        "REPLAY_CONFIG": str(configuration),
        "REPLAY_STATE": str(tmp_path / "nothing"),
        "CEPH_CONF": str(tmp_path / "nothing" / "ceph.conf"),
    }

    def run(*arguments: str, ends: int = 0) -> str:
        said = {name: tmp_path / "nothing" / name for name in ("stdout", "stderr")}
        profile = ("--workflow-profile", "workflow/profiles/default")
        status = snakemakes.run((*profile, *arguments), environment, **said)
        told = "".join(path.read_text() for path in said.values())
        assert status == ends, told
        return told

    return run


def due(said: str) -> set[str]:
    """Return what a dry run says that it would do, by the rules' messages."""
    jobs = re.findall(r"^Job \d+: (.*)$", said, re.M)
    return {job.replace(" from its raw output", "") for job in jobs} - {"Everything is up to date"}


# Each run of Snakemake takes a third of a second, and a job a second: these tests are slow.
@pytest.mark.slow
@pytest.mark.parametrize("reading", [["--dry-run"], ["--dag", "dot"], ["--rulegraph", "dot"], ["--summary"]])
def test_options_that_only_read_need_no_cluster_and_write_nothing(reading, snakemake, benchmarks):
    before = digests(benchmarks)
    said = snakemake(*reading)
    assert all(rule in said for rule in ("derive_mine", "describe"))
    assert "measure_block" not in said
    assert digests(benchmarks) == before


@pytest.mark.slow
def test_a_plan_measures_its_blocks_and_nothing_else(snakemake, benchmarks, tmp_path):
    plan = plan_of("rbd-bench").write(tmp_path / "plans")
    before = digests(benchmarks)
    said = snakemake("--dag", "dot", "--config", f"plan_file={plan}")
    assert "measure_block" in said
    assert "derive_mine" not in said
    graph = snakemake("site", "--rulegraph", "dot", "--config", f"plan_file={plan}")
    assert all(rule in graph for rule in ("measure_block", "derive_mine", "describe", "site"))
    assert digests(benchmarks) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("experiments=rbd-bench", "experiments"),
        ("site=sandbox", "site"),
        ("data=mien", "no raw output of 'mien'"),
        ("data=Mine", "Mine"),
        ("experiment=rbd-bench", "no raw output of 'rbd-bench'"),
        ("plan_file=none.json", "there is no such plan"),
    ],
)
def test_a_typo_is_refused_before_anything_runs(config, said, snakemake):
    told = snakemake("--config", config, ends=1)
    assert said in told
    assert "Traceback" not in told


@pytest.mark.slow
@pytest.mark.parametrize("value", ["mine", "0815", "1e5", ["one", "other"]])
def test_a_setting_is_taken_as_it_is_meant(value):
    from snakemake.cli import parse_config  # it takes a second, which other tests need not wait for

    assert parse_config([setting("data", value)]) == {"data": value}


@pytest.mark.slow
def test_the_interpreter_may_be_in_a_folder_with_a_space(benchmarks, tmp_path):
    (tmp_path / "a folder").symlink_to(sys.prefix)
    python = tmp_path / "a folder" / "bin" / "python"
    command = [python, "-m", "snakemake", "--dry-run", "--printshellcmds", "pages"]
    environment = {**os.environ, "REPLAY_BENCHMARKS": str(benchmarks)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert f"'{python}' -m replay report" in done.stdout + done.stderr


def test_the_site_is_built_again_if_what_builds_it_changes():
    rule = (ROOT / "Snakefile").read_text().partition("    rule site:\n")[2]
    patterns = re.findall(r'^ {20}"(.+)",$', rule, re.M)
    inputs = {path for pattern in patterns for path in ROOT.glob(pattern)}
    assert {*(ROOT / "scripts" / "deck").rglob("*.js"), ROOT / "scripts" / "build.mjs"} <= inputs
    assert [pattern for pattern in patterns if not any(ROOT.glob(pattern))] == []


def test_the_picture_in_the_documentation_shows_the_rules_of_the_snakefile():
    picture = (ROOT / "docs" / "images" / "dag.svg").read_text()
    rules = re.findall(r"^ *rule (\w+):$", (ROOT / "Snakefile").read_text(), re.M)
    beside_it = {"all", "pages", "page"}
    assert {"measure_block", "describe", "site"} == set(rules) - beside_it
    assert [rule for rule in (*rules, "derive") if rule not in beside_it and f">{rule}</text>" not in picture] == []


@pytest.mark.slow
def test_the_linter_only_misses_an_environment_of_each_rule_which_uv_lock_has(snakemake):
    titles = {*re.findall(r"^ {4}\* (.+?):?$", snakemake("--lint", ends=1), re.M)}
    assert titles == {"Specify a conda environment or container for each rule."}


@pytest.mark.slow
def test_the_workflow_is_where_the_catalogue_expects_it(snakemake):
    assert due(snakemake("--dry-run", "--snakefile", "workflow/Snakefile")) == due(snakemake("--dry-run"))


@pytest.mark.slow
def test_bare_snakemake_derives_every_data_set_and_repeats_only_what_changed(snakemake, benchmarks, configuration):
    snakemake()
    for name in ("manifest.json", "recording.json", "datapackage.json", "claims.json", "claims.csv", "answer.csv"):
        assert (benchmarks / "mine" / name).exists()
    touched = [*benchmarks.rglob("raw/*"), *configuration.rglob("*.yaml")]
    in_future, in_past = time.time() + 3600, time.time() - 3600
    for moment in (in_future, in_past):
        for path in touched:
            os.utime(path, (moment, moment))
        assert "Nothing to be done" in snakemake("--dry-run"), "a file that was only touched is no reason"
    everything = {"Derive mine: other, rbd-journaling", DESCRIBE}
    for name, expected in (("experiments/rbd-journaling.yaml", everything), ("claims.yaml", {DESCRIBE})):
        path = configuration / name
        before = path.read_bytes()
        append(path)
        os.utime(path, (in_past, in_past))
        assert due(snakemake("--dry-run")) == expected, "one that was put back with its time is"
        path.write_bytes(before)

    measured(benchmarks / "mine", "third")
    assert due(snakemake("--dry-run")) == {"Derive mine: other, rbd-journaling, third", DESCRIBE}
    report = benchmarks / "report.html"
    snakemake("--report", str(report), ends=1)  # third is not derived yet
    snakemake()
    snakemake("--report", str(report))
    assert "ratios.csv" in report.read_text()

    snakemake("pages")
    snakemake("--report", str(report), "pages")
    assert ".replay/pages/mine.html" in report.read_text()

    append(configuration / "claims.yaml")
    assert due(snakemake("--dry-run")) == {DESCRIBE}
    (configuration / "claims.yaml").write_bytes((ROOT / "config" / "claims.yaml").read_bytes())
    (benchmarks / "mine" / "third" / "ratios.csv").unlink()
    assert "Derive mine: other, rbd-journaling, third" in due(snakemake("--dry-run"))


@pytest.mark.slow
def test_only_named_experiments_are_derived_and_those_that_never_were(snakemake, benchmarks):
    everything = {"Derive mine: other, rbd-journaling", DESCRIBE}
    assert due(snakemake("--dry-run", "--config", "experiment=other")) == everything
    snakemake()
    for name in ("other", "rbd-journaling"):
        append(benchmarks / "mine" / name / "raw" / "SHA256SUMS")
    assert due(snakemake("--dry-run")) == everything
    only = {"Derive mine: other", DESCRIBE}
    assert due(snakemake("--dry-run", "--config", "experiment=other")) == only


@pytest.mark.slow
def test_a_table_or_verdict_that_somebody_edited_is_neither_derived_again_nor_described(
    snakemake, benchmarks, configuration
):
    snakemake()
    package = (benchmarks / "mine" / "datapackage.json").read_bytes()
    for name in ("claims.csv", "claims.json", "answer.csv", "other/tidy.csv"):
        append(benchmarks / "mine" / name)
    assert "Nothing to be done" in snakemake()

    append(configuration / "claims.yaml")
    said = snakemake(ends=1)
    assert f"{benchmarks}/mine/other/tidy.csv: this table is altered" in said
    assert "Traceback" not in said
    assert (benchmarks / "mine" / "datapackage.json").read_bytes() == package


@pytest.mark.slow
def test_a_job_that_fails_says_why_also_in_its_log(snakemake, benchmarks):
    # A data set's log is in the checkout: no other test derives one of this name meanwhile.
    mine = (benchmarks / "mine").rename(benchmarks / "altered")
    append_raw(mine)
    said = snakemake("--keep-going", ends=1)
    (pack,) = (mine / "rbd-journaling" / "raw").glob("*.tar.gz")
    assert f"{pack}: altered" in said
    assert "Traceback" not in said
    assert f"{pack}: altered" in (ROOT / ".replay/logs/derive-altered.log").read_text()
    assert (mine / "other" / "tidy.csv").exists()


@pytest.mark.slow
def test_a_description_follows_those_of_older_releases_beside_it(snakemake, benchmarks):
    shutil.rmtree(benchmarks / "mine")
    for name in ("mine-16", "mine-20"):
        measured(benchmarks / name)
    snakemake()
    compared = json.loads((benchmarks / "mine-20" / "releases.json").read_text())
    assert [*compared["against"]] == ["mine-16"]
    assert "Nothing to be done" in snakemake("--dry-run")
    assert "Nothing to be done" in snakemake("--dry-run", "--config", "data=mine-20")
    append(benchmarks / "mine-16" / "rbd-journaling" / "raw" / "SHA256SUMS")
    assert DESCRIBE.replace("mine", "mine-20") in due(snakemake("--dry-run"))


def test_the_digest_of_a_program_is_that_of_the_rooms_that_it_runs(tmp_path, monkeypatch):
    for name in ("derive", "claims"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "module.py").write_text("x = 1\n")
    monkeypatch.setattr(paths, "PACKAGE", tmp_path)
    digest = program_digest.__wrapped__  # one process sees one state of the code
    deriving, judging = digest("derive"), digest("derive", "claims")
    assert deriving != judging
    append(tmp_path / "claims" / "inner" / "module.py")
    assert digest("derive") == deriving
    assert digest("derive", "claims") != judging


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
@pytest.mark.parametrize("forced", [["--forceall"], ["--forcerun", "describe"], ["--delete-all-output"], ["--touch"]])
@pytest.mark.parametrize("planned", [True, False])
def test_no_option_removes_replaces_or_touches_a_pack(forced, planned, snakemake, benchmarks, plan_of_sealed):
    before = evidence_in(benchmarks)
    target = [str(benchmarks / "mine" / "manifest.json"), "--config", f"plan_file={plan_of_sealed}"] if planned else []
    assert "measure_block" not in snakemake(*forced, *target)
    assert evidence_in(benchmarks) == before


@pytest.mark.slow
@pytest.mark.parametrize(("target", "status"), [("all", 0), ("manifest.json", 0), ("the pack", 1)])
def test_forcing_the_rule_that_measures_does_not_run_it_for_a_sealed_block(
    target, status, snakemake, benchmarks, sealed, plan_of_sealed
):
    before = evidence_in(benchmarks)
    named = {"manifest.json": str(benchmarks / "mine" / "manifest.json"), "the pack": str(sealed)}.get(target, target)
    said = snakemake(named, "--forcerun", "measure_block", "--config", f"plan_file={plan_of_sealed}", ends=status)
    assert "rule measure_block:" not in said and "Measure rbd-journaling, block" not in said
    assert evidence_in(benchmarks) == before


@pytest.mark.slow
def test_the_rule_that_measures_would_say_that_it_runs(snakemake, benchmarks, tmp_path):
    plan = plan_of("rbd-bench").write(tmp_path / "plans")
    said = snakemake("--dry-run", "--forcerun", "measure_block", "--config", f"plan_file={plan}")
    assert "Measure rbd-bench, block" in said


def test_a_place_that_a_person_moved_is_the_same_for_snakemake_in_the_projects_folder(tmp_path, monkeypatch):
    (tmp_path / "setpriv").write_text('#!/bin/sh\necho "$REPLAY_BENCHMARKS"\n')
    (tmp_path / "setpriv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("REPLAY_BENCHMARKS", "mine")
    monkeypatch.chdir(tmp_path)
    told = []
    assert run_snakemake((), (), tmp_path / "log", told.append) == 0
    assert told == [f"{tmp_path / 'mine'}\n"]


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
