"""Cells that were measured on a sandbox: the figures were checked by hand against their files."""

from __future__ import annotations

import pytest

from replay.tools import OutputError
from support.samples import mirror_cell


def parse(tool, name, **levels):
    return mirror_cell(tool, name, **levels).parse()


def test_a_journal_of_32_mebibytes_was_replayed_in_five_seconds():
    found = parse("mirror-replay", "replay-journal", mode="journal", images=1).metrics
    assert found["bytes"] == 32 * 2**20
    assert found["replayed_bytes"] == 33667096, "the daemon's counter when it came to rest"
    assert found["seconds_to_catch_up"] == pytest.approx(5.276017)
    assert found["seconds_to_first_progress"] == pytest.approx(2.390957 - 1.888121)


def test_a_snapshot_was_copied_in_a_second_of_which_the_daemon_copied_for_a_sixth():
    found = parse("mirror-replay", "replay-snapshot", mode="snapshot", images=1).metrics
    assert found["seconds_to_catch_up"] == pytest.approx(1.017263)
    assert found["image_bytes_per_second"] == pytest.approx(32 * 2**20 / 0.17261433)


def test_a_slow_writer_is_ahead_by_the_pause_of_the_daemon():
    result = parse("mirror-lag", "lag-journal", mode="journal")
    assert result.metrics["operations"] == 120
    # The daemon read the journal at 1.1 s, and not again before 6.4 s.
    assert result.metrics["lag_max_seconds"] == pytest.approx(5.2, abs=0.1)
    assert result.metrics["journal_max_bytes"] == 7911059


def test_the_lag_of_snapshots_falls_when_one_is_complete():
    result = parse("mirror-lag", "lag-snapshot", mode="snapshot")
    lags = [(at, lag) for at, metric, lag in result.series if metric == "lag_seconds"]
    falls = [at for (at, lag), (_, before) in zip(lags[1:], lags, strict=False) if lag < before - 1]
    assert falls == [pytest.approx(5.74, abs=0.01), pytest.approx(11.83, abs=0.01)], "since the first write"
    # Until the one ordered at 10.1 s of the log is complete, at 12.3 s, that of 5.1 s is the newest there is.
    assert result.metrics["lag_max_seconds"] == pytest.approx(6.8, abs=0.3)


def test_latency_near_a_snapshot_is_separate_from_the_rest():
    levels = {"io_size_bytes": 4096, "snapshot_interval_seconds": 3}
    found = parse("snapshot-interval", "interval-every-3-seconds", **levels).metrics
    assert found["snapshots"] == 2
    assert found["latency_near_snapshot_seconds"] == pytest.approx(0.0322, abs=1e-4)
    assert found["latency_away_seconds"] == pytest.approx(0.0166, abs=1e-4)
    assert found["operations"] == 1396


@pytest.mark.parametrize(
    ("tool", "name", "levels"),
    [
        ("mirror-replay", "replay-journal", {"mode": "snapshot", "images": 1}),
        ("mirror-replay", "replay-journal", {"mode": "journal", "images": 2}),
        ("mirror-replay", "replay-journal", {"mode": "journal", "images": 1, "io_size_bytes": 4096}),
        ("mirror-lag", "lag-journal", {"mode": "snapshot"}),
    ],
)
def test_files_of_another_cell_than_the_expected_one_are_refused(tool, name, levels):
    with pytest.raises(OutputError):
        parse(tool, name, **levels)
