"""A data set is measured under its own name only, and without its SHA256SUMS it is not read."""

from __future__ import annotations

import json
import shutil

import pytest

from replay.base.errors import ConfigurationError, EvidenceError
from replay.evidence.data_set import data_sets_in, refuse_copies
from replay.evidence.read import list_raw
from replay.preflight.plan import plans
from support.datasets import measured


@pytest.fixture
def mine(benchmarks):
    measured(benchmarks / "mine")
    return benchmarks / "mine"


def test_nothing_is_measured_into_a_copy_that_was_measured_under_another_name(mine):
    refuse_copies("mine")
    mine.rename(mine.with_name("what-if"))
    for measure in (lambda: refuse_copies("what-if"), lambda: plans("what-if", [])):
        with pytest.raises(ConfigurationError, match="'mine'") as raised:
            measure()
        assert "--data mine" in raised.value.next_step
    refuse_copies("none")


def test_a_folder_with_a_name_that_no_command_takes_is_no_data_set(mine):
    for name in ("mine (copy)", "Mine", ".other"):
        shutil.copytree(mine, mine.with_name(name))
    assert data_sets_in(mine.parent) == ["mine"]


@pytest.mark.parametrize("campaign", [None, {}, {"data_set": 1}])
def test_a_data_set_whose_campaign_does_not_name_it_may_be_measured_into(mine, campaign):
    path = mine / "campaign.json"
    path.unlink()
    if campaign is not None:
        path.write_text(json.dumps(campaign))
    refuse_copies("mine")


def test_evidence_without_its_sha256sums_is_an_error_that_names_it(mine):
    sums = mine / "rbd-journaling" / "raw" / "SHA256SUMS"
    sums.unlink()
    with pytest.raises(EvidenceError) as raised:
        list_raw(sums.parent)
    assert raised.value.where == str(sums)
    assert raised.value.next_step
