"""Many claims at once: p-values that agree with the intervals, q-values, and what chance alone would produce."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.stats import false_discovery_q_values
from replay.claims.judge import multiplicity, with_q_values
from replay.claims.model import HELD, INCONCLUSIVE, NOT_TESTABLE, REFUTED, SETUP_CHECK, Region
from support.claims import EQUAL, claim, judged, presuppose, rows


def named(name, judgement, **more):
    return dataclasses.replace(judgement, claim=dataclasses.replace(judgement.claim, id=name, **more))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
@pytest.mark.xdist_group("scipy's statistics")
def test_q_values_are_those_of_scipy(p_values):
    # Here, because it takes a second of processor time in each process that collects this file.
    from scipy import stats as scipy_stats

    expected = scipy_stats.false_discovery_control(p_values, method="bh")
    assert false_discovery_q_values(p_values) == pytest.approx(list(expected))


def test_no_p_value_gives_no_q_value():
    assert false_discovery_q_values([]) == []


@pytest.mark.parametrize("region", [Region(1.5, None), Region(None, 1.5), Region(1.4, 1.7)])
def test_a_condition_is_decided_exactly_if_its_p_value_is_below_a_twentieth(region):
    seen = set()
    for seed in range(120):
        ratio = random.Random(seed).uniform(1.2, 1.9)
        (one,) = with_q_values([judged(claim(region), rows(ratio, blocks=6, seed=seed, noise=0.08))])
        (found,) = one.results
        assert (found.p_value < 0.05) == (one.verdict in (HELD, REFUTED)), (seed, found)
        seen.add(one.verdict)
    assert seen == {HELD, REFUTED, INCONCLUSIVE}


def test_no_difference_is_held_exactly_if_two_one_sided_tests_hold_it():
    seen = set()
    for seed in range(80):
        ratio = random.Random(seed).uniform(0.95, 1.09)
        (one,) = with_q_values([judged(claim(EQUAL), rows(ratio, blocks=10, seed=seed))])
        if one.verdict != REFUTED:
            assert (one.results[0].p_value < 0.05) == (one.verdict == HELD), seed
        seen.add(one.verdict)
    assert {HELD, INCONCLUSIVE} <= seen


def test_q_values_cover_all_tested_conditions_and_no_others():
    held = named("held", judged(claim(Region(1.5, None)), rows(2)))
    open_ = named("open", judged(claim(Region(2, None)), rows(2)))
    check = named("check", judged(claim(Region(1.5, None)), rows(2)), kind=SETUP_CHECK)
    untestable = named("untestable", judged(claim(Region(1.5, None), presuppose("load_seconds >= 8")), rows(2)))
    alone = named("one-block", judged(claim(Region(1.5, None)), rows(2, blocks=1)))
    assert untestable.verdict == NOT_TESTABLE
    found = {one.claim.id: one.results[0] for one in with_q_values([held, open_, check, untestable, alone])}
    assert [name for name, one in found.items() if one.p_value is None] == ["check", "untestable", "one-block"]
    tested = [found["held"], found["open"]]
    assert [one.q_value for one in tested] == false_discovery_q_values([one.p_value for one in tested])


def test_what_chance_alone_would_produce_is_one_error_rate_a_tested_claim():
    judgements = with_q_values(
        [
            named("above", judged(claim(Region(1.5, None)), rows(2))),
            named("alike", judged(claim(EQUAL), rows(1, noise=0.01))),
            named("open", judged(claim(Region(2, None)), rows(2))),
            named("check", judged(claim(Region(1.5, None)), rows(2)), kind=SETUP_CHECK),
        ]
    )
    found = multiplicity(judgements)
    assert (found.claims_tested, found.claims_decided, found.conditions_tested) == (3, 2, 3)
    assert found.wrong_by_chance_at_most == pytest.approx(0.025 + 0.05 + 0.025)
    assert found.conditions_within_false_discovery_rate == 2


def test_a_claim_of_exactly_1_can_be_refuted_wrongly_on_either_side():
    exactly = named("exactly", judged(claim(Region(1, 1)), rows(2)))
    assert multiplicity(with_q_values([exactly])).wrong_by_chance_at_most == pytest.approx(0.05)


def test_without_data_there_is_no_multiplicity():
    found = multiplicity(with_q_values([judged(claim(Region(1, 2)), rows(2, sizes=(4194304,)))]))
    assert {*vars(found).values()} == {0}
