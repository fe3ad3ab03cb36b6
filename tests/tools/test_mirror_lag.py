"""Lag: what a loss at any moment would have cost, from the acknowledgements and the replica's position."""

from __future__ import annotations

import pytest

from replay.tools import OutputError, reader
from support.made_up_output import snapshot_step, writer_cell

MIRROR_LAG = reader("mirror-lag")
SIZE = 65536
ENTRY = SIZE + 100
# One write a second, acknowledged at 1, 2, … 10 s after the origin.
WRITES = 10


def outputs(rows, snapshots=(), logged=None, log_lines=None):
    log = [(1 + number, 0.002) for number in range(WRITES)]
    taken = [snapshot_step(*snapshot) for snapshot in snapshots]
    return writer_cell(
        log, taken, rows, operations=logged or WRITES, seconds=10.0, io_size_bytes=SIZE, log_lines=log_lines
    )


def parse(mode, files):
    return MIRROR_LAG.parse(files, 0, {"io_type": "randwrite", "io_size_bytes": SIZE, "mode": mode})


def replayed(at, writes):
    return (at, "image-1", "replay_bytes", writes * ENTRY)


JOURNAL = [replayed(0.1, 0), replayed(4.5, 0), replayed(6.5, 4), replayed(8.5, 8), replayed(12.0, 10),
           replayed(12.5, 10)]  # fmt: skip


def test_lag_is_the_time_of_the_writes_that_the_replica_lacks():
    result = parse("journal", outputs(JOURNAL))
    # At 4.5 s the writes of 1 to 4 s are acknowledged and none has arrived; at 6.5 s that of 4 s is the last to arrive.
    assert [(at, value) for at, metric, value in result.series if metric == "lag_seconds"] == [
        (pytest.approx(3.5), pytest.approx(3.0)),
        (pytest.approx(5.5), pytest.approx(2.0)),
        (pytest.approx(7.5), pytest.approx(0.0)),
    ]
    assert result.metrics["lag_max_seconds"] == pytest.approx(3.0)
    assert result.metrics["lag_median_seconds"] == pytest.approx(2.0)
    assert result.metrics["lag_end_seconds"] == pytest.approx(0.0)
    assert result.metrics["lost_writes_max"] == 4
    assert result.metrics["seconds_to_level"] == pytest.approx(2.0)


def test_the_growth_is_what_each_second_of_writing_adds_to_the_lag():
    rows = [replayed(0.1, 0), replayed(9.1, 4), replayed(12.0, 10), replayed(12.5, 10)]
    metrics = parse("journal", outputs(rows)).metrics
    assert metrics["lag_end_seconds"] == pytest.approx(5.0)
    assert metrics["lag_growth_seconds"] == pytest.approx(5.0 / 9.0)


def test_entries_that_were_replayed_before_the_writer_began_do_not_count():
    earlier = [(at, entity, metric, value + 7 * ENTRY) for at, entity, metric, value in JOURNAL]
    assert parse("journal", outputs(earlier)).metrics == parse("journal", outputs(JOURNAL)).metrics


def copied(at, number):
    return (at, "image-1", "copied_snapshot_id", number)


SNAPSHOTS = [(21, 3.5), (22, 8.5), (23, 11.0)]
COPIES = [copied(0.1, 20), copied(4.5, 20), copied(6.5, 21), copied(9.5, 22), copied(12.0, 23)]


def test_a_copy_holds_what_was_acknowledged_before_its_newest_complete_snapshot_was_ordered():
    result = parse("snapshot", outputs(COPIES, SNAPSHOTS))
    # At 6.5 s the copy has the snapshot of 3.5 s, so the write of 3 s is its last one.
    assert [value for _, metric, value in result.series if metric == "lag_seconds"] == [
        pytest.approx(3.0), pytest.approx(3.0), pytest.approx(1.0),
    ]  # fmt: skip
    assert result.metrics["seconds_to_level"] == pytest.approx(2.0)


def test_the_journals_size_is_a_series_with_its_greatest_and_last_value():
    sizes = [(1.5, "image-1", "journal_bytes", 100), (5.0, "image-1", "journal_bytes", 900),
             (13.0, "image-1", "journal_bytes", 300)]  # fmt: skip
    result = parse("journal", outputs([*JOURNAL, *sizes]))
    assert (result.metrics["journal_max_bytes"], result.metrics["journal_end_bytes"]) == (900, 300)
    assert [value for _, metric, value in result.series if metric == "journal_bytes"] == [100, 900, 300]
    assert "journal_max_bytes" not in parse("snapshot", outputs(COPIES, SNAPSHOTS)).metrics


@pytest.mark.parametrize(
    ("mode", "files", "said", "reason"),
    [
        ("journal", outputs([]), "replayed nothing", "replay_did_not_advance"),
        ("snapshot", outputs(COPIES), "no mirror snapshot", "no_snapshot"),
        ("snapshot", outputs(COPIES[:3], SNAPSHOTS), "last snapshot is not", "replay_did_not_advance"),
        ("journal", outputs(JOURNAL[:-1]), "what the daemon replayed did not come to rest", "incomplete"),
        ("journal", outputs(JOURNAL, log_lines=11), "10 of 11 lines", "incomplete"),
        ("journal", outputs(JOURNAL, logged=200), "10 operations are logged, 200 reported", "unparsable"),
        (
            "journal",
            outputs([replayed(0.7, 0), replayed(12.0, 10), replayed(12.5, 10)]),
            "no reading of the replica",
            "incomplete",
        ),
    ],
)
def test_an_incomplete_cell_is_refused(mode, files, said, reason):
    with pytest.raises(OutputError, match=said) as error:
        parse(mode, files)
    assert error.value.reason == reason
