"""The table of levels lists what a scale leaves out of an experiment, and nothing else."""

from __future__ import annotations

from replay.design.describe_levels import NOT_THERE, lines_of


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
