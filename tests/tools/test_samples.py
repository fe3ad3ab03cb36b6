"""Tables of samplers, and the steps of a procedure, are read whole or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.evidence.record import SampleTable
from replay.tools import OutputError
from replay.tools.cell_logs import Steps, check_readings, check_rests, moments, progress, read_log, read_samples
from support.made_up_output import latency_log, steps_log

WORDS = st.text("abcdefghijklmnopqrstuvwxyz_-.0123456789", min_size=1, max_size=20)
VALUES = st.one_of(st.integers(0, 2**62), st.floats(0, 1e15, allow_nan=False))
ROWS = st.lists(st.tuples(st.floats(0, 1e5), WORDS, WORDS, VALUES), max_size=30)


def table(*rows):
    made = SampleTable()
    for row in rows:
        made.add(*row)
    return made.content().decode()


WHOLE = table((0.0, "image-1", "replay_bytes", 10), (0.5, "image-1", "replay_bytes", 20), (0.5, "probe", "cost", 0.25))


@given(rows=ROWS)
def test_samples_are_read_in_the_order_of_time(rows):
    found = read_samples(table(*rows), "counters")
    assert len(found) == len(rows)
    assert [row.elapsed_seconds for row in found] == sorted(row.elapsed_seconds for row in found)
    assert sorted((row.entity, row.metric) for row in found) == sorted((entity, name) for _, entity, name, _ in rows)
    assert sorted(row.value for row in found) == pytest.approx(sorted(float(value) for *_, value in rows))


def test_rows_that_another_process_printed_are_among_the_others():
    made = SampleTable()
    made.add(2.0, "image-1", "replay", 1)
    made.add_lines(["1.500000,image-1,journal_bytes,7"])
    assert [row.metric for row in read_samples(made.content().decode(), "c")] == ["journal_bytes", "replay"]


def test_a_table_cut_off_anywhere_is_refused():
    for length in range(len(WHOLE)):
        with pytest.raises(OutputError):
            read_samples(WHOLE[:length], "counters")


@given(number=st.integers(1, 4), data=st.data())
def test_a_table_that_lost_a_line_is_refused(number, data):
    lines = WHOLE.splitlines(keepends=True)
    with pytest.raises(OutputError):
        read_samples("".join(lines[:number] + lines[number + 1 :]), "counters")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0.7,image-1,replay_bytes", "not a sample"),
        ("0.7,image-1,replay_bytes,1,2", "not a sample"),
        ("0.7,image-1,replay_bytes,nan", "not a sample"),
        ("0.7,,replay_bytes,1", "not a sample"),
        ("now,image-1,replay_bytes,1", "not a sample"),
        ("0.1,image-1,replay_bytes,1", "time runs backwards"),
    ],
)
def test_a_line_that_is_not_a_sample_is_named(row, said):
    lines = WHOLE.splitlines()
    text = "\n".join([*lines[:-1], row, lines[-1], ""])
    with pytest.raises(OutputError, match=said) as error:
        read_samples(text, "counters.csv")
    assert error.value.where == "counters.csv:5"


@given(text=st.text(max_size=300))
def test_any_text_is_a_table_or_a_typed_error(text):
    try:
        read_samples(text, "counters")
    except OutputError as error:
        assert error.reason in ("unparsable", "incomplete")


def test_moments_are_those_of_one_metric_of_one_entity():
    assert moments(read_samples(WHOLE, "c"), "image-1", "replay_bytes") == [(0.0, 10.0), (0.5, 20.0)]


@pytest.mark.parametrize(
    ("readings", "found"),
    [
        ([(1, 5), (2, 9)], [(1, 5), (2, 9)]),
        ([(-1, 100), (1, 105), (2, 109)], [(1, 5), (2, 9)]),
        ([(-1, 100), (1, 5), (2, 9)], [(1, 5), (2, 9)]),
        ([(-1, 100), (1, 100)], [(1, 0)]),
        ([(1, 5), (2, 2), (3, 4)], [(1, 5), (2, 7), (3, 9)]),
    ],
    ids=["from nothing", "continues", "starts from 0 again", "makes no progress", "starts again in between"],
)
def test_progress_counts_from_the_start_although_a_daemon_counts_from_0_again(readings, found):
    assert progress(readings, started_seconds=0) == found


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50))
def test_progress_never_goes_back(values):
    totals = [total for _, total in progress(enumerate(values), started_seconds=0)]
    assert totals == sorted(totals)
    assert totals[-1] >= values[-1]


# Readings ------------------------------------------------------------------------------------------------------------

COUNTERS = ("replay", "replay_bytes", "replay_latency.avgcount")


def readings(*moments_and_values):
    return table(*((at, "image-1", name, value) for at, *values in moments_and_values
                   for name, value in zip(COUNTERS, values, strict=True)))  # fmt: skip


RISING = readings((0.5, 0, 0, 0), (1.0, 2, 50, 2), (1.5, 4, 90, 4), (2.0, 4, 90, 4))


def check(text, entities=("image-1",)):
    check_readings(read_samples(text, "counters.csv"), "counters.csv", entities)


def test_whole_readings_of_counters_that_rise_or_all_start_again_are_accepted():
    check(RISING)
    check(readings((0.5, 7, 700, 7), (1.0, 1, 40, 1), (1.5, 2, 60, 2)))
    check(table((0.0, "image-1", "journal_bytes", 9), (0.1, "image-1", "replay_bytes", 3), (0.2, "probe", "cost", 1)),
          ("image-1", "probe"))  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "said", "line"),
    [
        ("1.000000,image-1,replay_bytes,50", "1.000000,image-1,replay_bytes,950", "replay_bytes went back", 9),
        ("1.500000,image-1,replay_bytes,90", "1.500000,image-1,replay_bytes,40", "replay_bytes went back", 9),
        ("0.500000,image-1,replay_bytes,0", "0.500000,image-1,replay_bytes,70", "replay_bytes went back", 6),
        ("1.000000,image-1,replay,2", "1.000000,image-7,replay,2", "samples of 'image-7' belong to another cell", 5),
        ("1.000000,image-1,replay,2", "0.900000,image-1,replay,2", "differ in what they hold: replay", 5),
        ("1.000000,image-1,replay,2", "1.000000,image-1,replay_bytes,2", "two values of replay_bytes at one moment", 6),
        ("2.000000,sampler", "2.100000,sampler", "is of another moment", 14),
    ],
)
def test_a_row_that_contradicts_the_others_is_named(before, after, said, line):
    assert before in RISING
    with pytest.raises(OutputError, match=said) as error:
        check(RISING.replace(before, after))
    assert error.value.where == f"counters.csv:{line}"


def test_a_row_that_was_lost_while_another_was_repeated_is_noticed():
    lines = RISING.splitlines(keepends=True)
    for lost in range(1, len(lines) - 1):
        for repeated in range(1, len(lines) - 1):
            if lost != repeated:
                with pytest.raises(OutputError):
                    check("".join([*lines[:lost], lines[repeated], *lines[lost + 1 :]]))


def test_a_counter_that_still_moves_at_its_last_reading_does_not_rest():
    check_rests([(1.0, 4.0), (2.0, 4.0)], "it", "f")
    for moving in ([(1.0, 4.0), (2.0, 5.0)], [(2.0, 5.0)], []):
        with pytest.raises(OutputError, match="it did not come to rest") as error:
            check_rests(moving, "it", "f")
        assert error.value.reason == "incomplete"


# Steps and logs ------------------------------------------------------------------------------------------------------


def test_steps_without_their_last_line_are_incomplete():
    text = steps_log({"step": "write", "started_seconds": 1.0}, {"step": "snapshot", "started_seconds": 2.0})
    Steps(text, "steps").check_whole()
    lines = text.splitlines(keepends=True)
    for left_out in range(3):
        steps = Steps("".join(lines[:left_out] + lines[left_out + 1 :]), "steps")
        with pytest.raises(OutputError, match="steps are missing") as error:
            steps.check_whole()
        assert error.value.reason == "incomplete"


@pytest.mark.parametrize("line", ["", "[]", '{"step": 1, "exit_status": 0}', '{"step": "write"}', "{" * 5000])
def test_a_line_that_is_not_a_step_is_named(line):
    with pytest.raises(OutputError, match="not a step") as error:
        Steps(json.dumps({"step": "a", "exit_status": 0}) + "\n" + line + "\n", "steps.jsonl")
    assert error.value.where == "steps.jsonl:2"


def test_a_latency_log_is_read_in_the_order_of_time():
    found = read_log(latency_log([(10.5, 0.002), (10.25, 0.001)]), "latency", lines=2)
    assert found == [(10.25, 0.001, 2), (10.5, 0.002, 1)]


def test_a_latency_log_with_offset_and_priority_is_read_as_well():
    assert read_log("1500, 2000000, 1, 4096, 8192, 0x4001\n", "latency", lines=1) == [(1.5, 0.002, 1)]


@pytest.mark.parametrize("text", ["1500, 2000000, 1\n", "1500, -1, 1, 4096, 0\n", "1500 2000000 1 4096\n", "\n", "x\n"])
def test_a_line_that_is_not_of_the_log_is_named(text):
    with pytest.raises(OutputError, match="not a line of fio's latency log") as error:
        read_log(text, "latency.log", lines=1)
    assert error.value.where == "latency.log:1"


def test_a_latency_log_cut_off_anywhere_is_refused():
    text = latency_log([(10.0, 0.001), (10.1, 0.002), (10.2, 0.003)])
    for length in range(len(text)):
        with pytest.raises(OutputError):
            read_log(text[:length], "latency", lines=3)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([(10.0, 0.001), (19.0, 0.002), (10.2, 0.003)], "time runs backwards"),
        ([(10.0, 0.001), (10.1, 0.002), (90.2, 0.003)], "before or after the writer ran"),
        ([(1.0, 0.001), (10.1, 0.002), (10.2, 0.003)], "before or after the writer ran"),
    ],
)
def test_a_time_that_cannot_be_in_a_latency_log_is_named(lines, said):
    with pytest.raises(OutputError, match=said) as error:
        read_log(latency_log(lines), "latency.log", lines=3, between=(9.0, 20.0))
    wrong = {"time runs backwards": 3}.get(said, 1 if lines[0][0] < 9 else 3)
    assert error.value.where == f"latency.log:{wrong}"


def test_steps_that_contradict_each_other_about_their_start_or_are_out_of_order_are_refused():
    log = steps_log({"step": "write", "started_seconds": 1.0}, {"step": "snapshot", "started_seconds": 2.0})
    first, second, end = log.splitlines(keepends=True)
    for text, line in (
        (second + first + end, 2),
        (first + second + second + end.replace('"steps": 2', '"steps": 3'), 3),
        (first + second.replace('"started_seconds": 2.0', '"started_seconds": 2.5') + end, 2),
        (first + second.replace("22.000Z", "23.000Z") + end, 2),
        (first + second.replace('"started_at"', '"begun_at"') + end, 2),
    ):
        with pytest.raises(OutputError) as error:
            Steps(text, "steps.jsonl").check_whole()
        assert error.value.where == f"steps.jsonl:{line}"
