"""One client, watched while its load is steady, and clients that offer a share of the peak."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError
from replay.cluster.fio_clients import FioServers
from replay.design.configuration import load_experiment
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured
from replay.ownership.images import BlockImage
from replay.protocols.drivers import fio
from replay.protocols.multi_client import OfferedRate, peak_key
from replay.protocols.observers.daemons import SteadyDaemons, moments
from replay.protocols.targets.images import Images
from support.bench import bench_of, cells, design_of, site_of
from support.evidence import evidence_of
from support.samples import sample
from support.smoke import measure_as_shipped

RAMP_SECONDS = 1.0


def one_client(**options):
    """Return fio's report of one client with random reads of 4 KiB that echoes these options."""
    text, _ = sample("fio-client-server-2-jsonplus.json")
    data = json.loads(text[text.index("{") :])
    data["client_stats"] = [one for one in data["client_stats"] if one["jobname"] == "c1"]
    data["client_stats"][0]["jobname"] = "client-1"
    data["client_stats"][0]["job options"] |= options
    return json.dumps(data).encode()


# The steady part --------------------------------------------------------------------------------------------------


class Daemons:
    """Numbers its readings, of which each takes a tenth of a second."""

    def __init__(self):
        self.readings = 0

    def read(self):
        self.readings += 1
        return SimpleNamespace(number=self.readings, cost_seconds=0.1)

    def between(self, before, after):
        return {"seconds": 1.0, "cost_seconds": 0.2, "readings": [before.number, after.number]}


def watched(*elapsed, say=lambda line: None):
    """The observer of a cell whose load lasts 9 s, called at these moments."""
    protocol = SimpleNamespace(
        bench=SimpleNamespace(say=say, sampler=None),
        design=SimpleNamespace(sizing=SimpleNamespace(target_seconds=8.0)),
        option=lambda name, cell: RAMP_SECONDS,
    )
    observer = SteadyDaemons()
    observer.protocol, observer.bench, observer.design = protocol, protocol.bench, protocol.design
    observer.daemons = Daemons()
    observer.started(None)
    look = observer.while_running(None)
    for seconds in elapsed:
        look(seconds)
    return observer


def test_the_daemons_are_read_at_the_beginning_halfway_and_at_the_end_of_the_steady_part():
    assert moments(9.0) == pytest.approx((1.0, 4.9, 8.8))
    observer = watched(0.0, 0.9, 1.0, 1.1, 5.0, 8.7, 8.8, 8.9, 9.5)
    sample = observer.sample(9.6)
    assert sample["readings"] == [1, 3]
    assert sample["cost_seconds"] == pytest.approx(0.3), "that of the reading in between, too"
    assert observer.daemons.readings == 3


def test_the_readings_of_a_short_cell_are_within_its_load():
    assert moments(1.0) == pytest.approx((0.4, 0.6, 0.8))


@pytest.mark.parametrize("elapsed", [(), (0.5,), (1.0, 2.0)])
def test_a_tool_that_ended_before_has_no_sample_rather_than_a_short_one(elapsed):
    assert watched(*elapsed).sample(9.2) == {}


@pytest.mark.parametrize(
    ("tool_seconds", "readings"), [(10.0, [1, 3]), (10.1, [2, 3]), (13.9, [2, 3]), (14.1, None), (30.0, None)]
)
def test_a_reading_that_may_be_older_than_the_load_is_left_out(tool_seconds, readings):
    """The load lasts 9 s. What the tool ran longer may all have been its start."""
    assert watched(1.0, 5.0, 8.8).sample(tool_seconds).get("readings") == readings


def test_a_reading_that_may_be_younger_than_the_load_is_left_out():
    assert watched(1.0, 5.0, 8.95).sample(9.3)["readings"] == [1, 2]
    assert watched(1.0, 9.1, 9.3).sample(9.5) == {}


def test_a_valid_cell_without_a_sample_is_said_to_have_none():
    said = []
    observer = watched(1.0, 5.0, 8.8, say=said.append)
    for invalid in (("tool_failed", "exit status 1"), None):
        measured = Measured(["fio"], {}, 0, "", "", 14.1, {}, invalid=invalid)
        observer.ended(None, measured)
        observer.verify(None, measured, None)
        assert "daemons" not in measured.samples
    assert len(said) == 1
    assert "of 3 readings" in said[0]
    assert "9.0 of the 14.1 s" in said[0]
    enough = Measured(["fio"], {}, 0, "", "", 9.2, {})
    observer.ended(None, enough)
    observer.verify(None, enough, None)
    assert enough.samples["daemons"]["readings"] == [1, 3]
    assert len(said) == 1


# The offered rate ---------------------------------------------------------------------------------------------------


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """The protocol with an image, its tool replaced by one that does 5000 operations a second."""
    made = OfferedRate(bench_of(site_of()), design_of("fio-offered-rate"))
    made.jobs, made.components = [], []

    @contextlib.contextmanager
    def clients(cluster, options, jobs, **_):
        made.jobs.append(jobs[0])
        yield FioServers(tmp_path, jobs)

    def tool(bench, template, values, *, component, **how):
        made.components.append(component)
        results = {"stdout": ("stdout", b""), "stderr": ("stderr", b""), "output": ("result.json", one_client())}
        return Measured(list(template), results, 0, "", "", 5.0, {})

    def open_images(self, sets):
        image = self.design.variants[0].image
        self.images["random-read"] = [BlockImage("replay", "", "image", image, "")]

    monkeypatch.setattr(fio, "fio_servers", clients)
    monkeypatch.setattr(fio, "run_observed", tool)
    monkeypatch.setattr(Images, "open", open_images)
    return made


def sets_of(made, variant):
    return [
        replace(one, cells=tuple(cell for cell in one.cells if cell.variant.name == variant))
        for one in made.design.sets
    ]


def option(job, name):
    return next((line.partition("=")[2] for line in job.splitlines() if line.startswith(f"{name}=")), None)


def test_the_peak_is_found_once_for_all_shares_and_kept_as_evidence(offered, tmp_path):
    offered.open_block(BlockWriter(tmp_path / "raw", 1), sets_of(offered, "random-read"))
    assert offered.components == ["pilot"]
    assert (option(offered.jobs[0], "iodepth"), option(offered.jobs[0], "rate_iops")) == ("16", None)
    [peak] = offered.driver.peaks.values()
    notes = list(tmp_path.rglob("round-1.json"))
    assert json.loads(notes[0].read_text())["peak_operations_per_second"] == peak > 1000
    assert sorted(path.name for path in notes[0].parent.iterdir()) == [
        "round-1.jobs.fio", "round-1.json", "round-1.result.json", "round-1.stderr", "round-1.stdout",
    ]  # fmt: skip
    offered.driver.peaks.clear()
    offered.open_block(BlockWriter(tmp_path / "raw", 1), sets_of(offered, "random-read")[:1])
    assert offered.components == ["pilot"] and peak in offered.driver.peaks.values(), "sets measured later have it too"
    offered.driver.peaks.clear()
    offered.open_block(BlockWriter(tmp_path / "raw", 2), sets_of(offered, "random-read"))
    assert list(tmp_path.rglob("block-02.open/**/round-2/round-2.json")), "a later block finds its own"


def test_a_cell_offers_its_share_of_the_peak_at_random_moments(offered, tmp_path):
    offered.open_block(BlockWriter(tmp_path / "raw", 1), sets_of(offered, "random-read"))
    [peak] = offered.driver.peaks.values()
    [cell] = cells(offered, "random-read", offered_share=0.7)
    measured = offered.run(cell, seed=1)
    assert measured.invalid is None
    job = offered.jobs[-1]
    assert option(job, "rate_iops") == str(round(0.7 * peak))
    assert (option(job, "rate_process"), option(job, "iodepth")) == ("poisson", "128")
    assert measured.facts["offered_operations_per_second"] == round(0.7 * peak)
    assert measured.facts["peak_operations_per_second"] == round(peak, 3)
    assert offered.components[-1] == "tool"


def test_a_mix_offers_reads_and_writes_in_their_shares(offered):
    [cell] = cells(offered, "mixed", offered_share=0.5)
    offered.driver.peaks = {peak_key(cell): 1000.0}
    assert offered.driver.rates(cell) == {"read": 350, "write": 150}
    assert offered.job_options(cell)["fio_options"]["rate_iops"] == "350,150"


@pytest.mark.parametrize("shares", [[0], [-0.5], ["half"]])
def test_a_number_that_is_not_a_share_is_refused(shares):
    factors = {**load_experiment("fio-offered-rate")["factors"], "offered_share": shares}
    with pytest.raises(ConfigurationError, match="offered_share: expected a number above 0, found"):
        OfferedRate(bench_of(site_of()), design_of("fio-offered-rate", factors=factors))


# On a sandbox -------------------------------------------------------------------------------------------------------


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
def test_a_profile_and_an_offered_rate_are_measured_and_each_cell_says_what_was_done(campaign):
    said = measure_as_shipped(campaign, "fio-profile", "fio-offered-rate").said
    of_profile, of_rate = said.split("peak 1 of 2")
    assert "peak 2 of 2" in of_rate
    assert_the_profile_shows_what_each_daemon_did_while_each_pattern_ran(campaign, of_profile)
    assert_half_the_peak_was_offered_and_not_exceeded(campaign)


def assert_the_profile_shows_what_each_daemon_did_while_each_pattern_ran(campaign, said):
    load_seconds = RAMP_SECONDS + design_of("fio-profile", "smoke").sizing.target_seconds
    sidecars = campaign.sidecars("fio-profile")
    assert all(sidecar["valid"] for sidecar in sidecars)
    # On a machine that stalls, fewer than two readings may be certain to lie within a load.
    unknown = {sidecar["variant"] for sidecar in sidecars if "daemons" not in sidecar["samples"]}
    assert said.count("what the daemons did under load is not known") == len(unknown), "the person is told of each"
    for sidecar in sidecars:
        if sidecar["variant"] in unknown:
            continue
        began, ended = (datetime.fromisoformat(sidecar[moment]) for moment in ("started_at", "ended_at"))
        tool_seconds = (ended - began).total_seconds()
        sample = sidecar["samples"]["daemons"]
        assert 0 < sample["seconds"] < min(load_seconds, tool_seconds - RAMP_SECONDS), "fio's start is left out"
        assert {"osd.0", "osd.1", "osd.2", "mon", "mgr"} == set(sample["primary"])
        assert "secondary" not in sample
        clients = [sample["primary"][f"osd.{n}"]["client"] for n in range(3)]
        reads, writes = (sum(one[f"{what}_operations"] for one in clients) for what in ("read", "write"))
        assert (reads > writes) == (sidecar["variant"] != "random-write"), "the mix reads 70 of 100"
    rows = {row["variant"]: row for row in campaign.used_rows("fio-profile")}
    assert set(rows) == {"random-read", "mixed", "random-write"}
    for variant, row in rows.items():
        assert float(row["latency_p50_seconds"]) <= float(row["latency_p99_9_seconds"])
        if variant in unknown:
            assert not row.get("osd_cores_mean") and not row.get("machine_cpu_fraction"), "what is not known is empty"
            continue
        assert 0 < float(row["osd_cores_mean"]) <= float(row["osd_cores_worst"])
        assert 0 < float(row["machine_cpu_fraction"]) <= 1


def assert_half_the_peak_was_offered_and_not_exceeded(campaign):
    for row in campaign.used_rows("fio-offered-rate"):
        offered, done = (float(row[f"{one}operations_per_second"]) for one in ("offered_", ""))
        assert offered == pytest.approx(0.5 * float(row["peak_operations_per_second"]), rel=0.01)
        # How much of it is met depends on what else the machine has to do. What fio does beyond it is its first burst.
        assert 0 < done <= 1.1 * offered
        assert float(row["offered_share_met"]) == pytest.approx(done / offered, rel=1e-3)
    evidence = [name.rpartition("/")[2] for name in evidence_of(campaign.raw("fio-offered-rate"))]
    assert evidence.count("round-1.result.json") == 2
