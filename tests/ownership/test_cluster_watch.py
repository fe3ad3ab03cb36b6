"""What makes a wait hopeless ends it: a dead daemon, a full pool of ours, a lost monitor. The rest is only said."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.clock import LOOK_EVERY_SECONDS
from replay.base.errors import ReplayError
from replay.cluster.cluster import CephCommandError
from replay.cluster.mirroring import MirrorDaemon
from replay.cluster.site import Ceilings, Pool, Pools
from replay.measure.guard import CHECK_EVERY_SECONDS
from replay.ownership import open_site
from replay.ownership.open_site import ANSWER_WITHIN_SECONDS, ClusterWatch


class Session:
    """A cluster with these health codes and pools; `lost` has it answer nobody."""

    cluster = SimpleNamespace(conf="ceph.conf")

    def __init__(self, *codes, pools=()):
        self.codes, self.pools, self.lost = list(codes), list(pools), False
        self.patience, self.ages = [], []

    def status(self, timeout_seconds=30.0, at_most_seconds_old=0.0):
        self.patience.append(timeout_seconds)
        self.ages.append(at_most_seconds_old)
        if self.lost:
            raise CephCommandError("no answer within 10 s", where="ceph status")
        return {"health": {"checks": {code: {"summary": {"message": f"about {code}"}} for code in self.codes}}}

    def command(self, command, timeout_seconds):
        assert (command["prefix"], timeout_seconds) == ("osd pool ls", ANSWER_WITHIN_SECONDS)
        return self.pools


@pytest.fixture
def site(tmp_path):
    second = SimpleNamespace(mirror_daemon_admin_socket=Path(tmp_path / "mirror.asok"))
    return SimpleNamespace(name="mine", sandbox=None, pools=Pools(Pool("replay")), second_site=second)


@pytest.fixture
def answers(monkeypatch):
    """Set whether the mirror daemon answers. If not, nobody listens on its admin socket."""
    state = {"answers": True}
    ask = MirrorDaemon.alive

    def alive(daemon):
        if not state["answers"]:
            ask(daemon)

    monkeypatch.setattr(MirrorDaemon, "alive", alive)
    return state


def pool(name, flags="hashpspool", quota=0):
    return {"pool_name": name, "flags_names": flags, "quota_max_bytes": quota}


def test_new_codes_are_told_but_not_those_of_the_start_or_harmless_ones(site):
    session = Session("SLOW_OPS")
    watch = ClusterWatch(session)
    assert watch.look(site) == "no new health code"
    session.codes += ["PG_DEGRADED", "RECENT_CRASH"]
    assert watch.look(site) == "new on the cluster: PG_DEGRADED (about PG_DEGRADED)"


def test_an_osd_that_went_down_since_the_start_ends_a_wait(site):
    session = Session()
    watch = ClusterWatch(session)
    session.codes.append("OSD_DOWN")
    with pytest.raises(ReplayError, match="OSD_DOWN: about OSD_DOWN"):
        watch.look(site)


@pytest.mark.parametrize("name", ["replay", "replay-1f2e3d4c-journals"])
def test_a_pool_of_ours_at_its_quota_ends_a_wait_of_writers(site, name):
    session = Session("POOL_FULL", pools=[pool("tenant"), pool(name, "full,full_quota,hashpspool", 1048576)])
    watch = ClusterWatch(session)
    with pytest.raises(ReplayError, match=f"pool {name} is full: its quota is 1048576 bytes") as raised:
        watch.look(site)
    assert "raise the quota" in raised.value.next_step
    told = watch.look(site, writing=False)
    assert told == f"what is written there waits: the cluster: pool {name} is full: its quota is 1048576 bytes"


def test_a_neighbours_full_pool_ends_nothing(site):
    assert ClusterWatch(Session("POOL_FULL", pools=[pool("tenant", "full")])).look(site) == "no new health code"


def test_a_lost_monitor_ends_a_wait_after_one_short_question(site):
    session = Session()
    watch = ClusterWatch(session)
    session.lost = True
    with pytest.raises(ReplayError, match="no monitor of the cluster answers") as raised:
        watch.look(site)
    assert session.patience[-1] == ANSWER_WITHIN_SECONDS
    assert session.ages == [0.0, LOOK_EVERY_SECONDS], "what was there at the start is asked; then the check's serves"
    assert "ceph.conf" in raised.value.next_step


def test_only_waits_for_mirroring_look_at_the_second_cluster_and_its_daemon(site, answers):
    second = Session()
    watch = ClusterWatch(Session(), second)
    second.lost, answers["answers"] = True, False
    assert watch.look(site) == "no new health code"
    with pytest.raises(ReplayError, match="no monitor of the second cluster answers"):
        watch.look(site, mirrored=True)


def test_a_mirror_daemon_that_stays_silent_ends_a_wait_but_not_one_that_restarts(site, answers):
    watch = ClusterWatch(Session(), Session())
    assert watch.look(site, mirrored=True) == "the mirror daemon answers"
    answers["answers"] = False
    assert watch.look(site, mirrored=True) == "the mirror daemon does not answer"
    answers["answers"] = True
    watch.look(site, mirrored=True)
    answers["answers"] = False
    watch.look(site, mirrored=True)
    with pytest.raises(ReplayError, match="the mirror daemon does not answer") as raised:
        watch.look(site, mirrored=True)
    assert "systemctl start ceph-rbd-mirror" in raised.value.next_step


def test_a_daemon_of_our_sandbox_that_does_not_run_ends_a_wait_and_the_command_is_named(site, monkeypatch):
    def absent(site, *, clusters):
        return ["rbd-mirror.right of right does not run"] if "right" in clusters else []

    monkeypatch.setattr(open_site, "absent_daemons", absent)
    watch = ClusterWatch(Session(), Session())
    assert watch.look(site) == "no new health code"
    with pytest.raises(ReplayError, match=r"rbd-mirror\.right of right does not run") as raised:
        watch.look(site, mirrored=True)
    assert "sandbox up" in raised.value.next_step


def test_a_second_cluster_that_is_gone_is_said_at_once_and_ends_a_run_after_a_while(monkeypatch):
    now, said, second = [100.0], [], Session()
    monkeypatch.setattr(open_site.time, "monotonic", lambda: now[0])
    watch, limits = ClusterWatch(Session(), second), Ceilings()

    def check(seconds, *, has_tenants=True):
        now[0] += seconds
        return watch.check(limits, has_tenants=has_tenants, say=said.append)

    assert check(5) is None and said == []
    second.lost = True
    assert check(5) is None
    assert said == ["no monitor of the second cluster answers: no answer within 10 s; the run ends if that lasts 8 s"]
    assert (second.patience[-1], second.ages[-1]) == (4.0, 3.0), "asked every three seconds, for four seconds"
    assert check(5) is None and len(said) == 1, "it is said once"
    assert check(5).reason == "second_silent"
    assert check(5, has_tenants=False) is None, "experiments stop the daemons of a sandbox"
    second.lost = False
    assert check(5) is None
    second.lost = True
    assert check(5) is None and len(said) == 2, "it answered in between"


def test_a_second_cluster_that_is_gone_ends_a_run_fifteen_seconds_after_its_last_answer(monkeypatch):
    """However its death and the checks fall: an answer may be as old as is allowed, and each question waits in vain."""
    now, second = [0.0], Session()
    monkeypatch.setattr(open_site.time, "monotonic", lambda: now[0])
    watch = ClusterWatch(Session(), second)

    def status(timeout_seconds, at_most_seconds_old):
        if now[0] > at_most_seconds_old:  # the last answer was at 0
            now[0] += timeout_seconds
            raise CephCommandError("no answer", where="ceph status")
        return {}

    second.status = status
    for first_check in (0.1, 1.0, CHECK_EVERY_SECONDS):
        watch._second_silent_since, now[0] = None, first_check
        while watch.check(Ceilings(), has_tenants=True) is None:
            now[0] += CHECK_EVERY_SECONDS
        assert 8 <= now[0] <= 15
