"""The versions in a sidecar come from the monitors' answers."""

from types import SimpleNamespace

from replay.base.programs import HOST_PROGRAMS, Programs
from replay.base.releases import Release
from replay.cluster import versions as module
from replay.cluster.cluster import CephCommandError

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
