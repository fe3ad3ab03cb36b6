"""Writes that meet mirror snapshots, on real clusters: a cell without one is void, and trimming is awaited."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.evidence.record import Measured, SampleTable
from replay.protocols.write_latency import SnapshotIntervalProtocol
from support.bench import bench_of, design_of, site_of
from support.made_up_output import latency_log, report, steps_log
from support.smoke import described, measure_as_shipped


def protocol_of(scale="talk", **changes):
    design = design_of("snapshot-interval", scale, **changes)
    return SnapshotIntervalProtocol(bench_of(site_of()), design)


@pytest.mark.parametrize("scale", ["smoke", "quick", "talk"])
def test_every_cell_of_the_experiment_that_ships_is_long_enough_for_a_snapshot(scale):
    design = protocol_of(scale).design
    intervals = [variant.levels.get("snapshot_interval_seconds") for variant in design.variants]
    assert intervals[0] is None
    assert all(interval <= design.sizing.target_seconds for interval in intervals[1:])
    assert len(intervals) > 1


def variant(**more):
    return [{"name": "some", "label": "Some", **more}]


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        (variant(mirroring="snapshot"), "mirroring is 'snapshot', but levels.snapshot_interval_seconds is None"),
        (variant(levels={"snapshot_interval_seconds": 5}), "mirroring is None"),
        (variant(mirroring="journal", levels={"snapshot_interval_seconds": 5}), "mirroring is 'journal'"),
        (variant(mirroring="snapshot", levels={"snapshot_interval_seconds": 90}), "shorter than its interval"),
    ],
)
def test_a_variant_that_cannot_hold_a_snapshot_is_refused(variants, said):
    scales = {scale: {"blocks": 1, "target_seconds": 60} for scale in ("smoke", "quick", "talk")}
    with pytest.raises(ConfigurationError, match=said):
        protocol_of(variants=variants, scales=scales)


@pytest.mark.sandbox
@pytest.mark.of_release
def test_snapshots_are_taken_in_the_cell_and_their_trimming_is_awaited_after_it(campaign):
    measure_as_shipped(campaign, "snapshot-interval")
    sidecars = {one["variant"]: one for one in campaign.sidecars("snapshot-interval") if one["valid"]}
    assert set(sidecars) == {"none", "every-3-seconds"}
    often = sidecars["every-3-seconds"]
    assert often["facts"]["snapshots_taken"] >= 1
    waits = {wait["for"]: wait["outcome"] for wait in often["waits"]}
    assert (waits["snapshot_copied"], waits["snapshots_trimmed"]) == ("copied", "trimmed")
    assert "snapshots_taken" not in sidecars["none"]["facts"]
    rows = {row["variant"]: row for row in campaign.used_rows("snapshot-interval")}
    assert float(rows["every-3-seconds"]["latency_near_snapshot_seconds"]) > 0
    assert rows["none"]["latency_near_snapshot_seconds"] == ""
    charts = described(campaign, "snapshot-interval")["charts"]
    around = charts["latency-around-snapshot-randwrite-4096"]
    assert (around["series"], around["x"]["unit"]) == (["Every 3 s"], "seconds")


def test_a_cell_in_which_no_snapshot_was_taken_is_void():
    protocol = protocol_of("smoke")
    [none, often] = protocol.design.sets[0].cells
    windows = [(1000.0 + number / 10, 0.002) for number in range(40)]
    write = {"step": "write", "started_seconds": 0.0, "unix_seconds_at_origin": 999.0, "log_lines": len(windows)}
    results = {
        "output": report(["image-1"], operations=1000, io_size_bytes=4096, seconds=4.0),
        "latency": latency_log(windows),
        "steps": steps_log(write),
        "counters": SampleTable().content().decode(),
    }
    for cell, invalid in ((none, None), (often, "no_snapshot")):
        files = {role: (role, text.encode()) for role, text in results.items()}
        measured = Measured([], files, 0, "", "", 4.0, {})
        protocol.verify(cell, measured)
        assert (measured.invalid and measured.invalid[0]) == invalid
