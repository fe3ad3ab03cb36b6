"""A catch-up: its duration and rate follow from its files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, reader
from support.hostile import at_most
from support.made_up_output import counters, report, steps_log

MIRROR_REPLAY = reader("mirror-replay")
SIZE = 65536
MEBIBYTE = 2**20


def step(name, started, image="image-1", **more):
    return {"step": name, "started_seconds": started, "image": image, **more}


def outputs(mode, samples, images=1, steps=None):
    names = [f"image-{number}" for number in range(1, images + 1)]
    if steps is None:
        steps = [step("stop", 0.0, name) for name in names]
        steps += [step("snapshot", 3.0, name) for name in names] if mode == "snapshot" else []
        steps += [step("start", 10.0 + 0.01 * number, name) for number, name in enumerate(names)]
    return {
        "output": report(names, operations=8 * MEBIBYTE // SIZE, io_size_bytes=SIZE, seconds=2.0),
        "steps": steps_log(*steps),
        "counters": counters(samples),
    }


def parse(mode, files, images=1, exit_status=0):
    levels = {"io_type": "randwrite", "io_size_bytes": SIZE, "images": images, "mode": mode}
    return MIRROR_REPLAY.parse(files, exit_status, levels)


JOURNAL = [
    (10.5, "image-1", "replay_bytes", 0),
    (11.0, "image-1", "replay_bytes", 4 * MEBIBYTE),
    (14.0, "image-1", "replay_bytes", 8 * MEBIBYTE + 500),
    (14.5, "image-1", "replay_bytes", 8 * MEBIBYTE + 500),
]


def test_a_journal_is_level_at_the_reading_at_which_its_counter_comes_to_rest():
    found = parse("journal", outputs("journal", JOURNAL)).metrics
    assert found["seconds_to_catch_up"] == pytest.approx(4.0)
    assert found["bytes_per_second"] == pytest.approx(2 * MEBIBYTE)
    assert found["seconds_to_first_progress"] == pytest.approx(1.0)
    assert found["image_bytes_per_second"] == pytest.approx((4 * MEBIBYTE + 500) / 3.0)
    assert found["replayed_bytes"] == 8 * MEBIBYTE + 500
    assert found["write_bytes_per_second"] == pytest.approx(4 * MEBIBYTE)


def test_counts_from_before_the_start_of_replay_are_ignored():
    before = [(9.0, "image-1", "replay_bytes", 77 * MEBIBYTE)]
    assert parse("journal", outputs("journal", before + JOURNAL)).metrics["replayed_bytes"] == 8 * MEBIBYTE + 500


def test_all_images_together_are_level_when_the_last_one_is():
    rows = [
        (11.0, "image-1", "replay_bytes", 8 * MEBIBYTE),
        (11.0, "image-2", "replay_bytes", 1 * MEBIBYTE),
        (12.0, "image-1", "replay_bytes", 8 * MEBIBYTE),
        (12.0, "image-2", "replay_bytes", 8 * MEBIBYTE),
        (12.5, "image-1", "replay_bytes", 8 * MEBIBYTE),
        (12.5, "image-2", "replay_bytes", 8 * MEBIBYTE),
    ]
    found = parse("journal", outputs("journal", rows, images=2), images=2).metrics
    assert found["seconds_to_catch_up"] == pytest.approx(2.0)
    assert found["bytes_per_second"] == pytest.approx(8 * MEBIBYTE)
    assert found["image_bytes_per_second"] == pytest.approx(7 * MEBIBYTE), "the second image's, from 11 s to 12 s"


def test_a_snapshot_is_level_when_the_daemon_counts_it():
    rows = [
        (at, "image-1", metric, value)
        for at, snapshots, seconds, moved in (
            (10.5, 0, 0.0, 0),
            (12.0, 1, 0.5, 8 * MEBIBYTE),
            (13.0, 1, 0.5, 8 * MEBIBYTE),
        )
        for metric, value in (("snapshots", snapshots), ("snapshots_time.sum", seconds), ("replay_bytes", moved))
    ]
    found = parse("snapshot", outputs("snapshot", rows)).metrics
    assert found["image_bytes_per_second"] == pytest.approx(16 * MEBIBYTE)
    assert found["seconds_to_catch_up"] == pytest.approx(2.0)
    assert found["bytes_per_second"] == pytest.approx(4 * MEBIBYTE)
    assert found["replayed_bytes"] == 8 * MEBIBYTE


@pytest.mark.parametrize(
    ("mode", "files", "said", "reason"),
    [
        ("journal", outputs("journal", JOURNAL[:2]), "less than what was written", "replay_did_not_advance"),
        ("journal", outputs("journal", JOURNAL[:3]), "replay_bytes did not come to rest", "incomplete"),
        ("journal", outputs("journal", []), "less than what was written", "replay_did_not_advance"),
        ("snapshot", outputs("snapshot", []), "less than what was written", "replay_did_not_advance"),
        ("snapshot", outputs("journal", JOURNAL), "no step 'snapshot'", "incomplete"),
        ("journal", outputs("journal", JOURNAL, steps=[step("stop", 1.0)]), "no step 'start'", "incomplete"),
        ("journal", outputs("journal", JOURNAL, images=2), "2 of 1 images", "client_lost"),
    ],
)
def test_an_incomplete_catch_up_is_refused(mode, files, said, reason):
    with pytest.raises(OutputError, match=said) as error:
        parse(mode, files)
    assert error.value.reason == reason


@pytest.mark.parametrize(("status", "reason"), [(None, "incomplete"), (1, "failed")])
def test_writers_that_failed_give_no_number(status, reason):
    with pytest.raises(OutputError) as error:
        parse("journal", outputs("journal", JOURNAL), exit_status=status)
    assert error.value.reason == reason


@at_most(100)
@given(
    amounts=st.lists(st.integers(0, 4 * MEBIBYTE), min_size=1, max_size=20),
    pause=st.floats(0.01, 5.0),
    restarted_at=st.integers(0, 30),
)
def test_however_a_journal_advances_its_rate_is_what_was_written_over_the_time_to_the_last_advance(
    amounts, pause, restarted_at
):
    amounts = [*amounts, 8 * MEBIBYTE]
    counter, rows, last_moved = 1000, [(9.0, "image-1", "replay_bytes", 1000)], 10.0
    for number, amount in enumerate(amounts):
        at = 10.0 + (number + 1) * pause
        # The daemon was stopped: it counts from 0. Here it may also go on counting, as it would after a short stop.
        counter = amount if number == 0 and restarted_at % 2 and amount < counter else counter + amount
        rows.append((at, "image-1", "replay_bytes", counter))
        last_moved = at if amount else last_moved
    rows.append((10.0 + (len(amounts) + 1) * pause, "image-1", "replay_bytes", counter))
    found = parse("journal", outputs("journal", rows)).metrics
    assert found["seconds_to_catch_up"] == pytest.approx(last_moved - 10.0, abs=1e-5)
    assert found["bytes_per_second"] == pytest.approx(8 * MEBIBYTE / (last_moved - 10.0), rel=1e-3)
    assert found["replayed_bytes"] == sum(amounts)
