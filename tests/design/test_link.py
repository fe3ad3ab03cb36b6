"""The line between the sites as factors: what an experiment may ask of it, in which order, and what it takes."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise

import pytest

from replay.base.errors import ConfigurationError
from replay.design.configuration import load_experiment
from replay.design.design import order_of_sets
from replay.design.expansion import expand
from replay.design.link import FACTORS, RATE, RTT, farthest, line_of, seconds_to_set
from replay.design.needs import check_experiment
from replay.design.sizing import seconds_by_design

NAMES = ("distance-price", "distance-price-large", "distance-loss", "distance-replay")


def test_a_set_asks_for_what_its_levels_name():
    assert line_of({"io_type": "write"}) == {}
    assert line_of({RTT: 0}) == {"rtt_seconds": 0.0}
    assert line_of({RTT: 0.02, RATE: 125000000}) == {"rtt_seconds": 0.02, "rate_bytes_per_second": 125e6}


def test_the_farthest_line_is_the_longest_and_of_those_the_slowest():
    lines = [line_of({RTT: rtt, RATE: rate}) for rtt in (0.08, 0, 0.02) for rate in (125000000, 12500000)]
    assert farthest(lines) == {"rtt_seconds": 0.08, "rate_bytes_per_second": 12.5e6}
    assert farthest([{}, {}]) == farthest([]) == {}


def test_a_line_is_set_once_for_all_cells_that_share_it_and_takes_longer_the_farther_it_is():
    near, far = line_of({RTT: 0}), line_of({RTT: 0.08})
    assert seconds_to_set([{}, {}]) == 0
    assert seconds_to_set([near, near]) == seconds_to_set([near]) > 0
    assert seconds_to_set([far]) > seconds_to_set([near]) + 17
    assert seconds_to_set([near, far, near, far]) == seconds_to_set([near, far])


@pytest.mark.parametrize("name", NAMES)
def test_the_sets_of_a_line_stay_together_and_blocks_differ_in_their_order(name):
    design = expand(load_experiment(name), "talk")
    orders = set()
    for seed in range(20):
        lines = [tuple(line_of(one.levels).items()) for one in order_of_sets(design, seed)]
        changes = sum(one != other for one, other in pairwise(lines))
        assert changes == len(set(lines)) - 1
        orders.add(tuple(dict.fromkeys(lines)))
    assert len(orders) > 1


@pytest.mark.parametrize("name", NAMES)
def test_a_talk_is_measured_within_three_hours_on_either_sandbox(name):
    for word in ("second_site", "stretch"):
        design = expand(load_experiment(name), "talk", missing={word: "the sandbox has another shape"})
        cells = [cell for one in design.sets for cell in one.cells]
        block = seconds_by_design(design, cells, first=False)
        assert design.blocks * block <= 10800, (word, block)


def test_one_run_measures_the_variants_of_one_sandbox_and_says_why_not_the_others():
    for name in NAMES[:3]:
        pair = expand(load_experiment(name), "talk", missing={"stretch": "no stretch"})
        over_both = expand(load_experiment(name), "talk", missing={"second_site": "no pair"})
        assert [(one.variant, one.detail) for one in pair.skipped] == [("stretch", "no stretch")]
        assert {variant.name for variant in over_both.variants} == {"stretch"}
        assert {one.variant for one in over_both.skipped} == {variant.name for variant in pair.variants}
        assert pair.sets and over_both.sets


def changed(**changes):
    """Return `distance-loss`, changed."""
    configuration = deepcopy(load_experiment("distance-loss"))
    for key, value in changes.items():
        if value is None:
            del configuration[key]
        else:
            configuration[key] = value
    return configuration


def factors(**levels):
    kept = {name: value for name, value in {**changed()["factors"], **levels}.items() if value is not None}
    return {"factors": kept, "x_factor": "kind"}


def variant(**levels):
    return [{"name": "one", "label": "One", "levels": {"mode": "stretch", **levels}, "requires": ["stretch"]}]


@pytest.mark.parametrize(
    ("changes", "said", "hint"),
    [
        (factors(**{RTT: [0, -0.1]}), "expected 0 to 2 seconds, found -0.1", ""),
        (factors(**{RTT: ["20ms"]}), "expected 0 to 2 seconds, found '20ms'", ""),
        (factors(**{RATE: [1000]}), "expected at least 125000 bytes a second, found 1000", ""),
        ({"hard_to_change": [RATE]}, f"{RTT} has to be among `hard_to_change`", "set once for all sets"),
        (factors(**{RTT: None}) | {"hard_to_change": [RATE]}, "a line needs a round trip", f"add the factor {RTT}"),
        ({"requires": ["daemon_stop"]}, f"{RTT} needs a line between the sites", "add link to `requires`"),
        ({"variants": variant(**{RTT: 0.02})}, "a variant has no line of its own", "make it a factor"),
    ],
)
def test_a_line_that_no_set_can_have_is_refused(changes, said, hint):
    with pytest.raises(ConfigurationError) as caught:
        check_experiment(changed(**changes))
    assert said in caught.value.what and hint in caught.value.next_step


def test_every_protocol_may_vary_the_line():
    one = deepcopy(load_experiment("client-sweep"))
    one["factors"] |= {RTT: [0, 0.02]}
    one |= {"hard_to_change": [RTT], "requires": [*one.get("requires", ()), "link"]}
    check_experiment(one)
    assert set(FACTORS) == {RTT, RATE}
