"""releases.json: the claims of one release against those of the older ones that were measured under the same name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from replay.base.programs import older_releases
from replay.claims.documents import compared_claims, releases_document, write_releases
from replay.claims.judge import judge_data_set
from replay.claims.load import load_book
from support.claims import write_tidy

CLAIM = "journal-4k-seq-write"


def test_only_older_releases_of_the_same_name_are_compared_with(tmp_path):
    for name in ("mine-16", "mine-18", "mine-20", "mine-2", "yours-16", "mine"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine-15").write_text("not a folder")
    assert [one.name for one in older_releases(tmp_path / "mine-20")] == ["mine-16", "mine-18"]
    assert [one.name for one in older_releases(tmp_path / "mine-18")] == ["mine-16"]
    assert older_releases(tmp_path / "mine-16") == []
    assert older_releases(tmp_path / "mine") == []
    assert older_releases(tmp_path / "mine-2") == []


def test_the_newer_release_says_how_far_each_ratio_moved_from_the_older(tmp_path):
    write_tidy(tmp_path / "mine-16", 2)
    newer = write_tidy(tmp_path / "mine-20", 10, seed=2)
    book = load_book()
    write_releases(newer, book)
    document = json.loads((newer / "releases.json").read_text())
    assert document["data_set"] == "mine-20"
    assert [*document["against"]] == ["mine-16"]
    claims = document["against"]["mine-16"]["claims"]
    found = claims[CLAIM]["conditions"]["ratio"]
    assert found["ratio"] == pytest.approx(5, rel=0.06)
    assert found["low"] < found["ratio"] < found["high"]
    assert (found["more_than_noise"], found["interval"]) == (True, "welch")
    # The same figures as `replay claims --against`, without what either side did not measure.
    everything = compared_claims(judge_data_set(newer, book), judge_data_set(tmp_path / "mine-16", book))
    assert claims == {name: everything[name] for name in claims}
    assert CLAIM in claims
    assert set(claims) < set(everything)


def test_without_an_older_release_there_is_no_such_file(tmp_path):
    write_tidy(tmp_path / "mine-16", 2)
    newer = write_tidy(tmp_path / "mine-20", 2)
    book = load_book()
    write_releases(newer, book)
    (tmp_path / "mine-16").rename(tmp_path / "elsewhere")
    write_releases(newer, book)
    assert not (newer / "releases.json").exists()


def test_an_older_release_that_measured_nothing_of_it_is_left_out(tmp_path):
    own = judge_data_set(write_tidy(tmp_path / "mine-20", 2))
    (tmp_path / "mine-16").mkdir()
    nothing = judge_data_set(tmp_path / "mine-16")
    assert releases_document(own, nothing) is None
    other = replace(own, data_set="mine-18")
    assert [*releases_document(own, nothing, other)["against"]] == ["mine-18"]
