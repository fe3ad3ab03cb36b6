"""Predicates over facts: their meaning, errors with their place, and reading back what was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ConfigurationError
from replay.derive.facts import FACTS, FactType, Predicate, parse_predicate

ORDERED = (">=", "<=", ">", "<")
EQUALITY = ("=", "!=")
numbers = st.decimals(min_value=0, max_value=99_999, places=4).map(float)


@st.composite
def predicates(draw):
    fact = FACTS[draw(st.sampled_from(sorted(FACTS)))]
    if fact.type is FactType.WORD:
        return Predicate(fact, draw(st.sampled_from(EQUALITY)), draw(st.sampled_from(fact.words)))
    if fact.type is FactType.COUNT:
        return Predicate(fact, draw(st.sampled_from(ORDERED + EQUALITY)), float(draw(st.integers(0, 99_999))))
    value = draw(numbers) if fact.type is not FactType.FRACTION else draw(numbers) % 1
    return Predicate(fact, draw(st.sampled_from(ORDERED)), round(value, 4))


@given(predicates())
def test_a_written_predicate_is_read_back(one):
    assert parse_predicate(one.text(), "here") == one


@given(predicates(), st.sampled_from(["", " ", "  "]))
def test_spaces_mean_nothing(one, space):
    spaced = one.text().replace(" ", space)
    assert parse_predicate(f"{space}{spaced}{space}", "here") == one


@given(st.one_of(st.text(max_size=60), st.from_regex(r"[a-z_]{1,30} ?(>=|<=|==|=|!=|<|>|~) ?[0-9a-z.e+-]{0,12}")))
def test_any_other_text_is_refused_with_its_place(text):
    try:
        one = parse_predicate(text, "config/claims.yaml:7")
    except ConfigurationError as error:
        assert "config/claims.yaml:7" in str(error)
    else:
        assert one.fact.name in FACTS
        assert parse_predicate(one.text(), "here") == one


@given(predicates(), numbers)
def test_a_predicate_and_its_opposite_never_both_hold(one, found):
    opposite = {">=": "<", "<": ">=", "<=": ">", ">": "<=", "=": "!=", "!=": "="}[one.comparison]
    value = one.fact.words[0] if one.fact.type is FactType.WORD else found
    assert one.holds(value) != Predicate(one.fact, opposite, one.value).holds(value)


@given(predicates(), numbers)
def test_a_wrong_value_never_reads_like_the_required_one(one, found):
    value = next((word for word in one.fact.words if word != one.value), found)
    if value != one.value and one.fact.type is not FactType.WORD:
        assert one.found_in_words(value) not in one.in_words().split(" ", 2)[-1:]


@pytest.mark.parametrize(
    ("text", "said", "advice"),
    [
        ("idle_cpu_fraction", "is not a predicate", "idle_cpu_fraction >= 0.25"),
        ("idle_cpu_fractoin >= 0.25", "no fact 'idle_cpu_fractoin'", "did you mean 'idle_cpu_fraction'?"),
        ("idle_cpu_fraction >= 25", "a fraction is at most 1", "0.25 is 25 per cent"),
        ("idle_cpu_fraction >= 25%", "'25%' is not a number", "0.25"),
        ("idle_cpu_fraction = 0.25", "= does not compare a fraction", ">= <= > <"),
        ("snapshots_taken_in_cell >= 1.5", "not a whole number", "a whole number"),
        ("limiter > cpu", "> does not compare a word", "= !="),
        ("limiter != cpus", "limiter is never 'cpus'", "cpu, disk, network, none"),
        ("load_seconds >= 1e3", "'1e3' is not a number", "0.25"),
        ("load_seconds >= -1", "'-1' is not a number", "0.25"),
    ],
)
def test_an_error_says_what_is_wrong_and_what_to_write(text, said, advice):
    with pytest.raises(ConfigurationError) as refused:
        parse_predicate(text, "config/claims.yaml:7")
    assert said in str(refused.value)
    assert advice in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("idle_cpu_fraction >= 0.25", "at least 25%"),
        ("offered_to_replay_ratio > 1", "more than 1"),
        ("load_seconds >= 8", "at least 8 s"),
        ("limiter != cpu", "anything but cpu"),
        ("snapshots_synced_in_cell >= 1", "at least 1"),
    ],
)
def test_a_predicate_has_words(text, words):
    assert parse_predicate(text, "here").in_words() == words


def test_a_value_close_to_the_required_one_shows_enough_digits():
    one = parse_predicate("idle_cpu_fraction >= 0.25", "here")
    assert one.found_in_words(0.24996) == "24.996%"
    assert one.found_in_words(0.157) == "15.7%"
    odd = parse_predicate("idle_cpu_fraction >= 0.7795", "here")
    assert (odd.in_words(), odd.found_in_words(0.78)) == ("at least 77.95%", "78%")
