"""Values by OSD: a chart with a dot for each OSD and level, and entities.csv on request."""

from __future__ import annotations

import csv
from types import SimpleNamespace

import pytest

from replay.derive.aggregates import by_entity
from replay.derive.computed import AT_END, OVER_CELL, Entity, latency_entities
from replay.derive.designs import CombinedDesign, DesignCell
from replay.derive.experiment import entities_csv

METRIC = {
    "metric": "primaries_deviation", "name": "primaries", "title": "Primaries", "unit": "fraction", "better": "lower",
    "entity": "osd",
}  # fmt: skip
VARIANTS = ({"name": "write", "label": "Writes"}, {"name": "read", "label": "Reads", "reference": True})


def design(x_factor="affinity", variants=VARIANTS):
    factors = {"weights": ("equal",), "affinity": (0, 0.5)}
    public = {"metrics": [METRIC], "workload_factors": ["weights"], "x_factor": x_factor, "x_unit": "count"}
    public["x_label"] = "Affinity" if x_factor else None
    cells = {
        f"{variant['name']}-{level}": DesignCell(
            f"equal-{level}", variant["name"], {"weights": "equal", "affinity": level}
        )
        for variant in variants
        for level in factors["affinity"]
    }
    return CombinedDesign(public, cells, variants, factors)


def rows(*cells):
    """Return used rows of (block, cell id, {OSD: value})."""
    return [
        (
            SimpleNamespace(block=block, number=1),
            SimpleNamespace(
                cell_id=cell_id,
                sidecar={"experiment": "placement"},
                entities=(
                    *(Entity("osd", str(osd), "primaries_deviation", value) for osd, value in values.items()),
                    Entity("placement_group", "2.a", "bytes", 5.0),
                ),
            ),
        )
        for block, cell_id, values in cells
    ]


def table(chart):
    return [line.split(",") for line in chart.files()[f"{chart.name}.csv"].splitlines()]


def test_a_dot_is_the_median_over_blocks_of_the_reference_variants_cells():
    used = rows((1, "read-0", {0: 0.1, 1: -0.1}), (2, "read-0", {0: 0.3, 1: -0.3}), (1, "write-0", {0: 9.0}))
    [chart] = by_entity(used, design())
    assert table(chart) == [
        ["series", "x", "y", "low", "high", "n"],
        ["Affinity 0", "0", "0.2", "0.1", "0.3", "2"],
        ["Affinity 0", "1", "-0.2", "-0.3", "-0.1", "2"],
    ]
    assert (chart.name, chart.unit, chart.x) == ("primaries-equal", "fraction", {"label": "OSD", "unit": "count"})


def test_each_level_is_a_series():
    used = rows((1, "read-0", {0: 0.1}), (1, "read-0.5", {0: 0.2}))
    [chart] = by_entity(used, design())
    assert chart.series == ("Affinity 0", "Affinity 0.5")


def test_without_a_reference_the_first_variant_counts():
    variants = tuple({**one, "reference": False} for one in VARIANTS)
    [chart] = by_entity(rows((1, "read-0", {0: 0.1}), (1, "write-0", {0: 0.7})), design(variants=variants))
    assert table(chart)[1][2] == "0.7"


def test_without_an_axis_each_variant_is_a_series():
    one = design(x_factor=None)
    used = rows((1, "read-0", {0: 0.1}), (1, "write-0", {0: 0.7}))
    [chart] = by_entity(used, one)
    assert chart.series == ("Writes", "Reads")


def test_osds_are_in_the_order_of_their_numbers():
    [chart] = by_entity(rows((1, "read-0", {10: 0.1, 9: 0.2, 0: 0.3})), design())
    assert [row[1] for row in table(chart)[1:]] == ["0", "9", "10"]


@pytest.mark.parametrize("used", [[], rows((1, "read-0", {}))])
def test_without_values_of_osds_there_is_no_chart(used):
    assert [*by_entity(used, design())] == []


def test_entities_csv_holds_every_value_of_every_attempt():
    records = [
        SimpleNamespace(block=record.block, number=record.number, rows=(row,))
        for record, row in rows((1, "read-0", {0: 0.25}))
    ]
    read = list(csv.reader(entities_csv(records).splitlines()))
    assert read[0] == ["experiment", "block", "cell", "attempt", "kind", "id", "moment", "metric", "value"]
    assert read[1] == ["placement", "1", "read-0", "1", "osd", "0", "before", "primaries_deviation", "0.25"]
    assert read[2][4:] == ["placement_group", "2.a", "before", "bytes", "5"]


def test_if_no_tool_reports_entities_there_is_no_file():
    assert entities_csv([SimpleNamespace(block=1, number=1, rows=(SimpleNamespace(entities=()),))]) == ""


def test_a_value_of_a_whole_cell_says_so():
    cell = SimpleNamespace(cell_id="a", sidecar={}, entities=(Entity("daemon", "mgr", "cpu_seconds", 0.5, OVER_CELL),))
    read = list(csv.reader(entities_csv([SimpleNamespace(block=1, number=1, rows=(cell,))]).splitlines()))
    assert read[1][4:] == ["daemon", "mgr", "cell", "cpu_seconds", "0.5"]


@pytest.mark.parametrize(
    ("x", "label"), [(4096, "4K"), (4194304, "4M"), (1 << 30, "1G"), (65537, "65537"), (512, "512")]
)
def test_a_level_that_is_a_size_reads_as_on_an_axis(x, label):
    made = design(variants=VARIANTS[1:])
    public = {**made.public, "x_unit": "bytes", "x_label": "I/O size", "x_factor": "affinity"}
    cells = {"read": DesignCell(f"equal-{x}", "read", {"weights": "equal", "affinity": x})}
    [chart] = by_entity(rows((1, "read", {0: 0.1})), CombinedDesign(public, cells, made.variants, {**made.factors}))
    assert chart.series == (f"I/O size {label}",)


def test_the_commit_latency_of_each_osd_is_that_at_the_tools_end():
    sidecar = {"samples": {"osd_commit_latency_seconds": {"osd.0": 0.002, "osd.11": 0.05}}}
    assert latency_entities(sidecar) == [
        Entity("osd", "0", "commit_latency_seconds", 0.002, AT_END),
        Entity("osd", "11", "commit_latency_seconds", 0.05, AT_END),
    ]
    assert latency_entities({"samples": None}) == []
