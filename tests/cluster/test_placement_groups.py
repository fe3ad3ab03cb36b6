"""Placement groups: stable if the manager agrees with the monitors and counts every object; stuck ones are named."""

from __future__ import annotations

import errno

import pytest

from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError
from replay.cluster.placement_groups import Places, await_calm, await_stable, stuck_groups, stuck_sentence, throttles
from replay.cluster.site_file import load_site
from replay.measure.bench import open_bench
from replay.measure.guard import Guard
from replay.ownership.pools import PoolSpec, create_pool, remove_leftover_pools
from replay.preflight.checks import Findings, check_cluster
from replay.protocols.placement import placement_files
from support.patience import wait_until


class Cluster:
    """Two placement groups; the manager's answer lags behind the monitors' map by `late` questions."""

    def __init__(self, *, late=0, objects=(8,), state="active+clean"):
        self.late, self.objects, self.state = late, list(objects), state
        self.wanted = {"2.0": [0, 1], "2.1": [1, 2]}
        self.recovers, self.refusal = 0, errno.ENOENT
        self.epoch, self.maps_asked = 1, 0
        self.reported = {"2.0": [2, 1], "2.1": [1, 2]} if late else dict(self.wanted)

    def command(self, command, *, target="mon"):
        prefix = command["prefix"]
        if prefix == "pg dump":
            if self.late == 0:
                self.reported = dict(self.wanted)
            self.late -= 1
            rows = [{"pgid": name, "state": self.state, "up": on, "acting": on} for name, on in self.reported.items()]
            return {"pg_stats": rows}
        if prefix == "pg map":
            self.maps_asked += 1
            if command["pgid"] not in self.wanted:
                raise CephCommandError(
                    f"error {self.refusal}: pgid '{command['pgid']}' does not exist",
                    where="ceph pg map (primary)",
                    exit_status_of_tool=self.refusal,
                )
            return {"up": self.wanted[command["pgid"]], "acting": self.wanted[command["pgid"]]}
        if prefix == "pg ls-by-pool":
            known = self.objects.pop(0) if len(self.objects) > 1 else self.objects[0]
            return {"pg_stats": [{"pgid": "2.0", "stat_sum": {"num_objects": known}}]}
        if prefix == "perf dump":
            return {command["logger"]: {"max": {"osd.0": 100, "osd.1": 1}[target]}}
        return {"nodes": [], "asked": prefix}

    def status(self):
        self.recovers -= 1
        rate = {"recovering_objects_per_sec": 8} if self.recovers >= 0 else {}
        return of_status(self.epoch, **rate)


def of_status(epoch, **rate):
    clean = [{"state_name": "active+clean", "count": 2}]
    return {"osdmap": {"epoch": epoch}, "pgmap": {"pgs_by_state": clean, **rate}}


def stable(cluster, objects=8, **more):
    now = iter(range(1000))
    return await_stable(cluster, "pool", objects, clock=lambda: next(now), sleep=lambda seconds: None, **more)


def test_a_placement_as_the_monitors_want_it_needs_no_wait():
    wait = stable(Cluster())
    assert (wait.reason, wait.outcome, wait.details) == ("placement_stable", "stable", {"most_reasons": 0})


def test_groups_that_the_manager_calls_clean_at_their_old_place_are_awaited():
    cluster = Cluster(late=3)
    assert Places(cluster).unsettled() == ["2.0 moves from [2, 1] to [0, 1]"]
    assert stable(cluster).details == {"most_reasons": 1}


def test_groups_of_a_removed_pool_that_the_manager_still_lists_are_awaited():
    cluster = Cluster(late=2)
    cluster.reported = {"1.0": [0, 1], **cluster.wanted}
    assert Places(cluster).unsettled() == ["1.0 is still listed, and its pool is gone"]
    assert stable(cluster).details == {"most_reasons": 1}


def test_a_monitor_that_refuses_the_question_is_no_removed_pool():
    cluster = Cluster(late=2)
    cluster.reported, cluster.refusal = {"1.0": [0, 1]}, errno.EACCES
    with pytest.raises(CephCommandError, match="does not exist"):
        Places(cluster).unsettled()


def test_where_the_monitors_want_a_group_is_asked_again_only_when_their_map_has_changed():
    cluster = Cluster()
    places = Places(cluster)
    assert [places.unsettled(), places.unsettled()] == [[], []]
    assert cluster.maps_asked == 2, "one question for each group"
    cluster.wanted["2.0"], cluster.epoch, cluster.late = [2, 0], 2, 1
    assert places.unsettled() == ["2.0 moves from [0, 1] to [2, 0]"]
    assert cluster.maps_asked == 4


def test_recovery_that_the_manager_still_reports_is_awaited():
    cluster = Cluster()
    cluster.recovers = 3
    assert stable(cluster).details == {"most_reasons": 1}
    assert cluster.recovers == -1


def test_after_a_change_that_moves_data_calm_must_last_because_reports_come_late():
    cluster = Cluster(late=4)
    cluster.reported = dict(cluster.wanted)  # calm as long as nobody has reported the move
    assert stable(cluster).details["most_reasons"] == 0
    cluster = Cluster()
    usual, asked = cluster.status, []
    cluster.status = lambda: (
        asked.append(1) or (of_status(1, recovering_objects_per_sec=3) if len(asked) == 3 else usual())
    )
    assert stable(cluster, quiet_seconds=6).details == {"most_reasons": 1}
    assert len(asked) >= 3 + 6


def test_placement_groups_that_never_become_calm_are_reported():
    cluster = Cluster()
    cluster.recovers = 1000
    now = iter(range(1000))
    options = {"clock": lambda: next(now), "sleep": lambda seconds: None, "timeout_seconds": 5, "quiet_seconds": 1}
    assert await_calm(cluster, **options).startswith("RECOVERY: recovery is in progress")
    cluster.recovers = 2
    assert await_calm(cluster, **options) == ""


def test_objects_that_the_manager_does_not_know_yet_are_awaited():
    cluster = Cluster(objects=(0, 5, 8))
    stable(cluster)
    assert cluster.objects == [8]


@pytest.mark.parametrize("state", ["active+undersized", "active+clean+remapped", "peering"])
def test_a_placement_that_stays_unstable_ends_the_run_with_its_reason(state):
    with pytest.raises(RefusedError, match="did not become stable within 5 s: 2 reasons, such as: "):
        stable(Cluster(state=state), timeout_seconds=5)


def test_objects_that_never_appear_end_the_run_too():
    with pytest.raises(RefusedError, match="3 of 8 objects known"):
        stable(Cluster(objects=(3,)), timeout_seconds=5)


def test_each_file_is_cephs_answer_to_one_question():
    files = placement_files(Cluster(), "pool")
    assert {role: name for role, (name, _) in files.items()} == {
        "groups": "placement-groups.json", "tree": "osd-tree.json", "usage": "osd-df.json",
    }  # fmt: skip
    assert files["tree"][1] == b'{"nodes":[],"asked":"osd tree"}\n'


def test_throttles_are_read_from_each_osd_itself():
    assert throttles(Cluster(), 1) == {"bytes": 1, "messages": 1}
    assert throttles(Cluster(), 0)["bytes"] == 100


class Session:
    """Answers `pg dump_stuck`."""

    def __init__(self, refuses=False, **groups):
        self.groups, self.refuses = groups, refuses
        self.cluster = type("Cluster", (), {"client": "client.replay"})

    def command(self, command):
        if self.refuses:
            raise CephCommandError("error 13: Permission denied", where="ceph pg dump_stuck", exit_status_of_tool=13)
        assert command["threshold"] == 60
        [way] = command["stuckops"]
        return {
            "stuck_pg_stats": [
                {"pgid": "4.0", "state": "unknown"},
                *({"pgid": name, "state": "active+undersized"} for name in self.groups.get(way, ())),
            ]
        }


def test_each_way_of_being_stuck_is_named_with_its_first_groups():
    session = Session(unclean=["3.3", "3.0", "3.1", "3.2"], inactive=["3.0"])
    assert [*stuck_groups(session)] == ["inactive", "unclean"]
    assert stuck_sentence(session) == (
        "1 placement groups inactive for more than 60 s (3.0); "
        "4 placement groups unclean for more than 60 s (3.0, 3.1, 3.2, …)"
    )


def test_without_stuck_groups_nothing_is_said_and_a_group_too_new_to_be_known_is_not_stuck():
    assert (stuck_groups(Session()), stuck_sentence(Session())) == ({}, "")


def test_a_user_without_the_permission_is_told_so():
    assert stuck_sentence(Session(refuses=True)) == (
        "which placement groups are stuck cannot be seen as client.replay: error 13: Permission denied"
    )


@pytest.fixture
def live(sandbox_directory, tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(sandbox_directory))
    monkeypatch.setenv("REPLAY_STATE", str(tmp_path / "state"))
    with open_bench(load_site("sandbox"), "d", lambda line: None) as bench:
        yield bench
        remove_leftover_pools(bench)


@pytest.mark.sandbox
def test_a_pool_with_more_copies_than_osds_is_found_named_and_refused(live):
    create_pool(live, "too-many-copies", PoolSpec(replicas=4, pg_num=4), application="rados")
    guard = Guard(live, stuck_seconds=2)

    def all_stuck():
        unclean = stuck_groups(live.session, 2).get("unclean", ())
        return len(unclean) == 4 and "4 active+undersized" in guard.watch.verdict().sentence()

    wait_until(all_stuck, "placement groups that are stuck")
    with pytest.raises(RefusedError, match="undersized") as raised:
        guard.before_block()
    assert "4 placement groups unclean for more than 2 s" in raised.value.what
    assert "nothing was created" in raised.value.next_step
    findings = Findings()
    check_cluster(live.session, findings)
    assert any(item.level == "refused" and "active+undersized" in item.text for item in findings.items)
    remove_leftover_pools(live)
    wait_until(lambda: guard.watch.verdict().fit, "a clean cluster")
    guard.before_block()
