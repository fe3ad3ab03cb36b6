"""How far a journal has been replayed is read from the journal itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.cluster.cluster import CephCommandError
from replay.cluster.journal_position import NOT_BEGUN, is_replaying, positions_in

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
