"""A plan as a file: the job of a block reads what was planned, and refuses anything else."""

from __future__ import annotations

import json

import pytest

from replay.base.errors import ConfigurationError
from replay.design.configuration import experiment_names
from replay.design.design import SCALES, PlannedBlock, read_plan_file
from support.plans import plan_of


@pytest.mark.parametrize("scale", SCALES)
def test_a_job_reads_what_was_planned(scale, tmp_path):
    plan = plan_of(*experiment_names(scale), scale=scale)
    assert read_plan_file(plan.write(tmp_path)) == plan


def test_another_plan_is_another_file_and_the_same_plan_is_the_same(tmp_path):
    first = plan_of("rbd-bench").write(tmp_path)
    assert plan_of("rbd-bench").write(tmp_path) == first
    assert plan_of("rbd-bench", scale="smoke").write(tmp_path) != first


def test_a_block_that_was_not_planned_is_refused():
    plan = plan_of("rbd-bench")
    (one,) = plan.blocks
    plan.check(one)
    with pytest.raises(ConfigurationError, match="the plan has no block 2 of rbd-bench"):
        plan.check(PlannedBlock("rbd-bench", 2, one.plan))
    with pytest.raises(ConfigurationError, match="the plan has no block"):
        plan.check(PlannedBlock("rbd-bench", 1, "0" * 12))


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
    del document["blocks"]
    path.write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match="this is not a plan: KeyError"):
        read_plan_file(path)
