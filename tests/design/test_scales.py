"""The scales that only some experiments have."""

from __future__ import annotations

from replay.design.configuration import experiment_names, load_experiment
from replay.design.expansion import expand
from replay.design.sizing import reckon


def test_an_hour_is_enough_to_test_the_headline_again():
    names = experiment_names("replicate")
    assert names == ["rbd-journaling", "site-loss", "write-latency"]
    designs = [expand(load_experiment(name), "replicate") for name in names]
    seconds = {design.name: reckon(design, [design.sets] * design.blocks, ()).seconds for design in designs}
    assert 1800 < sum(seconds.values()) <= 3600, seconds


def test_the_headline_is_tested_with_the_cells_that_it_rests_on():
    cells = {
        (cell.variant.name, one.levels["load"], one.levels["io_size_bytes"])
        for one in expand(load_experiment("write-latency"), "replicate").sets
        for cell in one.cells
    }
    modes = ("none", "journal-mirrored", "snapshot-every-60-seconds")
    assert cells >= {
        (mode, load, size) for mode in modes for load in ("offered", "one-writer") for size in (4096, 4194304)
    }
    trials = expand(load_experiment("site-loss"), "replicate")
    assert (trials.blocks, [one.name for one in trials.variants]) == (6, ["journal-poll-5", "snapshot-60"])
