"""Releases in turns: block by block, in random order, one sandbox at a time, and what is finished is not repeated."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.design.configuration import experiment_names, load_experiment
from replay.design.design import plan_digest
from replay.design.expansion import expand
from replay.evidence.attempts import record_design
from replay.evidence.data_set import raw_directory, sealed_block
from replay.evidence.durable import add_sums
from replay.measure import interleave
from replay.measure.interleave import measure_block, turns_of
from support.commands import run_interleave
from support.patience import patient

THREE = ["--release", "16", "--release", "reef", "--release", "20"]
RELEASES = [*THREE, "--scale", "quick"]


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Sandboxes and measurements that only say what was asked of them. `failing` is a data set that cannot be."""
    monkeypatch.setattr(interleave, "default_directory", lambda name: tmp_path / "sandboxes" / name)
    made = SimpleNamespace(said=[], done=set(), failing=None, running=set(), status=None)

    def up(folder, *, release, say):
        assert not made.running, "only one sandbox runs at a time"
        made.running.add(folder.name)
        made.said.append(f"up {release}")

    def down(folder, *, keep):
        assert keep == (folder.exists() or made.status != 0), "only what this turn made and measured is removed"
        made.running.discard(folder.name)
        made.said.append(f"down {folder.name.removeprefix('release-')}")

    def measure(argv, environment):
        data_set, block = argv[argv.index("--data") + 1], int(argv[argv.index("--blocks") + 1])
        assert Path(environment["REPLAY_SANDBOX_DIR"]).name in made.running
        made.said.append(f"measure {data_set} {block}")
        made.status = 1 if data_set == made.failing else 0
        if made.status == 0:
            made.done.add((data_set, block))
        return made.status

    monkeypatch.setattr(interleave, "lifecycle", SimpleNamespace(up=up, down=down))
    monkeypatch.setattr(interleave, "_run", measure)
    monkeypatch.setattr(interleave, "is_done", lambda turn, names, scale: (turn.data_set, turn.block) in made.done)
    return made


def measured(world):
    return [line for line in world.said if line.startswith("measure")]


def test_each_block_has_every_release_once_in_an_order_of_its_own():
    by_block = turns_of("headline", [16, 18, 20], 30)
    orders = [tuple(turn.release for turn in turns) for turns in by_block]
    assert {tuple(sorted(order)) for order in orders} == {(16, 18, 20)}
    assert len(set(orders)) == 6, "of thirty blocks each order has some"
    assert turns_of("headline", [20, 16, 18], 30) == by_block, "the name and the block decide it alone"
    assert [turn.data_set for turn in by_block[0]] == [f"headline-{release}" for release in orders[0]]
    assert len({turn.sandbox for turns in by_block for turn in turns}) == 3


def test_a_sandbox_is_up_only_for_its_own_block(world):
    assert run_interleave([*RELEASES, "--data", "h", "--blocks", "2", "--experiment", "failover"]) == 0
    assert len(measured(world)) == 6
    for number in range(0, len(world.said), 3):
        up, measure, down = world.said[number : number + 3]
        release = up.removeprefix("up ")
        assert (measure.split()[1], down) == (f"h-{release}", f"down {release}")
    assert [line.split()[2] for line in measured(world)] == ["1"] * 3 + ["2"] * 3, "block 2 begins when 1 is complete"


def test_finished_work_starts_no_sandbox(world):
    world.done = {("h-16", 1), ("h-18", 1)}
    assert run_interleave([*RELEASES, "--data", "h", "--blocks", "1", "--experiment", "failover"]) == 0
    assert world.said == ["up 20", "measure h-20 1", "down 20"]


def test_a_turn_that_fails_stops_its_sandbox_and_the_campaign(world, capsys):
    world.failing = "h-18"
    assert run_interleave([*RELEASES, "--data", "h", "--blocks", "2", "--experiment", "failover"]) == 1
    assert measured(world)[-1] == "measure h-18 1"
    assert world.running == set()
    said = capsys.readouterr().out
    assert "interleave --release 16 --release 18 --release 20 --data h --scale quick --experiment failover" in said


def test_a_sandbox_that_was_there_before_stays(world, capsys):
    turn = turns_of("h", [16, 18], 1)[0][0]
    turn.sandbox.mkdir(parents=True)
    (turn.sandbox / "sandbox.json").write_text("{}")
    words = ["--release", "16", "--release", "18", "--scale", "quick", "--data", "h", "--blocks", "1"]
    assert run_interleave([*words, "--experiment", "failover"]) == 0
    assert f"sandbox down --name {turn.sandbox.name}" in capsys.readouterr().out


def test_an_interruption_stops_the_sandbox_and_tells_how_to_continue(world, monkeypatch, capsys):
    monkeypatch.setattr(interleave, "_run", lambda argv, environment: 130)
    assert run_interleave([*RELEASES, "--blocks", "1", "--experiment", "failover"]) == 130
    assert world.running == set()
    assert "next: to continue, run" in capsys.readouterr().out


def test_a_second_interruption_does_not_end_the_removal_of_the_sandbox(world, monkeypatch, capsys):
    def down(folder, *, keep):
        assert "stopping its sandbox" in capsys.readouterr().out
        signal.raise_signal(signal.SIGINT)
        world.said.append("down")

    monkeypatch.setattr(interleave.lifecycle, "down", down)
    monkeypatch.setattr(interleave, "_run", lambda argv, environment: 130)
    assert run_interleave([*RELEASES, "--blocks", "1", "--experiment", "failover"]) == 130
    assert world.said[-1] == "down"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_program_may_end_by_itself(number, tmp_path):
    """The program ends with 130 once it has cleaned up; nobody kills it before."""
    group = "os.killpg(os.getpgid(0), signal.SIGINT)"
    parent = "os.kill(os.getppid(), signal.SIGTERM)"
    child = f"""
import os, signal, time
try:
    {group if number == signal.SIGINT else parent}
    time.sleep(3600)
except KeyboardInterrupt:
    time.sleep(1)
    open({str(tmp_path / "cleaned")!r}, "w").close()
    raise SystemExit(130)
"""
    runner = "import os, sys; from replay.measure.interleave import _run; sys.exit(_run(sys.argv[1:], os.environ))"
    argv = [sys.executable, "-c", runner, sys.executable, "-c", child]
    done = subprocess.run(argv, start_new_session=True, timeout=patient(60), check=False)
    assert done.returncode == 130
    assert (tmp_path / "cleaned").exists()


def test_an_experiment_has_no_more_blocks_than_its_scale(world, monkeypatch):
    seen = []
    monkeypatch.setattr(interleave, "is_done", lambda turn, names, scale: seen.append((turn.block, *names)) or True)
    wanted = ["--experiment", "failover", "--experiment", "client-sweep"]
    assert run_interleave([*RELEASES, "--scale", "talk", *wanted]) == 0
    assert {one for one in seen if one[0] == 6} == {(6, "failover", "client-sweep")}
    assert {one for one in seen if one[0] == 7} == {(7, "failover")}


def test_what_releases_are_compared_by_has_a_scale_of_its_own(world, monkeypatch, capsys):
    seen = []
    monkeypatch.setattr(interleave, "is_done", lambda turn, names, scale: seen.append((turn.block, *names)) or True)
    assert run_interleave(THREE) == 0
    names = experiment_names("headline")
    assert {"site-loss", "write-latency"} <= set(names) < set(experiment_names())
    assert {one for one in seen if one[0] == 6} == {(6, *names)}
    assert {one for one in seen if one[0] == 7} == {(7, "site-loss")}, "ten trials, and six blocks of the others"
    assert run_interleave([*THREE, "--experiment", "failover"]) == 2
    assert "this experiment has no scale 'headline'" in capsys.readouterr().err


def test_a_block_that_takes_more_than_an_hour_is_reported(world, capsys):
    (turns,) = turns_of("h", [16, 20], 1)
    moments = iter((0.0, 3000.0))
    measure_block(turns, ["failover"], "quick", clock=lambda: next(moments))
    assert "note:" not in capsys.readouterr().out
    (turns,) = turns_of("other", [16, 20], 1)
    moments = iter((0.0, 4000.0))
    measure_block(turns, ["failover"], "quick", clock=lambda: next(moments))
    assert "note: block 1 took 1 h 06 min" in capsys.readouterr().out


def test_a_dry_run_tells_the_order_and_starts_nothing(world, capsys):
    assert run_interleave([*RELEASES, "--data", "h", "--blocks", "3", "--experiment", "failover", "--dry-run"]) == 0
    assert world.said == []
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["block 1", "block 2", "block 3"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--release", "20"], "there is nothing to interleave"),
        (["--release", "20", "--release", "tentacle"], "there is nothing to interleave"),
        ([*RELEASES, "--experiment", "nowhere"], "no experiment 'nowhere'"),
    ],
)
def test_what_cannot_be_interleaved_is_refused(world, words, said, capsys):
    assert run_interleave(words) == 2
    assert said in capsys.readouterr().err
    assert world.said == []


def test_a_sandbox_that_was_never_made_has_nothing_done(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_STATE", str(tmp_path))
    turn = interleave.Turn(1, 20, "h-20", tmp_path / "release-20")
    before = dict(os.environ)
    assert not interleave.is_done(turn, ["failover"], "quick")
    assert dict(os.environ) == before


@pytest.mark.parametrize("missing", [{}, {"second_site": "there is no second cluster"}])
def test_a_block_that_was_measured_by_a_sandbox_that_is_gone_is_done(missing, tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    turn, name = interleave.Turn(2, 20, "h-20", tmp_path / "release-20"), "rbd-journaling"
    assert not interleave.is_done(turn, [name], "quick")
    raw, design = raw_directory("h-20", name), expand(load_experiment(name), "quick", missing=missing)
    record_design(raw, design.public(), design.digest)
    assert not interleave.is_done(turn, [name], "quick")
    pack = sealed_block(raw, 2, plan_digest(design, 2))
    pack.write_bytes(b"")
    add_sums(raw, {pack.name: hashlib.sha256(b"").hexdigest()})
    assert interleave.is_done(turn, [name], "quick")
    assert not interleave.is_done(turn, [name], "talk")
    assert not interleave.is_done(turn, [name, "baseline"], "quick")
    assert not interleave.is_done(interleave.Turn(1, 20, "h-20", turn.sandbox), [name], "quick")
    longer = load_experiment(name)
    longer["scales"]["quick"]["target_seconds"] = 77
    with monkeypatch.context() as changed:
        changed.setattr(interleave, "load_experiment", lambda name: longer)
        assert not interleave.is_done(turn, [name], "quick"), "the experiment has changed since"
    pack.unlink()
    assert not interleave.is_done(turn, [name], "quick")
