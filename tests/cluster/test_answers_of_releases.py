"""Ceph's answers, versions among them, are understood in the same way, whichever release gave them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.base.programs import HOST_PROGRAMS, Programs, Release
from replay.cluster import session as module
from replay.cluster.cluster import CephCommandError
from replay.cluster.health import classify
from replay.cluster.mirroring import MirrorDaemon, ReplayCounters
from replay.evidence.record import SampleTable
from replay.measure.daemons import COUNTERS, counters_in
from replay.protocols.observers.copies import MirrorSampler
from support.releases import RECORDED, answer_of, names_of

of_every_release = pytest.mark.parametrize("release", RECORDED)
#: The bytes that `rbd bench` wrote into the image whose journal is mirrored.
WRITES, IO_BYTES = 512, 4096


def daemon_of(release):
    """A mirror daemon that answers as the release's own did; an unknown question is a KeyError."""
    asked = []

    def ask(_socket, command, timeout_seconds):
        asked.append(command)
        return answer_of(release, f"mirror-{command.replace(' ', '-')}.json")

    return MirrorDaemon("/nowhere.asok", "replay", ask=ask), asked


@of_every_release
def test_the_bytes_that_the_mirror_daemon_replayed_are_found(release):
    daemon, _ = daemon_of(release)
    journal, snapshots = daemon.counters("jour"), daemon.counters("snap")
    assert journal.entries >= WRITES
    assert journal.entry_bytes > WRITES * IO_BYTES, "an entry is larger than the write in it"
    assert (journal.snapshots, journal.snapshot_bytes) == (0, 0)
    assert snapshots.snapshots >= 2
    assert snapshots.snapshot_bytes > 0
    assert (snapshots.entries, snapshots.entry_bytes) == (0, 0)
    assert daemon.counters("absent") == ReplayCounters()


@of_every_release
def test_the_daemon_is_asked_once_which_command_it_knows_and_then_only_that_one(release):
    daemon, asked = daemon_of(release)
    for _ in range(3):
        daemon.counters("jour")
    assert asked == ["help", *["perf dump" if release == 16 else "counter dump"] * 3]


@of_every_release
def test_an_image_of_the_same_name_in_another_pool_is_another_image(release):
    daemon, _ = daemon_of(release)
    daemon.pool = "other"
    assert daemon.counters("jour") == ReplayCounters()


@of_every_release
def test_samples_have_the_same_names_in_every_release(release):
    daemon, _ = daemon_of(release)
    table = SampleTable()
    sampler = MirrorSampler(daemon, {"image-1": "jour", "image-2": "snap"}, table, lambda: 1.0)
    sampler.read()
    rows = [line.split(",") for line in table.content().decode().splitlines()[1:]]
    names = {entity: {metric for _, one, metric, _ in rows if one == entity} for entity in ("image-1", "image-2")}
    assert names == {
        "image-1": {"replay", "replay_bytes", "replay_latency.avgcount", "replay_latency.sum"},
        "image-2": {"snapshots", "snapshots_time.avgcount", "snapshots_time.sum", "replay_bytes"},
    }


@of_every_release
def test_an_osd_reports_every_counter_of_every_stage(release):
    found = counters_in(answer_of(release, "osd-perf-dump.json"))
    assert {stage: set(counters) for stage, counters in found.items()} == {
        stage: set(counters) for stage, counters in COUNTERS.items()
    }
    assert found["client"]["write_operations"] > 0
    assert found["database"]["log_bytes"] > 0


@of_every_release
@pytest.mark.parametrize("cluster", ["left", "right"])
def test_a_new_sandbox_may_be_measured_and_all_of_its_warnings_are_known(release, cluster):
    verdict = classify(
        answer_of(release, f"{cluster}-status.json"), answer_of(release, f"{cluster}-health-detail.json")
    )
    assert verdict.fit, verdict.sentence()
    assert verdict.unknown == ()


@pytest.mark.parametrize("figures", [{"num_osds": 3}, {"osdmap": {"num_osds": 3}}])
def test_the_map_of_osds_in_the_status_of_an_older_release_is_found(figures, monkeypatch):
    session = module.MonitorSession(SimpleNamespace())
    monkeypatch.setattr(session, "command", lambda *_, **__: {"osdmap": figures})
    assert session.status() == {"osdmap": {"num_osds": 3}}


def test_every_file_of_a_release_exists_for_the_others_too():
    named = {release: names_of(release) for release in RECORDED}
    common = set.intersection(*named.values())
    differing = {release: names - common for release, names in named.items()}
    assert differing == {
        16: {"mirror-perf-dump.json"},
        **{release: {"mirror-counter-dump.json"} for release in RECORDED if release > 16},
    }


# The answer of a cluster of release 20.2.4, and that of a cluster in the middle of an upgrade.
TENTACLE = "ceph version 20.2.4 (7f793731f1b39eb4f465e960113d2363c311b964) tentacle (stable - RelWithDebInfo)"
REEF = "ceph version 18.2.7 (6b0e988052ec84cf2d4a54ff9bbbc5e720b621ad) reef (stable)"
UNIFORM = {kind: {TENTACLE: 1} for kind in ("mon", "mgr", "osd", "overall")}
MIXED = {"mon": {TENTACLE: 3}, "osd": {REEF: 2, TENTACLE: 1}, "rbd-mirror": {REEF: 1}}


def session(answer, programs=HOST_PROGRAMS):
    def command(asked):
        assert asked == {"prefix": "versions"}
        if isinstance(answer, Exception):
            raise answer
        return answer

    return SimpleNamespace(cluster=SimpleNamespace(programs=programs), command=command)


def test_every_kind_of_daemon_has_its_versions_mixed_ones_too(monkeypatch):
    monkeypatch.setattr(module, "program_version", lambda program, programs: {"rbd": "ceph version 16.2.15"}[program])
    assert module.versions(session(MIXED), "rbd") == {
        **{"tool": "ceph version 16.2.15", "librbd": "16.2.15"},
        **{"osd": ["18.2.7", "20.2.4"], "mon": ["20.2.4"], "mgr": [], "rbd_mirror": ["18.2.7"]},
    }


def test_the_second_cluster_has_its_own_versions(monkeypatch):
    monkeypatch.setattr(module, "program_version", lambda *_: None)
    found = module.versions(session(UNIFORM), "fio", session(MIXED))
    assert (found["osd"], found["second_site"]["osd"]) == (["20.2.4"], ["18.2.7", "20.2.4"])
    assert found["second_site"]["rbd_mirror"] == ["18.2.7"]


def test_a_client_that_may_not_ask_is_not_a_failure(monkeypatch):
    monkeypatch.setattr(module, "program_version", lambda *_: None)
    found = module.versions(session(CephCommandError("denied", where="ceph versions")), "fio")
    assert [found[kind] for kind in ("mon", "mgr", "osd", "rbd_mirror")] == [None] * 4


def test_a_client_of_another_release_than_the_hosts_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "program_version", lambda *_: "18.2.7")
    programs = Programs(Release(18, "18.2.7", "a test", tmp_path))
    assert module.versions(session(UNIFORM, programs), "fio")["client_release"] == 18
    assert "client_release" not in module.versions(session(UNIFORM), "fio")
