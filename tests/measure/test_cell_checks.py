"""While a block runs, its cluster is checked; a cell that must not go on is ended, and the reason is recorded."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from replay.base.clock import utc_now
from replay.base.errors import ConfigurationError, RefusedError, ReplayError
from replay.base.progress import Progress
from replay.cluster.cluster import CephCommandError
from replay.cluster.health import classify
from replay.cluster.running import run_tool
from replay.cluster.site import Ceilings, Pool, Pools, Stop
from replay.design.configuration import load_experiment
from replay.design.design import Skip
from replay.design.expansion import expand
from replay.evidence.record import Measured
from replay.measure.block import measure_sets
from replay.measure.guard import Guard
from replay.measure.job import Failure, Halted, RunStoppedError, leave_failure, take_failure, without_interruption
from replay.measure.protocol import Driver, Protocol
from replay.ownership.ledger import Ledger
from replay.ownership.open_site import ClusterWatch
from support.bench import bench_of
from support.patience import patient, wait_until

FSID = "11111111-2222-3333-4444-555555555555"
CLEAN = {
    "health": {"status": "HEALTH_OK", "checks": {}},
    "pgmap": {"pgs_by_state": [{"state_name": "active+clean", "count": 33}]},
}
LOAD = {"cpu_idle_fraction": 0.5, "disk_busy_fraction": 0.5, "load_1min": 1.0}
SLOW = {"osd_perf_infos": [{"id": 3, "perf_stats": {"commit_latency_ms": 90}}]}
QUICK = {"osd_perf_infos": [{"id": 3, "perf_stats": {"commit_latency_ms": 4}}]}


def ill(code, message="1 thing"):
    check = {"severity": "HEALTH_WARN", "summary": {"message": message}}
    return {**CLEAN, "health": {"status": "HEALTH_WARN", "checks": {code: check}}}


class Cluster:
    """A cluster whose condition the test changes while it is watched."""

    cluster = None

    def __init__(self):
        self.now, self.perf, self.asked = CLEAN, QUICK, []

    def fsid(self):
        return FSID

    def status(self, **_):
        if isinstance(self.now, Exception):
            raise self.now
        return self.now

    def command(self, command, **_):
        self.asked.append(command["prefix"])
        return {
            "osd perf": self.perf,
            "osd df": {"nodes": [{"id": 0, "name": "osd.0", "kb": 100, "kb_used": 10}]},
            "osd pool get": {"size": 3},
        }[command["prefix"]]


def bench(cluster, *, own=False, tmp_path=None, **ceilings):
    site = SimpleNamespace(
        **{"name": "mine", "allows": (), "pools": Pools(Pool("replay")), "ceilings": Ceilings(**ceilings)},
        **dict.fromkeys(("time_window", "secondary", "sandbox")),
    )
    ledger = Ledger(FSID, directory=tmp_path) if tmp_path else SimpleNamespace(owned=list)
    return bench_of(site, cluster, ledger=ledger, daemons_are_here=own, watch=ClusterWatch(cluster))


def guarded(cluster, **options):
    """A guard of a block that began on a healthy cluster."""
    made = Guard(bench(cluster, **options), check_every_seconds=0.01)
    made.watch.begin(classify(CLEAN))
    return made


def test_new_trouble_is_remembered_until_the_cell_is_judged():
    cluster = Cluster()
    guard = guarded(cluster)
    cluster.now = ill("OSD_NEARFULL")
    assert guard.check() is None
    cluster.now = CLEAN
    assert guard.check() is None
    assert guard.watch.take() == {"OSD_NEARFULL": "1 thing"}
    assert guard.watch.take() == {}


@pytest.mark.parametrize(
    ("limits", "condition", "reason"),
    [
        ({"tenant_latency_seconds": 0.05}, {"perf": SLOW}, "tenant_latency"),
        ({"tenant_latency_seconds": 0.05}, {"perf": QUICK}, None),
        ({}, {"perf": SLOW}, None),
        ({}, {"now": ill("SLOW_OPS", "3 slow ops, oldest one blocked for 31 sec")}, "slow_operations"),
        ({"fullest_osd_fraction": 0.01}, {}, None),
    ],
)
def test_what_tenants_feel_ends_a_cell_at_the_ceiling(limits, condition, reason):
    cluster = Cluster()
    guard = guarded(cluster, **limits)
    for name, value in condition.items():
        setattr(cluster, name, value)
    stop = guard.check()
    assert (stop.reason if stop else None) == reason


def test_the_osds_are_asked_for_their_latency_only_where_it_is_limited():
    cluster = Cluster()
    guarded(cluster).check()
    assert cluster.asked == []
    guarded(cluster, tenant_latency_seconds=0.05).check()
    assert cluster.asked == ["osd perf"]


def test_a_cluster_of_its_own_has_no_tenants():
    cluster = Cluster()
    cluster.now, cluster.perf = ill("SLOW_OPS", "3 slow ops"), SLOW
    assert guarded(cluster, own=True, tenant_latency_seconds=0.05).check() is None


def test_at_the_ceiling_the_running_tool_is_killed_and_everything_is_as_before(tmp_path):
    cluster, before, pid = Cluster(), signal.getsignal(signal.SIGUSR1), tmp_path / "pid"

    def disturb(elapsed_seconds):
        if pid.exists() and pid.read_text().strip():
            cluster.perf = SLOW

    with pytest.raises(Halted) as halted, guarded(cluster, tenant_latency_seconds=0.05):
        argv = ["sh", "-c", f"echo $$ > {pid} && exec sleep 600"]
        run_tool(argv, timeout_seconds=patient(60), while_running=disturb)
    assert halted.value.reason == "tenant_latency"
    assert "osd.3 commits in 90 ms; the site allows 50 ms" in str(halted.value.error)
    # At another rate, cells are other cells.
    assert "a lower rate_bytes_per_second and another --data" in halted.value.error.next_step
    assert not isinstance(halted.value, Exception), "no `except Exception` on its way keeps it"
    assert signal.getsignal(signal.SIGUSR1) is before
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_cleaning_up_is_never_cut_off():
    cluster, done = Cluster(), []
    cluster.perf = SLOW

    def clean():
        wait_until(lambda: guard.checks > 2, "checks after the one that would have ended the cell")
        done.append("all of it")

    with guarded(cluster, tenant_latency_seconds=0.05) as guard, without_interruption(clean):
        pass
    assert done == ["all of it"], "it goes on checking, and ends nothing a second time"


def test_a_cluster_that_does_not_answer_is_asked_again():
    cluster = Cluster()
    guard = guarded(cluster)
    cluster.now = CephCommandError("no answer within 5 s", where="ceph status")
    guard.silent_for_seconds = 0
    with guard:
        wait_until(lambda: guard.checks >= 2, "a second check")
    assert guard.watch.take() == {"NO_ANSWER": "no answer within 5 s"}
    assert guard.cost()["looks"] == guard.checks


def test_a_check_that_this_machine_cannot_make_is_made_again_and_a_later_one_ends_the_cell():
    cluster = Cluster()
    guard = guarded(cluster)
    cluster.now = BlockingIOError(errno.EAGAIN, "no more processes")
    guard.silent_for_seconds = 0
    with pytest.raises(Halted), guard:
        wait_until(lambda: guard.checks >= 2, "a second check")
        guard.watch.also.append(lambda: Stop("stopped", "because"))
        cluster.now = CLEAN
        time.sleep(patient(10))
    assert guard.watch.take() == {"NO_ANSWER": "it was not asked: no more processes"}


def test_further_things_can_be_checked():
    guard = guarded(Cluster())
    guard.watch.also.append(lambda: Stop("stopped", "because"))
    assert guard.check() == Stop("stopped", "because")


def test_a_line_that_has_ended_is_said_although_the_cluster_does_not_answer(monkeypatch):
    cluster, ended = Cluster(), Stop("line_lost", "the line has ended")
    guard = guarded(cluster)
    cluster.now = CephCommandError("no answer within 5 s", where="ceph status")
    monkeypatch.setattr("replay.measure.guard.lost_line", lambda site: ended)
    assert guard.check() == ended


def test_tenants_are_looked_after_although_something_else_is_not_answered():
    def unserved():
        raise CephCommandError("error 110", where="lock")

    cluster = Cluster()
    cluster.perf = SLOW
    guard = guarded(cluster, tenant_latency_seconds=0.05)
    guard.watch.also.append(unserved)
    assert guard.check().reason == "tenant_latency"


def test_the_lock_is_renewed_although_tenants_end_the_cell():
    cluster, renewed = Cluster(), []
    cluster.perf = SLOW
    guard = guarded(cluster, tenant_latency_seconds=0.05)
    guard.watch.also.append(lambda: renewed.append("the lock"))
    assert (guard.check().reason, renewed) == ("tenant_latency", ["the lock"])


# In a block -----------------------------------------------------------------------------------------------------------


class Scripted(Protocol):
    """Cells that do what the test says, and are kept in a list."""

    driver = Driver()
    script: list
    ran: list

    def open_block(self, raw, sets):
        type(self).ran = []

    def expected_writes(self, cell):
        return []

    def run(self, cell, seed):
        self.ran.append(cell.variant.name)
        started, step = utc_now(), self.script.pop(0)
        invalid = step() if step else None
        return Measured(["scripted"], {}, 0, started, utc_now(), 1.0, LOAD, invalid=invalid)


@pytest.fixture
def block(tmp_path, monkeypatch):
    """Run a block of two sets with two cells each on a cluster; return its error and its attempts.

    `progress` is that of the last run.
    """
    monkeypatch.setattr("replay.measure.sets.versions", lambda *_: {})
    whole = expand(load_experiment("rbd-journaling"), "quick")
    names = [variant.name for variant in whole.variants[:2]]
    sets = [replace(one, cells=tuple(cell for cell in one.cells if cell.variant.name in names)) for one in whole.sets]
    design = replace(whole, sets=tuple(sets[:2]))

    def run(cluster, script, say=lambda line: None, **options):
        Scripted.script = list(script) + [None] * 20
        made = bench(cluster, tmp_path=tmp_path / "ledger", **options)
        made.say = say
        error, run.progress = None, Progress()
        with Guard(made, check_every_seconds=0.01) as guard:
            try:
                measure_sets(Scripted(made, design), 1, tmp_path / "raw", run.progress, guard)
            except (Halted, RunStoppedError) as caught:
                error = caught
        seals = [json.loads(path.read_text()) for path in sorted((tmp_path / "raw").glob("*.open/**/attempt.json"))]
        return error, seals

    return run


def sidecars(tmp_path):
    paths = sorted((tmp_path / "raw").glob("*.open/**/*.json"))
    return [one for path in paths if "valid" in (one := json.loads(path.read_text())) and "variant" in one]


def test_new_trouble_ends_the_run_after_the_cell_and_the_rest_of_its_set_is_not_begun(block, tmp_path):
    cluster = Cluster()

    def failing():
        cluster.now = ill("POOL_FULL", "1 pool(s) full")
        return ("failed", "exit status 1: silent")

    error, [seal] = block(cluster, [failing])
    assert isinstance(error, RunStoppedError) and "POOL_FULL: 1 pool(s) full" in str(error)
    assert Scripted.ran == seal["order"] and len(seal["order"]) == 1
    assert (seal["status"], seal["valid"]) == ("stopped", False)
    [problem] = seal["invalid"]
    assert problem["detail"] == "exit status 1: silent; the cluster says POOL_FULL: 1 pool(s) full"
    [sidecar] = sidecars(tmp_path)
    assert sidecar["health"]["during"] == ["POOL_FULL"]


def test_on_a_cluster_of_its_own_a_cell_is_void_and_runs_again(block):
    cluster = Cluster()

    def stumble():
        cluster.now = ill("OSD_DOWN")

    def recover():
        cluster.now = CLEAN

    error, seals = block(cluster, [stumble, recover], own=True)
    assert error is None
    assert seals == [], "the block is whole, and sealed into a pack"
    assert len(Scripted.ran) == 6, "the first set twice, and the second one"


def test_a_set_that_stays_invalid_counts_as_often_as_it_ran(block):
    with pytest.raises(ReplayError, match=r"2 set.* are still invalid after 3 attempts"):
        block(Cluster(), [lambda: ("failed", "exit status 1")] * 12)
    assert (block.progress.account.done, block.progress.account.left) == (12, 0)


def test_cells_that_the_cluster_refuses_do_not_stay_to_be_measured(block, monkeypatch):
    def open_block(self, raw, sets):
        Scripted.ran = []
        self.unavailable.append(Skip(sets[0].cells[0].variant.name, "pool_create", "refused"))

    monkeypatch.setattr(Scripted, "open_block", open_block)
    error, _ = block(Cluster(), [])
    assert error is None and len(Scripted.ran) == 2
    assert (block.progress.account.done, block.progress.account.left) == (2, 0)


def test_a_cell_that_is_ended_leaves_its_reason_in_the_attempt(block, tmp_path):
    cluster = Cluster()

    def disturb():
        cluster.perf = SLOW
        time.sleep(patient(60))  # until it is interrupted

    error, [seal] = block(cluster, [None, disturb], tenant_latency_seconds=0.05)
    assert isinstance(error, Halted)
    assert (seal["status"], seal["valid"], len(seal["order"])) == ("stopped", False, 1)
    [problem] = seal["invalid"]
    assert problem["reason"] == "tenant_latency" and "osd.3 commits in 90 ms" in problem["detail"]
    assert problem["variant"] == Scripted.ran[1] != seal["order"][0]
    assert len(sidecars(tmp_path)) == 1


def test_the_cell_in_which_the_line_between_the_sites_ends_is_void_and_the_reason_said_at_once(
    block, monkeypatch, tmp_path
):
    said = []

    def killed():
        monkeypatch.setattr("replay.measure.guard.lost_line", lambda site: Stop("line_lost", "the line has ended"))
        time.sleep(patient(60))  # until it is interrupted

    error, [seal] = block(Cluster(), [None, killed], said.append)
    assert "ending the cell: the line has ended" in said
    assert isinstance(error, Halted)
    assert (seal["status"], seal["valid"]) == ("stopped", False)
    [problem] = seal["invalid"]
    assert problem["reason"] == "line_lost" and "the line has ended" in problem["detail"]
    assert len(sidecars(tmp_path)) == 1


def test_a_block_tells_the_run_that_nothing_more_is_to_begin(tmp_path):
    plan = tmp_path / "plans" / "mine-0123.json"
    plan.parent.mkdir()
    assert take_failure(plan) is None
    leave_failure(plan, RunStoppedError("why", where="site mine", next_step="wait"))
    assert take_failure(plan) == Failure("site mine: why", "wait", 4, ends_run=True)
    assert take_failure(plan) is None, "the next run begins afresh"


@pytest.mark.parametrize(("error", "status"), [(ReplayError, 1), (ConfigurationError, 2), (RefusedError, 4)])
def test_a_block_that_fails_tells_the_run_its_exit_status_and_the_run_may_go_on(tmp_path, error, status):
    plan = tmp_path / "mine-0123.json"
    leave_failure(plan, error("why"))
    assert take_failure(plan) == Failure("why", "", status, ends_run=False)
