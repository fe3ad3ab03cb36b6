"""A plan as a file: the job of a block reads the very designs that were planned, and refuses anything else."""

from __future__ import annotations

import json

import pytest

from replay.base.errors import ConfigurationError
from replay.design.configuration import experiment_names
from replay.design.design import SCALES
from replay.design.plan_file import read_plan_file
from support.plans import plan_of


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


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 3}'])
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
