"""The margin of a ratio chart is that of the single claim of no difference about its contrast, as it is drawn."""

from __future__ import annotations

import pytest

from replay.claims.data_set import with_margins
from replay.claims.model import Claim, Condition, Region, Selector

CHART = "ratio-throughput-read-seq"
SIZES = (4096, 65536)
NO_DIFFERENCE = Region(0.9, 1.1, equivalence=True)


def entry(pattern="seq", direction="reference/variant", metric="ratio-throughput"):
    """Return a manifest's entry for an experiment with one chart."""
    chart = {
        "metric": metric,
        "column": "bytes_per_second",
        "workload": {"io_type": "read", "io_pattern": pattern},
    }
    names = ("journal", "mirrored")
    chart["series"] = [name.capitalize() for name in names]
    variants = [
        {"name": "plain", "label": "Plain", "reference": True},
        *({"name": name, "label": name.capitalize(), "reference": False} for name in names),
    ]
    return {"variants": variants, "ratio_direction": direction, "charts": {CHART: chart}}


def claim(over="plain", under="journal", region=NO_DIFFERENCE, name="reads-alike", metric="bytes_per_second", **levels):
    levels = {"io_type": ("read",), "io_pattern": ("seq", "rand"), "io_size_bytes": SIZES, **levels}
    terms = ((1, Selector(over, levels)), (-1, Selector(under, levels)))
    condition = Condition("ratio", "says", metric, terms, region)
    return Claim(name, "Reads are alike.", "S0", "demo", (condition,))


def margin(one, *claims):
    return with_margins({"demo": one}, claims)["demo"]["charts"][CHART].get("margin")


@pytest.mark.parametrize("pattern", ["seq", "rand"])
def test_a_claim_of_no_difference_is_the_margin_of_each_chart_that_draws_its_points(pattern):
    expected = {"low": 0.9, "high": 1.1, "series": ["Journal"], "claims": ["reads-alike"]}
    assert margin(entry(pattern=pattern), claim()) == expected


def test_a_chart_that_divides_the_other_way_has_the_reciprocal_margin():
    turned = {"low": 0.909091, "high": 1.11111, "series": ["Journal"], "claims": ["reads-alike"]}
    assert margin(entry(direction="variant/reference"), claim()) == turned
    assert margin(entry(), claim(over="journal", under="plain")) == turned
    assert margin(entry(direction="variant/reference"), claim(over="journal", under="plain"))["low"] == 0.9


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(claim(io_type=("write",)), id="another workload"),
        pytest.param(claim(metric="latency_p99_seconds"), id="another metric"),
        pytest.param(claim(over="mirrored"), id="not against the chart's reference"),
        pytest.param(claim(under="snapshots"), id="a variant that this data set does not have"),
        pytest.param(claim(region=Region(0.4, 0.6)), id="a claimed difference is not a margin"),
        pytest.param(claim(region=Region(1.5, None)), id="a threshold is not a margin"),
    ],
)
def test_other_claims_and_contrasts_that_are_not_drawn_give_no_margin(other):
    assert margin(entry(), other) is None


def test_a_chart_of_medians_has_no_margin():
    assert margin(entry(metric="throughput"), claim()) is None


def test_a_ratio_of_ratios_gives_no_margin():
    [condition] = claim().conditions
    per = Condition("ratio", "says", condition.metric, (*condition.terms, *condition.terms), NO_DIFFERENCE)
    assert margin(entry(), Claim("per", "s", "S0", "demo", (per,))) is None


def test_a_claim_of_another_experiment_gives_no_margin():
    assert margin(entry(), Claim("x", "s", "S0", "other", claim().conditions)) is None


def test_claims_that_agree_give_their_margin_and_claims_that_differ_give_none():
    both = margin(entry(), claim(), claim(name="too"), claim(under="mirrored", name="mirrored-too"))
    assert both["claims"] == ["reads-alike", "too", "mirrored-too"]
    assert both["series"] == ["Journal", "Mirrored"]
    assert margin(entry(), claim(), claim(region=Region(0.95, 1.05, equivalence=True), name="closer")) is None


def test_a_manifest_keeps_no_margin_that_no_claim_states_any_more():
    before = {"demo": entry()}
    with_one = with_margins(before, [claim()])
    assert with_one["demo"]["charts"][CHART]["margin"]["low"] == 0.9
    assert with_margins(with_one, []) == before
