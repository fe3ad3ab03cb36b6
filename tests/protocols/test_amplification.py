"""What one client write becomes: counts that end when the OSDs rest, in cells whose size depends on no clock."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.design.configuration import load_experiment
from replay.evidence.record import Measured, Wait
from replay.measure.daemons import ClusterReading, DaemonReading
from replay.ownership.images import BlockImage
from replay.protocols.observers import copies, daemons
from replay.protocols.observers.daemons import writes_in
from replay.protocols.single_tool import Amplification
from support.bench import bench_of, cells, design_of, site_of
from support.smoke import measure_as_shipped


def protocol():
    return Amplification(bench_of(site_of()), design_of("amplification", "talk"))


def reading(writes, clock=0.0):
    one = DaemonReading({"store": {"small_writes": writes}, "client": {"operations": writes}})
    return ClusterReading({"primary": {"osd.0": one}}, None, clock, 0.01)


class Daemons:
    """A sampler whose OSDs have written these totals at each reading."""

    def __init__(self, *writes):
        self.writes = list(writes)
        self.between = daemons.DaemonSampler(bench_of(site_of()), processes={}).between

    def read(self):
        return reading(self.writes.pop(0) if len(self.writes) > 1 else self.writes[0])


@pytest.fixture
def quick(monkeypatch):
    """Time that passes only during sleeps."""
    now = [0.0]
    fake = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr("replay.measure.bench.time", fake)
    monkeypatch.setattr(daemons, "Guard", lambda bench: SimpleNamespace(settle=lambda: iter(())))
    return now


def cell_of(made, variant="without-journal", **levels):
    return cells(made, variant, **levels)[0]


def restored(made, cell):
    copies, counts = made.observers
    counts.opening = reading(0)
    copies.mode = None
    measured = Measured([], {}, 0, "", "", 1.0, {})
    return measured, made.restore(cell, measured)


@pytest.mark.parametrize(("size", "operations"), [(4096, 4096), (16384, 4096), (65536, 1024), (4194304, 16)])
def test_a_cell_does_its_number_of_writes_or_as_many_as_its_bytes_allow(tmp_path, size, operations):
    made = protocol()
    cell = cell_of(made, io_size_bytes=size)
    assert made.driver.is_sized(tmp_path, cell), "no pilot"
    assert made.driver.io_total_bytes[cell.cell_id] == operations * size


def test_the_closing_reading_is_the_first_after_which_the_osds_rested(quick):
    made = protocol()
    made.observers[1].daemons = Daemons(0, 400, 700, 705, 705)
    measured, waits = restored(made, cell_of(made))
    assert [(wait.reason, wait.outcome, wait.seconds) for wait in waits] == [("osds_quiet", "quiet", 3.0)]
    assert measured.samples["ledger"]["primary"]["osd.0"]["store"]["small_writes"] == 705
    assert measured.invalid is None


def test_a_cell_has_no_count_if_the_osds_never_rest_after_it(quick):
    made = protocol()
    made.observers[1].daemons = Daemons(*range(0, 10**6, 1000))
    measured, waits = restored(made, cell_of(made))
    assert waits[0].outcome == "still_writing"
    assert measured.invalid[0] == "incomplete"


def test_trimming_after_the_osds_rested_belongs_to_the_cell(quick, monkeypatch):
    settled = [[Wait("cluster_settled", 2.0, "settled")], []]
    monkeypatch.setattr(daemons, "Guard", lambda bench: SimpleNamespace(settle=lambda: iter(settled.pop(0))))
    made = protocol()
    made.observers[1].daemons = Daemons(0, 0, 300, 300)
    measured, waits = restored(made, cell_of(made))
    assert [wait.reason for wait in waits] == ["osds_quiet", "cluster_settled", "osds_quiet"]
    assert measured.samples["ledger"]["primary"]["osd.0"]["store"]["small_writes"] == 300


def test_copies_and_writes_of_both_clusters_count_and_reads_do_not():
    osd = {"client": {"read_operations": 9}, "replication": {"operations": 2}, "store": {"deferred_writes": 3}}
    assert writes_in({"primary": {"osd.0": osd, "mgr": {"cpu": {"seconds": 1}}}, "secondary": {"osd.0": osd}}) == 10
    assert writes_in({"seconds": 1.0}) == 0


def test_a_snapshot_mirrored_cell_holds_one_snapshot_however_long_it_takes(monkeypatch):
    taken, awaited = [], []
    monkeypatch.setattr(copies, "take_mirror_snapshot", lambda cluster, spec: taken.append(spec) or 7)
    monkeypatch.setattr(
        copies, "wait_until_copied", lambda copied, one, **_: awaited.append(one) or Wait("c", 1.0, "copied")
    )
    made = protocol()
    made.bench.site.second_site = SimpleNamespace()
    cell, observer = cell_of(made, "snapshot-mirrored"), made.observers[0]
    made.target.images[cell.variant.image_name] = [BlockImage("replay", "", "image", cell.variant.image, "")]
    observer.started(cell)
    assert observer.while_running(cell) is None
    measured = Measured([], {}, 0, "", "", 1.0, {})
    observer.ended(cell, measured)
    observer.verify(cell, measured, None)
    assert (taken, measured.invalid, measured.facts) == (["replay/image"], None, {"snapshots_taken": 1})
    assert [wait.reason for wait in measured.waits] == ["mirror_snapshot_taken"]
    observer.restore(cell, measured)
    assert awaited == [7]


def test_if_no_osd_reports_its_counters_nothing_is_created(tmp_path):
    made = protocol()
    silent = ClusterReading(
        {"primary": {}}, None, 0.0, 0.01, tuple(f"primary osd.{n}: error 13: Permission denied" for n in (0, 1))
    )
    made.observers[1].daemons = SimpleNamespace(read=lambda: silent)
    made.open_block(tmp_path, made.design.sets)
    assert made.target.images == {}
    assert {skip.variant for skip in made.unavailable} == {variant.name for variant in made.design.variants}
    assert {skip.detail for skip in made.unavailable} == {"no OSD returns its counters (error 13: Permission denied)"}


@pytest.mark.sandbox
@pytest.mark.of_release
def test_every_write_is_counted_through_its_copies_to_the_second_site(campaign):
    measure_as_shipped(campaign, "amplification")
    sidecars = {one["variant"]: one for one in campaign.sidecars("amplification")}
    assert len(sidecars) == 4
    assert all(one["valid"] for one in sidecars.values())
    assert all("osds_quiet" in [wait["for"] for wait in one["waits"]] for one in sidecars.values())
    rows = {row["variant"]: row for row in campaign.used_rows("amplification")}

    def figure(variant, metric):
        return float(rows[variant][metric])

    # A client's write is one plain write, and each operation that changes something has two copies: three replicas.
    assert figure("without-journal", "osd_plain_writes_per_write") == pytest.approx(1, abs=0.01)
    for variant in ("without-journal", "with-journal", "journal-mirrored"):
        copies, writes = figure(variant, "copies_per_write"), figure(variant, "osd_writes_per_write")
        assert copies == pytest.approx(2 * writes, rel=0.05), variant
    # Besides the write itself. Appends that wait for one another are joined: the slower the OSDs, the fewer there are.
    # There is at least one append for as many writes as there are threads, since each waits for its own.
    appended = figure("with-journal", "osd_writes_per_write") - figure("without-journal", "osd_writes_per_write")
    assert appended > 1 / load_experiment("amplification")["options"]["io_threads"]
    assert figure("with-journal", "osd_bytes_per_byte") == pytest.approx(2, abs=0.1)
    assert figure("without-journal", "osd_bytes_per_byte") == pytest.approx(1, abs=0.01)
    assert figure("with-journal", "media_bytes_per_byte") > figure("without-journal", "media_bytes_per_byte") > 3
    assert figure("journal-mirrored", "second_osd_writes_per_write") > 0.9
    assert figure("without-journal", "second_osd_writes_per_write") < 0.1
    assert figure("snapshot-mirrored", "snapshots_taken") == 1
    assert figure("snapshot-mirrored", "copied_snapshots") == 1
