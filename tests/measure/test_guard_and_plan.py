"""A run stops by itself if it must, waits if it may, and says beforehand what it will do."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from replay.base.clock import Costs
from replay.base.errors import ConfigurationError, RefusedError
from replay.base.paths import ROOT
from replay.cluster.cluster import CephCommandError
from replay.cluster.site import NO_OSD_CONFIG, Ceilings, Pool, Pools, TimeWindow
from replay.design.configuration import experiment_names, load_experiment
from replay.design.expansion import expand
from replay.design.needs import protocol_class
from replay.design.sizing import (
    HOST_SECONDS,
    PILOTS,
    UNASKED,
    PoolCopies,
    RemainingWork,
    Terms,
    reckon,
    seconds_by_design,
    seconds_per_set,
    writes,
)
from replay.evidence import attempts
from replay.evidence.attempts import History
from replay.evidence.data_set import raw_directory, refuse_mixed_scales
from replay.evidence.record import Measured
from replay.evidence.seal import seal
from replay.measure.command import plan_lines
from replay.measure.guard import Guard
from replay.measure.job import RunStoppedError
from replay.ownership.open_site import ClusterWatch
from replay.preflight.plan import estimate
from support.bench import in_memory, waiting

MIB = 1 << 20
CLEAN = {
    "health": {"status": "HEALTH_OK", "checks": {}},
    "pgmap": {"pgs_by_state": [{"state_name": "active+clean", "count": 33}]},
}


def status(**changes):
    return {**CLEAN, **changes}


class Session:
    """A cluster that answers what the test wants, one status after another; the last one stays."""

    def __init__(self, *statuses, osd_df=None, own_states=()):
        self.statuses = [CLEAN, *statuses]  # the first one is that of the watch's beginning
        self.own_states = own_states
        self.osd_df = osd_df or {"nodes": [{"id": 0, "name": "osd.0", "kb": 100, "kb_used": 10}]}

    def status(self, **_):
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def command(self, command, **_):
        stuck = {"stuck_pg_stats": [{"pgid": "3.1"}] if command.get("stuckops") == ["unclean"] else []}
        groups = [{"pgid": "2.0", "state": state} for state in self.own_states]
        return {
            "osd df": self.osd_df,
            "osd pool get": {"size": 3},
            "pg dump_stuck": stuck,
            "pg ls-by-pool": {"pg_stats": groups} if groups else {"pg_ready": True},
        }[command["prefix"]]


def guard(session, *, ceilings=None, window=None, now=None, written=0.0, own=False):
    site = SimpleNamespace(
        name="mine",
        ceilings=ceilings or Ceilings(),
        time_window=window,
        pools=Pools(Pool("replay")),
        sandbox=None,
    )
    bench = SimpleNamespace(
        site=site,
        session=session,
        ledger=SimpleNamespace(owned=list),
        costs=Costs(),
        daemons_are_here=own,
        budget=in_memory(before=written),
        say=lambda text: None,
        waiting=waiting,
        watch=ClusterWatch(session),
    )
    slept = []
    made = Guard(bench, sleep=slept.append, now=now or (lambda: datetime(2026, 1, 1, tzinfo=UTC)))
    made.slept = slept
    return made


def pgs(state):
    return status(pgmap={"pgs_by_state": [{"state_name": state, "count": 1}]})


@pytest.mark.parametrize("state", ["active+undersized+degraded", "stale+active+clean", "peering"])
def test_a_cluster_with_bad_placement_groups_is_refused_before_anything_is_created(state):
    with pytest.raises(RefusedError, match="nothing was created"):
        guard(Session(pgs(state))).before_block()


RECOVERING = status(pgmap={"pgs_by_state": [{"state_name": "active+clean"}], "recovering_objects_per_sec": 3})
DOWN = status(health={"status": "HEALTH_WARN", "checks": {"OSD_DOWN": {"summary": {"message": "1 osds down"}}}})


class Quick(Session):
    """A cluster without stuck placement groups."""

    def command(self, command, **_):
        return {"stuck_pg_stats": []} if command["prefix"] == "pg dump_stuck" else super().command(command)


def test_a_sandbox_that_recovers_after_a_restart_is_awaited():
    made = guard(Quick(RECOVERING, RECOVERING, CLEAN), own=True)
    made.before_block()
    assert made.slept, "it waited until the recovery was over"


def test_a_group_that_looks_stuck_after_a_move_is_awaited_and_one_that_stays_stuck_is_refused(monkeypatch):
    made = guard(Session(RECOVERING, RECOVERING, CLEAN), own=True)
    made.before_block()
    assert made.slept
    monkeypatch.setattr("replay.measure.guard.STUCK_FOR_CERTAIN_SECONDS", 0.0)
    with pytest.raises(RefusedError, match=r"1 placement groups unclean for more than 60 s \(3.1\)"):
        guard(Session(RECOVERING), own=True).before_block()


def test_a_foreign_cluster_that_recovers_is_awaited_before_a_block_but_not_for_ever_and_not_within_one(monkeypatch):
    waited = []
    made = guard(Session(RECOVERING, RECOVERING, CLEAN))
    made.bench.waiting = lambda what, seconds, **more: waited.append((what, seconds)) or waiting(what, seconds, **more)
    made.before_block()
    assert made.slept and waited == [("the cluster to recover", 120.0)]
    within = guard(Session(CLEAN, CLEAN, RECOVERING))
    within.before_block()
    with pytest.raises(RunStoppedError, match="RECOVERY"):
        within.before_set()
    assert within.slept == []
    monkeypatch.setattr("replay.measure.guard.RECOVERS_WITHIN_SECONDS", 0.0)
    with pytest.raises(RefusedError, match="recovery is in progress"):
        guard(Session(RECOVERING)).before_block()


@pytest.mark.parametrize("own", [False, True])
def test_a_dead_osd_is_not_awaited_even_if_the_cluster_recovers(own):
    made = guard(Quick({**RECOVERING, **DOWN, "pgmap": RECOVERING["pgmap"]}), own=own)
    with pytest.raises(RefusedError, match="nothing was created"):
        made.before_block()
    assert made.slept == []


@pytest.mark.parametrize("state", ["unknown", "creating+peering"])
def test_the_groups_of_a_pool_that_an_administrator_has_just_made_are_awaited_but_not_for_ever(state, monkeypatch):
    made = guard(Session(pgs(state), pgs(state), CLEAN))
    made.before_block()
    assert made.slept
    monkeypatch.setattr("replay.measure.guard.NEW_GROUPS_WITHIN_SECONDS", 0.0)
    with pytest.raises(RefusedError, match=re.escape(f"1 {state}")):
        guard(Session(pgs(state))).before_block()


def test_new_groups_beside_other_trouble_are_not_awaited():
    sick = status(
        health={"status": "HEALTH_WARN", "checks": {"OSD_DOWN": {"severity": "HEALTH_WARN"}}},
        pgmap=pgs("unknown")["pgmap"],
    )
    made = guard(Session(sick))
    with pytest.raises(RefusedError, match="OSD_DOWN"):
        made.before_block()
    assert made.slept == []


def test_operations_that_waited_for_a_stopped_daemon_are_awaited_on_a_sandbox_alone():
    slow = status(health={"status": "HEALTH_WARN", "checks": {"SLOW_OPS": {"severity": "HEALTH_WARN"}}})
    made = guard(Quick(slow, slow, CLEAN), own=True)
    made.before_block()
    assert made.slept
    with pytest.raises(RefusedError, match="SLOW_OPS"):
        guard(Quick(slow, CLEAN)).before_block()


def test_a_recovery_that_does_not_end_is_refused_at_its_time_limit(monkeypatch):
    monkeypatch.setattr("replay.measure.guard.SETTLE_TIMEOUT_SECONDS", 0.0)
    with pytest.raises(RefusedError, match="recovery is in progress"):
        guard(Quick(RECOVERING), own=True).before_block()


def test_a_healthy_cluster_is_measured():
    guard(Session(CLEAN)).before_block()


def test_a_cell_waits_until_snapshots_are_trimmed_and_the_wait_is_recorded():
    trimming = "active+clean+snaptrim"
    made = guard(Session(pgs(trimming), pgs(trimming), CLEAN, own_states=[trimming]))
    (wait,) = made.settle()
    assert wait.reason == "cluster_settled"
    assert wait.details["states"] == ["1 active+clean+snaptrim"]
    assert len(made.slept) == 2
    assert list(guard(Session(CLEAN)).settle()) == [], "a settled cluster costs no wait"


@pytest.mark.parametrize("state", ["active+clean+snaptrim", "active+clean+scrubbing+deep"])
def test_a_cell_does_not_wait_for_the_scrubs_and_trims_of_neighbours(state):
    made = guard(Session(pgs(state)))
    assert list(made.settle()) == [] and made.slept == []


def test_a_cell_waits_for_data_that_move_in_any_pool():
    made = guard(Session(pgs("active+remapped+backfilling"), CLEAN, own_states=["active+clean"]))
    assert [wait.details["states"] for wait in made.settle()] == [["1 active+remapped+backfilling"]]


def ill(code, severity="HEALTH_WARN"):
    check = {"severity": severity, "summary": {"message": "as the test says"}}
    return status(health={"status": severity, "checks": {code: check}})


def test_a_set_does_not_begin_on_a_cluster_that_is_not_fit():
    made = guard(Session(CLEAN, ill("POOL_FULL")))
    made.before_block()
    with pytest.raises(RunStoppedError, match="POOL_FULL: as the test says") as stopped:
        made.before_set()
    assert "finished sets are kept" in stopped.value.next_step
    assert made.slept == [], "nobody waits for a foreign cluster to be repaired"


def test_a_cluster_that_replay_started_may_recover_before_a_set():
    made = guard(Session(ill("OSD_DOWN"), ill("OSD_DOWN"), CLEAN), own=True)
    made.before_set()
    assert len(made.slept) == 2


def after_cell(*statuses, own=False, invalid=None, seen=()):
    """A guard after a cell that began with the first status, and how the cell was judged."""
    made = guard(Session(*statuses), own=own)
    made.before_block()
    for code, message in dict(seen).items():
        made.watch.note(code, message)
    cell = Measured(["tool"], {}, 1, "", "", 1.0, {}, invalid=invalid)
    made.after_cell(cell)
    return made, cell


def before_and(after):
    """Statuses of a block: two before it begins, and the one after the cell."""
    return CLEAN, CLEAN, after


def test_a_code_that_is_new_since_the_block_began_stops_the_run_after_this_cell():
    made, cell = after_cell(*before_and(ill("OSD_NEARFULL")))
    assert cell.invalid == ("unhealthy", "OSD_NEARFULL: as the test says")
    assert "since the block began: OSD_NEARFULL" in str(made.stop_after_cell())


def test_why_the_cluster_refused_is_recorded_although_the_tool_failed():
    _, cell = after_cell(*before_and(ill("POOL_FULL")), invalid=("failed", "exit status 1: silent"))
    assert cell.invalid == ("failed", "exit status 1: silent; the cluster says POOL_FULL: as the test says")


def test_a_cluster_that_does_not_answer_after_a_cell_is_the_reason_too():
    made = guard(Session(CLEAN))
    made.before_block()
    made.bench.session.status = lambda **_: (_ for _ in ()).throw(CephCommandError("no answer within 30 s", where="x"))
    cell = Measured(["tool"], {}, 1, "", "", 1.0, {}, invalid=("timed_out", "killed after 60 s"))
    made.after_cell(cell)
    assert cell.invalid == ("timed_out", "killed after 60 s; the cluster says NO_ANSWER: no answer within 30 s")
    assert made.stop_after_cell() is not None


def test_trouble_that_came_and_went_while_a_cell_ran_stops_the_run_as_well():
    made, cell = after_cell(*before_and(CLEAN), seen={"SLOW_OPS": "3 slow ops"})
    assert cell.invalid == ("unhealthy", "SLOW_OPS: 3 slow ops")
    assert made.stop_after_cell() is not None


@pytest.mark.parametrize(("when_it_begins", "counts"), [(CLEAN, False), (pgs("unknown"), True)])
def test_what_has_settled_before_a_cell_begins_is_not_its_trouble(when_it_begins, counts):
    made = guard(Session(CLEAN))
    made.before_block()

    def look_at(now):
        made.bench.session.status = lambda **_: now

    look_at(pgs("unknown"))  # a pool that was made for the cell
    made.check()
    look_at(when_it_begins)
    made.before_cell()
    look_at(CLEAN)
    cell = Measured(["tool"], {}, 1, "", "", 1.0, {}, invalid=None)
    made.after_cell(cell)
    assert (cell.invalid is not None, made.stop_after_cell() is not None) == (counts, counts)


@pytest.mark.parametrize("code", ["MDS_ALL_DOWN", "FS_DEGRADED", "MDS_SLOW_REQUEST", "LARGE_OMAP_OBJECTS"])
def test_codes_that_do_not_concern_block_devices_stop_nothing(code):
    made, cell = after_cell(*before_and(ill(code, "HEALTH_ERR")))
    assert cell.invalid is None and made.stop_after_cell() is None


def test_what_a_cluster_had_before_does_not_stop_a_run():
    had = ill("BLUESTORE_SLOW_OP_ALERT")
    made, cell = after_cell(had)
    assert cell.invalid is None and made.stop_after_cell() is None
    made, cell = after_cell(*before_and(had))
    assert cell.invalid is not None and made.stop_after_cell() is not None


def test_what_an_experiment_does_to_a_cluster_of_its_own_does_not_stop_it():
    made, cell = after_cell(*before_and(ill("BLUESTORE_SLOW_OP_ALERT")), own=True)
    assert cell.invalid is None and made.stop_after_cell() is None
    made, cell = after_cell(*before_and(ill("OSD_DOWN")), own=True)
    assert cell.invalid == ("unhealthy", "OSD_DOWN: as the test says"), "the cell does not count all the same"
    assert made.stop_after_cell() is None


def test_a_run_stops_at_the_fullest_osd():
    full = {"nodes": [{"id": 0, "name": "osd.0", "kb": 100, "kb_used": 80}]}
    with pytest.raises(RefusedError, match="fullest_osd"):
        guard(Session(CLEAN, osd_df=full)).before_set()


def test_a_run_stops_when_it_has_written_what_the_site_allows():
    limits = Ceilings(bytes_written_to_media_per_run=3000)
    guard(Session(CLEAN), ceilings=limits, written=3000).before_set()
    with pytest.raises(RefusedError, match="media"):
        guard(Session(CLEAN), ceilings=limits, written=3001).before_set()


def test_a_set_that_would_exceed_the_ceiling_does_not_begin():
    limits = Ceilings(bytes_written_to_media_per_run=3 << 30)
    guard(Session(CLEAN), ceilings=limits, written=2 << 30).before_set("set a", media_bytes=1 << 30)
    with pytest.raises(RefusedError, match="has written 2 GiB to media, and set a would write about 1 GiB") as refused:
        guard(Session(CLEAN), ceilings=limits, written=2 << 30).before_set("set a", media_bytes=(1 << 30) + 1)
    assert "--data" in refused.value.next_step


def test_a_set_that_would_fill_an_osd_does_not_begin():
    guard(Session(CLEAN)).before_set("set a", media_bytes=1e9, added_bytes=0.5 * 100 * 1024)
    with pytest.raises(RefusedError, match="fullest_osd"):
        guard(Session(CLEAN)).before_set("set a", media_bytes=1e9, added_bytes=0.7 * 100 * 1024)


NIGHT = TimeWindow(time(22), time(6), ZoneInfo("UTC"))


def test_outside_its_time_window_a_run_waits():
    hours = iter([12, 12, 12, 23, 23, 23])
    made = guard(Session(CLEAN), window=NIGHT, now=lambda: datetime(2026, 1, 1, next(hours), tzinfo=UTC))
    made.before_set()
    assert made.slept, "it slept until the window opened"


@pytest.mark.parametrize(("when_it_opens", "begins"), [(CLEAN, True), (ill("MON_DOWN"), True), (DOWN, False)])
def test_what_happens_by_day_ends_no_run_that_waits_for_the_night_and_what_is_there_then_counts(when_it_opens, begins):
    hours = iter([12, 12, 12, 23])
    made = guard(Session(CLEAN), window=NIGHT, now=lambda: datetime(2026, 1, 1, next(hours), tzinfo=UTC))

    def pass_the_day(seconds):
        made.bench.session.status = lambda **_: ill("SLOW_OPS")
        assert made.check() is None, "the run has disturbed nobody"
        made.bench.session.status = lambda **_: when_it_opens

    made.sleep = pass_the_day
    if begins:
        made.before_set()
        assert made.watch.take() == made.watch.new_in(made.watch.verdict()) == {}
    else:
        with pytest.raises(RunStoppedError, match="OSD_DOWN"):
            made.before_set()
    assert not list(hours), "it waited before it looked"


@pytest.fixture
def data_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return tmp_path


def made_directory(data_set, experiment):
    """The folder of an experiment's evidence, which recording the design makes."""
    raw = raw_directory(data_set, experiment)
    design = expand(load_experiment(experiment), "quick")
    attempts.record_design(raw, design.public(), design.digest)
    return raw


def test_a_data_set_holds_only_one_scale_of_an_experiment(data_sets):
    configuration = load_experiment("rbd-journaling")
    quick, talk = expand(configuration, "quick"), expand(configuration, "talk")
    raw = raw_directory("mine", "rbd-journaling")
    attempts.record_design(raw, quick.public(), quick.digest)
    refuse_mixed_scales("mine", quick)
    with pytest.raises(ConfigurationError, match="at scale quick, not talk"):
        refuse_mixed_scales("mine", talk)


def test_the_estimate_counts_only_missing_sets(data_sets):
    design = expand(load_experiment("client-sweep"), "quick")
    before = estimate(design, "mine", [1])
    assert before.cells == before.cells_in_all == sum(len(one.cells) for one in design.sets)
    assert before.seconds > before.cells * design.sizing.target_seconds
    assert before.media_bytes > 3 * before.client_bytes > 0, "three copies, and journals"
    one = design.sets[0]
    attempt = attempts.BlockWriter(made_directory("mine", design.name), 1).begin_attempt(one.point, 1)
    cells = {cell.variant.name: cell.cell_id for cell in one.cells}
    attempt.seal({"schema_version": 1, "valid": True, "cells": cells})
    assert json.loads((attempt.directory / "attempt.json").read_text())["valid"] is True
    assert estimate(design, "mine", [1]).cells == before.cells - len(one.cells)


def receipt(total, sets, *, scale="talk", pilot=None):
    costs = {"total": total, **({} if pilot is None else {"pilot": pilot})}
    return {"scale": scale, "sets_measured_in_this_sitting": sets, "costs_seconds": costs}


def talk(name):
    return expand(load_experiment(name), "talk")


def test_the_estimate_of_time_comes_from_earlier_blocks():
    design = talk("rados-bench")
    told = reckon(design, [design.sets, design.sets[:3]], [receipt(458, 9), receipt(550, 11), receipt(5000, 10)])
    assert told.seconds == pytest.approx((len(design.sets) + 3) * 458 / 9, rel=0.05), "the middle one of three"
    assert told.earlier_blocks == 3
    assert told.cells_in_all == 2 * sum(len(one.cells) for one in design.sets)


def test_blocks_of_another_scale_or_without_work_give_no_estimate():
    design = talk("rados-bench")
    useless = [receipt(40, 3, scale="quick"), receipt(2, 0)]
    assert seconds_per_set(useless, "talk", sized_once=False) == []
    assert reckon(design, [design.sets], useless) == reckon(design, [design.sets], [])
    assert reckon(design, [design.sets], []).earlier_blocks == 0


def test_the_pilots_of_the_first_block_do_not_count_for_the_next_unless_each_block_runs_them():
    assert seconds_per_set([receipt(166, 2, pilot=58)], "talk", sized_once=True) == [54]
    first_and_later = [
        [reckon(design, todo, []).seconds for todo in ([design.sets], [(), design.sets])]
        for design in (talk("rbd-bench"), talk("fio-offered-rate"))
    ]
    (sized, later), (peak, again) = first_and_later
    assert sized > later
    assert peak == again
    found_in_each = receipt(88, 6, pilot=20.6)
    design = talk("fio-offered-rate")
    assert reckon(design, [design.sets], [found_in_each]).seconds == pytest.approx(88)


#: Cells of these experiments end early by themselves: their target is the longest time that they take.
AT_MOST = ("amplification", "mirror-replay", "distance-replay", "rbd-bench")


def shipped_blocks():
    """The receipts at scale talk of each experiment in the shipped data set, if there are any."""
    for name in experiment_names():
        receipts = History(ROOT / "benchmarks" / "tentacle" / name / "raw").receipts()
        read = [one for one in receipts if one["scale"] == "talk"]
        if read:
            yield name, read


@pytest.mark.parametrize(("name", "receipts"), [pytest.param(*pair, id=pair[0]) for pair in shipped_blocks()])
def test_an_estimate_from_the_design_is_not_far_from_the_time_of_real_blocks(name, receipts):
    # The shipped data set is of a mirrored pair.
    design = expand(load_experiment(name), "talk", missing={"stretch": "a pair is no stretch cluster"})
    sized_once = protocol_class(design.configuration["protocol"]).pilot_share > 0
    # Some blocks have only the sets that were added to the design later.
    kinds = {frozenset(one["sets"]) for one in receipts}
    by_design = took = 0.0
    for kind in kinds:
        sets = [one for one in design.sets if one.point in kind]
        alike = [one for one in receipts if frozenset(one["sets"]) == kind]
        if seconds := seconds_per_set(alike, "talk", sized_once=sized_once):
            took += median(seconds) * len(sets)
            by_design += reckon(design, [(), sets], []).seconds
    low, high = (0.9, 3) if name in AT_MOST else (0.7, 1.3)
    assert low * took < by_design < high * took


def quick_runs():
    """The seconds that a quick run of each experiment took, from the command to its end: (experiment, seconds)."""
    with (Path(__file__).parent / "quick_runs.csv").open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [(row["experiment"], float(row["seconds"])) for row in rows]


@pytest.mark.parametrize(("name", "seconds"), quick_runs())
def test_an_estimate_is_within_25_percent_of_what_a_quick_run_took(name, seconds):
    design = expand(load_experiment(name), "quick", missing={NO_OSD_CONFIG: "it was a sandbox"})
    assert 0.75 * seconds <= reckon(design, [design.sets] * design.blocks, []).seconds <= 1.25 * seconds


def test_a_block_is_set_up_once_and_not_at_all_if_nothing_is_missing():
    design = expand(load_experiment("device-class"), "quick")
    once = protocol_class(design.configuration["protocol"]).block_seconds
    cells = [cell for one in design.sets for cell in one.cells]
    assert once > 0
    whole, without = (seconds_by_design(design, some, first=False) for some in (cells, cells[1:]))
    assert 0 < whole - without < once
    assert seconds_by_design(design, [], first=False) == 0


def written(name, terms=UNASKED):
    """The estimate for the quick scale of an experiment, from its design alone."""
    design = expand(load_experiment(name), "quick")
    return reckon(design, [design.sets], [], terms)


def test_an_estimate_of_bytes_counts_the_copies_that_the_pools_keep():
    three = written("rbd-journaling")
    two = written("rbd-journaling", Terms(PoolCopies(2.0, 2.0)))
    coded = written("rbd-journaling", Terms(PoolCopies(1.5, 3.0)))
    assert two.client_bytes == coded.client_bytes == three.client_bytes
    assert two.media_bytes == pytest.approx(three.media_bytes * 2 / 3)
    assert three.media_bytes / 2 < coded.media_bytes < three.media_bytes, "journals are not in the coded pool"


@pytest.mark.parametrize(
    ("name", "filled_mib", "written_bytes"),
    [
        ("failover", 4 * 64, 4 * 200 * (8 + 5) * 4096),
        ("site-loss", 4 * 64, 100 * (11 + 6 + 31 + 6) * 4096),
        ("replica-lag", 10 * 128, 5 * (30 + 240) * 35 * 65536),
        ("mirror-replay", 2 * 4 * 32, 2 * (1 + 2 + 4) * 32 * MIB),
        ("amplification", 4 * 128, 4 * 2 * (4 + 32 + 32) * MIB),
    ],
)
def test_an_estimate_of_bytes_is_what_the_protocol_knows_of_them(name, filled_mib, written_bytes):
    told = written(name)
    assert told.client_bytes == filled_mib * MIB + written_bytes
    assert told.media_bytes > 3 * told.client_bytes, "three copies, and journals"


@pytest.mark.parametrize("interval", [{}, {"snapshot_interval_seconds": "1 s"}])
def test_an_estimate_leaves_it_to_the_protocol_to_refuse_an_interval(interval):
    configuration = load_experiment("site-loss")
    variant = {**configuration["variants"][-1], "levels": {"mode": "snapshot", **interval}}
    design = expand({**configuration, "variants": [variant]}, "talk")
    assert reckon(design, [design.sets], []).client_bytes > 0


def test_a_site_that_limits_its_clients_gets_less_and_waits_longer_for_images():
    free, limited = written("rbd-journaling"), written("rbd-journaling", Terms(rate_bytes_per_second=4 << 20))
    assert limited.client_bytes < free.client_bytes and limited.media_bytes < free.media_bytes
    assert limited.seconds > free.seconds


def test_clients_on_other_hosts_take_time_to_connect_and_only_where_there_are_clients():
    sweep, alone = expand(load_experiment("client-sweep"), "quick"), written("rbd-journaling")
    assert written("client-sweep", Terms(other_hosts=4)).seconds - written("client-sweep").seconds == pytest.approx(
        HOST_SECONDS * 4 * sum(len(one.cells) for one in sweep.sets)
    )
    assert written("rbd-journaling", Terms(other_hosts=4)) == alone


def test_mirroring_is_awaited_after_cells_and_after_the_pilots_of_the_first_block():
    design = talk("rbd-journaling")
    cells = [cell for one in design.sets for cell in one.cells]
    mirrored = [cell for cell in cells if cell.variant.image.mirroring and writes(cell.levels)]
    others = [cell for cell in cells if cell not in mirrored]
    assert mirrored and others
    more = [seconds_by_design(design, cells, first=first) for first in (True, False)]
    less = [seconds_by_design(design, others, first=first) for first in (True, False)]
    wait_seconds = protocol_class(design.configuration["protocol"]).mirrored_wait_seconds
    assert more[1] - less[1] > wait_seconds * len(mirrored) > 0
    assert all(cell.variant.size_of != cell.variant.name for cell in mirrored), "they have no pilots of their own"
    own = [replace(cell, variant=replace(cell.variant, size_of=cell.variant.name)) for cell in mirrored]
    with_pilots = seconds_by_design(design, own, first=True) - seconds_by_design(design, mirrored, first=True)
    assert with_pilots == pytest.approx(wait_seconds * PILOTS * len(mirrored))


def test_a_run_says_how_long_each_experiment_takes_and_all_of_them_together():
    placement, baseline = talk("placement"), talk("baseline")
    estimates = [
        (placement, 6, RemainingWork(96, 96, 1800, 2**30, 2**31, 2)),
        (baseline, 6, RemainingWork(0, 168)),
    ]
    assert plan_lines(estimates) == [
        "placement at scale talk: 6 block(s), 96 of 96 cells to measure, about 30 min 00 s, about 1.0 GiB from "
        "clients, 2.0 GiB to media; time estimated from 2 earlier block(s)",
        "baseline at scale talk: 6 block(s), 0 of 168 cells to measure, about 0 s, about 0.0 GiB from clients, "
        "0.0 GiB to media",
        "all 2 experiments: 12 block(s), 96 of 264 cells to measure, about 30 min 00 s, about 1.0 GiB from clients, "
        "2.0 GiB to media",
    ]
    assert len(plan_lines(estimates[:1])) == 1, "one experiment is its own sum"


def test_skipped_variants_are_listed_with_their_reason():
    skipped = expand(load_experiment("failover"), "talk", missing={"second_site": "no second cluster"})
    first, second = plan_lines([(skipped, 0, RemainingWork())])
    assert first == "failover: all of it is skipped, because it needs second_site: no second cluster"
    assert second.startswith("failover at scale talk: 0 block(s), 0 of 0 cells")


def test_receipts_of_the_data_set_give_the_estimate_of_time(data_sets):
    design = talk("placement")
    raw = made_directory("mine", design.name)
    attempts.BlockWriter(raw, 1).record_receipt("0123456789ab", {"schema_version": 1, **receipt(300, 6)})
    assert estimate(design, "mine", [2, 3]).earlier_blocks == 1, "an open block that is whole counts"
    seal(raw, 1, "0123456789ab")
    told = estimate(design, "mine", [2, 3])
    assert (told.seconds, told.earlier_blocks) == (600, 1)
    assert estimate(design, "another", [2, 3]).earlier_blocks == 0
