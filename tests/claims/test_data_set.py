"""A data set derived in this process: what ships is what deriving writes, and an altered table is refused."""

from __future__ import annotations

import io
import json
import shutil

import pytest

from replay.base.errors import EvidenceError
from replay.base.paths import ROOT
from replay.base.programs import older_releases
from replay.base.tables import json_text
from replay.claims.data_set import derive_data_set, judge_and_describe, write_manifest
from replay.claims.judge import campaign_folders
from support.datasets import append, digests, manifest_of, measured, rows_of


@pytest.fixture(scope="module")
def derived(tmp_path_factory):
    """A data set that was derived: each test has a copy."""
    data_set = tmp_path_factory.mktemp("derived") / "mine"
    measured(data_set, registers={"a-claim": "0123456789ab"})
    derive_data_set(data_set)
    return data_set


@pytest.fixture
def data_set(derived, tmp_path):
    shutil.copytree(derived, tmp_path / "mine")
    return tmp_path / "mine"


def test_what_is_said_of_an_experiment_that_was_not_derived_here_is_kept(data_set):
    measured(data_set, "other")
    derive_data_set(data_set)
    before = digests(data_set)
    del before["other/experiment.json"]
    (data_set / "other" / "experiment.json").unlink()
    derive_data_set(data_set, ["rbd-journaling"])
    assert digests(data_set) == before


def test_an_entry_that_is_kept_is_read_as_utf_8_in_any_locale(data_set, monkeypatch):
    measured(data_set, "other")
    derive_data_set(data_set)
    (data_set / "other" / "experiment.json").unlink()
    before = manifest_of(data_set)
    before["experiments"]["other"]["title"] = "\N{GREEK SMALL LETTER MU}"
    (data_set / "manifest.json").write_text(json_text(before), encoding="utf-8")
    with monkeypatch.context() as in_locale:
        in_locale.setattr(io, "text_encoding", lambda encoding, *_: encoding or "latin-1")
        write_manifest(data_set, ())
    kept = json.loads((data_set / "manifest.json").read_bytes())["experiments"]["other"]
    assert kept == before["experiments"]["other"]


@pytest.mark.parametrize("name", ["tidy.csv", "registered.csv", "ratios.csv", "aggregate/throughput-write-seq.csv"])
def test_a_table_that_somebody_altered_or_removed_is_refused_by_name(name, data_set):
    path = data_set / "rbd-journaling" / name
    content, derived = path.read_bytes(), digests(data_set)
    for change, what in ((append, "altered"), (type(path).unlink, "missing")):
        change(path)
        before = digests(data_set)
        with pytest.raises(EvidenceError, match=f"this table is {what}") as raised:
            judge_and_describe(data_set)
        assert raised.value.where == str(path)
        assert "--force" in raised.value.next_step
        assert digests(data_set) == before
        path.write_bytes(content)
    judge_and_describe(data_set)
    assert digests(data_set) == derived


def test_a_verdict_that_somebody_altered_is_made_again_before_it_is_described(data_set):
    before = digests(data_set)
    append(data_set / "claims.json")
    judge_and_describe(data_set)
    assert digests(data_set) == before


def test_a_table_that_nothing_derives_any_more_is_removed(data_set):
    (data_set / "rbd-journaling" / "aggregate" / "other.csv").write_text("x\n")
    (again,) = derive_data_set(data_set)
    assert [path.name for path in again.written] == ["other.csv"]


def test_one_table_holds_every_ratio_with_its_interval(data_set):
    directory = data_set / "rbd-journaling"
    rows = rows_of(directory / "ratios.csv")
    chart = rows_of(directory / "aggregate" / "ratio-throughput-write-seq.csv")
    table = {(row["compared"], row["x"]): row["ratio"] for row in rows if row["chart"] == "ratio-throughput-write-seq"}
    (label, *_) = chart[0]
    drawn = {(row[label], x): value for row in chart for x, value in row.items() if x != label and value}
    assert table == drawn


def derived_files(data_set):
    """Return the content of every derived file by its path, except those that git ignores."""
    paths = [*data_set.glob("*.json"), *data_set.glob("*.csv"), *data_set.glob("*/tidy.csv")]
    for pattern in ("*/registered.csv", "*/aggregate/*.csv"):
        paths += data_set.glob(pattern)
    return {path.relative_to(data_set).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/manifest.json")))
def test_every_shipped_table_comes_from_the_shipped_raw_output(name, tmp_path):
    original, copy = ROOT / "benchmarks" / name, tmp_path / name
    for raw in original.glob("*/raw"):
        (copy / raw.parent.name).mkdir(parents=True)
        (copy / raw.parent.name / "raw").symlink_to(raw)
    shutil.copy(original / "campaign.json", copy)
    # releases.json compares with older releases, claims.json with other campaigns.
    for other in {*older_releases(original), *campaign_folders(original)} - {original}:
        (tmp_path / other.name).symlink_to(other)
    derive_data_set(copy)
    shipped, made = derived_files(original), derived_files(copy)
    assert shipped.keys() == made.keys()
    differing = [name for name, content in shipped.items() if made[name] != content]
    assert differing == [], f"./replay derive --data {name}"
