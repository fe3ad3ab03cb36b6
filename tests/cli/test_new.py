"""`replay new`: what it writes works as it is, and it overwrites nothing."""

from __future__ import annotations

import csv
import subprocess
import sys

import pytest
import yaml

import replay.tools
from replay.base.paths import ROOT
from replay.claims.data_set import derive_data_set
from replay.claims.load import load_book
from replay.cli import new
from replay.cli.main import main
from replay.cluster.cluster import Cluster
from replay.design.configuration import load_claims_document, load_experiment, load_experiment_document
from replay.design.expansion import expand
from replay.design.needs import check_experiment
from replay.ownership.ledger import Ledger
from replay.protocols.targets.images import OsdFile
from support.programs import needs
from support.scripted_rbd import ScriptedRbd

CLAIMS = """\
# Whose claims these are.
sources:
  S1: A talk that somebody gave

claims:
  - id: first
    sentence: A sentence of that talk.
    source: S1
    ours: a threshold of ours
    experiment: rbd-journaling
    metric: bytes_per_second
    presupposes_nothing: it is only an example
    conditions:
      - name: ratio
        says: with ÷ without
        over: { variant: with-journal, io_type: write, io_pattern: seq, io_size_bytes: 4096 }
        under: { variant: without-journal }
        below: 1

# What they share.
plain:
  against: "The data set {data_set} has {estimate}."
  not_in_other: Not measured there.
  not_testable: "Not testable: {reason}."
  measured_in_part: Measured in part.
"""
TALK = """\
title: A talk
description: A talk of one slide.
data_set: mine
claims: [first]
cuts:
  - minutes: 1
chapters:
  - one.md
accent: { light: "#005f99", dark: "#7cc4f5" }
"""


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    """A project that `replay init` made, in which the tests work."""
    folder = tmp_path / "mine"
    assert main(["init", str(folder)]) == 0
    monkeypatch.chdir(folder)
    monkeypatch.delenv("REPLAY_CONFIG", raising=False)
    monkeypatch.delenv("REPLAY_BENCHMARKS", raising=False)
    capsys.readouterr()
    return folder


def files(folder):
    return {path: path.read_text() for path in folder.rglob("*") if path.is_file()}


# An experiment, its claim, its slide ---------------------------------------------------------------------------------


def test_an_experiment_is_valid_at_every_scale_and_says_what_comes_next(project, capsys):
    assert main(["new", "experiment", "queue-depth"]) == 0
    document = load_experiment_document("queue-depth")
    check_experiment(document.data, document.where)
    assert all(expand(document.data, scale).sets for scale in document.data["scales"])
    said = capsys.readouterr().out
    assert "wrote config/experiments/queue-depth.yaml" in said
    assert "./replay new claim queue-depth" in said
    assert "./replay measure --site sandbox --experiment queue-depth --scale smoke --data trial" in said


@pytest.mark.parametrize("kind", ["experiment", "claim", "slide"])
def test_nothing_is_overwritten(project, capsys, kind):
    for each in ("experiment", "claim", "slide"):
        assert main(["new", each, "queue-depth"]) == 0
    before = files(project)
    assert main(["new", kind, "queue-depth"]) == 2
    said = capsys.readouterr().err
    assert "overwrite" in said or "there is a claim 'queue-depth' already" in said
    assert files(project) == before


@pytest.mark.parametrize("words", [["claim", "queue-depth"], ["slide", "queue-depth"]])
def test_what_is_about_no_experiment_says_how_to_write_one(project, capsys, words):
    assert main(["new", *words]) == 2
    assert "next: write it first: ./replay new experiment queue-depth" in capsys.readouterr().err


def test_a_slide_without_a_claim_says_how_to_write_one(project, capsys):
    assert main(["new", "slide", "rbd-journaling"]) == 2
    assert "next: write one first: ./replay new claim rbd-journaling" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "config" / "experiments").glob("*.yaml")))
def test_a_claim_about_any_experiment_is_valid_or_it_says_what_the_experiment_lacks(project, capsys, name):
    (project / "config" / "experiments" / f"{name}.yaml").write_text(
        (ROOT / "config" / "experiments" / f"{name}.yaml").read_text()
    )
    status = main(["new", "claim", "expected", "--experiment", name])
    said = capsys.readouterr()
    if status == 0:
        [claim] = load_book().claims
        assert (claim.id, claim.experiment) == ("expected", name)
        assert f"./replay new slide expected --experiment {name}" in said.out
        assert main(["new", "slide", "expected", "--experiment", name]) == 0
    else:
        assert "reference: true" in said.err or "ratio: true" in said.err


@pytest.mark.parametrize("indentation", ["  ", ""])
def test_a_claim_joins_those_that_are_there_and_changes_nothing_else(project, indentation):
    path = project / "config" / "claims.yaml"
    text = CLAIMS if indentation else CLAIMS.replace("\n  - id", "\n- id").replace("\n    ", "\n  ")
    path.write_text(text)
    before = yaml.safe_load(text)
    assert main(["new", "claim", "second", "--experiment", "rbd-journaling"]) == 0
    document = load_claims_document().data
    assert [claim["id"] for claim in document["claims"]] == ["first", "second"]
    assert document["claims"][0] == before["claims"][0] and document["plain"] == before["plain"]
    assert document["sources"] == {**before["sources"], "question": "A question of our own"}
    assert [line for line in text.splitlines() if line not in path.read_text().splitlines()] == []
    assert main(["new", "claim", "third", "--experiment", "rbd-journaling"]) == 0
    assert [claim.id for claim in load_book().claims] == ["first", "second", "third"]


def test_a_list_of_claims_that_cannot_grow_stays_and_the_claim_is_shown(project, capsys):
    document = yaml.safe_load(CLAIMS)
    path = project / "config" / "claims.yaml"
    path.write_text(yaml.safe_dump(document, default_flow_style=True))
    before = path.read_text()
    assert main(["new", "claim", "second", "--experiment", "rbd-journaling"]) == 2
    assert "- id: second" in capsys.readouterr().err
    assert path.read_text() == before


def test_a_slide_of_an_existing_talk_says_what_its_file_still_needs(project, capsys):
    (project / "slides" / "told").mkdir(parents=True)
    (project / "slides" / "told" / "talk.yaml").write_text(TALK)
    (project / "slides" / "told" / "evidence.yaml").touch()
    assert main(["new", "claim", "rbd-journaling"]) == 0
    assert main(["new", "slide", "tax", "--experiment", "rbd-journaling", "--data", "other"]) == 0
    said = capsys.readouterr().out
    assert "add `- tax.md` to `chapters` in slides/told/talk.yaml" in said
    assert "add `- rbd-journaling` to its `claims`" in said
    assert "add other to its `other_data_sets`" in said
    assert f"REPLAY_TALK={project} npm --prefix {ROOT} run check -- --accept tax" in said
    assert 'data-set="other"' in (project / "slides" / "told" / "tax.md").read_text()
    assert (project / "slides" / "told" / "talk.yaml").read_text() == TALK


def test_a_claim_that_is_younger_than_its_data_is_derived_before_its_slide_is_checked(project, capsys):
    for each in ("experiment", "claim"):
        assert main(["new", each, "queue-depth"]) == 0
    aggregate = project / "benchmarks" / "trial" / "queue-depth" / "aggregate"
    aggregate.mkdir(parents=True)
    (aggregate / "ratio-throughput-write-rand-4096.csv").touch()
    capsys.readouterr()
    assert main(["new", "slide", "queue-depth"]) == 0
    said = capsys.readouterr().out
    assert "next: ./replay derive --data trial\n" in said and "measure" not in said


# A tool --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tool(project, tmp_path, monkeypatch):
    """A tool that `replay new` wrote into a checkout of the test's own, where the program finds it."""
    checkout = tmp_path / "checkout"
    monkeypatch.setattr(new, "ROOT", checkout)
    assert main(["new", "tool", "sync-writes"]) == 0
    folder = str(checkout / "scripts" / "replay" / "tools")
    replay.tools.__path__.append(folder)
    replay.tools._readers.cache_clear()
    yield checkout
    replay.tools.__path__.remove(folder)
    sys.modules.pop("replay.tools.sync_writes", None)
    replay.tools._readers.cache_clear()


def test_a_tool_is_one_short_file_and_a_test(tool):
    written = {str(path.relative_to(tool)): len(text.splitlines()) for path, text in files(tool).items()}
    assert written.keys() == {"scripts/replay/tools/sync_writes.py", "tests/tools/test_sync_writes.py"}
    assert max(written.values()) <= 50


def test_the_name_of_a_tool_is_not_given_twice(tool, capsys):
    assert main(["new", "tool", "fio"]) == 2
    assert main(["new", "tool", "sync-writes"]) == 2
    assert capsys.readouterr().err.count("already") == 2


def test_without_a_checkout_there_is_no_place_for_a_tool(project, monkeypatch, capsys):
    monkeypatch.setattr(new, "ROOT", None)
    before = files(project)
    assert main(["new", "tool", "sync-writes"]) == 2
    assert "run this in a checkout" in capsys.readouterr().err
    assert files(project) == before


@pytest.mark.slow
def test_the_test_of_a_tool_passes_as_it_is_written(tool):
    code = (
        "import sys, pytest, replay.tools; replay.tools.__path__.append(sys.argv[1]); "
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '--rootdir', sys.argv[2], sys.argv[2]]))"
    )
    argv = [sys.executable, "-c", code, str(tool / "scripts" / "replay" / "tools"), str(tool / "tests")]
    done = subprocess.run(argv, cwd=tool, env={"PYTHONPATH": str(ROOT / "scripts")}, capture_output=True, text=True)
    assert done.returncode == 0 and "6 passed" in done.stdout, done.stdout + done.stderr


@needs("dd")
@pytest.mark.slow
def test_a_tool_measures_a_file_and_its_cells_last_as_long_as_they_should(tool, project, tmp_path, monkeypatch):
    document = load_experiment_document("sync-writes")
    check_experiment(document.data, document.where)
    conf = tmp_path / "left" / "ceph.conf"
    conf.parent.mkdir()
    monkeypatch.setattr(OsdFile, "fill", lambda self, path, size: None)
    ledger = Ledger("11111111-2222-3333-4444-555555555555", directory=tmp_path / "ledger")
    raw = project / "benchmarks" / "trial" / "sync-writes" / "raw"
    design = expand(load_experiment("sync-writes"), "smoke")
    ScriptedRbd(tmp_path, monkeypatch).measure(design, 1, raw, cluster=Cluster(conf), ledger=ledger)
    assert [*conf.parent.iterdir()] == [], "the file is gone"
    derive_data_set(raw.parents[1])
    table = (raw.parent / "tidy.csv").read_text()
    assert str(tmp_path) not in table
    # On a busy machine a cell may be too short at first, and is repeated.
    used = [row for row in csv.DictReader(table.splitlines()) if row["used"] == "1"]
    assert len(used) == 2, "both cells count, so each lasted a second"
    ratio = (raw.parent / "aggregate" / "ratio-iops-write-seq.csv").read_text().splitlines()
    assert ratio[0] == "I/O size,4096" and float(ratio[1].rpartition(",")[2]) > 0
