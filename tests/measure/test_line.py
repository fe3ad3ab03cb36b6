"""A block sets the line between the sites before each set, and puts it back. A stretch cluster has its own data set."""

from __future__ import annotations

import contextlib
import json
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, RefusedError
from replay.cluster import sandbox_record
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import SandboxError
from replay.design.configuration import load_experiment
from replay.design.expansion import expand, narrowed
from replay.measure import bench as line
from replay.measure import job
from replay.measure.bench import LineBetweenSites
from replay.measure.job import ensure_campaign
from support.bench import bench_of

FSID = "0f0f0f0f-0000"
GIGABIT = 125e6


class Changes(list):
    """What was asked of a sandbox's line; the sandbox is as it was asked last."""

    def __init__(self, rtt_seconds=0.005, rate=None):
        super().__init__()
        there = SimpleNamespace(rtt_seconds=rtt_seconds, rate_bytes_per_second=rate)
        options = SandboxOptions(link_rtt_seconds=rtt_seconds)
        self.sandbox = SimpleNamespace(directory="/folder", link=there, options=options)
        self.fails = False

    def __call__(self, sandbox, say, **wanted):
        self.append(wanted)
        if self.fails:
            raise SandboxError("the line between the sites is not as asked")
        for name, value in wanted.items():
            setattr(sandbox.link, name, value)


@pytest.fixture
def changes(monkeypatch):
    made = Changes()
    monkeypatch.setattr(sandbox_record, "owner_of", lambda fsid: made.sandbox if fsid == FSID else None)
    monkeypatch.setattr(sandbox_record, "owns_fsid", lambda fsid: fsid == FSID)
    monkeypatch.setattr(sandbox_record, "load", lambda folder: made.sandbox)
    monkeypatch.setattr(line.link, "change", made)
    monkeypatch.setattr(line.link, "lost_line", lambda site: None)
    monkeypatch.setattr(line, "locked", lambda folder: contextlib.nullcontext())
    return made


def line_of_block(name="distance-loss", fsid=FSID, said=None, only=()):
    site = SimpleNamespace(name="s", fsid=fsid, allows=(), sandbox="default")
    bench = bench_of(site, SimpleNamespace(fsid=lambda: fsid), say=(said if said is not None else []).append)
    design = narrowed(expand(load_experiment(name), "talk"), only)
    return LineBetweenSites(bench, design), {one.levels.get("link_rtt_seconds"): one for one in design.sets}


def asked(rtt_seconds, rate=GIGABIT):
    return {"rtt_seconds": rtt_seconds, "rate_bytes_per_second": rate}


def test_a_block_opens_at_the_farthest_line_and_leaves_it_as_it_was(changes):
    said = []
    between, sets = line_of_block(said=said)
    between.open_block()
    between.before_set(sets[0.08])
    between.before_set(sets[0])
    between.before_set(sets[0])
    between.before_set(sets[0.02])
    between.close_block()
    between.close_block()
    assert changes == [asked(0.08), asked(0), asked(0.02), asked(0.005, None)]
    assert said[0] == "setting the line between the sites: 80 ms and 1 Gbit/s"
    assert said[-1] == "setting the line between the sites: 5 ms"


def test_a_block_with_only_some_sets_opens_at_the_farthest_line_of_all(changes):
    between, sets = line_of_block("distance-price", only=["link_rtt_seconds=0.005"])
    assert list(sets) == [0.005]
    between.open_block()
    assert changes == [asked(0.08)], "a rate that is found here is that of the sets that are left out"


def test_an_experiment_that_does_not_name_the_line_leaves_it_alone(changes):
    between, sets = line_of_block("client-sweep")
    between.open_block()
    between.before_set(next(iter(sets.values())))
    between.close_block()
    assert changes == []


def test_a_line_that_could_not_be_set_is_set_anew_for_the_next_set(changes):
    between, sets = line_of_block()
    changes.fails = True
    with pytest.raises(SandboxError, match="not as asked"):
        between.before_set(sets[0.02])
    changes.fails = False
    between.before_set(sets[0.02])
    between.close_block()
    assert changes == [asked(0.02), asked(0.02), asked(0.005, None)]


def test_a_line_that_is_put_back_on_a_busy_machine_ends_no_run(changes):
    said = []
    between, sets = line_of_block(said=said)
    between.before_set(sets[0.02])
    changes.fails = True
    between.close_block()
    assert changes == [asked(0.02), asked(0.005, None)]
    assert said[-1] == "the line between the sites is not as asked"


def test_a_line_that_has_ended_is_not_asked_for_anything(changes, monkeypatch):
    between, sets = line_of_block()
    between.before_set(sets[0.02])
    monkeypatch.setattr(line.link, "lost_line", lambda site: "it has ended")
    between.close_block()
    assert changes == [asked(0.02)]


@pytest.mark.parametrize(("fsid", "has_line"), [("f0f0f0f0-1111", True), (FSID, False)], ids=["foreign", "no line"])
def test_a_site_that_is_no_sandbox_with_a_line_is_refused(changes, fsid, has_line):
    if not has_line:
        changes.sandbox.link = None
    between, _ = line_of_block(fsid=fsid)
    with pytest.raises(RefusedError, match="link is refused: this needs a sandbox with a line between its sites"):
        between.open_block()
    assert changes == []


@pytest.mark.parametrize("is_stretch", [True, False])
def test_a_stretch_cluster_and_a_pair_are_two_data_sets(changes, tmp_path, is_stretch):
    changes.sandbox.options = SandboxOptions(stretch=is_stretch, left_osds=4, right_osds=0)
    bench = bench_of(SimpleNamespace(name="sandbox", fsid=FSID, allows=()), None)
    noted = {"site": "sandbox", "setup": {"clusters": 1, **({"stretch": True} if is_stretch else {})}}
    (tmp_path / "campaign.json").write_text(json.dumps(noted))
    ensure_campaign(tmp_path, bench)
    assert json.loads((tmp_path / "campaign.json").read_text()) == noted
    changes.sandbox.options = SandboxOptions(stretch=not is_stretch, left_osds=4, right_osds=0)
    with pytest.raises(ConfigurationError, match=r"this data set was measured on .*; the sandbox is now"):
        ensure_campaign(tmp_path, bench)


def test_how_far_a_foreign_second_cluster_is_gets_noted_and_a_line_is_left_to_the_cells(monkeypatch):
    foreign, sandbox = SimpleNamespace(sandbox=None), SimpleNamespace(sandbox="default")
    monkeypatch.setattr(job, "round_trip_seconds", lambda site: 0.0203456)
    assert job._distance(foreign) == {"round_trip_seconds": 0.0203}
    assert job._distance(sandbox) == {}
    monkeypatch.setattr(job, "round_trip_seconds", lambda site: None)
    assert job._distance(foreign) == {}, "it takes no connection, or there is none"
