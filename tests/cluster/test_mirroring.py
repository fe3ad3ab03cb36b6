"""Waits end on the daemon's counters, never on a status that lags; daemons are judged by what they do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.cluster.cluster import CephCommandError
from replay.cluster.mirror_health import judge
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters, counters_of
from replay.preflight import mirroring
from replay.preflight.findings import Findings


def test_an_option_of_a_daemon_is_a_number():
    asked = []

    def ask(_socket, command, timeout_seconds):
        asked.append(command)
        return {command["var"]: "5.000000"}

    assert MirrorDaemon("/nowhere.asok", "replay", ask=ask).option("rbd_mirror_journal_poll_age") == 5.0
    assert asked == [{"prefix": "config get", "var": "rbd_mirror_journal_poll_age"}]


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
    assert (verdict.level, verdict.text) == ("ok", "rbd-mirror replays the pool (1 images error, 2 images replaying)")


def test_a_daemon_that_cannot_reach_the_first_cluster_is_broken_although_it_is_registered():
    verdict = judge(status(daemon("ERROR", callouts=["unable to connect to remote cluster"])))
    assert verdict.level == "broken"
    assert verdict.text.endswith("its health is ERROR: unable to connect to remote cluster")


def test_daemons_of_which_none_leads_replay_nothing():
    verdict = judge(status(daemon("ERROR", leader=False, callouts=["Permission denied"]), daemon(leader=False)))
    assert verdict.level == "broken"
    assert verdict.text == "2 rbd-mirror daemon(s) are registered, but none leads the pool: Permission denied"


@pytest.mark.parametrize("health", ["WARNING", "UNKNOWN"])
def test_what_may_pass_is_a_warning(health):
    assert judge(status(daemon(health))).level == "warning"


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
