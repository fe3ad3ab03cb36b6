"""Counts: conditions that compare exactly, without an interval, whatever the conditions of their cells."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.claims.command import comparison_parts, verdict_parts
from replay.claims.documents import as_csv, as_document, comparison_document
from replay.claims.evaluate import compare, judge
from replay.claims.model import (
    HELD,
    INCONCLUSIVE,
    NOT_MEASURED,
    NOT_TESTABLE,
    REFUTED,
    Assessment,
    Claim,
    Count,
    Region,
    Selector,
)
from replay.claims.tables import Table
from support.claims import FACTORS, condition, presuppose, printed, rows
from support.claims import judged as judged_rows

SIZES = (4096, 4194304)


def count(equals=0, sizes=SIZES, says="what is left"):
    return Count("left", says, "left", Selector("plain", {"io_type": ("write",), "io_size_bytes": sizes}), equals)


def claim(*conditions, presupposes=()):
    return Claim("c", "A sentence.", "S3", "e", conditions, presupposes)


def counting(counts, ratio=2, **more):
    """Measurements in which each block's cells have the counts in `counts`; "" states nothing."""
    return [{**row, "left": str(counts[int(row["block"]) - 1])} for row in rows(ratio, blocks=len(counts), **more)]


def judged(counts, *, of=None, **more):
    return judged_rows(of or claim(count()), counting(counts, **more))


def assessed(name, counts, of=None):
    return Assessment(name, {}, (judged(counts, of=of),))


def test_the_same_count_in_every_block_is_held_and_shown_without_an_interval():
    found = judged([0] * 6).results[0]
    assert (found.verdict, found.estimate, found.low, found.high, found.n) == (HELD, 0, 0, 0, 6)
    assert found.reason == "exactly 0 in each of 6 blocks"
    assert found.blocks == dict.fromkeys(range(1, 7), 0)


def test_one_block_that_differs_refutes_and_is_named():
    one = judged([0, 0, 2, 0, 1, 0])
    assert one.verdict == REFUTED
    assert one.reason == "2 in block 3: the claim needs exactly 0, which 4 of 6 blocks have"
    found = one.results[0]
    assert (found.estimate, found.low, found.high) == (2, 0, 2)


def test_the_estimate_is_the_count_furthest_from_the_claimed_one():
    found = judged([5, 3, 6], of=claim(count(5))).results[0]
    assert (found.verdict, found.estimate, found.low, found.high) == (REFUTED, 3, 3, 6)


def test_one_block_cannot_hold_a_claim_but_may_refute_it():
    assert judged([0]).verdict == INCONCLUSIVE
    assert judged([0]).reason == "exactly 0 in one block, and a verdict needs 2"
    assert judged([1]).verdict == REFUTED


@pytest.mark.parametrize("absent", ["", "nan"])
def test_a_block_that_states_no_count_does_not_count(absent):
    assert judged([0, absent, 0]).results[0].n == 2
    assert judged([absent]).verdict == NOT_MEASURED


def test_a_block_without_all_of_its_cells_does_not_count():
    data = [
        row
        for row in counting([0, 0, 3])
        if not (row["block"] == "3" and row["variant"] == "plain" and row["io_size_bytes"] == "4096")
    ]
    one = judge(claim(count()), Table(data, FACTORS))
    assert (one.verdict, one.results[0].n) == (HELD, 2)
    assert judge(claim(count()), Table([], FACTORS)).verdict == NOT_MEASURED


def test_its_text_names_the_values_in_the_data():
    data = [{**row, "interval": "5"} for row in counting([0, 0])]
    found = judge(claim(count(says="left every {interval} s")), Table(data, FACTORS)).results[0]
    assert found.says == "left every 5 s"


@pytest.mark.parametrize("decides", ["any", "refutation"])
def test_no_presupposition_decides_a_count(decides):
    idle = (presuppose("limiter != cpu", decides=decides),)
    limited = claim(count(), presupposes=idle)
    assert judged([0] * 6, of=limited, limiter="cpu").verdict == HELD
    assert judged([1] * 6, of=limited, limiter="cpu").verdict == REFUTED
    with_ratio = claim(count(), condition(Region(5, None)), presupposes=idle)
    assert judged([0] * 6, of=with_ratio, limiter="cpu").verdict == NOT_TESTABLE
    assert judged([1] * 6, of=with_ratio, limiter="cpu").verdict == REFUTED
    assert judged([0] * 6, of=with_ratio, limiter="none").verdict == REFUTED


def test_a_count_does_not_add_a_chance_to_refute_a_ratio_by_accident():
    """A ratio whose refutation falls among two ratios stands beside any number of counts."""
    ratio = condition(Region(2.1, None))
    alone, beside = claim(ratio), claim(count(), replace(count(), name="again"), ratio)
    among = claim(ratio, condition(Region(1, None), name="other"))

    def verdicts(seed):
        return [judged([0] * 4, of=one, seed=seed, noise=0.05).results[-1].verdict for one in (alone, beside)]

    found = [verdicts(seed) for seed in range(60)]
    assert all(first == second for first, second in found)
    refuted = [seed for seed, (first, _) in enumerate(found) if first == REFUTED]
    corrected = [judged([0] * 4, of=among, seed=seed, noise=0.05).results[0] for seed in refuted]
    fallen = [one for one in corrected if one.verdict == INCONCLUSIVE]
    assert fallen
    assert all("not after correction for 2" in one.reason for one in fallen)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8), st.integers(0, 3))
def test_it_is_held_only_if_all_blocks_have_the_claimed_count(counts, equals):
    one = judged(counts, of=claim(count(equals)))
    assert one.verdict == (HELD if set(counts) == {equals} else REFUTED)
    found = one.results[0]
    assert min(counts) == found.low <= found.estimate <= found.high == max(counts)


def test_files_and_text_show_a_plain_number():
    assessment = assessed("mine", [0, 0, 2], claim(count(), condition(Region(1.5, None))))
    conditions = as_document(assessment)["claims"]["c"]["conditions"]
    assert (conditions["left"]["kind"], conditions["ratio"]["kind"]) == ("count", "ratio")
    assert conditions["left"]["region"] == {"low": 0, "high": 0}
    assert [conditions["left"][key] for key in ("estimate", "low", "high", "n")] == [2, 0, 2, 3]
    assert conditions["left"]["blocks"] == {"1": 0, "2": 0, "3": 2}
    row = next(csv.DictReader(io.StringIO(as_csv(assessment))))
    assert (row["condition"], row["estimate"], row["region"]) == ("left", "2", "exactly 0")
    said = " ".join(printed(verdict_parts(assessment)).split())
    assert "what is left: 2 in block 3: the claim needs exactly 0" in said


@pytest.mark.parametrize(
    ("theirs", "said", "shown"), [([0, 0], "counts: alike", "0 n = 2"), ([0, 2], "counts: they differ", "0 to 2 n = 2")]
)
def test_two_data_sets_compare_counts_as_they_are(theirs, said, shown):
    first, second = assessed("mine", [0, 0, 0]), assessed("theirs", theirs)
    (found,) = compare(first, second)[0].conditions
    assert (found.ratio, found.more_than_noise, found.missing) == (None, None, said)
    table = printed(comparison_parts(first, second))
    assert said in table
    assert shown in table
    assert "0 of 0 ratios differ" in table
    document = comparison_document(first, second)["claims"]["c"]["conditions"]["left"]
    assert (document["kind"], document["missing"]) == ("count", said)
