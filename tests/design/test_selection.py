"""`--only FACTOR=LEVEL` measures some sets of a design; the table of levels says what a scale leaves out."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.config.experiments import load_experiment
from replay.design.describe_levels import NOT_THERE, lines_of
from replay.design.design import plan_digest
from replay.design.expansion import expand
from replay.design.plan_file import design_document, design_from
from replay.design.selection import narrowed


@pytest.fixture(scope="module")
def design():
    return expand(load_experiment("rbd-journaling"), "talk")


def levels_of(design, factor):
    return {one.levels[factor] for one in design.sets}


def test_only_the_sets_at_a_level_are_measured(design):
    one = narrowed(design, ["io_size_bytes=65536"])
    assert levels_of(one, "io_size_bytes") == {65536}
    assert list(one.sets) == [made for made in design.sets if made.levels["io_size_bytes"] == 65536]
    assert len(one.sets) + len(one.left_out) == len(design.sets)


def test_levels_of_one_factor_are_alternatives_and_several_factors_all_fit(design):
    several = narrowed(design, ["io_size_bytes=4096", "io_size_bytes=65536", "io_type=write"])
    assert levels_of(several, "io_size_bytes") == {4096, 65536}
    assert levels_of(several, "io_type") == {"write"}
    assert levels_of(several, "io_pattern") == levels_of(design, "io_pattern")


def test_the_design_that_is_recorded_is_the_whole_one_and_the_block_is_named_by_what_it_measures(design):
    one = narrowed(design, ["io_size_bytes=65536"])
    assert one.digest == design.digest
    assert one.public()["cells"] == design.public()["cells"]
    assert plan_digest(one, 1) != plan_digest(design, 1)


def test_a_plan_keeps_what_is_left_out(design):
    one = narrowed(design, ["io_size_bytes=65536"])
    again = design_from(design_document(one))
    assert (again.sets, again.left_out, again.digest) == (one.sets, one.left_out, one.digest)


def test_without_levels_nothing_is_left_out(design):
    assert narrowed(design, []) is design


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("io_sise_bytes=4096", "no factor 'io_sise_bytes'; its factors are .*did you mean 'io_size_bytes'"),
        ("io_size_bytes=98304", "no level '98304' of io_size_bytes at scale talk; it has 4096, .*add it to the factor"),
        ("io_size_bytes", "no level ''"),
    ],
)
def test_a_factor_or_level_that_the_design_lacks_is_refused(design, wanted, said):
    with pytest.raises(ConfigurationError, match=f"(?s){said}") as error:
        narrowed(design, [wanted])
    assert f"--only {wanted}" in str(error.value)


def test_levels_left_out_of_all_variants_differ_from_those_left_out_of_one():
    scale = {"blocks": 1, "target_seconds": 1}
    configuration = {
        "name": "one",
        "tool": "t",
        "protocol": "p",
        "factors": {"mode": ["a", "b"], "size_bytes": [4096, 1048576]},
        "workload_factors": [],
        "variants": [{"name": name, "label": name} for name in ("x", "y", "z")],
        "scales": {
            "quick": {
                **scale,
                "factors": {"size_bytes": [4096]},
                "variants": ["x", "y"],
                "only": {"y": {"mode": ["b"]}},
            },
            "talk": {**scale, "only": {name: {"size_bytes": [1048576]} for name in ("y", "z")}},
        },
    }
    assert lines_of(configuration) == [
        ("`one`", "variants", "`x`, `y`", "all"),
        ("`one`", "`size_bytes`", "4K", "all"),
        ("`one`", "`mode` of `y`", "b", "all"),
        ("`one`", "`size_bytes` of `y`", "all", "1M"),
        ("`one`", "`size_bytes` of `z`", NOT_THERE, "1M"),
    ]


def test_choices_that_are_not_a_product_of_levels_are_listed_one_by_one():
    scale = {"blocks": 1, "target_seconds": 1}
    configuration = {
        "name": "one",
        "tool": "t",
        "protocol": "p",
        "factors": {"mode": ["a", "b"], "size_bytes": [4096, 1048576]},
        "workload_factors": [],
        "variants": [{"name": name, "label": name} for name in ("x", "y")],
        "scales": {
            "quick": scale,
            "talk": {**scale, "only": {"y": [{"mode": ["a"], "size_bytes": [4096]}, {"mode": ["b"]}]}},
        },
    }
    assert lines_of(configuration) == [("`one`", "cells of `y`", "all", "a at 4K, b at 4K, b at 1M")]
