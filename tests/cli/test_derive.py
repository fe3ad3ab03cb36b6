"""`replay derive`: Snakemake derives what is due; the command checks evidence and tables, and reports the result."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from replay.claims.data_set import derive_data_set
from support.commands import run_derive
from support.datasets import STDOUT, append, append_raw, digests, measured
from support.rawtree import RawTree

# Each job of Snakemake takes a second.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def forked(snakemakes, tmp_path_factory):
    """Here each run of Snakemake is a fork; test_campaign.py starts it as the command does."""
    with pytest.MonkeyPatch.context() as patch:
        snakemakes.instead_of_starts(patch, tmp_path_factory.mktemp("said"))
        yield


@pytest.fixture
def data_set(benchmarks):
    return measured_in(benchmarks)


def measured_in(benchmarks):
    measured(benchmarks / "demo")
    measured(benchmarks / "demo", "other")
    return benchmarks / "demo"


@pytest.fixture(scope="module")
def derived_once(tmp_path_factory):
    """The data set as `replay derive` leaves it."""
    benchmarks = tmp_path_factory.mktemp("derived")
    data_set = measured_in(benchmarks)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("REPLAY_BENCHMARKS", str(benchmarks))
        assert run_derive(["--data", "demo"]) == 0
    return data_set


@pytest.fixture
def derived(derived_once, tmp_path, monkeypatch):
    """A copy of it, in a folder that no earlier run of the tests had: Snakemake remembers what it made by its path."""
    benchmarks = Path(tempfile.mkdtemp(dir=tmp_path))
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(benchmarks))
    return shutil.copytree(derived_once, benchmarks / "demo")


def test_it_reports_its_result_and_deriving_again_changes_nothing(data_set, capfd):
    assert run_derive(["--data", "demo"]) == 0
    said = capfd.readouterr().out
    assert re.search(r"\[2/2\] [a-z-]+: 12 cells, \d+ tables changed", said), said
    assert re.search(r"derived \S+ in [\d.]+ s: \d+ tables of experiments changed", said), said
    before = digests(data_set)
    assert run_derive(["--data", "demo"]) == 0
    assert "nothing had changed" in capfd.readouterr().out
    assert digests(data_set) == before
    assert run_derive(["--data", "demo", "--verify"]) == 0
    assert "all derived files match" in capfd.readouterr().out


def test_of_a_named_experiment_the_others_stay_as_they_are(derived, capfd):
    RawTree(derived / "other").attempt(2, "write-seq-4096")
    RawTree(derived / "rbd-journaling").attempt(2, "write-seq-4096")
    assert run_derive(["--data", "demo", "--experiment", "other"]) == 0
    assert "[1/1] other: 15 cells" in capfd.readouterr().out
    assert "2," in (derived / "other" / "tidy.csv").read_text()
    assert run_derive(["--data", "demo"]) == 0
    assert "rbd-journaling: 15 cells" in capfd.readouterr().out


def test_altered_evidence_ends_with_status_3_names_the_file_and_the_rest_is_derived(data_set, capfd):
    append_raw(data_set)
    assert run_derive(["--data", "demo"]) == 3
    said = capfd.readouterr().err
    (pack,) = (data_set / "rbd-journaling" / "raw").glob("*.tar.gz")
    assert str(pack) in said
    assert "altered" in said
    assert "Traceback" not in said
    assert (data_set / "other" / "tidy.csv").exists()
    assert not (data_set / "rbd-journaling" / "tidy.csv").exists()


def test_every_experiment_whose_evidence_was_altered_is_named(data_set, capfd):
    names = ("rbd-journaling", "other")
    for name in names:
        append_raw(data_set, STDOUT.replace("rbd-journaling", name, 1))
    assert run_derive(["--data", "demo"]) == 3
    said = capfd.readouterr().err
    for name in names:
        (pack,) = (data_set / name / "raw").glob("*.tar.gz")
        assert str(pack) in said


def test_a_file_of_an_open_block_that_was_altered_is_named_even_if_nothing_is_due(benchmarks, capfd):
    tree = RawTree(benchmarks / "demo" / "rbd-journaling", sealed=False).measure()
    derive_data_set(benchmarks / "demo")
    path = tree.path("block-01/read-seq-4096/attempt-1/control.stdout")
    path.write_text("")
    assert run_derive(["--data", "demo"]) == 3
    assert str(path) in capfd.readouterr().err


def test_derived_files_that_somebody_altered_are_named_and_derived_again_by_force(derived, capfd):
    before = digests(derived)
    append(derived / "claims.json")
    append(derived / "other" / "tidy.csv")
    (derived / "rbd-journaling" / "aggregate" / "throughput-write-seq.csv").unlink()
    (derived / "rbd-journaling" / "aggregate" / "other.csv").write_text("x\n")
    named = [
        f"altered: {derived}/claims.json",
        f"altered: {derived}/other/tidy.csv",
        f"missing: {derived}/rbd-journaling/aggregate/throughput-write-seq.csv",
        f"not described: {derived}/rbd-journaling/aggregate/other.csv",
    ]
    assert run_derive(["--data", "demo"]) == 1
    said = capfd.readouterr().out
    assert [line for line in named if line not in said] == []
    assert "./replay derive --data demo --force makes them again" in said
    assert run_derive(["--data", "demo", "--verify"]) == 1
    assert capfd.readouterr().out.splitlines() == [*named, "demo: 4 derived files differ"]
    assert run_derive(["--data", "demo", "--force"]) == 0
    assert digests(derived) == before


def test_claims_that_are_invalid_end_with_their_status_and_a_sentence(data_set, configuration, capfd):
    (configuration / "claims.yaml").write_text("claims: 1\n")
    assert run_derive(["--data", "demo"]) == 2
    said = capfd.readouterr().err
    assert "claims.yaml" in said
    assert "Traceback" not in said
    assert (data_set / "other" / "tidy.csv").exists()


def test_what_another_version_of_the_program_derived_is_derived_again(data_set, capfd):
    derive_data_set(data_set)
    assert run_derive(["--data", "demo"]) == 0
    assert "nothing had changed" in capfd.readouterr().out
    part = data_set / "other" / "experiment.json"
    part.write_text(json.dumps(json.loads(part.read_text()) | {"program": "0"}))
    assert run_derive(["--data", "demo"]) == 0
    assert ": 0 tables of experiments changed" in capfd.readouterr().out


@pytest.mark.parametrize("arguments", [["--data", "none"], ["--data", "demo", "--experiment", "none"]])
def test_an_unknown_name_is_reported_in_a_sentence(data_set, capfd, arguments):
    assert run_derive(arguments) == 3
    assert "next: " in capfd.readouterr().err


def test_without_a_description_nothing_can_be_verified(data_set, capfd):
    assert run_derive(["--data", "demo", "--verify"]) == 1
    assert "derive the data set" in capfd.readouterr().err


def test_a_data_set_that_was_renamed_is_described_under_its_new_name_which_may_be_a_number(derived):
    renamed = derived.rename(derived.with_name("0815"))
    assert run_derive(["--data", "0815"]) == 0
    for name in ("manifest.json", "claims.json", "recording.json"):
        assert json.loads((renamed / name).read_text())["data_set"] == "0815"


@pytest.mark.parametrize("name", ["manifest.json", "datapackage.json"])
def test_a_description_that_cannot_be_read_is_made_again_by_what_is_advised(name, derived, capfd):
    (derived / name).write_text("{")
    assert run_derive(["--data", "demo"]) == 1
    said = capfd.readouterr()
    assert "./replay derive --data demo --force" in said.out + said.err
    assert run_derive(["--data", "demo", "--force"]) == 0


def test_an_interruption_says_what_is_kept(data_set, monkeypatch, capfd):
    monkeypatch.setattr("replay.cli.derive.run_snakemake", lambda *_: 130)
    assert run_derive(["--data", "demo"]) == 130
    assert "interrupted; every written file is complete" in capfd.readouterr().err


def test_the_values_of_entities_are_written_where_asked_for(derived):
    assert run_derive(["--data", "demo", "--entities"]) == 0
    assert run_derive(["--data", "demo", "--verify"]) == 0
    append(derived / "other" / "tidy.csv")
    assert run_derive(["--data", "demo", "--entities"]) == 1, "no other table is written, behind the manifest's back"
