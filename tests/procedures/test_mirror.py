"""Mirror snapshots of a cell: taken while it runs, awaited at its end, ended if it is interrupted."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from replay.cluster.cluster import Cluster
from replay.config.experiments import load_experiment
from replay.design.expansion import expand
from replay.owned.images import BlockImage
from replay.procedures.single_tool import SingleTool
from replay.procedures.watches import mirror
from replay.raw.record import Measured, Wait
from replay.tools import Result
from support.bench import bench_of
from support.designs import cells
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
    """Return a function that starts the watch of a cell of a variant."""

    def of(variant):
        pools = SimpleNamespace(data=SimpleNamespace(name="pool", namespace=""))
        site = SimpleNamespace(name="s", pools=pools, second_site=None)
        design = expand(load_experiment("rbd-journaling"), "talk")
        made = SingleTool(bench_of(site, SimpleNamespace(cluster=Cluster("c"))), design)
        cell = cells(made, variant, io_type="write")[0]
        made.target.images[cell.variant.image_name] = [BlockImage("pool", "", "image", cell.variant.image, "")]
        [watch] = [one for one in made.watches if isinstance(one, mirror.Mirror)]
        watch.started(cell)
        return watch, cell

    return of


def measured():
    return Measured([], {}, 0, "", "", 1.0, {})


def snapshot_variant():
    variants = expand(load_experiment("rbd-journaling"), "talk").variants
    return next(one.name for one in variants if one.image.mirroring == "snapshot")


def test_a_snapshot_is_taken_half_an_interval_into_the_cell_and_awaited_at_its_end(rbd, started):
    watch, cell = started(snapshot_variant())
    interval, look, one = watch.snapshots.interval_seconds, watch.look_of(cell), measured()
    look(0.4 * interval)
    assert not watch.snapshots.is_under_way
    look(0.5 * interval)
    look(5 * interval)
    (rbd / "go").touch()
    watch.ended(cell, one)
    watch.judged(cell, one, Result(metrics={"bytes": 7.0}))
    assert (rbd / "said").read_text() == "--conf c --name client.admin mirror image snapshot pool/image\n", (
        "one at a time"
    )
    assert one.facts == {"snapshots_taken": 1, "snapshot_interval_seconds": interval}
    assert [(wait.reason, wait.outcome) for wait in one.waits] == [("mirror_snapshot_taken", "ended")]
    assert (one.invalid, watch.transferred_bytes) == (None, 7)


@pytest.mark.parametrize("fails", [True, False])
def test_a_cell_that_writes_and_meets_no_snapshot_is_void(rbd, started, fails):
    watch, cell = started(snapshot_variant())
    one = measured()
    if fails:
        (rbd / "status").write_text("2")
        watch.look_of(cell)(1e6)
        (rbd / "go").touch()
    watch.ended(cell, one)
    watch.judged(cell, one, None)
    assert one.invalid == ("no_snapshot", "no mirror snapshot was taken while the cell ran")


def test_a_cell_that_is_already_void_keeps_its_reason(rbd, started):
    watch, cell = started(snapshot_variant())
    one = measured()
    one.invalid = ("too_short", "0.1 s")
    watch.ended(cell, one)
    watch.judged(cell, one, None)
    assert one.invalid == ("too_short", "0.1 s")


def test_a_snapshot_that_is_under_way_when_a_cell_is_interrupted_is_ended(rbd, started, monkeypatch):
    watch, cell = started(snapshot_variant())
    watch.look_of(cell)(1e6)
    running = watch.snapshots._running
    deadline = time.monotonic() + patient(30)
    while not (rbd / "said").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    monkeypatch.setattr(running, "end", lambda patience_seconds: None)
    watch.stop()
    assert running.exit_status is not None
    watch.stop()


def test_nothing_is_done_around_an_image_that_is_not_mirrored(started):
    watch, cell = started("without-journal")
    one = measured()
    assert watch.look_of(cell) is None
    watch.ended(cell, one)
    watch.judged(cell, one, Result(metrics={"bytes": 7.0}))
    assert (one.facts, one.waits, one.invalid, watch.settle(cell, one)) == ({}, [], None, [])


def test_a_copy_that_never_becomes_level_ends_the_block(started, monkeypatch):
    watch, cell = started(snapshot_variant())
    watch.bench.site.second_site = SimpleNamespace(pool="second")
    monkeypatch.setattr(mirror, "take_mirror_snapshot", lambda cluster, spec: 4)
    monkeypatch.setattr(mirror, "wait_until_copied", lambda copied, one, **_: Wait("snapshot_copied", 1.0, "stalled"))
    with pytest.raises(Exception, match="the mirror daemon stalled before it had caught up"):
        watch.settle(cell, measured())
