"""Fast readers and writers do what the plain ones do: JSON of any shape, tables of any length."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base import fast_json, tables
from replay.base.fast_json import has_each_key_once, loads, read_or_none
from replay.base.tables import LongTable, csv_text

TEXTS = st.text('ab\\":{}[], \n\x01é\ud800', max_size=6)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats() | st.integers(-9, 9)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)
DOCUMENTS = st.builds(
    lambda value, indent, is_ascii: json.dumps(value, indent=indent, ensure_ascii=is_ascii),
    VALUES,
    st.sampled_from([None, 1]),
    st.booleans(),
)


def result(read, text):
    """What reading a text gives: its value with the types of all parts, or the kind of error and its words."""
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as error:
        return type(error), str(error)


@given(DOCUMENTS)
def test_a_document_is_read_as_the_standard_library_reads_it(text):
    assert result(loads, text) == result(json.loads, text)


@given(DOCUMENTS, st.data())
def test_so_is_one_that_was_damaged(text, data):
    at = data.draw(st.integers(0, len(text)))
    damaged = (
        text[:at]
        + data.draw(st.sampled_from(["", "1", "-", "e", '"', "\\", "}", ",", "NaN", "\ufeff"]))
        + text[at + 1 :]
    )
    assert result(loads, damaged) == result(json.loads, damaged)


@given(DOCUMENTS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
def test_bytes_are_read_in_whatever_encoding_the_standard_library_knows(text, encoding):
    content = text.encode(encoding, errors="replace")
    assert result(loads, content) == result(json.loads, content)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551616", 2**64),
        ("-9223372036854775809", -(2**63) - 1),
        ("1e400", math.inf),
        ("[Infinity]", [math.inf]),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('"\\ud800"', "\ud800"),
    ],
)
def test_what_orjson_reads_in_another_way_is_left_to_the_standard_library(text, value):
    assert loads(text) == value
    assert type(loads(text)) is type(value)


def test_a_document_too_deep_for_the_standard_library_is_refused():
    with pytest.raises((RecursionError, ValueError)):
        loads("[" * 100_000)


@given(VALUES)
def test_a_document_with_each_key_once_is_known_as_such_unless_it_has_escapes(value):
    text = json.dumps(value, ensure_ascii=False)
    read = read_or_none(text)
    if read is not None and "\\u" not in text:
        assert has_each_key_once(text, read)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4), VALUES, st.data())
def test_a_key_that_occurs_twice_in_one_object_is_always_noticed(members, other, data):
    again = data.draw(st.sampled_from(sorted(members)))
    fields = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in [*members.items(), (again, other)]]
    text = "[{" + ", ".join(fields) + "}]"
    read = read_or_none(text)
    assert read is None or not has_each_key_once(text, read)


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


def test_without_orjson_the_standard_library_reads_everything(monkeypatch):
    monkeypatch.setattr(fast_json, "orjson", None)
    assert read_or_none('{"a": 1}') is None
    assert loads('{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert not has_each_key_once('{"a": 1}', {"a": 1}), "nothing is promised"
