"""Mirroring in a cell: snapshots are taken while it runs and awaited at its end; the daemon's work is recorded."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from replay.base.errors import ReplayError
from replay.cluster.cluster import CephCommandError
from replay.cluster.mirroring import POLL_AGE, ReplayCounters
from replay.evidence.record import Measured, Wait
from replay.ownership.images import BlockImage
from replay.protocols.drivers.fio import FioProcess
from replay.protocols.observers import copies, mirror
from replay.protocols.observers.mirror import MirrorPosition
from replay.protocols.single_tool import SingleTool
from replay.tools import Result
from support.bench import bench_of, cells, design_of, site_of
from support.patience import patient


@pytest.fixture
def rbd(tmp_path, monkeypatch):
    """An `rbd` that records its arguments, waits for the file `go`, and ends with the status in the file `status`."""
    program = tmp_path / "rbd"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/said\nwhile ! [ -e {tmp_path}/go ]; do sleep 0.01; done\n'
        f"exit $(cat {tmp_path}/status)\n"
    )
    program.chmod(0o755)
    (tmp_path / "status").write_text("0")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


@pytest.fixture
def started():
    """Return a function that starts the observer of a cell of a variant."""

    def of(variant):
        design = design_of("rbd-journaling", "talk")
        made = SingleTool(bench_of(site_of()), design)
        cell = cells(made, variant, io_type="write")[0]
        made.target.images[cell.variant.image_name] = [BlockImage("pool", "", "image", cell.variant.image, "")]
        [observer] = [one for one in made.observers if isinstance(one, mirror.Mirror)]
        observer.started(cell)
        return observer, cell

    return of


def measured():
    return Measured([], {}, 0, "", "", 1.0, {})


def snapshot_variant():
    variants = design_of("rbd-journaling", "talk").variants
    return next(one.name for one in variants if one.image.mirroring == "snapshot")


def test_a_snapshot_is_taken_half_an_interval_into_the_cell_and_awaited_at_its_end(rbd, started):
    observer, cell = started(snapshot_variant())
    interval, look, one = observer.snapshots.interval_seconds, observer.while_running(cell), measured()
    look(0.4 * interval)
    assert not observer.snapshots.is_under_way
    look(0.5 * interval)
    look(5 * interval)
    (rbd / "go").touch()
    observer.ended(cell, one)
    observer.verify(cell, one, Result(metrics={"bytes": 7.0}))
    assert (rbd / "said").read_text() == "--conf c --name client.admin mirror image snapshot pool/image\n", (
        "one at a time"
    )
    assert one.facts == {"snapshots_taken": 1, "snapshot_interval_seconds": interval}
    assert [(wait.reason, wait.outcome) for wait in one.waits] == [("mirror_snapshot_taken", "ended")]
    assert (one.invalid, observer.written_bytes) == (None, 7)


@pytest.mark.parametrize("fails", [True, False])
def test_a_cell_that_writes_and_meets_no_snapshot_is_void(rbd, started, fails):
    observer, cell = started(snapshot_variant())
    one = measured()
    if fails:
        (rbd / "status").write_text("2")
        observer.while_running(cell)(1e6)
        (rbd / "go").touch()
    observer.ended(cell, one)
    observer.verify(cell, one, None)
    assert one.invalid == ("no_snapshot", "no mirror snapshot was taken while the cell ran")


def test_a_cell_that_is_already_void_keeps_its_reason(rbd, started):
    observer, cell = started(snapshot_variant())
    one = measured()
    one.invalid = ("too_short", "0.1 s")
    observer.ended(cell, one)
    observer.verify(cell, one, None)
    assert one.invalid == ("too_short", "0.1 s")


def test_a_snapshot_that_is_under_way_when_a_cell_is_interrupted_is_ended(rbd, started, monkeypatch):
    observer, cell = started(snapshot_variant())
    observer.while_running(cell)(1e6)
    running = observer.snapshots._running
    deadline = time.monotonic() + patient(30)
    while not (rbd / "said").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    monkeypatch.setattr(running, "end", lambda patience_seconds: None)
    observer.stop()
    assert running.exit_status is not None
    observer.stop()


MIX = Result(metrics={"bytes": 12288.0, "read_bytes": 8192.0, "write_bytes": 4096.0, "duration_seconds": 2.0})


@pytest.mark.parametrize(("io_type", "result", "bytes_of_journal"), [
    ("rw", MIX, 4096),
    ("readwrite", MIX, 4096),
    ("rw", None, 0),
    ("write", Result(metrics={"bytes": 12288.0}), 12288),
])  # fmt: skip
def test_what_a_mix_has_read_is_not_awaited_of_a_mirrored_journal(
    started, monkeypatch, io_type, result, bytes_of_journal
):
    """Nobody replays reads: whoever waits for them takes a copy that is level for one that stands still."""
    monkeypatch.setattr(mirror, "read_positions", lambda cluster, spec: (mirror.NOT_BEGUN, []))
    observer, cell = started("journal-mirrored")
    cell = replace(cell, levels={**cell.levels, "io_type": io_type})
    observer.copies.daemon = Daemon(ReplayCounters(entry_bytes=4096))
    awaited = []

    def wait(read, before, expected_bytes, **_):
        awaited.append(expected_bytes)
        return Wait("journal_replayed", 1.0, "replayed")

    monkeypatch.setattr(mirror, "wait_until_replayed", wait)
    observer.verify(cell, measured(), result)
    [waited] = observer.restore(cell, measured())
    assert (awaited, waited.outcome) == ([bytes_of_journal], "replayed")


def test_only_what_a_mix_has_written_counts_as_written(started):
    observer, cell = started("without-journal")
    mix = replace(cell, levels={**cell.levels, "io_type": "rw"})
    assert observer.protocol.driver.written_bytes(mix, MIX) == 4096
    assert observer.protocol.driver.written_bytes(cell, Result(metrics={"bytes": 12288.0})) == 12288
    fio = FioProcess()
    fio.protocol = SimpleNamespace(job_options=lambda _: {"ramp_seconds": 1})
    assert fio.written_bytes(mix, MIX) == 4096 * 1.5


def test_nothing_is_done_around_an_image_that_is_not_mirrored(started):
    observer, cell = started("without-journal")
    one = measured()
    assert observer.while_running(cell) is None
    observer.ended(cell, one)
    observer.verify(cell, one, Result(metrics={"bytes": 7.0}))
    assert (one.facts, one.waits, one.invalid, observer.restore(cell, one)) == ({}, [], None, [])


def test_a_copy_that_never_becomes_level_ends_the_block(started, monkeypatch):
    observer, cell = started(snapshot_variant())
    observer.bench.site.second_site = SimpleNamespace()
    monkeypatch.setattr(copies, "take_mirror_snapshot", lambda cluster, spec: 4)
    monkeypatch.setattr(copies, "wait_until_copied", lambda copied, one, **_: Wait("snapshot_copied", 1.0, "stalled"))
    with pytest.raises(Exception, match="the mirror daemon stalled before it had caught up"):
        observer.restore(cell, measured())


def test_a_journal_that_nobody_reads_to_its_end_ends_the_block_and_says_how_far_it_came(started, monkeypatch):
    monkeypatch.setattr(mirror, "read_positions", lambda *_: ((1, 0), [(1, 0)]))
    observer, cell = started("journal-mirrored")
    wait = Wait("journal_replayed", 61.0, "stalled", {"replayed_entries": 11802, "expected_after_seconds": None})
    monkeypatch.setattr(observer, "_await_journal", lambda: wait)
    with pytest.raises(ReplayError, match=r"stalled before it had caught up, after 11,802 entries\n"):
        observer.restore(cell, measured())


class Daemon:
    """A mirror daemon that answers with one reading after the other."""

    def __init__(self, *readings):
        self.readings = list(readings)

    def counters(self, image):
        assert image == "image"
        return self.readings.pop(0)

    def option(self, name):
        assert name == POLL_AGE
        return 5.0


class Second:
    """A second cluster whose configuration gives these mirror daemons this poll age; None refuses to tell it."""

    def __init__(self, **poll_ages):
        self.poll_ages = poll_ages

    def status(self, **_):
        daemons = {name: {"metadata": {"id": name}} for name in self.poll_ages}
        return {"servicemap": {"services": {"rbd-mirror": {"daemons": {"summary": "", **daemons}}}}}

    def command(self, asked, **_):
        assert (asked["prefix"], asked["key"]) == ("config get", POLL_AGE)
        seconds = self.poll_ages[asked["who"].removeprefix("client.rbd-mirror.")]
        if seconds is None:
            raise CephCommandError("error 13: access denied", where="config get", exit_status_of_tool=13)
        return f"{seconds:f}"


def facts(mirroring, daemon, io_type="write", second=None):
    """The facts that the observer adds to a cell of an image with this way of mirroring."""
    observer = MirrorPosition()
    observer.daemon = daemon
    observer.bench = SimpleNamespace(secondary=second or Second())
    made = SimpleNamespace(name="image", image=SimpleNamespace(mirroring=mirroring))
    observer.protocol = SimpleNamespace(target=SimpleNamespace(of=lambda _: [made]))
    cell = SimpleNamespace(levels={"io_type": io_type})
    observer.started(cell)
    found = Measured([], {}, 0, "", "", 1.0, {}, facts={"kept": 1})
    observer.ended(cell, found)
    assert found.facts.pop("kept") == 1
    return found.facts


def test_a_journal_has_the_bytes_replayed_in_the_cell_and_how_often_the_daemon_looks():
    daemon = Daemon(ReplayCounters(entry_bytes=4096), ReplayCounters(entry_bytes=12288))
    assert facts("journal", daemon) == {"replayed_bytes_in_cell": 8192, "journal_poll_age_seconds": 5.0}


def test_snapshots_have_the_number_copied_in_the_cell():
    assert facts("snapshot", Daemon(ReplayCounters(snapshots=3), ReplayCounters(snapshots=5))) == {
        "snapshots_copied_in_cell": 2
    }


def test_zero_copied_snapshots_are_a_fact_and_not_unknown():
    assert facts("snapshot", Daemon(ReplayCounters(), ReplayCounters())) == {"snapshots_copied_in_cell": 0}


def test_after_a_restart_of_the_daemon_its_progress_is_unknown():
    assert facts("snapshot", Daemon(ReplayCounters(snapshots=5), ReplayCounters(snapshots=1))) == {}
    fallen = Daemon(ReplayCounters(entry_bytes=9), ReplayCounters(entry_bytes=1))
    assert facts("journal", fallen) == {"journal_poll_age_seconds": 5.0}


@pytest.mark.parametrize(
    ("mirroring", "daemon", "io_type"),
    [(None, Daemon(), "write"), ("snapshot", Daemon(), "read"), ("snapshot", None, "write")],
    ids=["not mirrored", "only reads", "no daemon to ask"],
)
def test_nothing_is_asked_or_recorded_if_there_is_nothing_to_know(mirroring, daemon, io_type):
    assert facts(mirroring, daemon, io_type) == {}


@pytest.mark.parametrize(
    ("poll_ages", "known"),
    [({"a": 5}, 5.0), ({"a": 2.5, "b": 2.5}, 2.5), ({"a": 5, "b": 1}, None), ({"a": None}, None), ({}, None)],
    ids=["one daemon", "two alike", "two that differ", "a user who may not ask", "no daemon"],
)
def test_without_a_socket_the_poll_age_is_that_of_the_second_clusters_configuration(poll_ages, known):
    found = facts("journal", None, second=Second(**poll_ages))
    assert found == ({} if known is None else {"journal_poll_age_seconds": known})
