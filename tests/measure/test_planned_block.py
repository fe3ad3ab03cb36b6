"""The job of a block measures what was planned, refuses what has changed since, and says why it failed."""

from __future__ import annotations

import contextlib
import io
import shutil
import signal
from dataclasses import replace
from types import SimpleNamespace

import pytest
import yaml

from replay.base.errors import ConfigurationError, RefusedError, cleaning_up, during
from replay.base.paths import config_directory
from replay.base.progress import Progress
from replay.cluster.site import Ceilings
from replay.design.configuration import load_experiment
from replay.design.design import PlanFile, PlannedBlock, plan_digest
from replay.design.expansion import expand, narrowed
from replay.design.sizing import PoolCopies
from replay.evidence.attempts import BlockWriter
from replay.evidence.data_set import raw_directory
from replay.measure import block, command, job
from replay.measure.job import Job, exit_status_of
from replay.preflight.plan import sources_digest
from support.bench import waiting
from support.commands import run_measure

SITE = SimpleNamespace(client_hosts=(), name="mine", ceilings=Ceilings())


class _ReachedTheCluster(BaseException):
    pass


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """Plan a block of rbd-bench, edit its configuration, and start the block's job."""
    shutil.copytree(config_directory(), tmp_path / "config")
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    monkeypatch.setattr("replay.preflight.plan.missing", lambda words, site: [])
    monkeypatch.setattr(job, "load_site", lambda name: SITE)

    def open_bench(*_):
        raise _ReachedTheCluster

    monkeypatch.setattr(block, "open_bench", open_bench)
    design = expand(load_experiment("rbd-bench"), "smoke")
    planned = PlannedBlock("rbd-bench", 1, plan_digest(design, 1))
    sources = {"rbd-bench": sources_digest(SITE, "rbd-bench")}
    path = PlanFile("mine", "mine", "smoke", (), sources, (planned,)).write(tmp_path / "plans")
    words = ["--plan-file", str(path), "--experiment", "rbd-bench", "--block", "1", "--plan", planned.plan]
    experiment = tmp_path / "config" / "experiments" / "rbd-bench.yaml"

    def run(change) -> int:
        configuration = yaml.safe_load(experiment.read_text())
        change(configuration)
        experiment.write_text(yaml.safe_dump(configuration, sort_keys=False))
        before = signal.getsignal(signal.SIGTERM)
        status = block.main(words)
        assert signal.getsignal(signal.SIGTERM) is before
        return status

    return run


def retitle(configuration):
    configuration["title"] = "Another title"


def lengthen(configuration):
    configuration["scales"]["smoke"]["target_seconds"] = 77


def test_an_experiment_that_was_changed_after_it_was_planned_is_refused_before_the_cluster_is_asked(edit, capsys):
    assert edit(lengthen) == 2
    said = capsys.readouterr().out
    assert "rbd-bench.yaml: this experiment, or what its site allows, has changed since" in said
    assert "run measure again" in said


@pytest.mark.parametrize("change", [retitle, lambda configuration: None])
def test_titles_and_labels_may_change_after_planning(change, edit):
    with pytest.raises(_ReachedTheCluster):
        edit(change)


def test_a_job_expands_the_levels_of_its_plan_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    monkeypatch.setattr("replay.preflight.plan.missing", lambda words, site: [])
    monkeypatch.setattr(job, "load_site", lambda name: SITE)
    only = ("io_pattern=seq",)
    design = narrowed(expand(load_experiment("rbd-bench"), "quick"), only)
    one = PlannedBlock("rbd-bench", 1, plan_digest(design, 1))
    sources = {"rbd-bench": sources_digest(SITE, "rbd-bench")}
    plan = PlanFile("mine", "mine", "quick", only, sources, (one,))
    found, _ = job.planned(plan, Job(tmp_path / "plan.json", "rbd-bench", 1, one.plan))
    assert (found.sets, found.left_out) == (design.sets, design.left_out)
    with pytest.raises(ConfigurationError, match="has changed since the block was planned"):
        job.planned(replace(plan, only=()), Job(tmp_path / "plan.json", "rbd-bench", 1, one.plan))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_block_that_was_started_with_its_signals_ignored_can_be_interrupted(number, edit, monkeypatch, capsys):
    monkeypatch.setattr(block, "open_bench", lambda *_: signal.raise_signal(number))
    before = signal.signal(number, signal.SIG_IGN)
    try:
        assert edit(retitle) == 130
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)
    assert "stopped; every finished set is kept" in capsys.readouterr().out


def test_nothing_runs_into_a_data_set_of_another_release(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    monkeypatch.setattr("replay.preflight.plan.missing", lambda words, site: [])
    monkeypatch.setattr("replay.measure.run.load_site", lambda name, **_: SITE)
    asked = []

    def check_releases(site, data_set, experiments):
        asked.append((site.name, data_set, list(experiments)))
        raise ConfigurationError("measured with another release", next_step="measure into another one")

    monkeypatch.setattr(command, "copies_on", lambda site: PoolCopies())
    monkeypatch.setattr(command, "check_releases", check_releases)
    monkeypatch.setattr(command, "run_snakemake", lambda *_, **__: pytest.fail("a block was started"))
    arguments = ["--site", "mine", "--data", "old", "--scale", "smoke", "--experiment", "rbd-bench"]
    assert run_measure(arguments) == 2
    assert asked == [("mine", "old", ["rbd-bench"])]
    assert "measured with another release" in capsys.readouterr().err
    assert not (tmp_path / "benchmarks").exists()
    assert run_measure([*arguments, "--dry-run"]) == 0
    assert len(asked) == 1, "a dry run asks no cluster"


def test_a_project_s_folder_may_have_a_name_that_snakemake_takes_for_something_else(tmp_path, monkeypatch):
    project, given = tmp_path / "talk #2: ceph", []
    (project / "config" / "sites").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setattr(command, "run_snakemake", lambda _, settings, *__, **___: given.extend(settings) or 0)
    plan = PlanFile("mine", "mine", "smoke", (), {"one": "0"}, (PlannedBlock("one", 1, "0" * 12),))
    assert command._measure(plan, Progress(io.StringIO())) == (0, None)
    (path,) = (setting.removeprefix("plan_file=") for setting in given)
    assert (project / path).is_file() and "#" not in path


def test_the_open_attempt_of_a_run_that_holds_the_clusters_lock_is_left_alone(tmp_path, monkeypatch):
    @contextlib.contextmanager
    def cluster_lock(*_, data_set, **__):
        assert data_set == "mine"  # the record of what a data set made has its lock
        raise RefusedError("another run uses this cluster")
        yield

    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    design, site = expand(load_experiment("rbd-bench"), "smoke"), SimpleNamespace(name="mine", sandbox=None)
    bench = SimpleNamespace(site=site, session=None, secondary=None, ledger=None)
    monkeypatch.setattr(block, "read_plan_file", lambda path: PlanFile("mine", "mine", "smoke", (), {}, ()))
    monkeypatch.setattr(block, "planned", lambda plan, job: (design, site))
    monkeypatch.setattr(block, "open_bench", lambda *_: contextlib.nullcontext(bench))
    monkeypatch.setattr(block, "ClusterLock", cluster_lock)
    monkeypatch.setattr(job, "ensure_pools", lambda *_, **__: [])
    for name in ("versions", "refuse_other_releases", "ensure_campaign"):
        monkeypatch.setattr(job, name, lambda *_: None)
    running = BlockWriter(raw_directory("mine", "rbd-bench"), 1).begin_attempt(design.sets[0].point, 1)
    with pytest.raises(RefusedError, match="another run uses this cluster"):
        block.measure(Job(tmp_path / "plan.json", "rbd-bench", 1, "0"), Progress(io.StringIO()))
    running.write_cell("without-journal", {}, {})


def test_caps_that_an_interrupted_run_left_are_lifted_before_anything_is_removed_at_their_pace(monkeypatch):
    did, said = [], []

    def does(what):
        return lambda *_: did.append(what) or 1

    settings = SimpleNamespace(lift_caps=does("caps"), restore=does("settings"))
    monkeypatch.setattr(job, "OsdSettings", lambda bench: settings)
    monkeypatch.setattr(job, "settings_of_second", lambda bench: SimpleNamespace(restore=does("second")))
    for what in ("leftover_mounts", "owned_leftovers", "leftover_pools", "leftover_files"):
        monkeypatch.setattr(job, f"remove_{what}", does(what))
    monkeypatch.setattr(job, "await_calm", lambda session, sleep: did.append("calm"))
    job.undo_leftovers(SimpleNamespace(session=None, waiting=waiting), said.append)
    assert did == [
        "caps",
        "leftover_mounts",
        "owned_leftovers",
        "leftover_pools",
        "leftover_files",
        "settings",
        "calm",
        "second",
    ]
    assert said[-1] == "set back 1 setting(s) of the second cluster that an interrupted run had changed"
    assert said[-2] == "set back 2 setting(s) of OSDs that an interrupted run had changed"


@pytest.fixture
def run(tmp_path):
    """Run a block whose measuring is `work`; return its exit status, what it says, and its log."""

    def run(work):
        screen, path = io.StringIO(), tmp_path / "block.log"
        with path.open("a") as log:
            asked = Job(tmp_path / "plan.json", "trial", 2, "0", log=path)
            status = exit_status_of(asked, Progress(screen, log=log), lambda *_: work())
        return status, screen.getvalue(), path.read_text()

    return run


def test_the_cause_its_cell_and_the_log_are_said_before_what_cleaning_up_met(run):
    def leave():
        raise RefusedError("3 image(s) could not be removed")

    def work():
        with cleaning_up(leave), during("trial, block 2, 4096 with journal, attempt 1"):
            raise RefusedError("rbd-mirror does not run", where="replay/image", next_step="start it")

    status, said, log = run(work)
    assert status == RefusedError.exit_status
    lines = said.splitlines()
    assert lines[0] == "replay/image: rbd-mirror does not run"
    assert lines[1:4] == [
        "  in: trial, block 2, 4096 with journal, attempt 1",
        "  next: start it",
        "  cleaning up then met: 3 image(s) could not be removed",
    ]
    assert lines[4].startswith("  log: ")
    assert lines[4].endswith("block.log")
    assert "Traceback" not in said
    assert "Traceback" in log
    assert "rbd-mirror does not run" in log


def test_a_fault_of_replays_is_a_sentence_too_and_the_log_has_the_traceback(run):
    status, said, log = run(lambda: {}["absent"])
    assert status == 1
    assert said.startswith("trial, block 2: KeyError: 'absent'\n  next: this is a fault of Replay's")
    assert "Traceback" not in said
    assert "test_planned_block.py" in log


def test_an_interrupted_block_says_what_cleaning_up_met(run):
    def leave():
        raise RefusedError("an image is left")

    def work():
        with cleaning_up(leave):
            raise KeyboardInterrupt

    status, said, _ = run(work)
    assert status == 130
    assert said == "stopped; every finished set is kept\n  cleaning up then met: an image is left\n"
