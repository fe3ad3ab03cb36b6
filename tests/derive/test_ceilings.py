"""Ceilings in the manifest: the greatest median of some cells, with its interval and its limiter."""

from __future__ import annotations

import pytest

from replay.config.experiments import load_experiment
from replay.derive.experiment import derive_experiment
from replay.workflow.dataset import derive_data_set
from support.datasets import manifest_of, measured
from support.rawtree import RawTree

READS = {"name": "read_bytes_per_second", "metric": "bytes_per_second", "levels": {"io_type": ["read"]}}
NONE = {"name": "none_bytes_per_second", "metric": "bytes_per_second", "levels": {"io_type": ["neither"]}}


def rate(block, variant, levels):
    """Reads of 64 KiB are fastest in the second variant: 900, 1000 and 1100 in three blocks."""
    best = variant == "with-journal" and levels["io_type"] == "read"
    return (800 + 100 * block) if best else 500


@pytest.fixture
def entry_of(tmp_path):
    def of(blocks=3, **public):
        return derive_experiment(RawTree(tmp_path / "d" / "x", rate=rate, **public).measure(blocks).directory).entry

    return of


def test_a_ceiling_is_the_greatest_median_with_its_interval(entry_of):
    found = entry_of(ceilings=[READS])["ceilings"]["read_bytes_per_second"]
    assert (found["n"], found["unit"], found["variant"]) == (3, "bytes_per_second", "with-journal")
    assert found["point"] == "read-seq-65536"
    assert found["median_bytes_per_second"] == pytest.approx(1000 * 65536, rel=0.01)
    assert found["low_bytes_per_second"] < found["median_bytes_per_second"] < found["high_bytes_per_second"]
    assert found["limiter"]


def test_one_block_gives_a_ceiling_without_an_interval(entry_of):
    found = entry_of(1, ceilings=[READS])["ceilings"]["read_bytes_per_second"]
    assert (found["n"], found["low_bytes_per_second"], found["high_bytes_per_second"]) == (1, None, None)


def test_unmeasured_ceilings_are_left_out_and_so_is_the_key_of_a_design_without_any(entry_of):
    assert entry_of(ceilings=[READS, NONE])["ceilings"].keys() == {"read_bytes_per_second"}


def test_a_design_without_ceilings_has_no_such_key(entry_of):
    assert "ceilings" not in entry_of()


def test_the_manifest_gathers_them_over_experiments(tmp_path):
    data_set = tmp_path / "demo"
    measured(data_set, rate=rate, ceilings=[READS])
    derive_data_set(data_set)
    found = manifest_of(data_set)["ceilings"]["read_bytes_per_second"]
    assert found["experiment"] == "rbd-journaling"
    # The other experiment keeps its ceilings, although it is not derived again.
    measured(data_set, "other")
    derive_data_set(data_set, ["other"])
    assert manifest_of(data_set)["ceilings"]["read_bytes_per_second"] == found


def test_a_data_set_without_ceilings_has_no_such_key(tmp_path):
    measured(tmp_path / "demo")
    derive_data_set(tmp_path / "demo")
    assert "ceilings" not in manifest_of(tmp_path / "demo")


def test_the_shipped_ceilings_use_metrics_and_levels_of_their_experiment():
    configuration = load_experiment("baseline")
    units = {one["metric"]: one["unit"] for one in configuration["metrics"]}
    levels = {name: set(values) for name, values in configuration["factors"].items()}
    for one in configuration["variants"]:
        for name, level in one.get("levels", {}).items():
            levels.setdefault(name, set()).add(level)
    for one in configuration["ceilings"]:
        assert one["name"].endswith(units[one["metric"]])
        assert all(set(wanted) <= levels[name] for name, wanted in one["levels"].items())
