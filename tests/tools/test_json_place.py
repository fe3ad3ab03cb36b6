"""JSON values that know their place: an error about one names its line and the keys that lead to it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError
from replay.tools.json_output import read_json

NAMES = st.text('abc "\\{}[],:é\n', min_size=1, max_size=5)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(' "\\{}[],:\n', max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


@st.composite
def documents_with_a_mark(draw):
    """A document in which one value is marked, and the keys that lead to it."""
    document = draw(DOCUMENTS)
    holder, keys, here = {"all": document}, ["all"], document
    place = holder
    while isinstance(here, dict | list) and here and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here))))
        keys.append(key)
        place, here = here, here[key]
    place[keys[-1]] = "the mark"
    return holder, keys


@given(documents_with_a_mark(), st.sampled_from(["", "said before:\n", "\n\n "]))
def test_the_line_of_any_value_is_correct(marked, before):
    document, keys = marked
    text = before + json.dumps(document, indent=1) + "\n"
    place = read_json(text, "a.json", start=len(before)).at(*keys)
    assert place.value == "the mark"
    with pytest.raises(OutputError, match="it is wrong") as error:
        place.refuse("it is wrong")
    assert text.splitlines()[error.value.line - 1].count("the mark") == 1
    assert error.value.where == f"a.json:{error.value.line}"
    assert place.name in error.value.what


TEXT = '{\n "jobs": [\n  {"read": {\n   "iops": "many"}}\n ],\n "end": null\n}\n'


@pytest.mark.parametrize(
    ("ask", "said", "line"),
    [
        (lambda one: one.at("jobs", 0, "read").number("iops"), "jobs[0].read: no number 'iops'", 4),
        (lambda one: one.at("jobs", 0, "read").number("bw"), "jobs[0].read: no number 'bw'", 3),
        (lambda one: one.at("jobs", 0).whole("read"), "jobs[0]: no whole number 'read'", 3),
        (lambda one: one.at("jobs", 7, "read").number("iops"), "jobs[7].read: no number 'iops'", 2),
        (lambda one: one.object("end", "sum"), "end.sum: no object 'end.sum'", 6),
        (lambda one: one.rows("end"), "end is not a list", 6),
        (lambda one: one.rows("jobs")[0].rows("write"), "jobs[0]: write is not a list", 3),
    ],
)
def test_a_missing_value_is_reported_with_the_line_of_the_value_around_it(ask, said, line):
    with pytest.raises(OutputError) as error:
        ask(read_json(TEXT, "a.json"))
    assert (error.value.what, error.value.line) == (said, line)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("", "not JSON", 1),
        ('{\n"a": }', "not JSON", 2),
        ('{"a": 1,\n\n "b": NaN}', "NaN is not a number", 3),
        ('{"a":\n -Infinity}', "-Infinity is not a number", 2),
        ('\n{"a": 1, "a": 2}', "'a' occurs twice", 2),
        ('{"a": 1}\n\n{"a": 1}', "something follows the JSON", 3),
        ("[" * 100_000, "not a tool's JSON", 1),
        ('{"a": ' + "9" * 10_000 + "}", "not a tool's JSON", 1),
    ],
)
def test_a_text_that_is_not_a_single_document_is_refused(text, said, line):
    with pytest.raises(OutputError, match=said) as error:
        read_json(text, "a.json")
    assert (error.value.line, error.value.reason) == (line, "unparsable")


def test_a_key_may_occur_twice_if_both_values_agree_or_if_that_is_allowed():
    assert read_json('{"a": 1, "a": 1}', "f").value == {"a": 1}
    texts = {"may_repeat": lambda value: isinstance(value, str)}
    assert read_json('{"a": "1", "a": "2"}', "f", **texts).value == {"a": "2"}
    with pytest.raises(OutputError, match="occurs twice"):
        read_json('{"a": "1", "a": 2}', "f", **texts)
