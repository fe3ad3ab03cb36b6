"""What a mirror daemon does with an image while a cell's tool runs, which claims about mirroring presuppose."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.cluster.mirroring import ReplayCounters
from replay.procedures.watches.mirror_position import POLL_AGE, MirrorPosition
from replay.raw.record import Measured


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


def facts(mirroring, daemon, io_type="write"):
    """The facts that the watch adds to a cell of an image with this way of mirroring."""
    watch = MirrorPosition()
    watch.daemon = daemon
    made = SimpleNamespace(name="image", image=SimpleNamespace(mirroring=mirroring))
    watch.procedure = SimpleNamespace(target=SimpleNamespace(of=lambda _: [made]))
    cell = SimpleNamespace(levels={"io_type": io_type})
    watch.started(cell)
    found = Measured([], {}, 0, "", "", 1.0, {}, facts={"kept": 1})
    watch.ended(cell, found)
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
    [(None, Daemon(), "write"), ("snapshot", Daemon(), "read"), ("journal", None, "write")],
    ids=["not mirrored", "only reads", "no daemon to ask"],
)
def test_nothing_is_asked_or_recorded_if_there_is_nothing_to_know(mirroring, daemon, io_type):
    assert facts(mirroring, daemon, io_type) == {}
