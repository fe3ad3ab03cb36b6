"""A run stops by itself where it must, waits where it may, and says beforehand what it will do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from replay import evidence
from replay.ceilings import Ceilings
from replay.costs import Costs
from replay.errors import ConfigurationError, RefusedError
from replay.expansion import expand
from replay.guard import Guard
from replay.plan import estimate, load_experiment, raw_directory, refuse_mixed_scales
from replay.time_window import TimeWindow

CLEAN = {
    "health": {"status": "HEALTH_OK", "checks": {}},
    "pgmap": {"pgs_by_state": [{"state_name": "active+clean", "count": 33}]},
}


def status(**changes):
    return {**CLEAN, **changes}


class Session:
    """A cluster that answers what the test wants, one status after another; the last one stays."""

    def __init__(self, *statuses, osd_df=None):
        self.statuses = list(statuses)
        self.osd_df = osd_df or {"nodes": [{"id": 0, "name": "osd.0", "kb": 100, "kb_used": 10}]}

    def status(self):
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def command(self, command, **_):
        stuck = {"stuck_pg_stats": [{"pgid": "3.1"}] if command.get("stuckops") == ["unclean"] else []}
        return {"osd df": self.osd_df, "osd pool get": {"size": 3}, "pg dump_stuck": stuck}[command["prefix"]]


def guard(session, *, ceilings=None, window=None, now=None, written=0.0):
    site = SimpleNamespace(
        name="mine",
        ceilings=ceilings or Ceilings(),
        time_window=window,
        pools=SimpleNamespace(data=SimpleNamespace(name="replay")),
    )
    bench = SimpleNamespace(
        site=site,
        session=session,
        costs=Costs(),
        daemons_are_here=False,
        client_bytes_written=written,
        journaled_bytes_written=0.0,
        say=lambda text: None,
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


def test_a_healthy_cluster_is_measured():
    guard(Session(CLEAN)).before_block()


def test_a_cell_waits_until_snapshots_are_trimmed_and_the_wait_is_recorded():
    made = guard(Session(pgs("active+clean+snaptrim"), pgs("active+clean+snaptrim"), CLEAN))
    (wait,) = made.settle()
    assert wait.reason == "cluster_settled"
    assert wait.details["states"] == ["1 active+clean+snaptrim"]
    assert len(made.slept) == 2
    assert list(guard(Session(CLEAN)).settle()) == [], "a settled cluster costs no wait"


def test_a_run_stops_at_the_fullest_osd():
    full = {"nodes": [{"id": 0, "name": "osd.0", "kb": 100, "kb_used": 80}]}
    with pytest.raises(RefusedError, match="fullest_osd"):
        guard(Session(CLEAN, osd_df=full)).before_set()


def test_a_run_stops_when_it_has_written_what_the_site_allows():
    limits = Ceilings(bytes_written_to_media_per_run=3000)
    guard(Session(CLEAN), ceilings=limits, written=900).before_set()
    with pytest.raises(RefusedError, match="media"):
        guard(Session(CLEAN), ceilings=limits, written=1100).before_set()


def test_outside_its_time_window_a_run_waits():
    hours = iter([12, 12, 12, 23, 23, 23])
    window = TimeWindow(time(22), time(6), ZoneInfo("UTC"))
    made = guard(Session(CLEAN), window=window, now=lambda: datetime(2026, 1, 1, next(hours), tzinfo=UTC))
    made.before_set()
    assert made.slept, "it slept until the window opened"


@pytest.fixture
def data_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return tmp_path


def test_one_data_set_holds_one_scale_of_an_experiment(data_sets):
    configuration = load_experiment("rbd-journaling")
    quick, talk = expand(configuration, "quick"), expand(configuration, "talk")
    raw = raw_directory("mine", "rbd-journaling")
    name, content = evidence.design_file(quick.public(), quick.digest)
    evidence.record(raw, name, content)
    refuse_mixed_scales("mine", quick)
    with pytest.raises(ConfigurationError, match="at scale quick, not talk"):
        refuse_mixed_scales("mine", talk)


def test_the_estimate_counts_what_is_missing_only(data_sets):
    design = expand(load_experiment("client-sweep"), "quick")
    before = estimate(design, "mine", [1])
    assert before.cells == before.cells_in_all == sum(len(one.cells) for one in design.sets)
    assert before.seconds > before.cells * design.sizing.target_seconds
    assert before.media_bytes > 3 * before.client_bytes > 0, "three copies, and journals"
    one = design.sets[0]
    attempt = evidence.Attempt(raw_directory("mine", design.name), 1, one.point, 1)
    attempt.seal({"valid": True, "cells": {cell.variant.name: cell.cell_id for cell in one.cells}})
    assert json.loads((attempt.directory / "attempt.json").read_text())["valid"] is True
    assert estimate(design, "mine", [1]).cells == before.cells - len(one.cells)
