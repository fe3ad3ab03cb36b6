"""docs/experiments.md says which levels each scale measures, and which variants: as the configuration does."""

from __future__ import annotations

import pytest

from replay.base.paths import ROOT
from replay.config.experiments import experiment_names, load_experiment
from replay.design.expansion import expand

SCALES = ("quick", "talk")
ALL, NOT_THERE = "all", "\N{EN DASH}"


def level_text(factor, level):
    if not factor.endswith("_bytes"):
        return str(level)
    mebibytes, rest = divmod(level, 1 << 20)
    return f"{level >> 10}K" if rest else f"{mebibytes}M"


def levels_text(factor, levels, of):
    """The levels as the table writes them; `of` are those that there could be."""
    return ALL if list(levels) == list(of) else ", ".join(level_text(factor, one) for one in levels)


def levels_of(design, variant, factor):
    """The levels that a variant is measured at, in order; none where it is left out."""
    found = {one.levels[factor] for one in design.sets for cell in one.cells if cell.variant.name == variant}
    return [level for level in design.factors[factor] if level in found]


def lines_of(configuration):
    """The lines of the table: what a scale leaves out of an experiment's variants, of its factors, of one variant's."""
    designs = [expand(configuration, scale) for scale in SCALES]
    variants = [one["name"] for one in configuration["variants"]]
    there = [[one.name for one in design.variants] for design in designs]
    lines = [("variants", *(ALL if names == variants else ", ".join(f"`{name}`" for name in names) for names in there))]
    for factor, declared in configuration["factors"].items():
        lines.append((f"`{factor}`", *(levels_text(factor, design.factors[factor], declared) for design in designs)))
    for factor in configuration["factors"]:
        alike = {}
        for name in variants:
            cells = tuple(
                levels_text(factor, levels_of(design, name, factor), design.factors[factor])
                if any(one.name == name for one in design.variants)
                else NOT_THERE
                for design in designs
            )
            alike.setdefault(cells, []).append(f"`{name}`")
        lines += [(f"`{factor}` of {', '.join(names)}", *cells) for cells, names in alike.items()]
    return [(f"`{configuration['name']}`", *line) for line in lines if not {*line[1:]} <= {ALL, NOT_THERE}]


@pytest.fixture(scope="module")
def table():
    _, section = (ROOT / "docs" / "experiments.md").read_text().split("\n## Levels\n")
    rows = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("|")]
    header, _, *body = (tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows)
    assert header == ("experiment", "what", *SCALES)
    return body


@pytest.mark.parametrize("name", experiment_names())
def test_the_levels_of_each_scale_are_those_of_the_configuration(table, name):
    assert [line for line in table if line[0] == f"`{name}`"] == lines_of(load_experiment(name))


def test_the_table_names_no_experiment_that_there_is_not(table):
    assert {line[0] for line in table} <= {f"`{name}`" for name in experiment_names()}


def test_what_a_scale_leaves_out_is_told_apart():
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
