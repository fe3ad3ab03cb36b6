"""What titles of a new talk, and the lines below its pictures, may say of findings that are settled or open."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from replay.exchange.sides import Metric
from replay.exchange.talk_parts import busy
from replay.exchange.talk_points import MeasuredVariant, Point, Ratio, Told, Walk, WalkedCell, points_of
from replay.exchange.talk_sense import Finding, Plan
from replay.exchange.talk_titles import answer, needs, next_step, title_of, title_of_walk
from support.compared import METRIC, experiment, runs
from support.talks import title

TAIL = Metric("latency-p99", "latency_p99_seconds", "99th percentile of latency", "seconds", "lower")
THROUGHPUT = Metric("throughput", "bytes_per_second", "Throughput", "bytes_per_second", "higher")
FACTORS = {"rw": ["randread", "randwrite"], "io_size_bytes": [4096, 65536]}
ROWS = [run for kind in FACTORS["rw"] for size in FACTORS["io_size_bytes"]
        for run in runs([100, 101, 102], rw=kind, io_size_bytes=str(size))]  # fmt: skip
#: Reads of 4K and of 64K, writes of 4K and of 64K.
POINTS = points_of(FACTORS, ROWS)


def told(variants: int = 2) -> Told:
    chosen = tuple(MeasuredVariant(name, name, at) for at, name in enumerate("abc"[:variants]))
    of_point = {run.block: run for run in ROWS[:3]}
    each = {(variant.name, point.name): of_point for variant in chosen for point in POINTS}
    return Told("mine", "e", {"factors": FACTORS, "charts": {}}, experiment(ROWS), chosen, POINTS, each)


def finding(point: Point, estimate: float, *, metric=METRIC, variant="b", width=1.2, open_=False) -> Finding:
    sides = ({"variant": name, **point.levels} for name in (variant, "a"))
    ratio = Ratio(metric.name, f"{variant}-{point.name}", metric, point, point.label, *sides)
    logs = tuple(math.log(estimate) + apart for apart in (-0.1, 0, 0.1))
    return Finding(ratio, estimate, estimate / width, estimate * width, 3, logs, not open_)


def plan(*findings: Finding, variants: int = 2, sense=None) -> Plan:
    compared: dict[str, list[Finding]] = {}
    for one in findings:
        compared.setdefault(one.ratio.metric.name, []).append(one)
    return Plan(told(variants), sense, {}, METRIC, TAIL, compared, ())


def plain(text: str) -> str:
    """Return a title as a person reads it, with `{value}` for each figure and variants by number."""
    return title("## " + re.sub(r'<data value="([^"]*)">\?</data>', r"{\1}", text))


def answered(*findings: Finding, variants: int = 2) -> str:
    return plain(answer(plan(*findings, variants=variants))[0])


# The answer ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (finding(POINTS[3], 1.0, width=1.5, open_=True), "No difference that counts: within 10 %."),
        (finding(POINTS[3], 1.05, width=1.01), "No difference that counts: within 10 %."),
        (finding(POINTS[3], 1.5), "Neither, as far as three runs can tell."),
    ],
)
def test_a_difference_that_is_settled_and_beyond_10_percent_counts(last, said):
    same = [finding(point, 1.0, width=1.02, open_=True) for point in POINTS[:3]]
    assert answered(*same, last) == said


def test_where_one_factor_parts_who_is_ahead_both_sides_are_named_and_what_is_open():
    settled = [finding(POINTS[0], 1.5), finding(POINTS[2], 0.5)]
    others = [(POINTS[1], 1.5), (POINTS[3], 0.5)]
    assert answered(*settled, *(finding(*other) for other in others)) == "[1] for reads, [0] for writes."
    open_ = [finding(*other, open_=True) for other in others]
    assert answered(*settled, *open_) == "[1] for reads, [0] for writes; the rest is open."


def test_where_a_level_stands_for_two_kinds_both_are_named():
    kinds = ("random reads", "sequential reads", "random writes", "sequential writes")
    points = [replace(point, kind=kind) for point, kind in zip(POINTS, kinds, strict=True)]
    findings = [finding(point, ratio) for point, ratio in zip(points, (1.5, 1.5, 0.5, 0.5), strict=True)]
    assert answered(*findings) == (
        "[1] for random reads and sequential reads, [0] for random writes and sequential writes."
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([(2.0, THROUGHPUT, False)] * 4, ""),
        ([(0.5, TAIL, False)] * 4, ", and shorter tails"),
        ([(2.0, TAIL, False)] * 2 + [(2.0, TAIL, True)] * 2, ", and longer tails at two of four"),
    ],
)
def test_who_is_ahead_says_at_how_many_points_and_of_what(more, said):
    rates = [finding(POINTS[at], ratio) for at, ratio in enumerate((1.5, 2.0, 1.7))]
    rates.append(finding(POINTS[3], 1.0, open_=True))
    others = [finding(POINTS[at], ratio, metric=metric, open_=open_) for at, (ratio, metric, open_) in enumerate(more)]
    range_ = "{b-randread-4096.estimate} to {b-randread-65536.estimate}"
    assert answered(*rates, *others) == f"[1]: {range_} the IOPS at three of four{said}."


def test_a_percentile_that_alone_is_settled_is_told_in_words():
    said = answered(*(finding(point, 0.5, metric=TAIL) for point in POINTS))
    assert said == "[1]: {b-randread-4096.estimate} the slowest of a hundred."


def test_one_comparison_of_three_variants_is_settled():
    others = [finding(point, 1.0, width=2, open_=True) for point in POINTS[1:]]
    assert answered(finding(POINTS[0], 1.5), *others, variants=3) == "One of four comparisons is settled."
    assert answered(finding(POINTS[0], 1.5), variants=3) == "The only comparison is settled."
    assert answered(others[0], variants=3) == "The only comparison is not settled."


# A metric, a walk, what next -----------------------------------------------------------------------------------------


def test_findings_of_several_variants_name_theirs_and_do_not_disagree():
    point = POINTS[0]
    findings = [finding(point, 1.5), finding(point, 0.5, variant="c")]
    assert plain(title_of(findings, told(3))) == (
        "IOPS: two of two are settled. "
        "[1], reads of 4K: {b-randread-4096.estimate}; [2], reads of 4K: {c-randread-4096.estimate}."
    )


def test_past_a_load_of_one_is_singular():
    variant = told().variants[0]
    cells = [WalkedCell(str(jobs), str(jobs), variant, Point(str(jobs), {"jobs": jobs}, "reads", "", ""))
             for jobs in (1, 4, 16)]  # fmt: skip
    latency = Metric("latency-mean", "latency_mean_seconds", "Mean latency", "seconds", "lower")
    ratios = {
        metric.name: tuple(Ratio("curve", f"{metric.name}-{at}", metric, cells[at].point, "", {}, {}) for at in (0, 1))
        for metric in (METRIC, latency)
    }
    estimates = {"iops-0": 1.1, "iops-1": 1.05, "latency-mean-0": 4.0, "latency-mean-1": 2.0}
    findings = [
        Finding(ratio, estimates[ratio.name], None, None, 1, (), False) for several in ratios.values()
        for ratio in several
    ]  # fmt: skip
    walk = Walk("curve", "curve", "jobs", " programs", tuple(cells), ratios, ratios)
    said = plain(title_of_walk(walk, findings, None))
    assert said.startswith("Past 1 program, you buy more waiting than work. Up to 16: ")


def test_more_runs_would_probably_settle_a_difference_and_never_a_point():
    findings = [finding(POINTS[0], 1.0, open_=True)]
    said = plain(next_step(findings, SimpleNamespace(runs=3), is_full=True))
    assert re.fullmatch(r"\d+ more runs would probably settle a difference of 10 % in reads of 4K\.", said)
    _, sentence = needs(findings)
    assert plain(sentence) == "runs like these would probably settle a difference of 10 % in reads."


def test_two_runs_of_each_side_that_share_one_block_have_no_spread_and_no_number_of_runs_is_named():
    assert replace(finding(POINTS[0], 1.5, open_=True), n=2, logs=(0.4,)).runs_needed is None


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("the disk", 85.0), "The disk was 85 % busy or more at reads of 4K"),
        (("fio's processor", 85.0), ""),
    ],
)
def test_what_was_full_is_said_if_it_was_the_same_on_both_sides(other, said):
    full = {("a", POINTS[0].name): ("the disk", 99.0), ("b", POINTS[0].name): other}
    findings = [finding(POINTS[0], 1.5)]
    assert re.sub(r"<[^>]*>", "", busy(plan(*findings, sense=SimpleNamespace(busy=full)), findings)) == said
