"""Placement groups that are stuck are named, and a run on such a cluster is refused, on a sandbox too."""

from __future__ import annotations

import pytest

from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError
from replay.cluster.site_file import load_site
from replay.cluster.stuck import stuck_groups, stuck_sentence
from replay.measure.bench import open_bench
from replay.measure.guard import Guard
from replay.owned.experiment_pools import PoolSpec, create_pool, remove_leftover_pools
from replay.preflight.checks import check_cluster
from replay.preflight.findings import Findings
from support.patience import wait_until


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
    assert [one.way for one in stuck_groups(session)] == ["inactive", "unclean"]
    assert stuck_sentence(session) == (
        "1 placement groups inactive for more than 60 s (3.0); "
        "4 placement groups unclean for more than 60 s (3.0, 3.1, 3.2, …)"
    )


def test_without_stuck_groups_nothing_is_said_and_a_group_too_new_to_be_known_is_not_stuck():
    assert (stuck_groups(Session()), stuck_sentence(Session())) == ([], "")


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
        unclean = next((one.groups for one in stuck_groups(live.session, 2) if one.way == "unclean"), ())
        return len(unclean) == 4 and "4 active+undersized" in guard.health().sentence()

    wait_until(all_stuck, "placement groups that are stuck")
    with pytest.raises(RefusedError, match="undersized") as raised:
        guard.before_block()
    assert "4 placement groups unclean for more than 2 s" in raised.value.what
    assert "nothing was created" in raised.value.next_step
    findings = Findings()
    check_cluster(live.session, findings)
    assert any(item.level == "refused" and "active+undersized" in item.text for item in findings.items)
    remove_leftover_pools(live)
    wait_until(lambda: guard.health().fit, "a clean cluster")
    guard.before_block()
