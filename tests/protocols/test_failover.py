"""Fail-over trials: the contents of an image, the log of steps, and real trials that leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ConfigurationError
from replay.base.programs import HOST_PROGRAMS
from replay.cluster.cluster import Cluster
from replay.cluster.running import ToolRun
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from replay.ownership.images import BlockImage
from replay.ownership.ledger import Ledger
from replay.protocols.drivers.tool import StepLog
from replay.protocols.drivers.trial_client import (
    BLOCK_BYTES,
    fill_block,
    first_block,
    inspect,
    position_of,
    write_block,
)
from replay.protocols.failover import FailoverProtocol
from replay.protocols.targets.mirrored_pair import MirroredPair
from support.bench import bench_of
from support.patience import patient
from support.smoke import measure_as_shipped

SEED = 7
BLOCKS = 32

# The known contents ----------------------------------------------------------------------------------------------


def image(writes, *, first=False, seed=SEED, blocks=BLOCKS):
    held = {position: fill_block(seed, position) for position in range(blocks)}
    for number in range(writes):
        held[position_of(number, blocks)] = write_block(seed, number)
    if first:
        held[blocks - 1] = first_block(seed)
    return b"".join(held[position] for position in range(blocks))


@given(blocks=st.integers(2, 3000))
def test_no_two_writes_go_to_the_same_block_and_none_to_the_last(blocks):
    positions = [position_of(number, blocks) for number in range(blocks - 1)]
    assert sorted(positions) == list(range(blocks - 1))


@given(writes=st.integers(0, BLOCKS - 1), first=st.booleans())
def test_the_writes_in_an_image_are_found(writes, first):
    found = inspect(image(writes, first=first), SEED)
    assert (found.writes_present, found.unexplained_blocks, found.first_write_present) == (writes, 0, first)
    assert found.sha256 == found.expected_sha256


@given(position=st.integers(0, (BLOCKS - 1) * BLOCK_BYTES - 1))
def test_a_single_altered_byte_is_noticed(position):
    data = bytearray(image(BLOCKS - 1))
    data[position] ^= 1
    found = inspect(bytes(data), SEED)
    assert found.sha256 != found.expected_sha256
    assert found.unexplained_blocks >= 1


def test_a_write_without_the_one_before_it_is_unexplained():
    data = bytearray(image(6))
    missing = position_of(3, BLOCKS) * BLOCK_BYTES
    data[missing : missing + BLOCK_BYTES] = fill_block(SEED, position_of(3, BLOCKS))
    found = inspect(bytes(data), SEED)
    assert (found.writes_present, found.unexplained_blocks) == (3, 2)


def test_contents_of_another_trial_are_unexplained():
    found = inspect(image(6, seed=SEED + 1), SEED)
    assert (found.writes_present, found.unexplained_blocks) == (0, BLOCKS - 1)


@pytest.mark.parametrize("size", [0, 4095, 4096, 8193])
def test_an_incomplete_image_is_refused(size):
    with pytest.raises(ValueError, match="are not an image of whole blocks"):
        inspect(b"x" * size, SEED)


# The log of steps ---------------------------------------------------------------------------------------------------


def test_a_step_is_recorded_with_placeholders_for_names_and_paths(monkeypatch):
    values = {"conf": "/a/site.conf", "image": "pool/replay-1-x", "image_name": "replay-1-x"}

    def run(argv, **_):
        assert argv == ["rbd", "--conf", "/a/site.conf", "demote", "pool/replay-1-x"]
        said = b"/a/site.conf: replay-1-x of pool/replay-1-x"
        return ToolRun(b"", said, 16, "", "", 0.5)

    monkeypatch.setattr("replay.protocols.drivers.tool.run_tool", run)
    log = StepLog(values, programs=HOST_PROGRAMS)
    log.command("demote", ["rbd", "--conf", "{conf}", "demote", "{image}"], attempt=1)
    [line] = [json.loads(line) for line in log.content().splitlines()]
    assert line["argv"] == ["rbd", "--conf", "{conf}", "demote", "{image}"]
    assert line["said"] == "{conf}: {image_name} of {image}"
    assert (line["exit_status"], line["seconds"], line["attempt"]) == (16, 0.5, 1)


def test_steps_are_listed_in_the_order_in_which_they_began():
    log = StepLog({}, programs=HOST_PROGRAMS)
    log.add("write", 1.0, 5.0)
    log.add("snapshot", 0.5, 0.1)
    assert [json.loads(line)["step"] for line in log.content().splitlines()] == ["snapshot", "write"]


# The copy and its ledger ----------------------------------------------------------------------------------------


def test_the_copy_is_in_the_second_clusters_ledger_before_anything_is_promoted(tmp_path):
    ledger = Ledger("0f0f0f0f-0000", directory=tmp_path)
    asked = []

    def json_of(*argv):
        asked.append((argv, [entry.spec for entry in ledger.owned()]))
        return {"id": "abc"}

    site = SimpleNamespace(name="s", secondary=SimpleNamespace(json=json_of))
    bench = SimpleNamespace(site=site, data_set="d", secondary_ledger=ledger)
    pair = MirroredPair(bench, BlockImage("p", "ours", "replay-1-x", SimpleNamespace(size_bytes=1), ""))
    pair.own_copy()
    assert asked == [(("rbd", "info", "p/ours/replay-1-x"), ["p/ours/replay-1-x"])]
    [entry] = ledger.owned()
    assert (entry.confirmed, entry.facts, entry.site) == (True, {"id": "abc"}, "s")


# What the design may ask ----------------------------------------------------------------------------------------


def test_a_variant_that_is_not_mirrored_is_refused_before_anything_is_made():
    configuration = {**load_experiment("failover"), "variants": [{"name": "plain", "label": "Plain"}]}
    bench = bench_of(SimpleNamespace(name="s", second_site=None), SimpleNamespace(cluster=Cluster("c")))
    with pytest.raises(ConfigurationError, match="needs mirrored variants: plain"):
        FailoverProtocol(bench, expand(configuration, "talk"))


# Real trials ----------------------------------------------------------------------------------------------------


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
def test_planned_trials_lose_nothing_forced_ones_say_what_and_both_leave_nothing(campaign):
    measure_as_shipped(campaign, "failover", only={"journal": {"kind": ["planned"]}})
    good = [one for one in campaign.sidecars("failover") if one["valid"]]
    # A trial is run again if another one of its set was void.
    assert sorted({(one["variant"], one["levels"]["kind"]) for one in good}) == [
        ("journal", "planned"), ("snapshot", "forced"), ("snapshot", "planned"),
    ]  # fmt: skip
    used = campaign.used_rows("failover")
    assert len(used) == 3
    for row in used:
        present, lost = int(row["writes_present"]), int(row["lost_writes"])
        assert float(row["seconds_to_first_write"]) > 0
        assert lost == max(0, int(row["operations"]) - present)
        if row["kind"] == "planned":
            assert (lost, float(row["lost_seconds"])) == (0, 0)
            assert present == int(row["operations"])


@pytest.mark.sandbox
def test_ctrl_c_in_the_middle_of_a_trial_leaves_nothing_on_either_cluster(campaign):
    campaign.configure("failover", options={"write_seconds": 20, "write_spread_seconds": 1})
    run = campaign.start_block("failover")
    campaign.wait_for(lambda: campaign.processes("trial_client.py", " write {"), "the writer")
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=patient(200))
    assert run.returncode == 130, said
    assert campaign.images() == {"left": [], "right": []}


@pytest.mark.sandbox
def test_clean_removes_leftovers_of_a_killed_trial_on_both_clusters(campaign):
    campaign.configure(
        "failover",
        options={"write_seconds": 1, "write_spread_seconds": 1},
        only={"snapshot": {"kind": ["planned"]}, "journal": {"kind": ["planned"]}},
    )
    run = campaign.start_block("failover")
    # It reads the images after the one on the second cluster has been promoted.
    campaign.wait_for(lambda: campaign.processes("rbd", "export"), "the verification", seconds=150)
    os.kill(campaign.runner("failover"), signal.SIGKILL)
    run.communicate(timeout=patient(60))
    campaign.wait_for(lambda: not campaign.processes("trial_client.py"), "the end of the clients", seconds=10)
    left = campaign.images()
    assert left["left"] and left["left"] == left["right"]
    cleaned = campaign.run("clean", "--site", "sandbox", "--yes")
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert campaign.images() == {"left": [], "right": []}
