"""How much a pool takes: a quota is a limit like the space on the OSDs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.cluster.site import Pool, Pools
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from replay.design.sizing import bytes_at_once
from replay.ownership.pools import Room, room_in, room_of
from replay.preflight.checks import Findings
from replay.preflight.pool_checks import check_room, without_room

STATS = {"max_avail": 100 << 30, "stored": 1 << 30, "objects": 300}


@pytest.mark.parametrize(
    ("quota", "room"),
    [
        ({}, Room(100 << 30)),
        ({"quota_max_bytes": 0, "quota_max_objects": 0}, Room(100 << 30)),
        ({"quota_max_bytes": 3 << 30}, Room(2 << 30, "3 GiB")),
        ({"quota_max_bytes": 1 << 29}, Room(0, "512 MiB")),
        ({"quota_max_bytes": 300 << 30}, Room(100 << 30)),
        ({"quota_max_objects": 300}, Room(0, "300 objects")),
        ({"quota_max_objects": 301}, Room(100 << 30)),
    ],
)
def test_the_room_in_a_pool_ends_at_its_quota(quota, room):
    assert room_in(quota, STATS) == room


def test_a_pool_that_does_not_exist_has_no_room_to_tell_of():
    found = {"osd pool ls": [{"pool_name": "replay"}], "df": {"pools": [{"name": "replay", "stats": STATS}]}}
    session = SimpleNamespace(command=lambda asked, **_: found[asked["prefix"]])
    assert room_of(session, "replay") == Room(100 << 30)
    assert room_of(session, "other") is None


def test_preflight_names_the_experiments_that_do_not_fit():
    site, findings = SimpleNamespace(pools=Pools(Pool("replay"))), Findings()
    check_room(site, {"small": 1 << 20}, findings)
    assert findings.items == [], "the room is not known"
    findings.room = Room(2 << 20, "2 MiB")
    check_room(site, {"small": 1 << 20, "large": 1 << 30}, findings)
    (item,) = findings.items
    assert item.level == "warning"
    assert item.text == (
        "pool replay can take 2 MiB more, by its quota of 2 MiB, and the images of a block need more: large (1 GiB)"
    )
    assert without_room(Pool("replay"), Room(1 << 30), {"large": 1 << 30}) == "", "it fits exactly"


def test_images_that_are_there_together_are_added_up():
    design = expand(load_experiment("rbd-journaling"), "smoke")
    size = design.variants[0].image.size_bytes
    names = {cell.variant.image_name for one in design.sets for cell in one.cells}
    assert bytes_at_once(design) == len(names) * size
