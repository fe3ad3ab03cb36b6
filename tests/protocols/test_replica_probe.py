"""The probe of a copy needs no module of Ceph; the load is that of the time in which a tool measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ReplayError
from replay.base.programs import HOST_PROGRAMS
from replay.design.design import Image
from replay.evidence.record import SampleTable
from replay.measure.bench import MachineReading, MachineSampler
from replay.protocols import mirror_lag as replica
from replay.protocols.drivers.rados_bench import busiest, joined
from replay.protocols.mirror_lag import ReplicaSampler
from replay.protocols.observers.replica_probe import data_objects, header_of, newest_complete
from support.patience import wait_until

HEADER = {
    "splay_width": bytes([4]), "pool_id": (2**64 - 1).to_bytes(8, "little"),
    "minimum_set": (3).to_bytes(8, "little"), "active_set": (5).to_bytes(8, "little"),
}  # fmt: skip


def test_a_header_is_read_as_ceph_encodes_it():
    assert header_of(HEADER) == {"splay_width": 4, "pool_id": -1, "minimum_set": 3, "active_set": 5}


def test_possible_objects_are_those_of_the_sets_from_the_oldest_to_the_active_one():
    assert list(data_objects(header_of(HEADER))) == list(range(12, 24))


def test_the_newest_complete_mirror_snapshot_counts():
    def mirrored(number, complete):
        return {"id": 90 + number, "mirror": {"primary_snap_id": number, "complete": complete}}

    assert newest_complete([{"id": 1}, mirrored(4, True), mirrored(6, True), mirrored(7, False)]) == 6
    assert newest_complete([{"id": 1}, mirrored(4, False)]) == 0


def bench():
    cluster = SimpleNamespace(conf="/c", client="client.x", keyring=None)
    site = SimpleNamespace(secondary=cluster)
    return SimpleNamespace(primary_cluster=cluster, site=site, programs=HOST_PROGRAMS, slot=None)


def sampler_of(mirroring, monkeypatch, program):
    """A sampler whose child is a shell that runs the test's script, whatever its arguments."""
    image = SimpleNamespace(pool="p", name="image", rbd_id="abc", image=Image(1, 1, (), mirroring))
    made = ReplicaSampler(bench(), image, origin=0.0)
    background = replica.Background
    monkeypatch.setattr(
        replica, "Background", lambda argv, programs, slot: background(["sh", "-c", program], slot=slot)
    )
    return made


def test_a_journal_is_read_on_the_first_cluster_and_a_copy_on_the_second():
    image = SimpleNamespace(pool="p", name="image", rbd_id="abc", image=Image(1, 1, (), "journal"))
    spec = ReplicaSampler(bench(), image, origin=0.0).spec
    assert spec["journal"]["image_id"] == "abc"
    assert "copy" not in spec
    image.image = Image(1, 1, (), "snapshot")
    spec = ReplicaSampler(bench(), image, origin=0.0).spec
    assert (spec["copy"]["image"], spec["copy"]["cluster"]["pool"]) == ("image", "p")
    assert "journal" not in spec


def test_whole_lines_are_recorded_and_the_latest_value_is_known(monkeypatch):
    program = "echo 0.5,image-1,copied_snapshot_id,4; echo 1.0,image-1,copied_snapshot_id,5; printf 1.5,ima; cat"
    sampler = sampler_of("snapshot", monkeypatch, program)
    sampler.start()
    assert sampler.latest("journal_bytes") is None
    table = SampleTable()
    try:
        sampler._child.await_that(lambda: sampler.latest("copied_snapshot_id") == 5, "the second line")
        sampler.finish(table)
    finally:
        sampler.close()
    assert table.content().decode().splitlines()[1:-1] == [
        "0.5,image-1,copied_snapshot_id,4", "1.0,image-1,copied_snapshot_id,5",
    ]  # fmt: skip


def test_a_probe_that_fails_is_an_error_with_its_message(monkeypatch):
    sampler = sampler_of(
        "journal", monkeypatch, "echo 0.5,image-1,journal_bytes,4; echo replica probe: gone >&2; exit 1"
    )
    sampler.start()
    with pytest.raises(ReplayError, match="replica probe: gone"):
        sampler.finish(SampleTable())
    sampler.close()


def test_a_probe_that_ends_while_the_copy_is_awaited_is_an_error_at_once(monkeypatch):
    program = "echo 0.5,image-1,copied_snapshot_id,4; echo replica probe: gone >&2; exit 1"
    sampler = sampler_of("snapshot", monkeypatch, program)
    sampler.start()
    wait_until(lambda: sampler._child.exit_status is not None, "the end of the probe")
    with pytest.raises(ReplayError, match="the sampler of the replica failed: replica probe: gone"):
        sampler.latest("copied_snapshot_id")
    sampler.close()


def readings(*idle_fractions, step=0.1, ticks=10):
    """A reading each `step` seconds, the CPU idle as given in between."""
    made = [MachineReading(100, 1000, (50,), 7.0)]
    for fraction in idle_fractions:
        last = made[-1]
        made.append(
            MachineReading(
                round(last.idle_ticks + fraction * ticks),
                last.all_ticks + ticks,
                (last.disk_busy_milliseconds[0] + 40,),
                last.clock + step,
            )
        )
    return made


def test_the_pause_at_the_end_and_the_slow_start_are_left_out():
    run = readings(0.8, 0, 0, 0.1, 1, 1, 1, 1)
    assert MachineSampler.load(run[0], run[-1])["cpu_idle_fraction"] > 0.6
    assert MachineSampler.load(*busiest(run, 0.29))["cpu_idle_fraction"] == round(1 / 30, 4)


def test_a_run_that_is_shorter_or_failed_counts_as_a_whole():
    run = readings(0, 1)
    assert busiest(run, 5.0) == (run[0], run[-1])
    assert busiest(run, None) == (run[0], run[-1])


def test_stretches_are_added_up():
    first, second = readings(0, 0.5), readings(1.0, step=0.3, ticks=30)
    load = MachineSampler.load(*joined([(first[0], first[-1]), (second[0], second[-1])]))
    assert load["cpu_idle_fraction"] == (5 + 30) / 50
    assert load["disk_busy_fraction"] == round(0.12 / 0.5, 4)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.05, 2.0))
def test_no_stretch_of_that_length_is_busier(fractions, seconds):
    run = readings(*fractions)
    start, end = busiest(run, seconds)
    if end.clock - start.clock < seconds:
        assert (start, end) == (run[0], run[-1])
        return
    chosen = (end.idle_ticks - start.idle_ticks) / (end.all_ticks - start.all_ticks)
    for i, one in enumerate(run):
        other = next((two for two in run[i:] if two.clock - one.clock >= seconds), None)
        if other:
            assert chosen <= (other.idle_ticks - one.idle_ticks) / (other.all_ticks - one.all_ticks)
