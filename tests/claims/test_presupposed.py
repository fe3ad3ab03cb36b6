"""What a claim presupposes of its cells, and the verdicts that do not stand without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay.claims.model import HELD, INCONCLUSIVE, NOT_MEASURED, NOT_TESTABLE, REFUTED, Region
from replay.derive.facts import FACTS
from replay.evidence.record import FACTS_OF_MACHINES
from support.claims import EQUAL, claim, judged, presuppose, rows, verdict

IDLE = "idle_cpu_fraction >= 0.25"
REFUTING = presuppose("limiter != cpu", slower=True, decides="refutation")


def with_facts(data, **facts):
    """Give rows facts: one value each, or one per block, or one per variant."""

    def value(found, row):
        if isinstance(found, dict):
            return found.get(row["variant"], found.get(int(row["block"]), ""))
        return found

    return [{**row, **{name: str(value(found, row)) for name, found in facts.items()}} for row in data]


def test_a_claim_whose_cells_meet_what_it_presupposes_is_judged():
    one = judged(claim(Region(1.5, None), presuppose(IDLE)), with_facts(rows(2), idle_cpu_fraction=0.3))
    assert one.verdict == HELD
    assert [found.met for found in one.presupposed] == [True]
    assert one.presupposed[0].reason == "the idle share of the CPU was at least 25% in each of 2 cells"


def test_a_presupposition_that_is_not_met_is_reported_with_the_figure_and_its_cell():
    data = with_facts(rows(2), idle_cpu_fraction={"plain": 0.1, "journal": 0.3})
    one = judged(claim(Region(1.5, None), presuppose(IDLE)), data)
    assert one.verdict == NOT_TESTABLE
    assert one.reason.startswith(
        "the idle share of the CPU was 10% in write-4096 plain, as in 1 of 2 cells, and has to be at least 25% (the "
        "figure is "
    )
    assert (one.presupposed[0].met, one.presupposed[0].found) == (False, 0.1)


def test_the_cell_that_misses_it_by_most_is_named():
    data = with_facts(rows(2), idle_cpu_fraction={"plain": 0.2, "journal": 0.05})
    assert (
        "was 5% in write-4096 journal, as in 2 of 2 cells"
        in judged(claim(Region(1.5, None), presuppose(IDLE)), data).reason
    )


def test_an_unrecorded_fact_makes_a_claim_not_testable():
    one = judged(claim(Region(1.5, None), presuppose("snapshots_synced_in_cell >= 1")), rows(2))
    assert (one.verdict, one.presupposed[0].met) == (NOT_TESTABLE, None)
    assert "the number of snapshots copied within the cell was not recorded, and has to be at least 1" in one.reason


def test_a_single_run_without_the_fact_leaves_it_open():
    known = dict.fromkeys(range(1, 10), 0.5)
    one = judged(claim(Region(1.5, None), presuppose(IDLE)), with_facts(rows(2), idle_cpu_fraction=known))
    assert (one.verdict, one.presupposed[0].met) == (NOT_TESTABLE, None)
    reason = one.presupposed[0].reason
    assert reason.startswith("the idle share of the CPU was not recorded, and has to be at least")
    assert reason.endswith(
        ": that of the OSDs' machines is missing, and one line in the site's file, `prometheus`, would add it"
    )


def test_what_is_missing_is_said_of_the_facts_of_machines_alone():
    assert {name for name, fact in FACTS.items() if fact.unrecorded} == set(FACTS_OF_MACHINES)


def test_a_cell_is_judged_by_the_median_of_its_runs():
    mostly = {**dict.fromkeys(range(1, 7), 0.3), **dict.fromkeys(range(7, 11), 0.1)}
    seldom = {**dict.fromkeys(range(1, 5), 0.3), **dict.fromkeys(range(5, 11), 0.1)}
    asked = claim(Region(1.5, None), presuppose(IDLE))
    assert verdict(asked, with_facts(rows(2), idle_cpu_fraction=mostly)) == HELD
    assert verdict(asked, with_facts(rows(2), idle_cpu_fraction=seldom)) == NOT_TESTABLE


def test_a_count_has_to_be_right_in_every_run():
    asked = claim(Region(1.5, None), presuppose("snapshots_taken_in_cell >= 1"))
    assert verdict(asked, with_facts(rows(2), snapshots_taken_in_cell=1)) == HELD
    once_none = {**dict.fromkeys(range(1, 11), 1), 4: 0}
    one = judged(asked, with_facts(rows(2), snapshots_taken_in_cell=once_none))
    assert one.verdict == NOT_TESTABLE
    assert "was 0 in write-4096" in one.reason


def test_a_word_has_to_be_right_in_more_than_half_of_the_runs():
    asked = claim(Region(1.5, None), presuppose("limiter != cpu"))
    half = {**dict.fromkeys(range(1, 6), "cpu"), **dict.fromkeys(range(6, 11), "none")}
    fewer = {**dict.fromkeys(range(1, 5), "cpu"), **dict.fromkeys(range(5, 11), "none")}
    one = judged(asked, with_facts(rows(2), limiter=half))
    assert one.verdict == NOT_TESTABLE
    assert "what limited the cell was cpu in write-4096" in one.reason
    assert "has to be anything but cpu" in one.reason
    assert verdict(asked, with_facts(rows(2), limiter=fewer)) == HELD


def test_it_may_concern_only_some_of_the_cells():
    busy = with_facts(rows(2, sizes=(4096, 4194304)), idle_cpu_fraction={"plain": 0.1, "journal": 0.3})
    assert verdict(claim(Region(1.5, None), presuppose(IDLE, variants=("journal",))), busy) == HELD
    assert verdict(claim(Region(1.5, None), presuppose(IDLE, variants=("plain",))), busy) == NOT_TESTABLE
    small = presuppose(IDLE, levels={"io_size_bytes": (4096,)})
    sizes = [{**row, "idle_cpu_fraction": "0.3" if row["io_size_bytes"] == "4096" else "0.1"} for row in rows(2)]
    assert verdict(claim(Region(1.5, None), small, sizes=(4096, 4194304)), sizes) == HELD
    assert verdict(claim(Region(1.5, None), presuppose(IDLE), sizes=(4096, 4194304)), sizes) == NOT_TESTABLE


def test_every_presupposition_that_fails_is_reported():
    one = judged(
        claim(Region(1.5, None), presuppose(IDLE), presuppose("load_seconds >= 8")),
        with_facts(rows(2), idle_cpu_fraction=0.1, load_seconds=2),
    )
    assert "the idle share of the CPU was 10%" in one.reason
    assert "; the length of the load was 2 s" in one.reason


def test_a_presupposition_that_decides_a_refutation_does_not_affect_other_verdicts():
    refuting = claim(EQUAL, REFUTING)
    assert verdict(refuting, rows(2, limiter="cpu")) == NOT_TESTABLE
    assert verdict(refuting, rows(1, limiter="cpu")) == HELD
    assert verdict(refuting, rows(1.1, limiter="cpu")) == INCONCLUSIVE
    assert verdict(refuting, rows(2, limiter="none")) == REFUTED


def test_a_presupposition_that_decides_a_confirmation_does_not_affect_other_verdicts():
    confirming = claim(EQUAL, presuppose("limiter != cpu", decides="confirmation"))
    assert verdict(confirming, rows(1, limiter="cpu")) == NOT_TESTABLE
    assert verdict(confirming, rows(2, limiter="cpu")) == REFUTED
    assert verdict(confirming, rows(1.1, limiter="cpu")) == INCONCLUSIVE


@pytest.mark.parametrize(
    ("ratio", "better", "slower"),
    [(2, "higher", "journal"), (0.5, "higher", "plain"), (2, "lower", "plain"), (0.5, "lower", "journal")],
)
def test_the_slower_side_is_the_worse_one_by_the_metric(ratio, better, slower):
    refuting = claim(EQUAL, REFUTING, better=better)
    faster = {"plain": "journal", "journal": "plain"}[slower]
    assert verdict(refuting, rows(ratio, limiter={slower: "cpu", faster: "none"})) == NOT_TESTABLE
    assert verdict(refuting, rows(ratio, limiter={slower: "none", faster: "cpu"})) == REFUTED


def test_a_claim_that_was_not_measured_stays_not_measured():
    assert verdict(claim(Region(1, 2), presuppose(IDLE)), rows(2, sizes=(4194304,))) == NOT_MEASURED


def test_a_claim_may_be_about_a_fact():
    data = with_facts(rows(2), machine_cpu_seconds_per_byte={"plain": 4e-9, "journal": 1e-9})
    one = claim(Region(3, 5))
    (condition,) = one.conditions
    about = replace(one, conditions=(replace(condition, metric="machine_cpu_seconds_per_byte"),))
    assert judged(about, data).results[0].estimate == pytest.approx(4)
