"""Fail-over trials: what a log adds up to, what an image holds, and real trials that leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.adapters import OutputError, adapter
from replay.ceph.cluster import Cluster
from replay.errors import ConfigurationError
from replay.expansion import expand
from replay.ledger import Ledger
from replay.plan import load_experiment
from replay.process import ToolRun
from replay.protocols.failover import Failover
from replay.trial.client import BLOCK_BYTES, fill_block, first_block, position_of, write_block
from replay.trial.contents import inspect
from replay.trial.pair import MirroredPair
from replay.trial.steps import StepLog

SEED = 7
BLOCKS = 32
FAILOVER = adapter("failover")

# The known contents ----------------------------------------------------------------------------------------------


def image(writes, *, first=False, seed=SEED, blocks=BLOCKS):
    held = {position: fill_block(seed, position) for position in range(blocks)}
    for number in range(writes):
        held[position_of(number, blocks)] = write_block(seed, number)
    if first:
        held[blocks - 1] = first_block(seed)
    return b"".join(held[position] for position in range(blocks))


@given(blocks=st.integers(2, 3000))
def test_no_two_writes_go_to_one_block_and_none_to_the_last(blocks):
    positions = [position_of(number, blocks) for number in range(blocks - 1)]
    assert sorted(positions) == list(range(blocks - 1))


@given(writes=st.integers(0, BLOCKS - 1), first=st.booleans())
def test_the_writes_that_an_image_holds_are_found_in_it(writes, first):
    found = inspect(image(writes, first=first), SEED)
    assert (found.writes_present, found.unexplained_blocks, found.first_write_present) == (writes, 0, first)
    assert found.sha256 == found.expected_sha256


def test_the_first_write_on_the_other_side_does_not_change_the_checksum():
    assert inspect(image(5), SEED).sha256 == inspect(image(5, first=True), SEED).sha256
    assert inspect(image(5), SEED).sha256 != inspect(image(6), SEED).sha256


@given(position=st.integers(0, (BLOCKS - 1) * BLOCK_BYTES - 1))
def test_one_altered_byte_is_seen(position):
    data = bytearray(image(BLOCKS - 1))
    data[position] ^= 1
    found = inspect(bytes(data), SEED)
    assert found.sha256 != found.expected_sha256
    assert found.unexplained_blocks >= 1


def test_a_write_that_is_there_without_the_one_before_it_is_unexplained():
    data = bytearray(image(6))
    missing = position_of(3, BLOCKS) * BLOCK_BYTES
    data[missing : missing + BLOCK_BYTES] = fill_block(SEED, position_of(3, BLOCKS))
    found = inspect(bytes(data), SEED)
    assert (found.writes_present, found.unexplained_blocks) == (3, 2)


def test_contents_of_another_trial_are_unexplained():
    found = inspect(image(6, seed=SEED + 1), SEED)
    assert (found.writes_present, found.unexplained_blocks) == (0, BLOCKS - 1)


@pytest.mark.parametrize("size", [0, 4095, 4096, 8193])
def test_what_is_no_whole_image_is_refused(size):
    with pytest.raises(ValueError, match="no image of whole blocks"):
        inspect(b"x" * size, SEED)


# The log -----------------------------------------------------------------------------------------------------------


def step(name, started, seconds=0.1, status=0, **more):
    return {"step": name, "started_seconds": started, "seconds": seconds, "exit_status": status, **more}


def verified(side, present, digest="a", expected=None, first=None):
    return step(
        "verify", 9.0, side=side, writes_present=present, sha256=digest, expected_sha256=expected or digest,
        unexplained_blocks=0 if expected in (None, digest) else 1,
        first_write_present=side == "second" if first is None else first,
    )  # fmt: skip


def planned(present=4, **second):
    return [
        step("write", 0.5, 2.0, acknowledged=4),
        step("demote", 3.0, 0.25),
        step("promote", 3.3, 0.1, status=16, attempt=1),
        step("promote", 3.5, 0.2, attempt=2),
        step("first_write", 3.75, 0.05, acknowledged_seconds=3.8),
        verified("first", 4),
        verified("second", present, **second),
    ]


def forced(present=2, **second):
    return [
        step("write", 0.5, 2.0, status=None, acknowledged=4),
        step("disaster", 2.5, 0.0),
        step("promote", 2.5, 0.5, attempt=1),
        step("first_write", 3.0, 0.1, acknowledged_seconds=3.1),
        verified("second", present, **second),
    ]


ACKNOWLEDGED = "write,acknowledged_seconds\n0,1.0\n1,1.5\n2,2.0\n3,2.25\n"


def outputs(steps, acknowledgements=ACKNOWLEDGED):
    return {"stdout": "".join(json.dumps(one) + "\n" for one in steps), "acknowledgements": acknowledgements}


def metrics(kind, steps, **more):
    return FAILOVER.parse(outputs(steps, **more), 0, {"kind": kind}).metrics


def test_a_planned_trial_counts_from_the_start_of_the_demotion_and_loses_nothing():
    found = metrics("planned", planned())
    assert found["seconds_to_first_write"] == pytest.approx(0.8)
    assert found["seconds_without_write"] == pytest.approx(1.55)
    assert found["demote_seconds"] == pytest.approx(0.25)
    assert found["promote_seconds"] == pytest.approx(0.4), "from the first attempt to the end of the accepted one"
    assert (found["promote_attempts"], found["lost_writes"], found["lost_seconds"]) == (2, 0, 0)


def test_a_forced_trial_counts_from_the_loss_and_loses_what_the_other_side_lacks():
    found = metrics("forced", forced(present=2))
    assert found["seconds_to_first_write"] == pytest.approx(0.6)
    assert found["lost_writes"] == 2
    assert found["lost_seconds"] == pytest.approx(2.25 - 1.5)
    assert "demote_seconds" not in found


def test_when_nothing_arrived_all_time_of_writing_is_lost():
    assert metrics("forced", forced(present=0))["lost_seconds"] == pytest.approx(2.25 - 0.5)


def test_a_write_under_way_at_the_loss_may_have_arrived_but_not_two():
    assert metrics("forced", forced(present=5))["lost_seconds"] == 0
    with pytest.raises(OutputError, match="one at most was under way") as error:
        metrics("forced", forced(present=6))
    assert error.value.reason == "data_differ"


@pytest.mark.parametrize(
    ("kind", "steps", "said"),
    [
        ("planned", planned(present=3), "lost 1 of 4 writes"),
        ("planned", planned(digest="b"), "images differ"),
        ("planned", planned(expected="b"), "1 blocks of the second cluster's image are of no write"),
        ("forced", forced(expected="b"), "1 blocks of the second cluster's image are of no write"),
        ("forced", forced(first=False), "first write after the promotion is not there"),
    ],
)
def test_data_that_differ_are_never_a_result(kind, steps, said):
    with pytest.raises(OutputError, match=said) as error:
        metrics(kind, steps)
    assert error.value.reason == "data_differ"


def without(steps, name):
    return [one for one in steps if one["step"] != name]


@pytest.mark.parametrize(
    ("steps", "said", "reason"),
    [
        (without(planned(), "first_write"), "no step 'first_write'", "incomplete"),
        (without(planned(), "demote"), "no step 'demote'", "incomplete"),
        (without(planned(), "verify"), "no step 'verify'", "incomplete"),
        (planned()[:-1], r"verified were \['first'\]", "incomplete"),
        (planned()[:3] + planned()[4:], "no promotion was accepted", "failed"),
        (planned() + planned(), "2 steps 'write'", "unparsable"),
        ([step("demote", 30.0), *without(planned(), "demote")], "order of time", "unparsable"),
        ([*planned(), "text"], "not a step", "unparsable"),
    ],
)
def test_a_log_that_is_not_whole_is_refused(steps, said, reason):
    with pytest.raises(OutputError, match=said) as error:
        metrics("planned", steps)
    assert error.value.reason == reason


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the first line is not"),
        ("write,acknowledged_seconds\n", "no write was acknowledged"),
        (ACKNOWLEDGED.replace("2,2.0\n", ""), "not write 2"),
        (ACKNOWLEDGED.replace("2,2.0", "2,1.2"), "not write 2"),
        (ACKNOWLEDGED.replace("2,2.0", "2,nan"), "not write 2"),
        (ACKNOWLEDGED + "4,2.5\n", "4 writes acknowledged, the list has 5"),
    ],
)
def test_a_list_of_acknowledgements_with_a_fault_is_refused(text, said):
    with pytest.raises(OutputError, match=said):
        metrics("planned", planned(), acknowledgements=text)


@pytest.mark.parametrize("kind", ["planned", "forced"])
def test_a_log_or_list_cut_off_anywhere_gives_no_number(kind):
    whole = outputs({"planned": planned, "forced": forced}[kind]())
    for role, text in whole.items():
        for end in range(len(text)):
            with pytest.raises(OutputError):
                FAILOVER.parse({**whole, role: text[:end]}, 0, {"kind": kind})


def test_a_trial_that_failed_is_refused_whatever_its_log_says():
    with pytest.raises(OutputError) as error:
        FAILOVER.parse(outputs(planned()), 1, {"kind": "planned"})
    assert error.value.reason == "failed"


def test_a_step_is_written_down_with_placeholders_for_names_and_paths():
    values = {"conf": "/a/site.conf", "image": "pool/replay-1-x", "image_name": "replay-1-x"}

    def run(argv, **_):
        assert argv == ["rbd", "--conf", "/a/site.conf", "demote", "pool/replay-1-x"]
        said = b"/a/site.conf: replay-1-x of pool/replay-1-x"
        return ToolRun(b"", said, 16, "", "", 0.5)

    log = StepLog(values, run=run)
    log.command("demote", ["rbd", "--conf", "{conf}", "demote", "{image}"], attempt=1)
    [line] = [json.loads(line) for line in log.content().splitlines()]
    assert line["argv"] == ["rbd", "--conf", "{conf}", "demote", "{image}"]
    assert line["said"] == "{conf}: {image_name} of {image}"
    assert (line["exit_status"], line["seconds"], line["attempt"]) == (16, 0.5, 1)


def test_steps_are_listed_in_the_order_in_which_they_began():
    log = StepLog({})
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

    site = SimpleNamespace(name="s", second_site=SimpleNamespace(pool="p"), secondary=SimpleNamespace(json=json_of))
    bench = SimpleNamespace(site=site, data_set="d", secondary_ledger=ledger)
    pair = MirroredPair(bench, SimpleNamespace(name="replay-1-x", image=SimpleNamespace(size_bytes=1)))
    pair.own_copy()
    assert asked == [(("rbd", "info", "p/replay-1-x"), ["p/replay-1-x"])]
    [entry] = ledger.owned()
    assert (entry.confirmed, entry.facts, entry.site) == (True, {"id": "abc"}, "s")


# What the design may ask ----------------------------------------------------------------------------------------


def protocol_of(**changes):
    configuration = {**load_experiment("failover"), **changes}
    site = SimpleNamespace(name="s", second_site=None)
    return Failover(
        SimpleNamespace(site=site, session=SimpleNamespace(cluster=Cluster("c"))), expand(configuration, "talk")
    )


def test_the_experiment_that_ships_is_accepted():
    assert {variant.name for variant in protocol_of().design.variants} == {"journal", "snapshot"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": {"write_seconds": 1}}, "options.write_spread_seconds is None"),
        ({"factors": {"kind": ["planned", "maybe"]}}, "needs the factor `kind`"),
        ({"variants": [{"name": "plain", "label": "Plain"}]}, "needs mirrored variants: plain"),
    ],
)
def test_a_design_that_is_no_trial_is_refused_before_anything_is_made(changes, said):
    with pytest.raises(ConfigurationError, match=said):
        protocol_of(**changes)


# Real trials ----------------------------------------------------------------------------------------------------


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("journal", "snapshot"), [("planned", "forced"), ("forced", "planned")], ids=["as-it-ships", "the-other-way"]
)
def test_planned_trials_lose_nothing_forced_ones_say_what_and_both_leave_nothing(campaign, journal, snapshot):
    only = {"journal": {"kind": [journal]}, "snapshot": {"kind": [snapshot]}}
    campaign.configure("failover", only=only)
    done = campaign.measure("failover")
    assert done.returncode == 0, done.stdout + done.stderr
    good = [one for one in campaign.sidecars("failover") if one["valid"]]
    assert sorted((one["variant"], one["levels"]["kind"]) for one in good) == [
        ("journal", journal), ("snapshot", snapshot),
    ]  # fmt: skip
    assert campaign.images() == {"left": [], "right": []}
    assert campaign.run("clean", "--site", "sandbox", "--yes").stdout.startswith("nothing to remove")
    assert campaign.run("derive", "--data", "trial").returncode == 0
    rows = (campaign.raw("failover").parent / "tidy.csv").read_text().splitlines()
    table = [dict(zip(rows[0].split(","), row.split(","), strict=True)) for row in rows[1:]]
    for row in (row for row in table if row["used"] == "1"):
        present, lost = int(row["writes_present"]), int(row["lost_writes"])
        assert float(row["seconds_to_first_write"]) > 0
        assert lost == max(0, int(row["operations"]) - present)
        if row["kind"] == "planned":
            assert (lost, float(row["lost_seconds"])) == (0, 0)
            assert present == int(row["operations"])
    evidence = campaign.evidence("failover")
    for word in (str(campaign.sandbox_directory), os.uname().nodename + ":", "/tmp/"):
        assert word.encode() not in evidence


@pytest.mark.sandbox
def test_ctrl_c_in_the_middle_of_a_trial_leaves_nothing_on_either_cluster(campaign):
    campaign.configure("failover", options={"write_seconds": 20, "write_spread_seconds": 1})
    run = campaign.start("failover")
    campaign.wait_for(lambda: campaign.processes("trial/client.py", " write {"), "the writer")
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=200)
    assert run.returncode == 130, said
    assert campaign.images() == {"left": [], "right": []}


@pytest.mark.sandbox
def test_clean_removes_what_a_killed_trial_left_on_both_clusters(campaign):
    campaign.configure("failover", only={"snapshot": {"kind": ["planned"]}, "journal": {"kind": ["planned"]}})
    run = campaign.start("failover")
    # It reads the images when the one on the second cluster has been promoted.
    campaign.wait_for(lambda: campaign.processes("rbd", "export"), "the verification", seconds=150)
    os.kill(campaign.runner("failover"), signal.SIGKILL)
    run.communicate(timeout=60)
    campaign.wait_for(lambda: not campaign.processes("trial/client.py"), "the end of the clients", seconds=10)
    left = campaign.images()
    assert left["left"] and left["left"] == left["right"]
    cleaned = campaign.run("clean", "--site", "sandbox", "--yes")
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert campaign.images() == {"left": [], "right": []}
