"""The Snakefile's configuration: its keys, the answer to a typo, and the plan that measuring writes."""

from __future__ import annotations

import json

import pytest

from replay.base.errors import ConfigurationError
from replay.claims.workflow.settings import read_settings
from replay.design.design import SCALES, plan_digest
from replay.design.expansion import expand
from replay.design.experiments import experiment_names, load_experiment
from replay.design.plan_file import PlanFile, PlannedBlock, read_plan_file
from support.datasets import measured


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


def plan_of(*names: str, scale: str = "quick") -> PlanFile:
    designs = {name: expand(load_experiment(name), scale) for name in names}
    blocks = tuple(PlannedBlock(name, 1, plan_digest(design, 1)) for name, design in designs.items())
    return PlanFile("sandbox", "mine", scale, designs, dict.fromkeys(names, "0"), blocks)


@pytest.mark.parametrize("scale", SCALES)
def test_a_job_reads_the_very_designs_that_were_planned(scale, tmp_path):
    plan = plan_of(*experiment_names(scale), scale=scale)
    read = read_plan_file(plan.write(tmp_path))
    assert read == plan
    for name, design in plan.designs.items():
        assert read.designs[name].digest == design.digest
        # Options are passed to tools in the order in which they were written.
        assert list(read.designs[name].options) == list(design.options)
        assert [list(one.levels) for one in read.designs[name].sets] == [list(one.levels) for one in design.sets]


def test_another_plan_is_another_file_and_the_same_plan_is_the_same(tmp_path):
    first = plan_of("rbd-bench").write(tmp_path)
    assert plan_of("rbd-bench").write(tmp_path) == first
    assert plan_of("rbd-bench", scale="smoke").write(tmp_path) != first


def test_a_block_that_was_not_planned_is_refused():
    plan = plan_of("rbd-bench")
    (one,) = plan.blocks
    assert plan.design_of("rbd-bench", 1, one.plan) is plan.designs["rbd-bench"]
    with pytest.raises(ConfigurationError, match="the plan has no block 2 of rbd-bench"):
        plan.design_of("rbd-bench", 2, one.plan)
    with pytest.raises(ConfigurationError, match="the plan has no block"):
        plan.design_of("rbd-bench", 1, "0" * 12)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 2}'])
def test_a_file_that_is_not_a_plan_is_refused_by_name(text, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="this is not a plan") as raised:
        read_plan_file(path)
    assert raised.value.where == str(path)


def test_a_missing_plan_is_refused_by_name(tmp_path):
    with pytest.raises(ConfigurationError, match="no such plan"):
        read_plan_file(tmp_path / "plan.json")


def test_a_plan_that_lost_a_part_is_refused(tmp_path):
    path = plan_of("rbd-bench").write(tmp_path)
    document = json.loads(path.read_text())
    del document["designs"]["rbd-bench"]["sets"][0]["point"]
    path.write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match="this is not a plan: KeyError"):
        read_plan_file(path)
