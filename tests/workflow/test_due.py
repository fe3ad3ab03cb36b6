"""Content decides what is derived again, never the time of a file."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from replay.base.errors import EvidenceError
from replay.base.paths import config_directory
from replay.claims.workflow.dataset import derive_data_set
from replay.claims.workflow.notes import DESCRIBING, JUDGING
from replay.claims.workflow.settings import read_settings
from replay.cli.derive_command import main
from replay.derive.part import PART, current_part
from support.datasets import append, append_raw, manifest_of, measured, rows_of


@pytest.fixture(scope="module")
def derived(tmp_path_factory):
    """A configuration, and a data set that was derived by it: each test has a copy."""
    folder = tmp_path_factory.mktemp("derived")
    shutil.copytree(config_directory(), folder / "config")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPLAY_CONFIG", str(folder / "config"))
        measured(folder / "mine", registers={"a-claim": "0123456789ab"})
        derive_data_set(folder / "mine")
    return folder


@pytest.fixture
def data_set(derived, tmp_path, monkeypatch):
    shutil.copytree(derived, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return tmp_path / "mine"


@pytest.fixture
def directory(data_set):
    assert current_part(data_set / "rbd-journaling") is not None
    return data_set / "rbd-journaling"


def test_a_file_that_was_only_touched_is_not_a_reason(directory):
    for path in directory.rglob("*"):
        os.utime(path)
    assert current_part(directory) is not None


def test_a_configuration_that_was_edited_is_a_reason_whatever_its_time(directory, tmp_path):
    path = tmp_path / "config" / "experiments" / "rbd-journaling.yaml"
    path.write_text(path.read_text() + "# edited\n")
    os.utime(path, (0, 0))
    assert current_part(directory) is None


@pytest.mark.parametrize("name", ["tidy.csv", "registered.csv", "ratios.csv", "aggregate/throughput-write-seq.csv"])
def test_a_derived_file_that_was_altered_or_removed_is_a_reason_and_is_restored(name, data_set, directory):
    content = (directory / name).read_bytes()
    append(directory / name)
    assert current_part(directory) is None
    derive_data_set(data_set)
    assert (directory / name).read_bytes() == content
    (directory / name).unlink()
    assert current_part(directory) is None


@pytest.mark.parametrize("name", ["tidy.csv", "registered.csv"])
def test_verdicts_and_description_are_due_if_a_table_behind_them_changed(name, data_set, directory):
    assert JUDGING.is_current(data_set)
    assert DESCRIBING.is_current(data_set)
    append(directory / name)
    assert not JUDGING.is_current(data_set)
    assert not DESCRIBING.is_current(data_set)


def test_a_description_is_due_if_an_older_release_beside_it_changed(data_set, tmp_path):
    older, newer = data_set.rename(tmp_path / "mine-16"), tmp_path / "mine-20"
    shutil.copytree(older, newer)
    for folder in (older, newer):
        derive_data_set(folder)
    assert DESCRIBING.is_current(newer)
    compared = json.loads((newer / "releases.json").read_text())
    assert [*compared["against"]] == ["mine-16"]
    listed = json.loads((newer / "datapackage.json").read_text())["resources"]
    assert "releases.json" in [one["path"] for one in listed]
    before = [path for path in read_settings({}).described_from("mine-20") if "mine-16" in path]
    assert [str(path) for path in before] == [str(older / "manifest.json")]
    append(older / "rbd-journaling" / "tidy.csv")
    assert not DESCRIBING.is_current(newer)
    derive_data_set(older)
    assert DESCRIBING.is_current(newer)


def test_verdicts_are_made_from_the_tables_of_all_experiments(directory):
    assert str(directory / "tidy.csv") in read_settings({"data": "mine"}).judged_from("mine")


def test_a_table_that_nothing_derives_any_more_is_a_reason(directory):
    (directory / "aggregate" / "other.csv").write_text("x\n")
    assert current_part(directory) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 0}'])
def test_an_invalid_note_is_a_reason(text, directory):
    (directory / PART).write_text(text)
    assert current_part(directory) is None


def test_programs_of_another_version_are_a_reason(directory):
    part = json.loads((directory / PART).read_text())
    part["sources"]["program"] = "0"
    (directory / PART).write_text(json.dumps(part))
    assert current_part(directory) is None


def test_altered_raw_output_is_an_error_even_if_nothing_is_due(data_set, directory):
    append_raw(data_set)
    with pytest.raises(EvidenceError, match="altered"):
        current_part(directory)
    with pytest.raises(EvidenceError, match="altered"):
        derive_data_set(data_set)


def test_the_manifest_keeps_the_entries_of_experiments_that_were_not_derived_again(data_set):
    before = manifest_of(data_set)
    (again,) = derive_data_set(data_set)
    assert again.written == ()
    assert manifest_of(data_set) == before


def test_one_table_holds_every_ratio_with_its_interval(directory):
    rows = rows_of(directory / "ratios.csv")
    chart = rows_of(directory / "aggregate" / "ratio-throughput-write-seq.csv")
    table = {(row["compared"], row["x"]): row["ratio"] for row in rows if row["chart"] == "ratio-throughput-write-seq"}
    (label, *_) = chart[0]
    drawn = {(row[label], x): value for row in chart for x, value in row.items() if x != label and value}
    assert table == drawn


def test_verifying_names_altered_missing_and_undescribed_files(data_set, capsys):
    assert main(["--data", "mine", "--verify"]) == 0
    assert "all derived files match" in capsys.readouterr().out
    append(data_set / "manifest.json")
    append(data_set / "rbd-journaling" / "registered.csv")
    (data_set / "rbd-journaling" / "tidy.csv").unlink()
    (data_set / "rbd-journaling" / "aggregate" / "other.csv").write_text("x\n")
    assert main(["--data", "mine", "--verify"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"altered: {data_set}/manifest.json",
        f"altered: {data_set}/rbd-journaling/registered.csv",
        f"missing: {data_set}/rbd-journaling/tidy.csv",
        f"not described: {data_set}/rbd-journaling/aggregate/other.csv",
        "mine: 4 derived files differ",
    ]


def test_without_a_description_nothing_can_be_verified(data_set, capsys):
    (data_set / "datapackage.json").unlink()
    assert main(["--data", "mine", "--verify"]) == 1
    assert "derive the data set" in capsys.readouterr().err
