"""Which points are compared, how, and what is said about the others."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from replay.base import stats
from replay.base.errors import ConfigurationError
from replay.comparing.conditions import check
from replay.comparing.match import compare_sides
from replay.comparing.model import HIGHER, LOWER, NONE, PAIRED, SINGLE, UNKNOWN, WELCH, WITHIN
from replay.comparing.output import document
from replay.comparing.page import page
from replay.comparing.selection import at_levels, paired_up
from support.compared import METRIC, comparison, experiment, runs, side

RATES = st.floats(1e-3, 1e9)


def only(first, second):
    (found,) = compare_sides((first, second)).comparisons
    return found


def test_runs_that_alternate_on_one_host_are_pairs_and_their_drift_cancels():
    first = side("a", experiment(runs([100, 200, 400], start=0)))
    second = side("b", experiment(runs([110, 220, 440], start=10)))
    found = only(first, second)
    assert (found.method, found.why, found.verdict) == (PAIRED, "", HIGHER)
    assert found.estimate[:3] == pytest.approx((1.1, 1.1, 1.1))


@pytest.mark.parametrize(
    ("change", "start", "why"),
    [
        ({}, 10_000, "blocks did not run next to each other"),
        ({"machines": ("other",)}, 10, "not measured on the same host"),
        ({"machines": ()}, 10, "not measured on the same host"),
        ({"imported": True}, 10, "imported results do not say that they ran back to back"),
        ({"runs": runs([110, 220, 440], start=None)}, 10, "runs do not state their time"),
        ({"runs": runs([110, 220], start=10)}, 10, "the blocks differ"),
    ],
)
def test_other_runs_are_two_samples_and_the_reason_is_stated(change, start, why):
    first = side("a", experiment(runs([100, 200, 400], start=0)))
    second = side("b", replace(experiment(runs([110, 220, 440], start=start)), **change))
    found = only(first, second)
    assert (found.method, found.why, found.verdict) == (WELCH, why, WITHIN)
    # The ratio is the same as with pairs; the spread of the rates, which cancels in pairs, makes the interval wide.
    if len(found.values[1]) == 3:
        assert found.estimate.value == pytest.approx(1.1)
    assert found.estimate.low < 0.5


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ([100], [200], "one run on each side: no interval"),
        ([100], [200, 200], "one run on one side: no interval"),
        ([100, 100], [200], "one run on one side: no interval"),
    ],
)
def test_one_run_gives_a_ratio_without_an_interval(first, second, why):
    found = only(side("a", experiment(runs(first))), side("b", experiment(runs(second))))
    assert (found.method, found.why, found.verdict) == (SINGLE, why, UNKNOWN)
    assert found.estimate[:3] == pytest.approx((2, None, None))


def test_a_value_of_0_has_no_ratio():
    found = only(side("a", experiment(runs([100, 0]))), side("b", experiment(runs([100, 100]))))
    assert (found.estimate, found.method, found.verdict) == (None, NONE, UNKNOWN)


@pytest.mark.parametrize(
    ("first", "second", "method", "why"),
    [
        ([1e-200], [1e200], NONE, "the ratio is exp(921): no number holds it"),
        ([1e200, 1e200], [1e-200, 1e-200], NONE, "the ratio is exp(-921): no number holds it"),
        ([1, 1], [1e-60, 1e60], WELCH, "the runs differ so much that no number holds the end of the interval"),
    ],
)
def test_a_ratio_or_an_interval_that_no_number_holds_is_none_and_the_reason_is_said(first, second, method, why):
    found = only(side("a", experiment(runs(first))), side("b", experiment(runs(second, start=10_000))))
    assert (found.method, found.why, found.verdict) == (method, why, UNKNOWN)


@given(*[st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=3)] * 2, st.booleans())
def test_whatever_the_values_are_they_are_compared_and_written(first, second, neighbours):
    sides = side("a", experiment(runs(first))), side("b", experiment(runs(second, start=10 if neighbours else 10_000)))
    outcome = compare_sides(sides)
    assert len(outcome.comparisons) == 1
    json.dumps(document(outcome, ()), allow_nan=False)
    assert page(outcome, (), "", "1").endswith("</html>\n")


def test_the_only_variants_are_compared_whatever_their_names_and_several_by_name():
    found = only(
        side("a", experiment(runs([100], variant="before"))), side("b", experiment(runs([50], variant="after")))
    )
    assert found.variants == ("before", "after")
    several = (*runs([100], variant="x"), *runs([100], variant="y"))
    outcome = compare_sides((side("a", experiment(several)), side("b", experiment(runs([50], variant="y")))))
    assert [one.variants for one in outcome.comparisons] == [("y", "y")]
    assert [one.why for one in outcome.not_compared] == ["the variant x is only in a"]


def test_points_follow_the_order_of_their_levels_and_those_on_one_side_only_are_counted():
    sizes = {"size": ("4096", "16384", "65536")}
    both = [one for size in ("16384", "4096") for one in runs([100], size=size)]
    more = [*both, *runs([100], size="65536")]
    outcome = compare_sides((side("a", experiment(more, factors=sizes)), side("b", experiment(both, factors=sizes))))
    assert [dict(one.levels)["size"] for one in outcome.comparisons] == ["4096", "16384"]
    assert [one.why for one in outcome.not_compared] == ["v: 1 point is only in a"]


@pytest.mark.parametrize(
    ("theirs", "factors", "why"),
    [
        (runs([100], size="8"), {"size": ("8",)}, "size is 4 in a, but 8 in the other data set"),
        (
            [*runs([100], size="4", depth="1"), *runs([100], size="4", depth="2")],
            {"size": ("4",), "depth": ("1", "2")},
            "depth varies in b, and the other data set does not state it",
        ),
    ],
)
def test_points_that_cannot_be_the_same_are_not_compared(theirs, factors, why):
    first = side("a", experiment(runs([100], size="4"), factors={"size": ("4",)}))
    outcome = compare_sides((first, side("b", experiment(theirs, factors=factors))))
    assert outcome.comparisons == ()
    assert [one.why for one in outcome.not_compared] == [why]


def test_an_experiment_and_a_metric_on_one_side_only_are_not_compared():
    one, other = experiment(runs([100])), experiment(runs([100]), name="more")
    outcome = compare_sides((side("a", one, other), side("b", one)))
    assert [(one.experiment, one.why) for one in outcome.not_compared] == [("more", "not in b")]
    other_unit = replace(one, metrics={METRIC.name: replace(METRIC, unit="bytes_per_second")})
    outcome = compare_sides((side("a", one), side("b", other_unit)))
    assert outcome.comparisons == ()
    assert [one.why for one in outcome.not_compared] == ["both state no metric in common"]


def test_every_further_data_set_is_compared_with_the_first():
    outcome = compare_sides(tuple(side(name, experiment(runs([100, 101]))) for name in "abc"))
    assert [(one.first, one.second) for one in outcome.comparisons] == [("a", "b"), ("a", "c")]


@given(st.lists(RATES, min_size=2, max_size=9), st.lists(RATES, min_size=2, max_size=9))
@pytest.mark.xdist_group("scipy's statistics")
def test_welch_s_interval_is_that_of_scipy(over, under):
    # Here, because it takes a second of processor time in each process that collects this file.
    from scipy import stats as scipy_stats

    logs = [[math.log(value) for value in values] for values in (over, under)]
    # If rounding is the only spread, it differs between programs.
    assume(all(max(values) - min(values) > 1e-6 for values in logs))
    expected = scipy_stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    found = stats.independent_log_ratio(over, under)
    assert [math.log(found.low), math.log(found.high)] == pytest.approx(list(expected), rel=1e-6, abs=1e-6)
    assert found.low <= found.value <= found.high
    assert found.n == min(len(over), len(under))


@given(st.lists(st.tuples(RATES, RATES), min_size=2, max_size=9))
@pytest.mark.xdist_group("scipy's statistics")
def test_the_interval_of_pairs_is_that_of_scipy(pairs):
    from scipy import stats as scipy_stats

    logs = [math.log(second / first) for first, second in pairs]
    assume(max(logs) - min(logs) > 1e-6)
    expected = scipy_stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    first, second = ([pair[number] for pair in pairs] for number in (0, 1))
    found = only(side("a", experiment(runs(first, start=0))), side("b", experiment(runs(second, start=10))))
    assert found.method == PAIRED
    assert [math.log(value) for value in found.estimate[1:3]] == pytest.approx(list(expected), rel=1e-6, abs=1e-6)


@given(st.lists(RATES, min_size=1, max_size=6), st.lists(RATES, min_size=1, max_size=6))
def test_the_other_way_round_is_the_reciprocal(over, under):
    there, back = stats.independent_log_ratio(over, under), stats.independent_log_ratio(under, over)
    assert there.value * back.value == pytest.approx(1)
    assert (there.low is None) == (back.low is None)
    if there.low is not None and there.low > 0 and there.high < math.inf and back.high < math.inf:
        assert there.low * back.high == pytest.approx(1)


@pytest.mark.parametrize(("over", "under"), [([], [1]), ([1], []), ([0], [1]), ([1], [-1])])
def test_samples_that_have_no_ratio_are_refused(over, under):
    with pytest.raises(ValueError, match=r"no values|above 0"):
        stats.independent_log_ratio(over, under)


@pytest.mark.parametrize(
    ("bounds", "condition", "met"),
    [
        ((0.90, 0.94), "<", 1),
        ((0.90, 0.96), "<", 0),  # lower, but not surely below 0.95
        ((0.96, 0.97), "<", 0),
        ((0.96, 0.97), ">", 1),
        ((0.94, 0.97), ">", 0),
    ],
)
@pytest.mark.parametrize("name", [METRIC.name, METRIC.column])
def test_a_condition_is_met_if_the_whole_interval_is_beyond(bounds, condition, met, name):
    checked = check((name, condition, 0.95), [comparison(*bounds), comparison(None, None)])
    assert (len(checked.met), checked.decided, checked.undecided) == (met, 1, 1)


def test_a_condition_that_could_never_be_met_is_refused():
    with pytest.raises(ConfigurationError, match=r"no point compares iosp\n.*did you mean 'iops'"):
        check(("iosp", "<", 0.95), [comparison(0.9, 0.94)])
    with pytest.raises(ConfigurationError, match="neither met nor ruled out"):
        check(("iops", "<", 0.95), [comparison(None, None)])


@pytest.mark.parametrize(
    ("better", "bounds", "verdict", "judgement"),
    [
        ("higher", (1.1, 1.2), HIGHER, "better"),
        ("higher", (0.8, 0.9), LOWER, "worse"),
        ("lower", (1.1, 1.2), HIGHER, "worse"),
        ("lower", (0.8, 0.9), LOWER, "better"),
        (None, (0.8, 0.9), LOWER, ""),
        ("higher", (0.9, 1.1), WITHIN, ""),
        ("higher", (1.0, 1.0), WITHIN, ""),
        ("higher", (None, None), UNKNOWN, ""),
    ],
)
def test_a_verdict_says_where_the_interval_lies(better, bounds, verdict, judgement):
    found = comparison(*bounds, metric=replace(METRIC, better=better))
    assert (found.verdict, found.judgement) == (verdict, judgement)


def test_experiments_of_different_names_are_compared_where_they_are_paired_up():
    sides = [
        side("a", experiment(runs([1, 2]), name="fio-profile")),
        side("b", experiment(runs([2, 4]), name="imported-fio")),
    ]
    sides = [replace(one, manifest={"experiments": dict.fromkeys(one.experiments)}) for one in sides]
    assert compare_sides(tuple(sides)).comparisons == ()
    pairs = [("fio-profile", "imported-fio")]
    outcome = compare_sides(paired_up(sides, pairs))
    assert [(one.experiment, one.estimate.value) for one in outcome.comparisons] == [
        ("imported-fio ÷ fio-profile", pytest.approx(2))
    ]
    for wrong, said in (
        (("fio-profil", "imported-fio"), "fio-profile"),
        (("fio-profile", "fio-profile2"), "imported-fio"),
    ):
        with pytest.raises(ConfigurationError) as error:
            paired_up(sides, [wrong])
        assert said in error.value.next_step


def test_only_the_points_at_some_levels_are_compared():
    def at(name):
        rows = [
            *runs([1, 2], rw="read", size="4"),
            *runs([3, 4], rw="write", size="4"),
            *runs([5, 6], rw="read", size="8"),
        ]
        return side(name, experiment(rows, factors={"rw": ("read", "write"), "size": ("4", "8")}))

    def points(*wanted):
        return [one.point for one in compare_sides(at_levels([at("a"), at("b")], wanted)).comparisons]

    assert len(points()) == 3
    assert points("rw=read", "size=4") == ["rw = read, size = 4"]
    assert points("size=4", "size=8", "rw=write") == ["rw = write, size = 4"]
    for wrong, said in (("rx=read", "no data set has a factor 'rx'"), ("rw=trim", "no data set has this level of rw"),
                        ("size=16", "no data set has this level of size")):  # fmt: skip
        with pytest.raises(ConfigurationError) as error:
            points(wrong)
        assert said in error.value.what
    with pytest.raises(ConfigurationError) as error:
        points("rw=write", "size=8")
    assert "a has no run at these levels" in error.value.what


def test_a_factor_that_varies_on_one_side_only_can_be_held_at_a_level():
    stating = side(
        "a", experiment([*runs([1, 2], rw="read"), *runs([3, 4], rw="write")], factors={"rw": ("read", "write")})
    )
    silent = side("b", experiment(runs([2, 4])))
    assert compare_sides((stating, silent)).comparisons == ()
    (found,) = compare_sides(at_levels([stating, silent], ["rw=read"])).comparisons
    assert found.estimate.value == pytest.approx(2)
