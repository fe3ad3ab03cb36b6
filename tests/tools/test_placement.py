"""A pool's placement from Ceph's own JSON: counted per OSD, compared with the weight's share, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, reader
from replay.tools.placement import placement_metrics, read_placement
from support.made_up_output import MIB, placement_files, rados_json

EQUAL = {0: 1.0, 1: 1.0, 2: 1.0}
LEVELS = {"mode": "rand", "object_size_bytes": 65536}


def of_osds(files):
    return read_placement(files, {})[0]


def test_groups_primaries_and_bytes_are_counted_for_each_osd():
    found = of_osds(placement_files([[0, 1], [0, 2], [1, 0]], EQUAL, objects=3))
    assert {osd: (one["placement_groups"], one["primaries"]) for osd, one in found.items()} == {
        0: (3, 2), 1: (2, 1), 2: (1, 0),
    }  # fmt: skip
    assert [found[osd]["bytes"] for osd in (0, 1, 2)] == [9 * MIB, 6 * MIB, 3 * MIB]
    assert found[0]["used_bytes"] == MIB


def test_an_osd_with_exactly_its_weights_share_has_no_deviation():
    found = of_osds(placement_files([[2, 0], [2, 1]], {0: 1.0, 1: 1.0, 2: 2.0}))
    assert found[2]["weight_share"] == 0.5
    assert [one["placement_groups_deviation"] for one in found.values()] == pytest.approx([0, 0, 0])
    assert found[2]["primaries_deviation"] == pytest.approx(1.0), "it has all primaries, and half of the weight"
    assert found[0]["primaries_deviation"] == -1


def test_a_pool_without_objects_has_no_deviation_of_bytes():
    found = of_osds(placement_files([[0, 1]], EQUAL, objects=0))
    assert "bytes_deviation" not in found[0]
    assert found[0]["bytes"] == 0


def test_a_cells_own_numbers_are_those_of_the_last_osd_and_the_worst_of_all():
    metrics = placement_metrics(of_osds(placement_files([[0, 1], [0, 2], [1, 0]], EQUAL)))
    assert (metrics["last_osd_primaries"], metrics["last_osd_placement_groups"]) == (0, 1)
    assert metrics["primaries_deviation_worst"] == pytest.approx(1.0)


def test_an_osd_without_weight_holds_nothing_and_has_no_share():
    assert sorted(of_osds(placement_files([[0, 1]], {0: 1.0, 1: 1.0, 2: 0}))) == [0, 1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "active+undersized"}, "placement group 2.0 is active.undersized"),
        ({"state": "active+clean+remapped"}, "is active.clean.remapped"),
        ({"up": [2, 1]}, "on its way to other OSDs"),
        ({"acting_primary": 2}, "on its way"),
        ({"acting": [0, 7], "up": [0, 7]}, "not all of them in the tree"),
        ({"stat_sum": None}, "no object 'stat_sum'"),
        ({"stat_sum": {"num_objects": "NaN", "num_bytes": 1}}, "no number 'num_objects'"),
        ({"stat_sum": {"num_objects": 10, "num_bytes": -1}}, "no number 'num_bytes'"),
    ],
)
def test_an_incomplete_or_unstable_placement_is_refused(changes, said):
    files = placement_files([[0, 1], [1, 2]], EQUAL, **changes)
    with pytest.raises(OutputError, match=said) as raised:
        read_placement(files, {"groups": "read.placement-groups.json"})
    assert raised.value.file == "read.placement-groups.json"


def test_an_osd_that_osd_df_does_not_know_is_refused():
    files = placement_files([[0, 1]], EQUAL) | {"usage": placement_files([[0]], {0: 1.0})["usage"]}
    with pytest.raises(OutputError, match="is in the tree, but not in osd df"):
        read_placement(files, {})


@st.composite
def placements(draw):
    weights = draw(st.dictionaries(st.integers(0, 30), st.floats(0.01, 10), min_size=2, max_size=8))
    copies = draw(st.integers(1, min(3, len(weights))))
    groups = draw(st.lists(st.permutations(sorted(weights)).map(lambda order: order[:copies]), min_size=1, max_size=20))
    return weights, groups


@given(placements())
def test_nothing_is_lost_and_deviations_weighted_by_their_shares_add_up_to_zero(placement):
    weights, groups = placement
    found = of_osds(placement_files(groups, weights))
    assert sum(one["placement_groups"] for one in found.values()) == sum(map(len, groups))
    assert sum(one["primaries"] for one in found.values()) == len(groups)
    for name in ("placement_groups", "primaries", "bytes"):
        total = sum(one[f"{name}_deviation"] * one["weight_share"] for one in found.values())
        assert total == pytest.approx(0, abs=1e-9)
        assert all(one[f"{name}_deviation"] >= -1 for one in found.values())


def test_a_cell_has_the_tools_numbers_and_the_placements():
    files = placement_files([[0, 1], [1, 0]], EQUAL)
    outputs = {"output": rados_json("read", 1000, 1.0, 65536), "stdout": "hints = 1\n", "stderr": "", **files}
    result = reader("placement").parse(outputs, 0, LEVELS)
    assert result.metrics["operations_per_second"] == pytest.approx(1000, rel=1e-3)
    assert result.metrics["last_osd_primaries"] == 0
    assert ("osd", "2", "primaries", 0.0) in result.entities


def test_a_failed_run_has_failed_whatever_the_placement_was():
    files = placement_files([[0, 1]], EQUAL)
    with pytest.raises(OutputError, match="exit status 1"):
        reader("placement").parse({"stdout": "error during benchmark\n", **files}, 1, LEVELS)
