"""Blocks as jobs of Slurm: a profile, and a real Slurm of one node on which a block is killed and then completed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT
from replay.base.snakemake import cause_in, profile_folder
from support.campaign import Campaign
from support.patience import patient
from support.plans import plan_of
from support.slurm import ACCOUNT, one_node

PROFILE = ROOT / "workflow" / "profiles" / "slurm" / "config.yaml"
MINUTES = 30


def test_the_profile_for_slurm_limits_time_and_memory_and_repeats_no_block():
    settings = yaml.safe_load(PROFILE.read_text())
    assert settings["executor"] == "slurm"
    assert settings["jobs"] == 1, "blocks take turns"
    assert settings["slurm-no-requeue"] is True
    assert {one.partition("=")[0] for one in settings["default-resources"]} == {"runtime", "mem_mb"}
    assert "# - slurm_account=" in PROFILE.read_text()


def test_a_profile_is_a_path_or_one_of_the_projects_or_replays_own(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert profile_folder("slurm") == PROFILE.parent
    (tmp_path / "config" / "sites").mkdir(parents=True)
    own = tmp_path / "workflow" / "profiles" / "slurm"
    own.mkdir(parents=True)
    (own / "config.yaml").write_text("executor: slurm\n")
    monkeypatch.chdir(tmp_path)
    assert profile_folder("slurm") == profile_folder("./workflow/profiles/slurm") == own


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "there is no profile './mine'"), ("a: [", "cannot be read"), ("executor: no-such", "is not installed")],
)
def test_a_profile_that_cannot_be_used_is_refused_before_anything_runs(text, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "config.yaml").write_text(text)
    with pytest.raises(ConfigurationError, match=said) as raised:
        profile_folder("./mine")
    assert raised.value.where


def test_the_cause_of_a_failure_is_what_slurm_says_of_the_job(tmp_path):
    (tmp_path / "log").write_text(
        "Error in rule measure_block:\n"
        "    message: SLURM-job '7' failed, SLURM status is: 'TIMEOUT'. Detailed failure reason unavailable (…).\n"
        "WorkflowError:\n"
    )
    assert cause_in(tmp_path / "log") == "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'"


def test_the_workflow_is_parsed_without_the_site_s_configuration_or_key(configuration, tmp_path, monkeypatch):
    site = (ROOT / "config" / "sites" / "example.yaml").read_text()
    (configuration / "sites" / "example.yaml").write_text(site.replace("/etc/ceph/", "/no/such/folder/"))
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    plan = replace(plan_of("rbd-bench", scale="smoke"), site="example").write(tmp_path)
    argv = [sys.executable, "-m", "snakemake", "--dry-run", "--config", f"plan_file={plan}"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Measure rbd-bench, block 01, into mine" in done.stdout + done.stderr


@pytest.fixture
def campaign(tmp_path, sandbox_directory):
    made = Campaign(tmp_path, sandbox_directory)
    yield made
    assert made.images() == {"left": [], "right": []}, "a test left an image behind"


@pytest.fixture
def slurm(run_folder, monkeypatch):
    """A Slurm whose commands come first in PATH, and Replay's profile with an account and a shorter wall time."""
    with one_node(run_folder) as made:
        monkeypatch.setenv("PATH", f"{made.bin}:{os.environ['PATH']}")
        yield made


def profile_with_account(folder: Path) -> Path:
    text = PROFILE.read_text().replace("# - slurm_account=ACCOUNT", f"- slurm_account={ACCOUNT}")
    text = text.replace("runtime=240", f"runtime={MINUTES}").replace("mem_mb=4096", "mem_mb=2048")
    made = folder / "workflow" / "profiles" / "mine"
    made.mkdir(parents=True)
    (made / "config.yaml").write_text(text)
    return made


@pytest.mark.hosts
def test_slurm_runs_a_block_and_if_it_kills_one_the_next_run_completes_it(campaign, slurm, tmp_path):
    experiment = "client-sweep"
    campaign.configure(experiment, target_seconds=4, image_size_bytes=8 << 20, factors={"clients": [1]})
    campaign.limit_rate(4 << 20)
    profile = profile_with_account(tmp_path)
    words = (*campaign.measure_arguments(experiment), "--profile", str(profile))

    run = campaign.start_with("measure", *words)
    campaign.wait_for(lambda: campaign.processes("--client=sock:"), "a cell that runs", seconds=200)
    [job] = slurm.jobs()
    assert slurm.jobs()[job] == {"state": "RUNNING", "account": ACCOUNT, "time": f"{MINUTES}:00", "memory": "2G"}
    slurm.ask("scancel", job)
    said, _ = run.communicate(timeout=patient(300))
    print(said)
    assert run.returncode == 1, said
    assert slurm.jobs()[job]["state"] == "CANCELLED"
    assert f"SLURM-job '{job}' failed, SLURM status is: 'CANCELLED'" in said
    assert not campaign.processes("fio"), "no tool outlives its job"
    assert not list(campaign.raw(experiment).glob("*.tar.gz"))

    done = campaign.run("measure", *words, timeout=400)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    [again] = slurm.jobs().keys() - {job}
    assert slurm.jobs()[again]["state"] == "COMPLETED"
    assert len(list(campaign.raw(experiment).glob("*.tar.gz"))) == 1
    valid = [one["valid"] for one in campaign.sidecars(experiment)]
    assert valid
    assert valid[-1]
    evidence = campaign.evidence(experiment)
    for word in (ACCOUNT, "node-1", str(tmp_path), "SLURM"):
        assert word.encode() not in evidence
