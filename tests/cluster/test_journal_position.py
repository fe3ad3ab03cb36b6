"""How far a journal has been replayed is read from the journal itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.cluster.cluster import CephCommandError
from replay.cluster.mirroring import NOT_BEGUN, is_replaying, positions_in, wait_until_level
from support.bench import Clock

#: As Ceph 16.2.15 printed it while a daemon replayed 32 MiB.
STATUS = {
    "minimum_set": 0,
    "active_set": 0,
    "registered_clients": [
        {
            "id": "",
            "data": "",
            "commit_position": {
                "object_positions": [
                    {"object_number": 1, "tag_tid": 2, "entry_tid": 2561},
                    {"object_number": 0, "tag_tid": 2, "entry_tid": 2560},
                ]
            },
            "state": "connected",
        },
        {
            "id": "ed27eddc-1924-484d-b031-9dfb4fde3a7f",
            "data": "",
            "commit_position": {"object_positions": [{"object_number": 0, "tag_tid": 2, "entry_tid": 352}]},
            "state": "connected",
        },
    ],
}


def test_the_newest_entry_of_each_client_is_its_position():
    assert positions_in(STATUS) == ((2, 2561), [(2, 352)])
    new = {"registered_clients": [{"id": "a peer", "commit_position": {"object_positions": []}}]}
    assert positions_in(new) == (NOT_BEGUN, [NOT_BEGUN])


def waited(readings, before=(1, 3)):
    readings, clock = list(readings), Clock()

    def read():
        return readings.pop(0) if len(readings) > 1 else readings[0]

    return wait_until_level(read, before, clock=clock, sleep=clock.sleep)


def test_the_wait_ends_when_the_peer_is_where_the_writer_is():
    own = (2, 2561)
    wait = waited([(own, [NOT_BEGUN]), (own, [(2, 352)]), (own, [(2, 1952)]), (own, [own])])
    assert (wait.outcome, wait.seconds, wait.reason) == ("replayed", 3, "journal_replayed")
    assert wait.details["replayed_entries"] == 2562, "of the new tag, from its first entry on"
    assert wait.details["expected_after_seconds"] == 3
    assert waited([(own, [own])], before=(2, 61)).details["replayed_entries"] == 2500


def test_a_peer_that_does_not_move_for_a_minute_is_stalled_and_one_that_moves_is_not():
    own = (2, 100)
    stalled = waited([(own, [(2, 5)])])
    assert stalled.outcome == "stalled" and stalled.details["expected_after_seconds"] is None
    slow = [(own, [(2, entry)]) for entry in range(100) for _ in range(50)]
    assert waited([*slow, (own, [own])]).outcome == "replayed"


def test_without_a_peer_nothing_is_level():
    assert waited([((1, 3), [])]).outcome == "stalled"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"state": "up+replaying"}, True),
        ({"state": "up+starting_replay"}, False),
        (CephCommandError("no such image", where="rbd", exit_status_of_tool=2), False),
    ],
)
def test_an_image_is_replayed_when_the_second_cluster_says_so(answer, expected):
    def json(*words):
        assert words == ("rbd", "mirror", "image", "status", "replay/i")
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert is_replaying(SimpleNamespace(json=json), "replay/i") is expected


def test_a_cluster_that_does_not_answer_is_an_error():
    def json(*words):
        raise CephCommandError("no answer within 30 s", where="rbd")

    with pytest.raises(CephCommandError):
        is_replaying(SimpleNamespace(json=json), "replay/i")
