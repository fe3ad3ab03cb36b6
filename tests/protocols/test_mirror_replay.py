"""Catch-up and lag on real clusters: what is stopped is started again, and what is made is removed."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.cluster import Cluster
from replay.cluster.mirroring import ReplayCounters
from replay.cluster.running import ToolRun
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from replay.evidence.record import Measured
from replay.ownership.images import BlockImage
from replay.preflight.plan import design_for
from replay.protocols import mirror_replay
from replay.protocols.mirror_lag import MirrorLagProtocol
from replay.protocols.mirror_replay import MirrorReplayProtocol
from replay.protocols.observers import copies
from replay.protocols.targets import images
from support.bench import bench_of, design_of, site_of
from support.made_up_output import report
from support.patience import patient
from support.smoke import measure_as_shipped


def bench():
    second = SimpleNamespace(cluster=Cluster("c"), mirror_daemon_admin_socket="/nowhere.asok")
    sampler = SimpleNamespace(read=dict, load=lambda *_: {})
    return bench_of(site_of(secondary=Cluster("c"), second_site=second), sampler=sampler)


def protocol_of(**changes):
    return MirrorReplayProtocol(bench(), design_of("mirror-replay", "talk", **changes))


def site(socket="/nowhere.asok", namespace=""):
    return SimpleNamespace(
        second_site=SimpleNamespace(mirror_daemon_admin_socket=socket),
        pools=SimpleNamespace(data=SimpleNamespace(namespace=namespace)),
    )


# What a site must have, and what a design may ask --------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MirrorReplayProtocol, MirrorLagProtocol])
def test_a_site_without_the_daemons_socket_or_with_a_namespace_skips_the_experiment_and_says_why(kind):
    assert kind.lacking(site()) == {}
    assert "admin socket" in kind.lacking(site(socket=None))["second_site"]
    assert "namespace" in kind.lacking(site(namespace="mine"))["second_site"]


@pytest.mark.parametrize("name", ["mirror-replay", "mirror-lag"])
def test_the_design_skips_what_the_protocol_lacks(name, monkeypatch):
    configuration = load_experiment(name)
    design = expand(configuration, "smoke", missing=MirrorReplayProtocol.lacking(site(socket=None)))
    assert design.sets == ()
    assert [skip.requires for skip in design.skipped] == ["second_site"]
    monkeypatch.setattr("replay.preflight.plan.missing", lambda words, site: [])
    here = SimpleNamespace(**vars(site(socket=None)), ceilings=SimpleNamespace(client_options=dict))
    assert "admin socket" in design_for(here, name, "smoke").skipped[0].detail


def test_a_variant_that_is_not_mirrored_as_it_says_is_refused():
    levels = {"mode": "journal"}
    variants = [{"name": "snapshot", "label": "Snapshot", "mirroring": "snapshot", "levels": levels}]
    with pytest.raises(ConfigurationError, match=r"levels\.mode is"):
        protocol_of(variants=variants)


@pytest.mark.parametrize("interval", [7, 60])
def test_a_lag_that_is_over_before_its_first_snapshot_is_refused(interval):
    MirrorLagProtocol(bench(), design_of("mirror-lag", "smoke"))
    with pytest.raises(ConfigurationError, match=f"a cell of 7 s is too short for a snapshot every {interval} s"):
        MirrorLagProtocol(bench(), design_of("mirror-lag", "smoke", snapshot_interval_seconds=interval))


# The order of things when something fails --------------------------------------------------------------------------


class Daemon:
    """A mirror daemon that obeys at once, and records its orders."""

    def __init__(self):
        self.states = {}
        self.told = []

    def state(self, image):
        return self.states.get(image, "Replaying")

    def stop(self, image):
        self.told.append(("stop", image))
        self.states[image] = "Stopped"

    def start(self, image):
        self.told.append(("start", image))
        self.states[image] = "Replaying"


@pytest.fixture
def stopping(monkeypatch):
    made = protocol_of()
    made.driver.copies.daemon = Daemon()
    made.removed = []
    monkeypatch.setattr(images, "remove_images", lambda bench, those: made.removed.extend(those))
    return made


def test_images_that_are_stopped_at_the_end_of_a_block_are_started_before_they_are_removed(stopping):
    image = SimpleNamespace(name="one")
    stopping.target.images = {"journal": [image]}
    stopping.driver.stopped = ["one"]
    stopping.driver.copies.daemon.stop("one")
    stopping.close_block()
    assert stopping.driver.copies.daemon.told == [("stop", "one"), ("start", "one")]
    assert stopping.removed == [image]
    assert stopping.driver.stopped == []


def test_images_are_removed_even_if_the_daemon_does_not_answer(stopping):
    image = SimpleNamespace(name="one")
    stopping.target.images, stopping.driver.stopped = {"journal": [image]}, ["one"]
    stopping.driver.copies.daemon = None
    stopping.bench.site.second_site.mirror_daemon_admin_socket = None
    with pytest.raises(Exception, match="no admin socket of the mirror daemon is named"):
        stopping.close_block()
    assert stopping.removed == [image]


# A cell without a cluster ------------------------------------------------------------------------------------------


class Rbd:
    """The `rbd` program, as the log of steps runs it."""

    def __init__(self, said=b"Snapshot ID: 7\n", status=0):
        self.said, self.status, self.argvs = said, status, []

    def __call__(self, argv, **_):
        self.argvs.append(argv)
        return ToolRun(self.said, b"", self.status, "a", "b", 0.1)


@pytest.fixture
def replaying(monkeypatch):
    """Return a function that runs a cell of a mode; at its second reading the daemon has replayed everything."""

    def run(mode, rbd, all_at_reading=2):
        made = protocol_of()
        cell = next(
            c for one in made.design.sets for c in one.cells if (c.variant.name, c.levels["images"]) == (mode, 2)
        )
        daemon = made.driver.copies.daemon = Daemon()
        made.target.images[mode] = [BlockImage("pool", "", name, cell.variant.image, "") for name in ("one", "two")]
        size, made.did = cell.variant.image.size_bytes, []

        def fio(bench, text, those, options, **how):
            assert how["component"] == "prepare" and [one.name for one in those] == ["one", "two"]
            made.did.append(dict(daemon.states))
            said = report(["image-1", "image-2"], operations=size // 65536, io_size_bytes=65536, seconds=4.0)
            files = {"stdout": ("stdout", b""), "stderr": ("stderr", b""), "output": ("result.json", said.encode())}
            return Measured(["fio"], files, 0, "a", "b", 4.0, {})

        class Sampler:
            def __init__(self, daemon, names, table, now):
                self.names, self.table, self.now, self.readings = names, table, now, 0

            def read(self):
                self.readings += 1
                whole = self.readings >= all_at_reading
                for entity in self.names:
                    self.table.add(self.now(), entity, "replay_bytes", size if whole else 0)
                    self.table.add(self.now(), entity, "snapshots", int(whole))
                done = ReplayCounters(entries=9, entry_bytes=size, snapshots=1) if whole else ReplayCounters()
                return dict.fromkeys(self.names, done)

            def cost(self):
                return {"readings": self.readings, "cost_seconds": 0.0}

        monkeypatch.setattr(mirror_replay, "run_fio", fio)
        monkeypatch.setattr(mirror_replay, "MirrorSampler", Sampler)
        monkeypatch.setattr(mirror_replay, "QUIET_SECONDS", 0.0)
        monkeypatch.setitem(mirror_replay.STALL_SECONDS, mode, 0.0)
        monkeypatch.setattr(copies, "copied_snapshots", lambda cluster, spec, **_: {7})
        monkeypatch.setattr("replay.protocols.drivers.tool.run_tool", rbd)
        return made, cell, made.run(cell, 1)

    return run


@pytest.mark.parametrize("mode", ["journal", "snapshot"])
def test_replay_is_stopped_for_the_writes_and_started_for_the_measurement(replaying, mode):
    rbd = Rbd()
    made, cell, measured = replaying(mode, rbd)
    steps = [json.loads(line) for line in measured.results["steps"][1].splitlines()]
    snapshots = ["snapshot"] * 2 if mode == "snapshot" else []
    assert [step["step"] for step in steps] == ["stop", "stop", "write", *snapshots, "start", "start", "end"]
    assert [step.get("image") for step in steps if step["step"] == "snapshot"] == (
        ["image-1", "image-2"] if snapshots else []
    )
    assert made.did == [{"one": "Stopped", "two": "Stopped"}], "nobody replays while fio writes"
    assert made.driver.copies.daemon.states == {"one": "Replaying", "two": "Replaying"}
    assert [argv[-1] for argv in rbd.argvs] == (["pool/one", "pool/two"] if snapshots else [])
    assert [wait.outcome for wait in measured.waits] == ["copied"] * len(snapshots)
    assert made.driver.stopped == []
    times = 2 if mode == "journal" else 1
    assert made.bench.budget.total() == times * 2 * cell.variant.image.size_bytes, "what goes through a journal, twice"


@pytest.mark.parametrize("mode", ["journal", "snapshot"])
def test_a_daemon_that_had_replayed_everything_before_it_was_told_to_start_gives_no_rate(replaying, mode):
    _, _, measured = replaying(mode, Rbd(), all_at_reading=1)
    assert measured.invalid[0] == "replay_did_not_advance"


def test_a_snapshot_that_fails_ends_the_block_and_replay_continues(replaying, monkeypatch):
    with pytest.raises(ReplayError, match="image-1: no mirror snapshot was taken: it is not there"):
        replaying("snapshot", Rbd(b"it is not there", 2))


# Real clusters ---------------------------------------------------------------------------------------------------


def words_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
def test_a_daemon_catches_up_after_it_was_stopped_and_lags_while_a_writer_writes(campaign):
    measure_as_shipped(
        campaign, "mirror-replay", "mirror-lag", factors={"images": [1, 2]}, only={"snapshot": {"images": [1]}}
    )
    assert_the_rate_follows_from_the_evidence(campaign)
    assert_the_lag_of_both_modes_was_seen(campaign)


def assert_the_rate_follows_from_the_evidence(campaign):
    rows = {(row["variant"], row["images"]): row for row in campaign.used_rows("mirror-replay")}
    assert set(rows) == {("journal", "1"), ("journal", "2"), ("snapshot", "1")}
    for (mode, count), row in rows.items():
        assert float(row["bytes"]) == int(count) * 8388608
        rate = float(row["bytes"]) / float(row["seconds_to_catch_up"])
        assert float(row["bytes_per_second"]) == pytest.approx(rate, rel=1e-6)
        if mode == "journal":
            assert float(row["replayed_bytes"]) >= float(row["bytes"])
    aggregate = campaign.raw("mirror-replay").parent / "aggregate"
    lines = (aggregate / "replay-rate-randwrite-65536.csv").read_text().splitlines()
    assert {line.split(",")[0] for line in lines[1:]} == {"Journal", "Snapshot"}


def assert_the_lag_of_both_modes_was_seen(campaign):
    rows = {row["variant"]: row for row in campaign.used_rows("mirror-lag")}
    assert set(rows) == {"journal", "snapshot"}
    for row in rows.values():
        duration = float(row["duration_seconds"])
        assert 0 <= float(row["lag_median_seconds"]) <= float(row["lag_max_seconds"]) <= duration
        assert float(row["operations"]) <= 10 * duration * 1.05, "no more than the writes that are offered"
        assert float(row["operations"]) * 65536 == float(row["bytes"])
    assert float(rows["journal"]["journal_max_bytes"]) >= 0.9 * float(rows["journal"]["bytes"])
    assert float(rows["snapshot"]["lag_max_seconds"]) > 2, "no snapshot is complete before the first was ordered"
    assert int(float(rows["snapshot"]["snapshots_taken"])) >= 1


@pytest.mark.sandbox
def test_the_next_clean_removes_the_copy_of_an_image_that_a_killed_run_had_stopped(campaign):
    campaign.configure("mirror-replay", image_size_bytes=67108864, variants=["journal"])
    run = campaign.start_block("mirror-replay")
    campaign.wait_for(lambda: campaign.processes("fio", "jobs.fio"), "the writer", seconds=120)
    words = {word for pid in campaign.processes("fio", "jobs.fio") for word in words_of(pid)}
    paths = [Path(word.removeprefix("--output=")) for word in words if word.endswith((".fio", ".json"))]
    os.kill(campaign.runner("mirror-replay"), signal.SIGKILL)
    run.communicate(timeout=patient(60))
    # A runner that is killed cannot remove its own temporary files.
    assert len(paths) == 2
    for path in paths:
        shutil.rmtree(path.parent)
    assert campaign.images()["right"], "the copy stays while nobody replays it"
    cleaned = campaign.run("clean", "--site", "sandbox", "--yes")
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert campaign.images() == {"left": [], "right": []}
