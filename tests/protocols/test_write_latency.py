"""A write's latency and cost below saturation: what is offered, how long cells last, and when their counts end."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.mirroring import NOT_BEGUN
from replay.cluster.site import Pool, Pools
from replay.design.configuration import load_experiment
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, Wait
from replay.ownership.images import BlockImage
from replay.protocols.drivers import fio_writer
from replay.protocols.drivers.fio_writer import paced_by, rate_of
from replay.protocols.observers import daemons
from replay.protocols.observers.daemons import CellCountersAboveIdle
from replay.protocols.observers.mirror import Level
from replay.protocols.targets.images import Images
from replay.protocols.write_latency import WriteLatencyProtocol
from support.bench import bench_of, cell, design_of, site_of
from support.made_up_output import latency_log, report, steps_log
from support.smoke import measure_as_shipped

SECONDS_OF_RUN = 10.0


def protocol(scale="talk", namespace="", **changes):
    bench = bench_of(site_of(pools=Pools(Pool("replay", namespace))))
    return WriteLatencyProtocol(bench, design_of("write-latency", scale, **changes))


def in_set(made, point):
    return {one.variant.name: one for each in made.design.sets if each.point == point for one in each.cells}


# What is measured ---------------------------------------------------------------------------------------------------


def test_every_cell_of_the_talk_lasts_six_poll_ages_and_two_of_its_intervals():
    made = protocol()
    for one in (one for each in made.design.sets for one in each.cells):
        seconds = made.driver.runtime_of(one)
        assert seconds >= 30
        assert seconds >= 2 * (made.interval_of(one) or 0)


def test_the_first_snapshot_is_half_an_interval_after_the_ramp_so_that_two_are_in_the_cell():
    made = protocol()
    one = cell(made, "one-writer-randwrite-4096", "snapshot-every-60-seconds")
    assert made.first_seconds(one) == 32
    assert made.first_seconds(one) + made.interval_of(one) < 2 + made.driver.runtime_of(one)


def test_only_the_minute_makes_a_cell_longer_than_its_set():
    made = protocol()
    longer = {one.variant.name for each in made.design.sets for one in each.cells if made.driver.runtime_of(one) > 32}
    assert longer == {"snapshot-every-60-seconds"}
    one = cell(made, "one-writer-randwrite-4096", "snapshot-every-60-seconds")
    beside = cell(made, "one-writer-randwrite-4096", "none")
    made.target.images = {}
    [expected], [usual] = made.expected_writes(one), made.expected_writes(beside)
    assert expected.bytes == pytest.approx(usual.bytes * 124 / 32), "the account expects more of it"


def test_a_cell_of_a_few_slow_writes_is_told_by_its_rate_alone():
    few = {"operations": 3.0, "operations_per_second": 2.0, "latency_max_seconds": 0.9}
    assert protocol().headline(few) == "2 operations/s"
    assert protocol().headline({**few, "latency_p50_seconds": 0.4}).startswith("2 operations/s, half within 400.0 ms")


# The rate -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peak", "replay", "offered"), [(500.0, None, 300), (500.0, 900.0, 300), (501.0, 99.0, 59), (12.0, 1.2, 0.72)]
)
def test_a_share_of_what_the_slower_of_client_and_replay_can_keep_up_with_is_offered(peak, replay, offered):
    assert rate_of(peak, replay, 0.6).offered == offered


def test_a_rate_that_is_not_a_whole_number_is_offered_at_equal_distances():
    assert rate_of(500.0, None, 0.6).fio_options(4096) == {"rate_iops": 300, "rate_process": "poisson"}
    assert rate_of(12.0, 1.25, 0.6).fio_options(4194304) == {"rate": 3145728}


def test_the_facts_say_what_the_rate_is_a_share_of():
    assert rate_of(500.0, 100.0, 0.6).facts() == {
        "peak_operations_per_second": 500.0,
        "replay_operations_per_second": 100.0,
        "offered_operations_per_second": 60,
    }
    assert "replay_operations_per_second" not in rate_of(500.0, None, 0.6).facts()


class Daemons:
    """A sampler of daemons that do nothing but count readings."""

    def __init__(self):
        self.readings = 0

    def read(self):
        self.readings += 1
        return SimpleNamespace(osds=lambda: ["osd.0"], number=self.readings)

    def between(self, before, after):
        return {"seconds": 1.0, "readings": [before.number, after.number]}


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    """The protocol with images, and a fio that does 400 writes a second. Replay takes as long again as the writes."""
    made = protocol("quick")
    made.jobs, made.runtimes, made.invalid = [], [], None

    def fio(bench, text, images, client_options, *, runtime_seconds, component="tool", **how):
        made.jobs.append((component, text))
        made.runtimes.append(runtime_seconds)
        operations = round(400 * runtime_seconds)
        output = report(["image-1"], operations=operations, io_size_bytes=size_of(text), seconds=runtime_seconds)
        windows = [(1000.0 + number, 0.002) for number in range(3)]
        results = {"output": ("result.json", output.encode()), "latency": ("l", latency_log(windows).encode())}
        began = f"{len(made.jobs):03}"
        return Measured(
            ["fio"], results, 0, began, began, runtime_seconds, {}, tool_cpu_seconds=1.5, invalid=made.invalid
        )

    def size_of(text):
        return int(next(line.partition("=")[2] for line in text.splitlines() if line.startswith("bs=")))

    def open_images(self, sets):
        for variant in self.design.variants:
            self.images[variant.image_name] = [BlockImage("replay", "", variant.name, variant.image, "")]

    def steps(measured, log, table):
        origin, lines = 999.0, measured.results["latency"][1].count(b"\n")
        write = {"step": "write", "started_seconds": 0.0, "unix_seconds_at_origin": origin, "log_lines": lines}
        measured.results["steps"] = ("steps.jsonl", steps_log(write).encode())

    def restore(self, cell, measured):
        mirrored = cell.variant.image.mirroring == "journal"
        reached = {"expected_after_seconds": 6.0}
        return [Wait("journal_replayed", SECONDS_OF_RUN, "replayed", reached)] if mirrored else []

    monkeypatch.setattr(fio_writer, "run_fio", fio)
    monkeypatch.setattr(fio_writer, "keep_log", steps)
    monkeypatch.setattr(Images, "open", open_images)
    monkeypatch.setattr(Level, "restore", restore)
    monkeypatch.setattr(Level, "open", lambda self: None)
    monkeypatch.setattr("replay.protocols.observers.mirror.read_positions", lambda cluster, spec: (NOT_BEGUN, []))
    monkeypatch.setattr("replay.protocols.observers.mirror.configured_poll_age", lambda second: 5.0)
    for module in ("replay.measure.bench", "replay.protocols.observers.daemons"):
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda seconds: None))
    monkeypatch.setattr(daemons, "Guard", lambda bench: SimpleNamespace(settle=lambda: iter(())))
    monkeypatch.setattr(daemons, "writes_in", lambda sample: 0)
    for observer in made.observers:
        if isinstance(observer, CellCountersAboveIdle):
            observer.daemons = Daemons()
    return made


def option(text, name):
    return next((line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{name}=")), None)


def opened(made, tmp_path):
    made.open_block(BlockWriter(tmp_path / "raw", 1), made.design.sets)
    return made


def test_the_rates_are_found_in_the_block_and_kept_as_evidence(scripted, tmp_path):
    opened(scripted, tmp_path)
    assert [component for component, _ in scripted.jobs] == ["pilot"] * 4, "two images at two sizes"
    assert {option(text, "iodepth") for _, text in scripted.jobs} == {"16"}
    assert {option(text, "ramp_time") for _, text in scripted.jobs} == {"0"}, "every write counts"
    # 400 writes a second for 4 s, peak_seconds of the scale, and 6 s more until the copy is level. Of large ones there
    # are enough after 2 s.
    assert sorted(scripted.runtimes) == [2, 4, 4, 4]
    small, large = (scripted.driver.rates[size] for size in (4096, 4194304))
    assert (small.peak, small.replay, small.offered) == (400, 160, 96)
    assert (large.peak, large.replay, large.offered) == (400, 100, 60)
    notes = [json.loads(path.read_text()) for path in tmp_path.rglob("round-1.json")]
    assert {one["level_operations_per_second"] for one in notes if one["variant"] == "journal"} == {400}
    assert {one["level_operations_per_second"] for one in notes if one["variant"] == "journal-mirrored"} == {160, 100}


def test_sets_that_a_block_measures_later_have_the_rate_that_it_found(scripted, tmp_path):
    opened(scripted, tmp_path)
    found = dict(scripted.driver.rates)
    scripted.driver.rates.clear()
    scripted.jobs.clear()
    opened(scripted, tmp_path)
    assert scripted.driver.rates == found and scripted.jobs == []
    scripted.driver.rates.clear()
    scripted.open_block(BlockWriter(tmp_path / "raw", 2), scripted.design.sets)
    assert len(scripted.jobs) == 4, "another block has a rate of its own"


def test_a_rate_whose_replay_was_not_found_before_an_interruption_is_found_anew(scripted):
    cells = in_set(scripted, "offered-randwrite-4096")
    notes = []
    raw = SimpleNamespace(block=1, history=SimpleNamespace(pilots_of_block=lambda host, block: notes))

    def found(size=4096):
        return scripted.driver._found_before(raw, size, cells)

    def pilot(variant, peak, level):
        of = {"peak_operations_per_second": peak, "level_operations_per_second": level}
        notes.append({"cell_id": cells[variant].cell_id, **of})

    pilot("journal", 400.0, 400.0)
    assert found() is None
    pilot("journal", 500.0, 500.0)
    assert found() is None, "it was interrupted twice"
    pilot("journal-mirrored", 300.0, 100.0)
    assert (found().peak, found().replay) == (500, 100)
    pilot("journal", 600.0, 600.0)
    assert (found().peak, found().replay) == (500, 100), "the first rate holds"
    assert found(4194304) is None, "it is of another size"


def test_one_writer_waits_for_each_write_and_an_offered_rate_does_not(scripted, tmp_path):
    opened(scripted, tmp_path)
    alone = scripted.run(in_set(scripted, "one-writer-randwrite-4096")["none"], seed=1)
    text = scripted.jobs[-1][1]
    assert (option(text, "iodepth"), option(text, "rate_iops")) == ("1", None)
    assert "offered_operations_per_second" not in alone.facts
    offered = scripted.run(in_set(scripted, "offered-randwrite-4096")["none"], seed=1)
    text = scripted.jobs[-1][1]
    assert (option(text, "iodepth"), option(text, "rate_iops"), option(text, "rate_process")) == (
        "128",
        "96",
        "poisson",
    )
    assert offered.facts["offered_operations_per_second"] == 96
    assert (offered.facts["client_cpu_seconds"], offered.facts["ramp_seconds"]) == (1.5, 2.0)
    assert offered.invalid is None


def test_every_variant_of_a_set_is_offered_the_same_rate(scripted, tmp_path):
    opened(scripted, tmp_path)
    rates = set()
    for one in in_set(scripted, "offered-randwrite-4194304").values():
        if scripted.interval_of(one) is None:
            scripted.run(one, seed=1)
            rates.add(option(scripted.jobs[-1][1], "rate_iops"))
    assert rates == {"60"}


def test_a_cell_keeps_what_the_daemons_did_because_of_it_and_what_they_do_at_rest(scripted, tmp_path):
    opened(scripted, tmp_path)
    one = in_set(scripted, "one-writer-randwrite-4096")["none"]
    measured = scripted.run(one, seed=1)
    opening = scripted.observers[-1].opening.number
    scripted.restore(one, measured)
    assert measured.samples["ledger"]["readings"][0] == opening, "right before the writes"
    first, last = measured.samples["idle"]["readings"]
    assert first < last < opening, "before any cell of the block"


def test_a_closed_loop_that_fails_stops_the_block(scripted, tmp_path):
    scripted.invalid = ("failed", "exit status 1")
    with pytest.raises(ReplayError, match="the peak could not be found: failed: exit status 1"):
        opened(scripted, tmp_path)
    assert scripted.driver.rates == {}
    assert scripted.driver.closed_loop_seconds is None


def test_a_block_without_an_offered_rate_looks_for_no_peak(scripted, tmp_path):
    alone = [one for one in scripted.design.sets if one.levels["load"] == "one-writer"]
    scripted.open_block(BlockWriter(tmp_path / "raw", 1), alone)
    assert scripted.jobs == []


# What is refused ----------------------------------------------------------------------------------------------------


def variants(*more):
    return [*load_experiment("write-latency")["variants"][:4], *more]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"variants": variants({"name": "s", "label": "some", "mirroring": "snapshot"})}, "interval_seconds is None"),
        (
            {
                "variants": variants(
                    {
                        "name": "s",
                        "label": "some",
                        "mirroring": "snapshot",
                        "levels": {"snapshot_interval_seconds": 60, "cell_seconds": 50},
                    }
                )
            },
            "a cell of 50 s is shorter than its interval",
        ),
    ],
)
def test_a_design_that_cannot_be_measured_is_refused(changes, said):
    scales = {name: {"blocks": 1, "target_seconds": 32} for name in ("smoke", "quick", "talk")}
    with pytest.raises(ConfigurationError, match=said):
        protocol(**{"scales": scales, **changes})


def test_images_in_a_namespace_are_refused_because_fio_does_not_support_them():
    with pytest.raises(ConfigurationError, match="does not support RADOS namespaces"):
        protocol(namespace="mine")


def test_a_rate_of_a_variant_that_is_not_there_is_refused():
    options = {**load_experiment("write-latency")["options"], "peak_of": "jurnal"}
    with pytest.raises(ConfigurationError, match=r"options\.peak_of: 'jurnal' is not measured at offered-randwrite"):
        protocol(options=options)


def test_a_variant_that_is_alone_paces_itself_and_of_several_the_wanted_one_does():
    stretch, journal = object(), object()
    assert paced_by({"stretch": stretch}, "journal") is stretch
    assert paced_by({"stretch": stretch, "journal": journal}, "journal") is journal
    assert paced_by({"stretch": stretch, "none": journal}, "journal") is None


# On a sandbox -------------------------------------------------------------------------------------------------------


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.xdist_group("latency of writes")  # takes long, so it begins first
def test_latency_and_cost_of_each_mode_are_measured_while_mirroring_runs(campaign):
    measure_as_shipped(campaign, "write-latency")
    sidecars = [one for one in campaign.sidecars("write-latency") if one["valid"]]
    assert all({"ledger", "idle"} <= one["samples"].keys() for one in sidecars)
    assert all("osds_quiet" in [wait["for"] for wait in one["waits"]] for one in sidecars)
    rows = {(row["load"], row["variant"]): row for row in campaign.used_rows("write-latency")}

    def figure(load, variant, metric):
        return float(rows[load, variant][metric])

    for place in rows:
        assert figure(*place, "latency_p50_seconds") > 0
        assert figure(*place, "client_cpu_seconds_per_write") > 0
        # On a busy machine the OSDs' time at rest can be as much as that of a cell with few writes.
        assert math.isfinite(figure(*place, "osd_cpu_seconds_above_idle_per_write"))
    assert all({"mgr", "mon", "rbd-mirror"} <= one["samples"]["ledger"]["secondary"].keys() for one in sidecars)
    ledgers = [one["samples"]["ledger"]["primary"] for one in sidecars]
    assert all(ledger[osd]["cpu"]["seconds"] > 0 for ledger in ledgers for osd in ("osd.0", "osd.1", "osd.2"))
    # At smoke scale there is no ramp, so each write is counted. Opening and closing an image takes some more, however
    # few of the client's a slow machine does meanwhile: at most 4 in the shipped cells of amplification, with a journal
    # 12, and with snapshots 6.
    for load, variant in rows:
        count = figure(load, variant, "operations")
        others = figure(load, variant, "osd_plain_writes_per_write") * count - count
        most = {"none": 4, "snapshot-every-second": 6}.get(variant, 12)
        assert -0.05 * count <= others <= max(0.05 * count, most)
    none, journal, mirrored = (("one-writer", name) for name in ("none", "journal", "journal-mirrored"))
    assert figure(*none, "osd_bytes_per_byte") == pytest.approx(1, abs=0.1)
    assert figure(*journal, "osd_bytes_per_byte") == pytest.approx(2, abs=0.1)
    assert figure(*mirrored, "second_stored_writes_per_write") == pytest.approx(1, abs=0.1)
    assert figure("one-writer", "none", "second_stored_writes_per_write") < 0.1
    # A slow snapshot delays the next one, so how many there were depends on the machine.
    assert figure("one-writer", "snapshot-every-second", "snapshots_taken") >= 1
