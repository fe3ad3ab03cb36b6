"""Before measuring, the claims are read; at its end, what was measured is derived, and their table is printed."""

from __future__ import annotations

import json
import shutil

import pytest

from replay.cli.derive import derive_and_judge
from replay.cli.main import main
from replay.measure.job import Failure
from support.lab import write_lab
from support.rawtree import RawTree


@pytest.fixture
def tree(benchmarks):
    """Two blocks of rbd-journaling."""
    return RawTree(benchmarks / "mine" / "rbd-journaling", sealed=False).measure(blocks=2)


@pytest.mark.slow
def test_the_table_of_the_measured_experiments_claims_is_printed_and_why_measuring_failed_after_it(tree, capfd):
    assert derive_and_judge("mine", ["rbd-journaling", "failover"], 0) == 0
    said = capfd.readouterr().out
    assert "rbd-journaling: 24 cells" in said
    assert (
        "Journaling makes a sequential 4 KiB write about ten times slower. (S0, journal-4k-seq-write, exploratory)"
        in " ".join(said.split())  # however wide the table is
    )
    assert "clients-scale" not in said
    assert "next: npm run present -- --data mine" in said
    assert "to compare it with another data set: ./replay claims --data mine --against NAME" in said
    assert said.endswith("as one page: ./replay report --data mine --out mine.html\n")
    document = json.loads((tree.directory.parent / "claims.json").read_text())
    assert document["claims"]["journal-4k-seq-write"]["conditions"]["ratio"]["n"] == 2

    assert derive_and_judge("mine", ["rbd-journaling"], 4, FAILURE) == 4
    said = capfd.readouterr().out
    assert (
        f"\nmeasuring ended early: {FAILURE.what}\nnext: measure again later\n      to present what there is: " in said
    )
    assert said.index("journal-4k-seq-write") < said.index("measuring ended early")


@pytest.mark.slow
def test_where_no_cell_counts_nothing_is_presented(benchmarks, capfd):
    tree = RawTree(benchmarks / "mine" / "rbd-journaling", sealed=False)
    tree.attempt(1, next(iter(tree.points)), invalid={"with-journal": "too_short"})
    assert derive_and_judge("mine", ["rbd-journaling"], 1) == 1
    said = capfd.readouterr().out
    assert "next: remove the cause" in said and "npm run present" not in said
    assert derive_and_judge("mine", ["rbd-journaling"], 4, FAILURE) == 4
    assert capfd.readouterr().out.endswith(f"\nmeasuring ended early: {FAILURE.what}\nnext: measure again later\n")


FAILURE = Failure("site mine, tenant_latency: osd.0 commits in 6 ms; the site allows 4 ms", "measure again later", 4)


@pytest.mark.slow
def test_if_deriving_fails_it_says_so_and_the_raw_output_stays(tree, capfd):
    altered = tree.path("block-01/write-seq-4096/attempt-1/with-journal.stdout")
    altered.write_text(altered.read_text().replace("4096", "4097"))
    before = {path: path.read_bytes() for path in tree.raw.rglob("*") if path.is_file()}
    assert derive_and_judge("mine", ["rbd-journaling"], 0) == 3, "a failure is never called a success"
    said = capfd.readouterr()
    assert "deriving ended with status 3; the raw output is unaffected" in said.out
    assert "with-journal.stdout" in said.err
    assert "next: fix the problem, then run ./replay derive --data mine" in said.out
    assert {path: path.read_bytes() for path in tree.raw.rglob("*") if path.is_file()} == before


def test_a_bug_in_deriving_is_shown_and_is_never_called_a_success(tree, capfd, monkeypatch):
    def run(options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("replay.cli.derive.run", run)
    assert derive_and_judge("mine", ["rbd-journaling"], 0) == 1
    said = capfd.readouterr()
    assert "ZeroDivisionError: a bug" in said.err
    assert "deriving ended with status 1; the raw output is unaffected" in said.out


def test_a_run_that_measured_nothing_says_why_and_does_not_mention_claims(benchmarks, capfd):
    assert derive_and_judge("mine", ["rbd-journaling"], 4) == 4
    assert capfd.readouterr().out == ""
    assert derive_and_judge("mine", ["rbd-journaling"], 4, FAILURE) == 4
    assert capfd.readouterr().out == f"\nmeasuring ended early: {FAILURE.what}\nnext: measure again later\n"


def test_of_a_run_that_ended_before_its_first_set_nothing_is_derived(tree, capfd):
    for block in tree.raw.glob("block-*.open"):
        shutil.rmtree(block)
    assert list(tree.raw.glob("design-*"))
    assert derive_and_judge("mine", ["rbd-journaling"], 130) == 130
    assert capfd.readouterr().out == ""


@pytest.mark.slow
def test_a_talk_without_claims_is_derived_too(tree, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path / "config"))
    assert derive_and_judge("mine", ["rbd-journaling"], 0) == 0
    said = capfd.readouterr().out
    assert "rbd-journaling: 24 cells" in said
    assert "journal-4k-seq-write" not in said
    assert "--against" not in said
    assert not (tree.directory.parent / "claims.json").exists()


def test_a_claim_that_cannot_be_judged_is_refused_before_its_first_block_registers_it(tmp_path, monkeypatch, capsys):
    assert main(["init", str(tmp_path)]) == 0
    monkeypatch.chdir(tmp_path)
    for variable in ("REPLAY_CONFIG", "REPLAY_BENCHMARKS"):
        monkeypatch.delenv(variable, raising=False)
    write_lab(tmp_path)
    assert main(["new", "claim", "rbd-journaling"]) == 0
    claims = tmp_path / "config" / "claims.yaml"
    written = claims.read_text()
    words = ["--dry-run", "--experiment", "rbd-journaling", "--scale", "smoke"]
    plan, turns = ["measure", "--site", "lab", *words], ["interleave", "--release", "18", "--release", "20", *words]
    for edit, said in (
        (('"variant": "without-journal"', '"variant": "without-jurnal"'), "variant 'without-jurnal' is not one of"),
        (("experiment: rbd-journaling", "experiment: rbd-jurnaling"), "there is no experiment 'rbd-jurnaling'"),
    ):
        claims.write_text(written.replace(*edit, 1))
        for command in (plan, turns):
            capsys.readouterr()
            assert main(command) == 2
            refused = capsys.readouterr()
            assert "claims.yaml:" in refused.err and said in refused.err
            assert "block" not in refused.out
    claims.write_text(written)
    assert main(turns) == 0
    assert main(plan) == 0
    assert "rbd-journaling at scale smoke: 1 block(s)" in capsys.readouterr().out
