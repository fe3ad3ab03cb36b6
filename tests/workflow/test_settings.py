"""The Snakefile's configuration: its keys, and the answer to a typo."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.workflow.settings import read_settings
from support.datasets import measured
from workflow.test_plan_file import plan_of


@pytest.fixture
def benchmarks(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    measured(tmp_path / "mine")
    measured(tmp_path / "other", "rbd-bench")
    return tmp_path


@pytest.mark.parametrize(
    ("config", "said", "hint"),
    [
        ({"experiments": "rbd-bench"}, "experiments: unknown key", "did you mean 'experiment'?"),
        ({"site": "sandbox"}, "site: unknown key", ""),
        ({"data": "mien"}, "data: 'mien' has no raw output", "did you mean 'mine'?"),
        ({"data": "Mine"}, "data: 'Mine' does not match", "expected: a data set"),
        (
            {"data": "mine", "experiment": "rbd-bench"},
            "experiment: 'rbd-bench' has no raw output",
            "there are: rbd-journaling",
        ),
        ({"experiment": []}, "experiment: ", ""),
        ({"plan_file": "none.json"}, "there is no such plan", "plan again"),
    ],
)
def test_a_typo_is_refused_with_the_likely_word(config, said, hint, benchmarks):
    with pytest.raises(ConfigurationError) as raised:
        read_settings(config)
    assert said in raised.value.what
    assert hint in raised.value.next_step


def test_without_configuration_it_covers_every_data_set_with_raw_output(benchmarks):
    (benchmarks / "empty").mkdir()
    settings = read_settings({})
    assert settings.data_sets == ("mine", "other")
    assert settings.described("manifest.json") == [
        str(benchmarks / "mine" / "manifest.json"),
        str(benchmarks / "other" / "manifest.json"),
    ]


def test_an_experiment_is_derived_from_its_sealed_blocks_and_its_configuration(benchmarks):
    tree = measured(benchmarks / "two", blocks=2)
    sources = read_settings({"data": "two"}).sources("two", "rbd-journaling")
    assert f"{tree.raw}/SHA256SUMS" in sources
    assert {str(pack) for pack in tree.packs()} <= set(sources)
    tree.attempt(3, "write-seq-4096")
    assert f"{tree.opened(3)}/SHA256SUMS" in read_settings({"data": "two"}).sources("two", "rbd-journaling")
    assert "config/experiments/rbd-journaling.yaml" in sources


def test_a_plan_measures_into_its_own_data_set_and_its_blocks_become_inputs_of_deriving(benchmarks, tmp_path):
    plan = plan_of("rbd-bench")
    settings = read_settings({"plan_file": str(plan.write(tmp_path / "plans"))})
    (block,) = settings.planned_blocks()
    assert block.startswith(f"{benchmarks}/mine/rbd-bench/raw/block-01")
    assert plan.blocks[0].plan in block
    assert settings.data_sets == ("mine",)
    assert block in settings.sources("mine", "rbd-bench")
    assert block not in settings.sources("mine", "rbd-journaling")
    assert f"{benchmarks}/mine/rbd-bench/tidy.csv" in settings.of_experiments("mine", "tidy.csv")
