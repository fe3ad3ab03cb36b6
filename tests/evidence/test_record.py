"""What sidecars say about versions: the code that measured, and releases, which may differ from those of today."""

import re

import pytest

from replay.base.paths import version
from replay.evidence import record
from replay.evidence.record import ceph_versions, changes, in_words, releases_in, unknown_releases

MEASURED = {"tool": "fio-3.33", "librbd": "16.2.15", "mon": ["16.2.15"], "mgr": ["16.2.15"], "osd": ["16.2.15"]}
EVERYTHING_18 = {"librbd": "18.2.7", "mon": ["18.2.7"], "mgr": ["18.2.7"], "osd": ["18.2.7"]}


def test_a_sidecar_names_the_releases_of_both_clusters_and_of_the_client():
    said = {**MEASURED, "rbd_mirror": [], "second_site": {"osd": ["18.2.4", "18.2.7"], "rbd_mirror": ["18.2.7"]}}
    assert releases_in(said) == {
        **dict.fromkeys(("OSDs", "monitors", "managers", "client"), frozenset({16})),
        **dict.fromkeys(("OSDs of the second cluster", "mirror daemons of the second cluster"), frozenset({18})),
    }
    assert ceph_versions(said) == {"16.2.15", "18.2.4", "18.2.7"}


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (EVERYTHING_18, "OSDs, monitors, managers and client 16 (pacific), now 18 (reef)"),
        ({**MEASURED, "librbd": "18.2.7"}, "client 16 (pacific), now 18 (reef)"),
        ({**MEASURED, "osd": ["16.2.15", "18.2.7"]}, "OSDs 16 (pacific), now 16 (pacific) and 18 (reef)"),
        ({**MEASURED, "osd": ["18.2.7"], "librbd": "20.2.4"},
         "OSDs 16 (pacific), now 18 (reef); client 16 (pacific), now 20 (tentacle)"),
        ({**MEASURED, "osd": ["16.2.14"]}, ""),
        ({"librbd": "16.2.15", "mon": None, "osd": None}, ""),
        ({**MEASURED, "osd": [], "second_site": {"osd": ["18.2.7"]}}, ""),
    ],
    ids=["upgraded", "client", "mixed", "apart", "minor", "may not ask", "not known before"],
)  # fmt: skip
def test_only_a_release_that_is_known_to_differ_is_a_change(now, words):
    assert in_words(changes(MEASURED, now)) == words


def test_a_release_that_replay_does_not_know_and_an_unknown_one_are_reported():
    assert unknown_releases(MEASURED) == []
    (newer,) = unknown_releases({**MEASURED, "osd": ["27.1.0"]})
    assert newer.startswith("Replay does not know Ceph 27")
    (untold,) = unknown_releases({"librbd": None, "osd": None})
    assert untold.startswith("the release of OSDs and client is unknown")


def test_a_checkout_states_its_version_and_its_commit():
    said = record.measuring_code.__wrapped__()
    assert said["replay_version"] == version()
    assert re.fullmatch(r"[0-9a-f]{40}", said["git_commit"])
    assert said["git_dirty"] in (True, False)


def test_an_installed_package_states_only_its_version(monkeypatch):
    monkeypatch.setattr(record, "ROOT", None)
    monkeypatch.setattr(record, "version", lambda: "1.2.3")
    assert record.measuring_code.__wrapped__() == {
        "replay_version": "1.2.3",
        "git_commit": None,
        "git_dirty": None,
    }
