"""Whatever interrupts resealing or deriving, altered data never pass as measured."""

import multiprocessing
import os
import shutil

import pytest

from replay.base.errors import EvidenceError, ReplayError
from replay.derive.reseal import reseal
from replay.raw.copies import read_stamp
from replay.workflow.dataset import derive_data_set
from support.datasets import STDOUT, append_raw, content_of, manifest_of, put_back, remove


def reseal_killed(data_set, writes):
    """Reseal in a process that dies, as if by SIGKILL, before it puts a file in place after `writes` others."""
    rename, left = os.rename, iter(range(writes))

    def dying(source, target):
        if next(left, None) is None:
            os._exit(9)
        return rename(source, target)

    def run():
        os.rename = dying
        reseal(data_set)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(60)
    assert process.exitcode == 9


@pytest.mark.parametrize(("writes", "derived"), [(0, []), (1, []), (2, []), (3, ["other"]), (4, ["other"])])
def test_killed_in_the_middle_a_copy_is_unsealed_or_stamped(copy, writes, derived):
    shutil.copytree(copy / "rbd-journaling", copy / "other")
    append_raw(copy)
    append_raw(copy, STDOUT.replace("rbd-journaling", "other"))
    reseal_killed(copy, writes)
    assert (read_stamp(copy) is not None) == (writes > 0)
    with pytest.raises(ReplayError) as raised:
        derive_data_set(copy)
    assert "altered" in raised.value.what
    assert [path.parent.name for path in sorted(copy.glob("*/tidy.csv"))] == derived
    assert bool(manifest_of(copy)["altered"]) == (writes > 0)
    reseal(copy)
    derive_data_set(copy)
    assert [one.path for one in read_stamp(copy).files] == [STDOUT.replace("rbd-journaling", "other"), STDOUT]
    assert manifest_of(copy)["altered"] == {"copied_from": "mine", "files": 2}


def test_the_manifest_says_that_data_are_altered_before_the_first_table_changes(copy, monkeypatch):
    derive_data_set(copy)
    append_raw(copy)
    reseal(copy)
    seen = []

    def look(*_, **__):
        seen.append(manifest_of(copy)["altered"])
        raise EvidenceError("as far as this test goes")

    monkeypatch.setattr("replay.derive.experiment.derive_experiment", look)
    with pytest.raises(ReplayError, match="as far as this test goes"):
        derive_data_set(copy)
    assert seen == [{"copied_from": "mine", "files": 1}]


def test_killed_while_a_file_is_put_back_the_next_reseal_lists_it(copy):
    content = content_of(copy, STDOUT)
    remove(copy)
    reseal(copy)
    put_back(copy, content)
    reseal_killed(copy, 1)
    reseal(copy)
    derive_data_set(copy)
    assert content_of(copy, STDOUT) == content
