"""Two runs never use one cluster, whichever hosts they are on; and its administrator can end every run."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest

from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import Pool, Pools
from replay.ownership import locks as module
from replay.ownership.ledger import Ledger
from replay.ownership.locks import (
    KIND,
    LASTS_SECONDS,
    LOCK_OBJECT,
    RENEW_EVERY_SECONDS,
    STOP_OBJECT,
    ClusterLock,
    Holder,
    go_command,
    parse,
    stop_command,
    stop_switch,
    this_process,
)

FSID = "11111111-2222-3333-4444-555555555555"
ELSEWHERE = Holder("another-host", "ceph", 4711, 1, "another boot", "another space", "2026-01-01T00:00:00Z")


class Rados:
    """A pool with locks that lapse, as cls_lock has them; each session is a client of its own."""

    def __init__(self):
        self.now, self.locks, self.objects, self.failing = 0.0, {}, {}, None
        self.pools = ["replay"]

    def session(self, client):
        return SimpleNamespace(
            command=lambda command, **_: self.ask(client, command),
            cluster=SimpleNamespace(run=lambda program, *words, **_: self.run(words)),
        )

    def held(self):
        found = self.locks.get(LOCK_OBJECT)
        return found if found and found["until"] > self.now else None

    def ask(self, client, command):
        if command["prefix"] == "osd lspools":
            return [{"poolname": name} for name in self.pools]
        if self.failing:
            raise CephCommandError("it failed", where="rados", exit_status_of_tool=self.failing)
        held = self.held()
        if command["prefix"] == "read":
            if command["object"] not in self.objects:
                raise CephCommandError("none", where="rados", exit_status_of_tool=errno.ENOENT)
            return {"text": self.objects[command["object"]]}
        if command["prefix"] == "remove":
            self.objects.pop(command["object"])
            self.locks.pop(command["object"], None)
            return {}
        own = held and (held["name"], held["cookie"]) == (client, command["cookie"])
        if held and not own:
            raise CephCommandError("busy", where="rados", exit_status_of_tool=errno.EBUSY)
        if command["renew"] and not own:
            raise CephCommandError("not held", where="rados", exit_status_of_tool=errno.ENOENT)
        self.objects[command["object"]] = ""
        self.locks[command["object"]] = {
            **{"name": client, "cookie": command["cookie"], "description": command["description"]},
            "until": self.now + command["seconds"],
        }
        return {}

    def run(self, words):
        assert words[:4] == ("--pool", "replay", "lock", words[3]), words
        if words[3] == "info":
            held = self.held()
            return SimpleNamespace(returncode=0, stdout=json.dumps({"lockers": [held] if held else []}))
        assert words[3] == "break"
        del self.locks[LOCK_OBJECT]
        return SimpleNamespace(returncode=0, stdout="")


@pytest.fixture
def rados():
    return Rados()


@pytest.fixture
def lock(rados, tmp_path):
    """How to make a lock of a client; waiting lets the cluster's time go on."""

    def make(client="client.1", folder="ledger", **how):
        def sleep(seconds):
            rados.now += seconds

        site = SimpleNamespace(name="mine", pools=Pools(Pool("replay")))
        said = []
        made = ClusterLock(
            site,
            rados.session(client),
            Ledger(FSID, directory=tmp_path / folder),
            say=said.append,
            clock=lambda: rados.now,
            sleep=sleep,
            **how,
        )
        made.said = said
        return made

    return make


def test_the_lock_is_in_the_ledger_while_it_is_held_and_leaves_nothing(lock, rados):
    one = lock()
    one.acquire()
    assert [entry.kind for entry in one.ledger.owned()] == [KIND]
    assert parse(rados.held()["description"]).process == os.getpid()
    one.release()
    assert rados.objects == {} and one.ledger.owned() == []


def test_a_user_whom_the_machine_does_not_know_is_named_by_its_number(monkeypatch):
    def unknown():
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr(module.getpass, "getuser", unknown)
    assert this_process().user == str(os.getuid())


def test_another_host_is_refused_and_told_who_holds_it(lock, rados, monkeypatch):
    monkeypatch.setattr(module, "this_process", lambda: ELSEWHERE)
    first = lock()
    first.acquire()
    monkeypatch.undo()
    second = lock("client.2", "another ledger", wait_seconds=10)
    with pytest.raises(RefusedError, match="process 4711 of ceph on another-host, since 2026") as refused:
        second.acquire()
    assert "lapses within 60 s" in refused.value.next_step
    assert len(second.said) == 1 and "waiting up to 10 s" in second.said[0]
    second.release()
    assert rados.held()["name"] == "client.1", "it does not take what it does not hold"


def test_the_lock_of_a_host_that_died_lapses(lock, rados, monkeypatch):
    monkeypatch.setattr(module, "this_process", lambda: ELSEWHERE)
    lock().acquire()
    monkeypatch.undo()
    second = lock("client.2", "another ledger")
    second.acquire()
    assert rados.held()["name"] == "client.2" and rados.now >= LASTS_SECONDS


def test_the_lock_of_a_process_that_died_on_this_machine_is_taken_at_once(lock, rados, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        ended.wait()
    monkeypatch.setattr(module, "this_process", lambda: replace(this_process(), process=ended.pid, began=1))
    lock().acquire()
    monkeypatch.undo()
    second = lock("client.2")
    second.acquire()
    assert rados.held()["name"] == "client.2" and rados.now == 0


def test_a_lock_that_cannot_be_looked_at_is_not_waited_for_without_end(lock, rados, monkeypatch):
    monkeypatch.setattr(module, "this_process", lambda: ELSEWHERE)
    lock().acquire()
    monkeypatch.undo()
    second = lock("client.2", "another ledger", wait_seconds=10)
    monkeypatch.setattr(type(second.object), "lockers", lambda self, name: [])
    with pytest.raises(RefusedError, match="it is one that the lock does not name"):
        second.acquire()


def test_a_process_that_lives_is_not_dead_and_a_later_one_of_its_number_is_not_it():
    me = this_process()
    assert not me.is_dead()
    assert replace(me, began=me.began - 1).is_dead()
    assert not replace(me, began=me.began - 1, boot="another").is_dead(), "nobody here knows"
    assert parse(me.text()) == me
    assert parse("somebody else's") is None
    assert parse(json.dumps({**asdict(me), "more": 1})) is None


def test_it_is_renewed_in_time_and_lasts_as_long_as_the_run(lock, rados):
    one = lock()
    one.acquire()
    for _ in range(100):
        rados.now += RENEW_EVERY_SECONDS / 2
        assert one.renew_when_due() is None
        assert rados.held()
    one.release()
    assert rados.objects == {}


def test_after_its_connection_broke_it_takes_its_own_lock_again(lock, rados):
    one = lock()
    one.acquire()
    one.object = replace(one.object, session=rados.session("client.9"))
    rados.now += RENEW_EVERY_SECONDS
    assert one.renew_when_due() is None
    assert rados.held()["name"] == "client.9"


def test_a_run_whose_lock_somebody_has_taken_ends(lock, rados):
    one = lock()
    one.acquire()
    rados.locks[LOCK_OBJECT] = {
        **{"name": "client.2", "cookie": "theirs", "description": ELSEWHERE.text()},
        "until": rados.now + 1000,
    }
    rados.now += RENEW_EVERY_SECONDS
    stop = one.renew_when_due()
    assert stop.reason == "lock_lost" and "another-host" in stop.detail
    one.release()
    assert rados.held()["cookie"] == "theirs"


def test_removing_goes_on_only_while_the_lock_can_be_renewed_or_nobody_else_can_have_it(lock, rados):
    one = lock()
    one.acquire()
    rados.now += 10 * LASTS_SECONDS
    one.keep()
    assert rados.held()["cookie"] == one.cookie, "nobody else took it while a person thought"
    rados.failing = errno.ETIMEDOUT
    rados.now += RENEW_EVERY_SECONDS
    one.keep()
    rados.failing = None
    rados.locks[LOCK_OBJECT] |= {"name": "client.2", "cookie": "theirs", "description": ELSEWHERE.text()}
    with pytest.raises(RefusedError, match=r"the lock on the cluster .* was lost: .* on another-host") as refused:
        one.keep()
    assert "replay clean --site mine" in refused.value.next_step
    rados.pools.remove("replay")
    one.keep()


def test_a_cluster_that_is_lost_for_minutes_does_not_end_the_run(lock, rados):
    one = lock()
    one.acquire()
    rados.failing = errno.ETIMEDOUT
    for _ in range(10):
        rados.now += RENEW_EVERY_SECONDS
        with pytest.raises(CephCommandError):
            one.renew_when_due()
    rados.failing = None
    assert rados.held() is None, "the lock has lapsed"
    assert one.renew_when_due() is None
    assert rados.held()["cookie"] == one.cookie


def test_a_lock_that_cannot_be_released_stays_in_the_ledger_for_clean(lock, rados):
    one = lock()
    one.acquire()
    rados.failing = errno.ETIMEDOUT
    one.release()
    assert "lapses by itself" in one.said[0]
    assert [entry.kind for entry in one.ledger.owned()] == [KIND]


def test_nothing_is_locked_without_the_pool_or_without_the_module(lock, rados):
    one = lock()
    for number, said in ((errno.ENOENT, []), (errno.ENOTSUP, ["python3-rados is missing"])):
        one.said.clear()
        rados.failing = number
        one.acquire()
        assert not one.is_held and one.renew_when_due() is None and one.ledger.owned() == []
        assert [line.split(":")[0] for line in one.said] == said


def test_with_its_pool_the_lock_is_gone(lock, rados):
    one = lock()
    one.acquire()
    rados.pools.clear()
    rados.failing = errno.ETIMEDOUT
    one.release()
    assert one.ledger.owned() == [] and one.said == []


def test_a_user_who_may_not_lock_is_refused_and_leaves_no_entry(lock, rados):
    one = lock()
    rados.failing = errno.EPERM
    with pytest.raises(RefusedError, match="this user may not write to pool replay"):
        one.acquire()
    assert one.ledger.owned() == []


def test_the_stop_switch_gives_its_reason(rados):
    site = SimpleNamespace(name="mine", pools=Pools(Pool("replay")))
    look = stop_switch(site, rados.session("client.1"))
    assert look() is None
    rados.objects[STOP_OBJECT] = "backups\nrun now\n"
    assert look().reason == "stopped" and look().detail.endswith("by the object replay/replay-stop: backups run now")
    rados.objects[STOP_OBJECT] = ""
    assert look().detail.endswith("no reason is given in it")
    assert stop_command(site) == "rados --pool replay create replay-stop"
    spaced = SimpleNamespace(pools=Pools(Pool("shared", namespace="ours")))
    assert go_command(spaced) == "rados --pool shared --namespace ours rm replay-stop"


@pytest.mark.sandbox
def test_on_a_real_cluster_two_processes_exclude_each_other_and_the_switch_is_seen(administrator, tmp_path):
    site = SimpleNamespace(name="mine", pools=Pools(Pool("replay")))
    ours, theirs = (Ledger(FSID, directory=tmp_path / name) for name in ("ours", "theirs"))
    with MonitorSession(administrator) as one, MonitorSession(administrator) as two:
        with ClusterLock(site, one, ours) as held:
            assert held.is_held
            with (
                pytest.raises(RefusedError, match=f"process {os.getpid()} of "),
                ClusterLock(site, two, theirs, wait_seconds=1.0),
            ):
                raise AssertionError("both hold it")
            held._renewed -= RENEW_EVERY_SECONDS
            assert held.renew_when_due() is None
            one.close()  # the next question is another client's
            held._renewed -= RENEW_EVERY_SECONDS
            assert held.renew_when_due() is None
        with ClusterLock(site, two, theirs, wait_seconds=1.0) as then:
            assert then.is_held
        look = stop_switch(site, one)
        assert look() is None
        administrator.run("rados", *stop_command(site).split()[1:])
        assert look().reason == "stopped"
        administrator.run("rados", *go_command(site).split()[1:])
        assert look() is None
    listed = administrator.run("rados", "--pool", "replay", "ls").stdout.split()
    assert not {LOCK_OBJECT, STOP_OBJECT} & set(listed)
