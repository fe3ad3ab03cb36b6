"""What happened beside what was asked: how long a client stood still, and how far apart snapshots were."""

from __future__ import annotations

import pytest

from replay.base.programs import HOST_PROGRAMS
from replay.protocols.drivers.fio_writer import gap_in
from replay.protocols.drivers.tool import StepLog, longest_gap
from replay.protocols.observers import snapshots
from replay.protocols.observers.snapshots import Snapshots

#: Milliseconds, nanoseconds, direction, bytes: fio may write a batch of lines late.
LOG = b"1000, 2000000, 1, 4096\n1010, 1000000, 1, 4096\n1450, 431000000, 1, 4096\n1020, 1000000, 1, 4096\n"


@pytest.mark.parametrize(
    ("window_seconds", "alone", "gap"),
    [
        (None, False, 0.43),
        (0.01, False, 0.43),
        (1, False, None),
        (1, True, 0.431),
    ],
    ids=["each write", "short windows", "long windows", "one write at a time"],
)
def test_the_longest_time_without_an_acknowledged_write_is_known_where_the_log_shows_it(window_seconds, alone, gap):
    assert gap_in(LOG, window_seconds, one_at_a_time=alone) == gap


def test_without_two_writes_there_is_no_gap():
    assert longest_gap([1.0]) is None
    assert gap_in(b"", None, one_at_a_time=False) is gap_in(b"", 1, one_at_a_time=True) is None


class Ordered:
    """A snapshot that is taken at once, or fails."""

    def __init__(self, status):
        self.exit_status = status

    def end(self, patience_seconds):
        return self.exit_status

    def stdout(self):
        return b""

    stderr = stdout

    def kill(self):
        pass


@pytest.mark.parametrize(
    ("statuses", "facts"),
    [
        ([0, 0, 0, 0], {"snapshot_distance_median_seconds": 2.0, "snapshot_distance_longest_seconds": 3.0}),
        ([0, 2, 0, 0], {"snapshot_distance_median_seconds": 3.0, "snapshot_distance_longest_seconds": 3.0}),
        ([0, 2, 2, 2], {}),
    ],
    ids=["all taken", "one failed", "only one taken"],
)
def test_the_distances_of_snapshots_are_those_that_happened(monkeypatch, statuses, facts):
    """One was ordered a second apart; the second order was late by a second."""
    left, now = list(statuses), [0.0]
    monkeypatch.setattr(snapshots, "Background", lambda argv, **_: Ordered(left.pop(0)))
    log = StepLog({"conf": "c", "client": "client.admin", "image": "i"}, programs=HOST_PROGRAMS)
    monkeypatch.setattr(log, "now", lambda: now[0])
    taking = Snapshots(log, 1.0)
    for now[0] in (1.0, 2.0, 4.0, 7.0, 7.5):
        taking.poll(now[0])
    taking.finish()
    assert taking.facts() == {"snapshots_taken": statuses.count(0), "snapshot_interval_seconds": 1.0, **facts}
