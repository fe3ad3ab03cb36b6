"""Stopping and starting replay, waiting for it, and knowing when nothing is left to trim."""

from __future__ import annotations

import pytest

from replay.base.errors import ReplayError
from replay.cluster.cluster import AdminSocketError
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters, wait_until_rested
from replay.evidence.record import SampleTable
from replay.protocols.observers.copies import (
    MirrorSampler,
    await_state,
    journal_level,
    numbers_in,
    resume,
    snapshots_level,
)
from replay.protocols.observers.snapshots import TrimSampler, snapshots_to_trim, wait_until_trimmed
from support.bench import Clock

MEBIBYTE = 2**20


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


def test_an_image_is_told_to_stop_and_to_start_by_its_own_name():
    daemon, socket = daemon_with(one=["Replaying"])
    daemon.stop("one")
    socket.states["one"] = ["Stopped"]
    daemon.start("one")
    assert socket.asked == ["rbd mirror stop replay/one", "rbd mirror start replay/one"]


def test_a_state_is_awaited_for_every_image():
    daemon, socket = daemon_with(one=["Replaying", "Stopping", "Stopped"], two=["Stopped"])
    await_state(daemon, ["one", "two"], "Stopped", pause=lambda _: None)
    assert socket.states["one"] == ["Stopped"]


def test_a_state_that_is_never_reached_is_an_error_that_names_the_current_one():
    daemon, _ = daemon_with(one=["Error"])
    with pytest.raises(ReplayError, match="to become 'Stopped'; one is 'Error'"):
        await_state(daemon, ["one"], "Stopped", within_seconds=0.01, pause=lambda _: None)


@pytest.mark.parametrize(
    ("states", "told"),
    [(["Stopping", "Stopping", "Stopped"], 1), (["Stopped"], 1), (["Replaying"], 0), (["Starting"], 0)],
)
def test_only_images_that_are_stopped_or_stopping_are_started_again(states, told):
    daemon, socket = daemon_with(one=states)
    resume(daemon, "one", pause=lambda _: None)
    assert socket.asked.count("rbd mirror start replay/one") == told


def bytes_of(**replayed):
    return {name: ReplayCounters(entry_bytes=value) for name, value in replayed.items()}


def test_every_image_must_be_level_and_not_only_their_sum():
    level = journal_level({"one": 4, "two": 4})
    assert not level(bytes_of(one=7, two=3))
    assert level(bytes_of(one=4, two=5))
    assert not snapshots_level({"one": 1, "two": 1})({"one": ReplayCounters(snapshots=2), "two": ReplayCounters()})


def test_the_wait_lasts_until_the_daemon_rests_and_not_only_until_it_is_level():
    clock = Clock()

    def read():
        return bytes_of(one=int(min(clock.now, 12) * MEBIBYTE))

    wait = wait_until_rested(
        read, journal_level({"one": 10 * MEBIBYTE}), quiet_seconds=1.0, clock=clock, sleep=clock.sleep
    )
    assert wait.outcome == "replayed"
    assert 13.0 <= wait.seconds < 13.5


def test_a_daemon_that_stops_before_it_is_level_has_stalled():
    clock = Clock()
    wait = wait_until_rested(
        lambda: bytes_of(one=int(min(clock.now, 3))),
        journal_level({"one": 10}),
        quiet_seconds=1.0,
        stall_seconds=20.0,
        clock=clock,
        sleep=clock.sleep,
    )
    assert wait.outcome == "stalled"
    assert 22.0 <= wait.seconds < 24.0


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
        sampler.read_when_due(0.25)
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


def test_snapshots_of_other_pools_are_not_awaited():
    assert snapshots_to_trim(Session([4], [0]), ["mine"]) == 4


def test_the_wait_ends_when_no_snapshot_is_queued_and_no_group_trims():
    clock = Clock()
    wait = wait_until_trimmed(
        [(Session([2, 2, 1, 0], [3, 0]), ["mine"])], timeout_seconds=300, every=1, clock=clock, pause=clock.sleep
    )
    assert (wait.outcome, wait.details) == ("trimmed", {"snapshots_to_trim": 2})
    assert wait.seconds == 4


def test_nobody_waits_for_trims_in_the_pools_of_neighbours():
    clock = Clock()
    session = Session([0], [7])
    session.neighbours_only = True
    wait = wait_until_trimmed([(session, ["mine"])], timeout_seconds=300, every=1, clock=clock, pause=clock.sleep)
    assert (wait.outcome, wait.seconds) == ("trimmed", 0)


def test_trimming_that_does_not_end_is_recorded_and_the_run_continues():
    clock = Clock()
    sides = [(Session([0], [0]), ["mine"]), (Session([1], [0]), ["mine"])]
    wait = wait_until_trimmed(sides, timeout_seconds=10, every=1, clock=clock, pause=clock.sleep)
    assert (wait.outcome, wait.seconds) == ("still_trimming", 10)


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
