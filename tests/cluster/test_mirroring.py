"""Waits end on the daemon's counters, never on a status that lags; daemons are judged by what they do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.cluster.cluster import CephCommandError
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters, counters_of, wait_until_copied, wait_until_replayed
from replay.preflight import mirroring
from replay.preflight.checks import Findings
from replay.preflight.mirroring import judge_daemons as judge
from support.bench import Clock

MEBIBYTE = 2**20


def replaying(clock, per_second, total):
    """A daemon that replays `per_second` bytes a second up to a total."""

    def read():
        done = min(total, int(clock.now * per_second))
        return ReplayCounters(entries=done // 4096, entry_bytes=done)

    return read


def test_the_wait_lasts_until_all_bytes_are_replayed_and_the_daemon_rests():
    clock = Clock()
    read = replaying(clock, MEBIBYTE, 10 * MEBIBYTE)
    wait = wait_until_replayed(read, ReplayCounters(), 10 * MEBIBYTE, clock=clock, sleep=clock.sleep)
    assert wait.outcome == "replayed"
    assert wait.details["replayed_bytes"] == 10 * MEBIBYTE
    assert 10 <= wait.details["expected_after_seconds"] < 10.5 < wait.seconds


def test_a_stale_status_does_not_end_a_wait():
    """The daemon's own status says idle and nothing behind from the start; only its counters tell the truth."""
    clock = Clock()
    asked = []

    def ask(_socket, command, timeout_seconds):
        asked.append(command)
        if command == "help":
            return {"perf dump": "", "rbd mirror status": ""}
        if command == "perf dump":
            done = min(5 * MEBIBYTE, int(clock.now * MEBIBYTE))
            return {"rbd_mirror_image_replay/image": {"replay": done // 4096, "replay_bytes": done}}
        return {"image_replayers": [{"name": "replay/image", "state": "Replaying", "entries_behind_primary": 0}]}

    daemon = MirrorDaemon("/nowhere.asok", "replay", ask=ask)
    assert daemon.state("image") == "Replaying"
    wait = wait_until_replayed(
        lambda: daemon.counters("image"), ReplayCounters(), 5 * MEBIBYTE, clock=clock, sleep=clock.sleep
    )
    assert wait.outcome == "replayed"
    assert wait.seconds >= 5, "status said 0 behind at once; the counters needed five seconds"
    assert set(asked) == {"rbd mirror status", "help", "perf dump"}


def test_an_option_of_a_daemon_is_a_number():
    asked = []

    def ask(_socket, command, timeout_seconds):
        asked.append(command)
        return {command["var"]: "5.000000"}

    assert MirrorDaemon("/nowhere.asok", "replay", ask=ask).option("rbd_mirror_journal_poll_age") == 5.0
    assert asked == [{"prefix": "config get", "var": "rbd_mirror_journal_poll_age"}]


def test_a_daemon_that_makes_no_progress_is_reported_as_stalled():
    clock = Clock()
    read = replaying(clock, MEBIBYTE, 3 * MEBIBYTE)
    wait = wait_until_replayed(read, ReplayCounters(), 10 * MEBIBYTE, stall_seconds=20, clock=clock, sleep=clock.sleep)
    assert wait.outcome == "stalled"
    assert wait.details["replayed_bytes"] == 3 * MEBIBYTE
    assert wait.details["expected_bytes"] == 10 * MEBIBYTE
    assert wait.details["expected_after_seconds"] is None


def test_a_snapshot_counts_when_it_is_complete_on_the_other_side():
    clock = Clock()
    wait = wait_until_copied(
        lambda: {4} if clock.now < 3 else {4, 5}, 5, clock=clock, sleep=clock.sleep, timeout_seconds=10
    )
    assert (wait.outcome, wait.seconds >= 3) == ("copied", True)
    never = wait_until_copied(set, 5, clock=clock, sleep=clock.sleep, timeout_seconds=10)
    assert never.outcome == "stalled"


def test_counters_of_another_image_do_not_count():
    dump = {
        "rbd_mirror": {"replay": 9, "replay_bytes": 99},
        "rbd_mirror_image_replay/a": {"replay": 3, "replay_bytes": 30},
        "rbd_mirror_snapshot_image_replay/b": {"snapshots": 2, "replay_bytes": 7},
    }
    assert counters_of(dump, "replay", "a").totals() == ReplayCounters(entries=3, entry_bytes=30)
    assert counters_of(dump, "replay", "b").totals() == ReplayCounters(snapshots=2, snapshot_bytes=7)
    assert counters_of(dump, "replay", "c").totals() == ReplayCounters()


def daemon(health="OK", *, leader=True, callouts=()):
    said = {"callouts": list(callouts)} if callouts else {}
    return {"service_id": "4113", "hostname": "h", "leader": leader, "health": health, **said}


def status(*daemons, **states):
    return {"summary": {"health": "OK", "states": states}, "daemons": list(daemons), "images": []}


def test_a_daemon_that_replays_is_well_whoever_else_is_registered():
    killed = daemon("ERROR", leader=False, callouts=["unable to connect to remote cluster"])
    verdict = judge(status(daemon(), killed, replaying=2, error=1))
    assert verdict == ("ok", "rbd-mirror replays the pool (1 images error, 2 images replaying)")


def test_a_daemon_that_cannot_reach_the_first_cluster_is_broken_although_it_is_registered():
    level, text = judge(status(daemon("ERROR", callouts=["unable to connect to remote cluster"])))
    assert level == "skip"
    assert text.endswith("its health is ERROR: unable to connect to remote cluster")


def test_daemons_of_which_none_leads_replay_nothing():
    level, text = judge(status(daemon("ERROR", leader=False, callouts=["Permission denied"]), daemon(leader=False)))
    assert level == "skip"
    assert text == "2 rbd-mirror daemon(s) are registered, but none leads the pool: Permission denied"


@pytest.mark.parametrize("health", ["WARNING", "UNKNOWN"])
def test_what_may_pass_is_a_warning(health):
    assert judge(status(daemon(health)))[0] == "warning"


def test_without_a_daemon_there_is_nothing_to_judge():
    assert judge(status()) is None
    assert judge({"summary": {}}) is None


@pytest.mark.parametrize(
    ("answer", "level", "lacking"),
    [
        (status(daemon()), "ok", False),
        (status(daemon("WARNING")), "warning", False),
        (status(daemon("ERROR")), "skip", True),
        (status(), "note", False),
        (CephCommandError("exit status 1: no", where="rbd"), "warning", False),
    ],
)
def test_preflight_skips_the_second_site_where_nothing_is_replayed(answer, level, lacking):
    def ask(*words, **_):
        assert words == ("rbd", "mirror", "pool", "status", "replay", "--verbose")
        if isinstance(answer, Exception):
            raise answer
        return answer

    findings = Findings()
    mirroring._check_work(
        SimpleNamespace(cluster=SimpleNamespace(json=ask, client="client.replay")), "replay", 1, findings
    )
    [item] = findings.items
    assert item.level == level
    assert ("second_site" in findings.lacking()) is lacking
