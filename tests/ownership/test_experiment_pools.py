"""Pools of an experiment are in the ledger before they exist, have the requested size, and are removed afterwards."""

from __future__ import annotations

import errno
from types import SimpleNamespace

import pytest

from replay.base.clock import Waiting
from replay.base.errors import RefusedError, ReplayError
from replay.cluster.cluster import CephCommandError
from replay.ownership.ledger import Ledger, unique_name
from replay.ownership.pools import (
    PoolSizeRefusedError,
    PoolSpec,
    await_pools,
    create_pool,
    remove_leftover_pools,
    remove_pool_entries,
)
from replay.ownership.removal import Remover
from support.bench import bench_of

CLEAN = {"health": {"checks": {}}, "pgmap": {"pgs_by_state": [{"state_name": "active+clean", "count": 1}]}}


class Monitors:
    """A cluster that makes, sizes, lists and deletes pools, and refuses the sizes in `refused`."""

    def __init__(self, ledger, refused=(), error=errno.EPERM):
        self.ledger, self.refused, self.error = ledger, refused, error
        self.pools = {"replay": {"pool_name": "replay", "pool_id": 1, "pg_num": 32, "size": 3}}
        self.asked: list[dict] = []
        self.known, self.delete = 0, True
        self.cluster = SimpleNamespace(run=lambda *words, **_: SimpleNamespace(stdout="\tbenchmark_data_x_1_object0\n"))

    def fsid(self):
        return "0f0f0f0f-0000"

    def command(self, command, target="mon"):
        if target == "mgr":
            return self.delete
        self.asked.append(command)
        prefix, name = command["prefix"], command.get("pool")
        if prefix == "osd pool create":
            assert [entry.pool for entry in self.ledger.owned()][-1] == name, "in the ledger first"
            number = 2 + len(self.asked)
            self.pools[name] = {"pool_name": name, "pool_id": number, "pg_num": command["pg_num"], "size": 3}
        elif prefix == "osd pool set":
            if int(command["val"]) in self.refused:
                raise CephCommandError("error 1: it is disabled", where="osd pool set", exit_status_of_tool=self.error)
            self.pools[name]["size"] = int(command["val"])
        elif prefix == "osd pool ls":
            return list(self.pools.values())
        elif prefix == "osd pool delete":
            del self.pools[name]
        return None

    def status(self):
        self.known += 1
        return {
            **CLEAN,
            "quorum_names": ["a"],
            "pgmap": {**CLEAN["pgmap"], "num_pgs": 32 * min(self.known, len(self.pools))},
        }


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.setattr(Waiting, "pause", lambda self, seconds: None)

    def of(allows=("pool_create", "pool_delete"), **more):
        ledger = Ledger("0f0f0f0f-0000", directory=tmp_path)
        site = SimpleNamespace(
            name="s", allows=set(allows), fsid=None, pools=SimpleNamespace(all=lambda: [SimpleNamespace(name="replay")])
        )
        return bench_of(site, Monitors(ledger, **more), ledger=ledger)

    return of


def test_a_pool_is_in_the_ledger_with_its_id_and_has_the_requested_copies(bench):
    made = bench()
    pool = create_pool(made, "replicas-2", PoolSpec(2), application="rados")
    assert made.session.pools[pool]["size"] == 2
    [entry] = made.ledger.owned()
    assert (entry.kind, entry.pool, entry.confirmed) == ("pool", pool, True)
    assert entry.facts == {"id": made.session.pools[pool]["pool_id"]}
    assert pool.endswith("-replicas-2")


def test_only_a_single_copy_is_requested_with_the_confirmation_that_ceph_wants(bench):
    made = bench()
    for replicas in (1, 2):
        create_pool(made, f"replicas-{replicas}", PoolSpec(replicas), application="rados")
    sure = [one.get("yes_i_really_mean_it") for one in made.session.asked if one["prefix"] == "osd pool set"]
    assert sure == [True, None]


def test_if_the_monitors_refuse_a_size_nothing_is_left_of_the_pool(bench):
    made = bench(refused={1})
    with pytest.raises(PoolSizeRefusedError, match="refuse a pool of size 1: error 1: it is disabled"):
        create_pool(made, "replicas-1", PoolSpec(1), application="rados")
    assert (list(made.session.pools), made.ledger.owned()) == (["replay"], [])


def test_any_other_error_is_not_a_refusal_and_the_pool_stays_in_the_ledger(bench):
    made = bench(refused={1}, error=errno.EIO)
    with pytest.raises(CephCommandError):
        create_pool(made, "replicas-1", PoolSpec(1), application="rados")
    assert len(made.ledger.owned()) == 1
    assert remove_leftover_pools(made) == 1
    assert list(made.session.pools) == ["replay"]


@pytest.mark.parametrize("allows", [(), ("pool_create",), ("pool_delete",)])
def test_a_site_that_does_not_allow_it_gets_no_pool(bench, allows):
    made = bench(allows=allows)
    with pytest.raises(RefusedError):
        create_pool(made, "replicas-2", PoolSpec(2), application="rados")
    assert (made.session.asked, made.ledger.owned()) == ([], [])


def test_no_pool_is_made_that_the_monitors_would_not_delete(bench):
    made = bench()
    made.session.delete = False
    with pytest.raises(RefusedError, match="mon_allow_pool_delete is false"):
        create_pool(made, "replicas-2", PoolSpec(2), application="rados")
    assert (made.session.asked, made.ledger.owned()) == ([], [])


def test_a_pool_is_marked_so_that_a_users_rights_can_refer_to_it(bench):
    made = bench()
    pool = create_pool(made, "replicas-2", PoolSpec(2), application="rados")
    (mark,) = [one for one in made.session.asked if one["prefix"] == "osd pool application set"]
    assert mark == {
        **{"prefix": "osd pool application set", "pool": pool, "app": "rados"},
        **{"key": "replay", "value": "own"},
    }


def test_it_is_marked_before_its_size_is_refused_because_the_mark_lets_the_user_list_and_remove_it(bench):
    made = bench(refused={1})
    with pytest.raises(PoolSizeRefusedError):
        create_pool(made, "replicas-1", PoolSpec(1), application="rados")
    asked = [one["prefix"] for one in made.session.asked]
    assert asked.index("osd pool application set") < asked.index("osd pool set") < asked.index("osd pool delete")


def test_a_pool_that_cannot_be_listed_is_left_to_an_administrator(bench):
    def denied(*words, **_):
        raise CephCommandError("exit status 1: access denied", where="rados", exit_status_of_tool=1)

    made = bench()
    pool = create_pool(made, "replicas-2", PoolSpec(2), application="rados")
    made.session.cluster.run = denied
    (entry,) = made.ledger.owned()
    outcome = Remover(made.site, made.session, made.ledger).remove(entry)
    assert (outcome.status, pool in made.session.pools) == ("left", True)
    assert outcome.why == "what it holds cannot be listed: exit status 1: access denied"
    assert f"ceph osd pool delete {pool} {pool} " in outcome.next_step


def test_replays_own_images_in_a_pool_are_not_called_somebody_elses(bench):
    made = bench()
    entry = made.ledger.intend("pool", unique_name("pool"), "", "", site="s", details={"final_name": "replay"})
    made.ledger.confirm(entry, {"id": 1})
    made.ledger.intend("image", "replay", "", "replay-0a1b2c3d-x", site="s")
    made.session.cluster.run = lambda *words, **_: SimpleNamespace(stdout="\trbd_header.1\n")
    remover = Remover(made.site, made.session, made.ledger)
    pool, image = made.ledger.owned()
    outcome = remover.remove(pool)
    assert (outcome.status, outcome.why) == ("left", f"it holds objects of images, and {image.spec} still exists")
    made.ledger.removed(image.id)
    assert "objects of images that Replay does not own, such as rbd_header.1" in remover.remove(pool).why


def test_pools_are_awaited_until_the_manager_knows_all_their_placement_groups(bench):
    made = bench()
    pools = [create_pool(made, f"replicas-{n}", PoolSpec(n), application="rados") for n in (1, 2, 3)]
    made.session.known = 0
    await_pools(made, pools)
    assert made.session.known >= 4, "the first answers knew of fewer placement groups than there are"


def test_only_the_given_pools_are_removed_and_only_experiments_pools_are_leftovers(bench):
    made = bench()
    first, second = (create_pool(made, f"replicas-{n}", PoolSpec(n), application="rados") for n in (1, 2))
    made.ledger.intend("pool", unique_name("pool"), "", "", site="s", details={"final_name": "replay"})
    # The site's file named it once.
    made.ledger.intend("pool", unique_name("pool"), "", "", site="s", details={"final_name": "replay-before"})
    other = unique_name("other")
    made.ledger.intend("pool", other, "", "", site="another", details={"final_name": other})
    remove_pool_entries(made, lambda entry: entry.pool == first)
    assert list(made.session.pools) == ["replay", second]
    assert remove_leftover_pools(made) == 1
    assert list(made.session.pools) == ["replay"]
    assert [entry.site for entry in made.ledger.owned()] == ["s", "s", "another"]


def test_a_pool_that_stays_is_an_error_that_names_it(bench):
    made = bench()
    pool = create_pool(made, "replicas-2", PoolSpec(2), application="rados")
    made.site.allows.discard("pool_delete")
    with pytest.raises(ReplayError, match="1 pool\\(s\\) could not be removed") as raised:
        remove_pool_entries(made, lambda entry: entry.pool == pool)
    assert raised.value.where == pool
    assert len(made.ledger.owned()) == 1
