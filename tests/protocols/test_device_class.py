"""A fast and a capped device class: made, watched, and undone after any end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.evidence.record import Measured
from replay.ownership.daemon_settings import Osd
from replay.protocols import device_class as device_classes
from replay.protocols.device_class import CappedDisks, CappedReading, DeviceClass, DeviceClasses
from replay.sandbox.interventions import find_hierarchy
from support.bench import bench_of, design_of, site_of
from support.patience import patient
from support.smoke import measure_as_shipped

OPTIONS = {"cap_iops": 100, "most_replicas": 3, "pg_num": 32}


class Cap:
    """The kernel's group of an OSD that has read and written `done`."""

    def __init__(self):
        self.done, self.held, self.folder = (0, 0), True, Path("group")

    def holds(self, pid):
        return self.held

    def counts(self):
        return self.done


class Settings:
    """OSDs that get classes and caps; `did` records the order of all steps."""

    def __init__(self, count, did):
        self.there = [Osd(n, f"osd.{n}", 1.0, 1.0, "ssd") for n in range(count)]
        self.did = did

    def osds(self):
        return self.there

    def set_device_class(self, osd, name):
        self.did.append((osd.name, name))

    def cap_io(self, osd, pid, data, iops):
        self.did.append((osd.name, iops))
        return Cap()

    def lift_caps(self):
        self.did.append("lift")

    def restore(self):
        self.did.append("restore")


@pytest.fixture
def make(monkeypatch):
    def of(osds=3):
        did = []
        made = DeviceClasses(bench_of(site_of()), OPTIONS, application="rbd")
        made.settings, made.did = Settings(osds, did), did

        def create(bench, name, spec, *, application):
            did.append(("pool", name, spec.replicas, spec.device_class))
            return f"own-{name}"

        monkeypatch.setattr(device_classes, "create_pool", create)
        monkeypatch.setattr(device_classes, "await_pools", lambda bench, pools: None)
        monkeypatch.setattr(device_classes, "osd_process", lambda bench, number: (1000 + number, Path("data")))
        monkeypatch.setattr(device_classes, "remove_owned_leftovers", lambda bench: did.append("images"))
        monkeypatch.setattr(device_classes, "remove_leftover_pools", lambda bench: did.append("pools"))
        monkeypatch.setattr(device_classes.time, "sleep", lambda seconds: None)
        return made

    return of


def measured():
    return Measured([], {}, 0, "a", "b", 1.0, {})


def test_three_osds_give_two_classes_of_one_with_one_copy_each(make):
    made = make()
    made.open()
    assert made.did == [
        ("osd.0", "replay-fast"),
        ("osd.2", "replay-capped"),
        ("pool", "fast", 1, "replay-fast"),
        ("pool", "capped", 1, "replay-capped"),
    ]
    assert made.facts == {"replicas": 1, "osds_per_class": 1, "cap_iops": 100}


def test_six_osds_give_three_copies_on_each_class(make):
    made = make(6)
    made.open()
    made.cap()
    assert made.facts["replicas"] == made.facts["osds_per_class"] == 3
    assert made.did[-3:] == [("osd.3", 100), ("osd.4", 100), ("osd.5", 100)]


def test_one_osd_has_no_two_classes(make):
    with pytest.raises(ConfigurationError, match="two device classes need at least two OSDs"):
        make(1).open()


def test_closing_lifts_the_caps_first_and_restores_the_classes_last(make):
    made = make()
    made.open()
    made.did.clear()
    made.close()
    assert made.did == ["lift", "images", "pools", "restore"]


def test_the_classes_are_restored_even_if_a_pool_cannot_be_removed(make, monkeypatch):
    made = make()
    made.open()

    def fails(bench):
        raise ReplayError("1 pool(s) could not be removed")

    monkeypatch.setattr(device_classes, "remove_leftover_pools", fails)
    with pytest.raises(ReplayError, match="could not be removed"):
        made.close()
    assert made.did[-1] == "restore"


def test_a_cell_records_what_the_capped_disks_did(make, monkeypatch):
    made = make()
    made.open()
    made.cap()
    monkeypatch.setattr(device_classes.time, "monotonic", lambda: 12.0)
    made.caps[2].done = (10, 190)
    cell = measured()
    made.observe(cell, CappedReading(10.0, ((0, 0),)))
    assert (cell.facts["capped_disk_reads_per_second"], cell.facts["capped_disk_writes_per_second"]) == (5.0, 95.0)
    assert cell.invalid is None


def test_a_cap_that_did_not_hold_makes_the_cell_void(make, monkeypatch):
    made = make()
    made.open()
    made.cap()
    monkeypatch.setattr(device_classes.time, "monotonic", lambda: 12.0)
    made.caps[2].done = (0, 600)
    cell = measured()
    made.observe(cell, CappedReading(10.0, ((0, 0),)))
    assert cell.invalid == ("failed", "a capped OSD did 300 operations/s on its disk, but its cap is 100")


def test_an_osd_that_was_restarted_ends_the_block(make):
    made = make()
    made.open()
    made.cap()
    made.caps[2].held = False
    with pytest.raises(ReplayError, match=r"osd\.2 is running without its cap"):
        made.read()


def test_a_cell_ends_when_the_capped_disks_rest(make):
    made = make()
    made.open()
    made.cap()
    counts = iter([(0, 0), (0, 90), (0, 180), (0, 182)])
    made.caps[2].counts = lambda: next(counts)
    wait = made.await_quiet()
    assert (wait.reason, wait.outcome, wait.details) == ("capped_osds_quiet", "quiet", {"operations_at_the_end": 2})


def test_a_machine_without_the_throttle_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(device_classes, "find_hierarchy", lambda: None)
    site = SimpleNamespace(primary=SimpleNamespace(conf=tmp_path / "ceph.conf"))
    assert "no throttle of block I/O" in CappedDisks().lacking(site)["host_root"]
    monkeypatch.setattr(device_classes, "find_hierarchy", object)
    monkeypatch.setattr(device_classes, "device_of", lambda path: None)
    assert "nothing to throttle" in CappedDisks().lacking(site)["host_root"]


def protocol(**changes):
    bench = bench_of(site_of(), data_set="t", say=print, daemons_are_here=True)
    return DeviceClass(bench, design_of("device-class", **changes))


def variants(**changes):
    return [{"name": "some", "label": "Capped at 1000 IOPS", **changes}]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": "HDD", "levels": {"device_class": "capped"}}, "does not name the cap, 1000 IOPS"),
        ({"levels": {"device_class": "fast", "journal_class": "fast"}}, "has the level journal_class, but no journal"),
    ],
)
def test_a_design_that_it_cannot_run_is_refused_before_anything_is_made(changes, said):
    scales = {"quick": {"blocks": 1, "target_seconds": 1}}
    with pytest.raises(ConfigurationError, match=said):
        protocol(variants=variants(**changes), scales=scales)


# On a real cluster ----------------------------------------------------------------------------------------------

CAN_CAP = os.geteuid() == 0 and find_hierarchy() is not None


def state_of(campaign):
    """Return what these protocols may change: pools, rules, classes of the OSDs, and the kernel's groups."""
    tree = campaign.ask("left", "osd tree")["nodes"]
    return {
        "pools": sorted(campaign.ask("left", "osd pool ls")),
        "rules": sorted(campaign.ask("left", "osd crush rule ls")),
        "classes": {one["name"]: one["device_class"] for one in tree if one["type"] == "osd"},
        "known classes": sorted(campaign.ask("left", "osd crush class ls")),
        "groups": sorted(groups_of(campaign)),
    }


def groups_of(campaign):
    """Return the kernel's groups of the OSDs of this campaign's sandbox."""
    if (hierarchy := find_hierarchy()) is None:
        return []
    mark = os.fsencode(campaign.sandbox_directory)
    found = []
    for group in hierarchy.root.glob("replay-*-osd-*"):
        with contextlib.suppress(OSError):  # that of another run, and gone by now
            lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (group / "cgroup.procs").read_text().split()]
            found += [group.name for line in lines if mark in line]
    return found


@pytest.fixture
def untouched(campaign):
    before = state_of(campaign)
    yield before
    assert state_of(campaign) == before, "a test left a class, a cap or a pool behind"


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
def test_both_classes_are_measured_after_those_of_a_killed_run_are_removed_and_leave_the_cluster_as_it_was(
    campaign, untouched
):
    if CAN_CAP:
        kill_the_runner_in_its_benchmark(campaign, untouched)
    said, lacking = measure_as_shipped(campaign, "device-class", "device-class-objects")
    if not lacking:
        assert not CAN_CAP or "that an interrupted run had changed" in said
        for name in ("device-class", "device-class-objects"):
            assert_both_classes_were_measured(campaign, name)


def kill_the_runner_in_its_benchmark(campaign, untouched):
    campaign.configure("device-class", target_seconds=60, image_size_bytes=4 << 20, variants=["capped"])
    run = campaign.start_block("device-class")
    campaign.wait_for(lambda: groups_of(campaign) and campaign.processes("rbd", "bench", "rand"), "the benchmark")
    os.kill(campaign.runner("device-class"), signal.SIGKILL)
    run.communicate(timeout=patient(60))
    assert state_of(campaign)["classes"] != untouched["classes"], "the kill came too early, and this proves nothing"
    # Its evidence, which nobody will complete. What it left on the cluster is in the ledger.
    shutil.rmtree(campaign.raw("device-class").parent)


def assert_both_classes_were_measured(campaign, name):
    good = [one for one in campaign.sidecars(name) if one["valid"]]
    assert {one["variant"] for one in good} >= {"fast", "capped"}
    assert all(one["facts"]["capped_disk_writes_per_second"] <= 2 * one["facts"]["cap_iops"] for one in good)
