"""JSON values that know their keys: an error about one names those that lead to it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError
from replay.tools.base import read_json

NAMES = st.text('abc "\\{}[],:é\n', min_size=1, max_size=5)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(' "\\{}[],:\n', max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


@given(DOCUMENTS, st.sampled_from(["", "printed before:\n", "\n\n "]), st.sampled_from([None, 1]))
def test_a_document_is_read_as_it_is_whatever_stands_before_it(document, before, indent):
    text = before + json.dumps(document, indent=indent) + "\n"
    assert read_json(text, "a.json", start=len(before)).value == document


TEXT = '{\n "jobs": [\n  {"read": {\n   "iops": "many"}}\n ],\n "end": null\n}\n'


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda one: one.at("jobs", 0, "read").number("iops"), "jobs[0].read: no number 'iops'"),
        (lambda one: one.at("jobs", 0, "read").number("bw"), "jobs[0].read: no number 'bw'"),
        (lambda one: one.at("jobs", 7, "read").number("iops"), "jobs[7].read: no number 'iops'"),
        (lambda one: one.object("end", "sum"), "no object 'end.sum'"),
        (lambda one: one.rows("end"), "no list 'end'"),
        (lambda one: one.rows("jobs")[0].rows("write"), "jobs[0]: no list 'write'"),
        (lambda one: one.at("end").refuse("it is wrong"), "end: it is wrong"),
    ],
)
def test_a_missing_value_is_reported_with_the_keys_that_lead_to_it(ask, what):
    with pytest.raises(OutputError) as error:
        ask(read_json(TEXT, "a.json"))
    assert (error.value.what, error.value.file) == (what, "a.json")


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": -1}', '{"a": 1e999}', '{"a": true}', '{"a": "x"}', "{}", "[]"])
def test_what_is_no_finite_number_of_0_or_more_is_refused(text):
    with pytest.raises(OutputError, match="no number 'a'"):
        read_json(text, "f").number("a")


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("", "not JSON", 1),
        ('{\n"a": }', "not JSON", 2),
        ('{"a": 1}\n\n{"a": 1}', "not JSON: Extra data", 3),
        ("[" * 100_000, "not a tool's JSON", None),
        ('{"a": ' + "9" * 10_000 + "}", "not a tool's JSON", None),
    ],
)
def test_a_text_that_is_not_a_single_document_is_refused(text, what, line):
    with pytest.raises(OutputError, match=what) as error:
        read_json(text, "a.json")
    assert (error.value.line, error.value.reason) == (line, "unparsable")
