"""A long table is written as any other: whole, only if it changed, and the same bytes, however large it is."""

from __future__ import annotations

import hashlib
import os
import subprocess

import pytest

from replay.base import tables
from replay.base.tables import LongTable, csv_text


@pytest.fixture(params=[1 << 20, 10], ids=["in memory", "on disk"])
def place(request, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_IN_MEMORY_BYTES", request.param)
    return tmp_path / "new" / "table.csv"


ROWS = [["a", "b"], ["1", "two, or\n3"], ["é", ""]]


def test_it_is_written_on_request_and_has_the_digest_of_its_content(place):
    table = LongTable(place, iter(ROWS))
    assert not place.exists()
    assert table.write_if_changed() is True
    assert place.read_text(encoding="utf-8") == csv_text(ROWS)
    assert table.digest == hashlib.sha256(place.read_bytes()).hexdigest()
    assert [path.name for path in place.parent.iterdir()] == ["table.csv"]


def test_the_same_content_is_not_written_again_and_another_is(place):
    LongTable(place, ROWS).write_if_changed()
    before = place.stat()
    assert LongTable(place, ROWS).write_if_changed() is False
    assert place.stat().st_ino == before.st_ino
    assert LongTable(place, ROWS[:2]).write_if_changed() is True
    assert place.read_text(encoding="utf-8") == csv_text(ROWS[:2])


def test_rows_that_cannot_be_made_leave_the_old_file(place):
    LongTable(place, ROWS).write_if_changed()

    def rows():
        yield from ROWS[:1]
        raise ValueError("it makes no sense")

    with pytest.raises(ValueError, match="no sense"):
        LongTable(place, rows())
    assert place.read_text(encoding="utf-8") == csv_text(ROWS)
    assert [path.name for path in place.parent.iterdir()] == ["table.csv"]


def test_what_a_killed_process_left_of_the_file_goes_with_the_next_write_and_what_others_write_stays(tmp_path):
    with subprocess.Popen(["true"]) as dead:
        pass
    path = tmp_path / "table.csv"
    left = tmp_path / f".table.csv.{dead.pid}.partial"
    others = [tmp_path / f".table.csv.{os.getppid()}.partial", tmp_path / f".table.csv.min.{dead.pid}.partial"]
    for one in (left, *others):
        one.write_text("cut off")
    assert tables.write_if_changed(path, "whole") is True
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])
