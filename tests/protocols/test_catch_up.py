"""Stopping and starting replay, waiting for it, and knowing when nothing is left to trim."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.base.errors import ReplayError
from replay.cluster.cluster import AdminSocketError
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.cluster.site import Pool, Pools
from replay.evidence.record import SampleTable
from replay.ownership.images import BlockImage
from replay.protocols.observers import copies
from replay.protocols.observers.copies import Copies, MirrorSampler, journal_level, numbers_in
from replay.protocols.observers.snapshots import TrimSampler, await_trimmed, snapshots_to_trim
from support.bench import Clock, bench_of


class Socket:
    """An admin socket: image replayers with their states, and counters of those that replay."""

    def __init__(self, states):
        self.states = dict(states)
        self.asked = []
        self.dump = {}
        self.question = "perf dump"

    def __call__(self, _path, command, timeout_seconds):
        self.asked.append(command)
        if command == "help":
            return {self.question: "all that the daemon counts"}
        if command == self.question:
            return self.dump
        if command == "rbd mirror status":
            found = []
            for name, states in self.states.items():
                found.append({"name": f"replay/{name}", "state": states[0]})
                self.states[name] = states[1:] or states
            return {"pool_replayers": [{"image_replayers": found}]}
        if command.split()[2] == "start" and self.states[command.rsplit("/", 1)[1]][0] == "Replaying":
            raise AdminSocketError("'rbd mirror start' was declined", where="socket")
        return None


def daemon_with(**states):
    socket = Socket(states)
    return MirrorDaemon("/nowhere.asok", "replay", ask=socket), socket


def copies_with(**states):
    made = Copies(bench_of(SimpleNamespace(second_site=None), None))
    made.daemon, socket = daemon_with(**states)
    return made, socket


def test_an_image_is_told_to_stop_and_to_start_by_its_own_name():
    daemon, socket = daemon_with(one=["Replaying"])
    daemon.stop("one")
    socket.states["one"] = ["Stopped"]
    daemon.start("one")
    assert socket.asked == ["rbd mirror stop replay/one", "rbd mirror start replay/one"]


def test_an_image_in_a_namespace_is_asked_for_there_on_both_clusters(monkeypatch):
    second = SimpleNamespace(mirror_daemon_admin_socket="/nowhere.asok")
    site = SimpleNamespace(second_site=second, secondary="the second", pools=Pools(Pool("replay", namespace="ours")))
    made = Copies(bench_of(site, None))
    assert made.require_daemon().pool == "replay/ours"
    looked = []
    monkeypatch.setattr(copies, "copied_snapshots", lambda cluster, spec, **_: looked.append((cluster, spec)) or {7})
    monkeypatch.setattr(copies, "is_replaying", lambda cluster, spec: looked.append((cluster, spec)) or True)
    image = BlockImage("replay", "ours", "x", SimpleNamespace(mirroring="journal"), "")
    assert made.wait_for(image, 7).outcome == "copied"
    made.daemon = None
    made.await_first(image)
    assert looked == [("the second", "replay/ours/x")] * 2


def test_a_state_is_awaited_for_every_image():
    made, socket = copies_with(one=["Replaying", "Stopping", "Stopped"], two=["Stopped"])
    made.await_state(["one", "two"], "Stopped")
    assert socket.states["one"] == ["Stopped"]


def test_a_state_that_is_never_reached_is_an_error_that_names_the_current_one(monkeypatch):
    monkeypatch.setattr(copies, "STATE_WITHIN_SECONDS", 0.0)
    made, _ = copies_with(one=["Error"])
    with pytest.raises(ReplayError, match="to become 'Stopped'; one is 'Error'"):
        made.await_state(["one"], "Stopped")


@pytest.mark.parametrize(
    ("states", "told"),
    [(["Stopping", "Stopping", "Stopped"], 1), (["Stopped"], 1), (["Replaying"], 0), (["Starting"], 0)],
)
def test_only_images_that_are_stopped_or_stopping_are_started_again(states, told):
    made, socket = copies_with(one=states)
    made.resume("one")
    assert socket.asked.count("rbd mirror start replay/one") == told


def test_every_image_must_be_level_and_not_only_their_sum():
    level = journal_level({"one": 4, "two": 4})
    assert not level({"one": ReplayCounters(entry_bytes=7), "two": ReplayCounters(entry_bytes=3)})
    assert level({"one": ReplayCounters(entry_bytes=4), "two": ReplayCounters(entry_bytes=5)})


def test_a_sampler_records_the_daemons_counters_of_its_own_images():
    daemon, socket = daemon_with()
    socket.dump = {
        "rbd_mirror_image_replay/mine": {
            "replay": 3,
            "replay_bytes": 30,
            "replay_latency": {"avgcount": 3, "sum": 0.5},
        },
        "rbd_mirror_image_replay/other": {"replay": 9, "replay_bytes": 99},
        "librbd-1": {"rd": 5},
    }
    table, clock = SampleTable(), Clock()
    clock.now = 1.5
    sampler = MirrorSampler(daemon, {"image-1": "mine", "image-2": "not-there"}, table, clock)
    found = sampler.read()
    assert found == {"image-1": ReplayCounters(entries=3, entry_bytes=30), "image-2": ReplayCounters()}
    assert table.content().decode().splitlines()[1:] == [
        "1.500000,image-1,replay,3",
        "1.500000,image-1,replay_bytes,30",
        "1.500000,image-1,replay_latency.avgcount,3",
        "1.500000,image-1,replay_latency.sum,0.5",
        "1.500000,sampler,rows,4",
    ]
    assert sampler.cost()["readings"] == 1


def test_a_sampler_reads_no_more_often_than_it_is_due():
    daemon, socket = daemon_with()
    clock = Clock()
    sampler = MirrorSampler(daemon, {}, SampleTable(), clock)
    for _ in range(100):
        sampler.read_when_due()
        clock.now += 0.02
    assert socket.asked.count("perf dump") == 8


def test_texts_among_counters_are_left_out():
    assert numbers_in({"replay": 1, "state": "ok", "latency": {"sum": 0.5, "unit": "s"}}) == {
        "replay": 1, "latency.sum": 0.5,
    }  # fmt: skip


# Trimming -------------------------------------------------------------------------------------------------------------


class Session:
    """A cluster whose pool 2 has these numbers of snapshots to trim, one after the other."""

    neighbours_only = False

    def __init__(self, queue, groups):
        self.queue, self.groups = list(queue), list(groups)

    def command(self, command):
        if command["prefix"] == "pg ls-by-pool":
            assert command["poolstr"] == "mine", "nobody asks about other pools"
            return {"pg_stats": [{"state": "active+clean+snaptrim_wait"}] * self.in_own_pool}
        assert command == {"prefix": "osd dump"}
        left = self.queue.pop(0) if len(self.queue) > 1 else self.queue[0]
        snaps = [{"begin": 3, "length": left}] if left else []
        return {
            "pools": [{"pool": 2, "pool_name": "mine"}, {"pool": 3, "pool_name": "other"}],
            "removed_snaps_queue": [{"pool": 2, "snaps": snaps}, {"pool": 3, "snaps": [{"begin": 1, "length": 50}]}],
        }

    def status(self):
        groups = self.groups.pop(0) if len(self.groups) > 1 else self.groups[0]
        self.in_own_pool = 0 if self.neighbours_only else groups
        states = [{"state_name": "active+clean", "count": 30 - groups}]
        return {"pgmap": {"pgs_by_state": [*states, {"state_name": "active+clean+snaptrim_wait", "count": groups}]}}


@pytest.fixture
def trimmed(monkeypatch):
    """Return a function that waits for the trims of sessions, in time that passes only during sleeps."""
    clock, pool = Clock(), SimpleNamespace(name="mine")
    monkeypatch.setattr("replay.measure.bench.time", SimpleNamespace(monotonic=clock, sleep=clock.sleep))

    def of(session, secondary=None):
        site = SimpleNamespace(pools=SimpleNamespace(all=lambda: [pool], data=pool))
        bench = bench_of(site, session)
        bench.secondary = secondary
        return await_trimmed(bench)

    return of


def test_snapshots_of_other_pools_are_not_awaited():
    assert snapshots_to_trim(Session([4], [0]), ["mine"]) == 4


def test_the_wait_ends_when_no_snapshot_is_queued_and_no_group_trims(trimmed):
    wait = trimmed(Session([2, 2, 1, 0], [3, 0]))
    assert (wait.outcome, wait.details) == ("trimmed", {"snapshots_to_trim": 2})
    assert wait.seconds == 2


def test_nobody_waits_for_trims_in_the_pools_of_neighbours(trimmed):
    session = Session([0], [7])
    session.neighbours_only = True
    wait = trimmed(session)
    assert (wait.outcome, wait.seconds) == ("trimmed", 0)


def test_trimming_that_does_not_end_is_recorded_and_the_run_continues(trimmed):
    wait = trimmed(Session([0], [0]), Session([1], [0]))
    assert (wait.outcome, wait.seconds) == ("still_trimming", 300)


def test_the_snapshots_left_to_trim_are_counted_every_two_seconds():
    clock, table = Clock(), SampleTable()
    sampler = TrimSampler(Session([1, 2, 0], [0, 5, 2]), ["mine"], table, clock)
    for _ in range(40):
        sampler.read_when_due()
        clock.now += 0.125
    assert table.content().decode().splitlines()[1:-1] == [
        line
        for at, left, groups in ((0, 1, 0), (2.0, 2, 5), (4.0, 0, 2))
        for line in (
            f"{at:.6f},cluster,snapshots_to_trim,{left}",
            f"{at:.6f},cluster,snaptrim_placement_groups,{groups}",
        )
    ]
