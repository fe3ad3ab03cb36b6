"""Tables of samplers, and the steps of a procedure, are read whole or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.evidence.record import SampleTable
from replay.tools import OutputError
from replay.tools.base import Run
from replay.tools.cell_logs import (
    Steps,
    check_rests,
    moments,
    progress,
    read_latency_log,
    read_samples,
    series_of_logs,
    whole_steps,
)
from support.made_up_output import counters, latency_log, steps_log

WORDS = st.text("abcdefghijklmnopqrstuvwxyz_-.0123456789", min_size=1, max_size=20)
VALUES = st.one_of(st.integers(0, 2**62), st.floats(0, 1e15, allow_nan=False))
ROWS = st.lists(st.tuples(st.floats(0, 1e5), WORDS, WORDS, VALUES), max_size=30)


WHOLE = counters(
    [(0.0, "image-1", "replay_bytes", 10), (0.5, "image-1", "replay_bytes", 20), (0.5, "probe", "cost", 0.25)]
)


@given(rows=ROWS)
def test_samples_are_read_in_the_order_of_time(rows):
    found = read_samples(counters(rows), "counters")
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


@pytest.mark.parametrize("number", range(1, 5))
def test_a_table_that_lost_a_line_is_refused(number):
    lines = WHOLE.splitlines(keepends=True)
    with pytest.raises(OutputError):
        read_samples("".join(lines[:number] + lines[number + 1 :]), "counters")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0.7,image-1,replay_bytes", "not a sample"),
        ("0.7,image-1,replay_bytes,1,2", "not a sample"),
        ("0.7,image-1,replay_bytes,nan", "not a sample"),
        ("now,image-1,replay_bytes,1", "not a sample"),
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


def test_a_counter_that_still_moves_at_its_last_reading_does_not_rest():
    check_rests([(1.0, 4.0), (2.0, 4.0)], "it", "f")
    for moving in ([(1.0, 4.0), (2.0, 5.0)], [(2.0, 5.0)], []):
        with pytest.raises(OutputError, match="it did not come to rest") as error:
            check_rests(moving, "it", "f")
        assert error.value.reason == "incomplete"


# Steps and logs ------------------------------------------------------------------------------------------------------


def test_steps_without_one_of_their_lines_are_incomplete():
    text = steps_log({"step": "write", "started_seconds": 1.0}, {"step": "snapshot", "started_seconds": 2.0})
    assert len(whole_steps(Run({"steps": text}, 0, {})).steps) == 3
    lines = text.splitlines(keepends=True)
    for kept in ([], *(lines[:lost] + lines[lost + 1 :] for lost in range(3))):
        with pytest.raises(OutputError, match="steps are missing") as error:
            whole_steps(Run({"steps": "".join(kept)}, 0, {}))
        assert error.value.reason == "incomplete"


@pytest.mark.parametrize("line", ["", "[]", '{"step": 1, "exit_status": 0}', '{"step": "write"}', "{" * 5000])
def test_a_line_that_is_not_a_step_is_named(line):
    with pytest.raises(OutputError, match="not a step") as error:
        Steps(json.dumps({"step": "a", "exit_status": 0}) + "\n" + line + "\n", "steps.jsonl")
    assert error.value.where == "steps.jsonl:2"


def read_log(text, lines):
    """Return what a log holds that had so many lines, by a clock that showed 1 at the origin."""
    log = steps_log({"step": "write", "started_seconds": 0.0, "unix_seconds_at_origin": 1.0, "log_lines": lines})
    return read_latency_log(
        Run({"latency": text, "steps": log}, 0, {}, {"latency": "latency.log"}), Steps(log, "steps")
    )


def test_a_latency_log_is_read_in_the_order_of_time_since_the_origin():
    assert read_log(latency_log([(10.5, 0.002), (10.25, 0.001)]), 2) == [(9.25, 0.001), (9.5, 0.002)]


def test_a_latency_log_with_offset_and_priority_is_read_as_well():
    assert read_log("1500, 2000000, 1, 4096, 8192, 0x4001\n", 1) == [(0.5, 0.002)]


def test_a_latency_log_of_two_runs_is_refused():
    with pytest.raises(OutputError, match="time runs backwards") as error:
        read_log(latency_log([(10.0, 0.001), (19.0, 0.002), (10.2, 0.003)]), 3)
    assert error.value.where == "latency.log:3"


@pytest.mark.parametrize("text", ["1500, 2000000, 1\n", "1500, -1, 1, 4096, 0\n", "1500 2000000 1 4096\n", "\n", "x\n"])
def test_a_line_that_is_not_of_the_log_is_named(text):
    with pytest.raises(OutputError, match="not a line of fio's log") as error:
        read_log(text, 1)
    assert error.value.where == "latency.log:1"


def test_a_latency_log_cut_off_anywhere_is_refused():
    text = latency_log([(10.0, 0.001), (10.1, 0.002), (10.2, 0.003)])
    for length in range(len(text)):
        with pytest.raises(OutputError):
            read_log(text[:length], 3)


# Logs of windows beside a report --------------------------------------------------------------------------------------


def window_log(values, direction=0, every=1000):
    return "".join(f"{every * place}, {value}, {direction}, 0, 0\n" for place, value in enumerate(values, 1))


def series_of(**logs):
    return series_of_logs(Run({role.replace("_", "-"): text for role, text in logs.items()}, 0, {}))


def test_rates_of_jobs_are_added_up_in_the_seconds_that_all_of_them_have():
    found = series_of(log_iops_1=window_log([100, 110, 120]), log_iops_2=window_log([200, 210]))
    assert found == ((1.0, "operations_per_second", 300), (2.0, "operations_per_second", 320))
    both = window_log([100]) + window_log([50], direction=1)
    assert series_of(log_iops_1=both) == ((1.0, "operations_per_second", 150),)
    assert series_of(log_bw_1=window_log([4])) == ((1.0, "bytes_per_second", 4096),)


def test_windows_shorter_than_a_second_are_averaged_and_one_that_ends_late_counts_in_its_second():
    text = "500, 100, 0, 0, 0\n1001, 200, 0, 0, 0\n1502, 300, 0, 0, 0\n2003, 100, 0, 0, 0\n"
    assert [value for _, _, value in series_of(log_iops_1=text)] == [150, 200]


def test_times_of_the_wall_clock_count_from_the_start():
    text = "".join(f"{1_700_000_000_300 + 1000 * place}, {value}, 0, 0, 0\n" for place, value in enumerate([100, 110]))
    assert series_of(log_iops_1=text) == ((1.0, "operations_per_second", 100), (2.0, "operations_per_second", 110))


def test_latencies_over_time_are_told_of_one_job_that_only_reads_or_only_writes():
    one = window_log([2_000_000])
    assert series_of(log_clat_1=one) == ((1.0, "latency_seconds", 0.002),)
    assert series_of(log_clat_1=one, log_clat_2=one) == ()
    assert series_of(log_clat_1=one + window_log([2], direction=1)) == ()
