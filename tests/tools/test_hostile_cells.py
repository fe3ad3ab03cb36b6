"""Damaged cells of several files give a typed error that names file and line, or the same numbers as before.

What can be promised is what is said more than once. Lines are counted, numbered or follow each other, so none can be
lost, repeated or mixed with another cell's unseen. A moment stands in a step by two clocks, which agree to a quarter of
a second; a reading stands between its neighbours. What a cell says only once, no reader can doubt: the bytes in a
journal, the snapshots left to trim, the mean of one window within what the report allows, and how many writes were
found after a forced fail-over. SHA256SUMS of raw/ covers these from the moment at which they were stored.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError
from support.hostile import at_most, changed_digit, damaged_lines
from support.samples import measured_cells

CELLS = measured_cells()
TRUTH = {name: cell.parse() for name, cell in CELLS.items()}
#: Another cell with the same files, whose lines are mixed in.
OTHER = {
    "failover, planned": "failover, forced", "failover, forced": "failover, planned",
    "lag, journal": "lag, snapshot", "lag, snapshot": "lag, journal",
    "replay, journal": "replay, snapshot", "replay, snapshot": "replay, journal",
    "interval": "lag, snapshot",
}  # fmt: skip
FEW = at_most(80)
#: fio states a latency's least, mean and greatest to within a bin: about two percent.
WITHIN_A_BIN = re.compile(r"(read_|write_)?latency_(mean|min|max)_seconds")
#: What fio's JSON may lack if a line is lost: the percentiles, if the line had the bins.
MAY_BE_MISSING = re.compile(r"(read_|write_)?latency_p\d.*")


def outcome(name, **changed):
    """Return the result of parsing, or None for a typed error; any other exception fails the test."""
    try:
        return CELLS[name].parse(**changed)
    except OutputError as error:
        assert error.file in CELLS[name].files
        text = {**CELLS[name].files, **changed}[error.file]
        assert error.line is not None or error.reason != "unparsable", error
        assert error.line is None or 1 <= error.line <= text.count("\n") + 1
        return None


def assert_same(name, result, tolerances=None):
    """Assert that every metric is what it was: exactly, within a bin of fio's, or within a stated tolerance."""
    truth = TRUTH[name].metrics
    assert all(MAY_BE_MISSING.fullmatch(one) for one in truth.keys() - result.metrics.keys())
    for metric, value in result.metrics.items():
        relative = 0.02 if WITHIN_A_BIN.fullmatch(metric) else 1e-9
        absolute = (tolerances or {}).get(metric, 1e-9)
        assert value == pytest.approx(truth[metric], rel=relative, abs=absolute), metric


@pytest.mark.parametrize("name", CELLS)
@FEW
@given(data=st.data())
def test_lost_repeated_moved_or_mixed_lines_are_refused_or_change_no_number(name, data):
    cell = CELLS[name]
    role = data.draw(st.sampled_from(sorted(cell.files)))
    result = outcome(name, **{role: data.draw(damaged_lines(cell.files[role], CELLS[OTHER[name]].files[role]))})
    if result is not None:
        assert_same(name, result)
        assert role == "output" or result.series == TRUTH[name].series


@pytest.mark.parametrize("name", CELLS)
@FEW
@given(data=st.data())
def test_a_file_cut_off_anywhere_is_refused_or_lost_only_its_end(name, data):
    cell = CELLS[name]
    role = data.draw(st.sampled_from(sorted(cell.files)))
    end = data.draw(st.integers(0, len(cell.files[role]) - 1))
    result = outcome(name, **{role: cell.files[role][:end]})
    if result is not None:
        assert role == "output", "only fio's report may lose its end without losing a figure"
        assert not cell.files[role][end:].strip(" \n}")
        assert_same(name, result)


# Digits --------------------------------------------------------------------------------------------------------------

#: The numbers of a step from which a cell's figures come, and the id that it printed.
STEP = (
    r'"(?:acknowledged|acknowledged_seconds|attempt|exit_status|log_lines|seconds|started_at|started_seconds|steps'
    r'|unix_seconds_at_origin)": "?([^,}"]*)|Snapshot ID: (\d+)'
)
DIGITS = {
    "stdout": STEP,
    "steps": STEP,
    "acknowledgements": r"^(\d+),([\d.]+)$",
    "latency": r"^(\d+),",
    "counters": r"^([\d.]+),(.*),",
}
CLOCKS = 0.25
#: From the end of a trial's step to the next one's start.
PAUSE = 5.0
#: A line of the log may be too early or too late by so much and by what its clock is; a write comes every tenth second.
LOG = 0.25 + CLOCKS + 0.1
#: What the last reading before the last write shows, where a write less or more makes that the one before or after it.
ANY_LAG = 6.0
TOLERANCES = {
    "failover": {
        "seconds_to_first_write": CLOCKS, "first_write_seconds": CLOCKS, "promote_seconds": PAUSE,
        "demote_seconds": PAUSE, "seconds_without_write": PAUSE, "lost_seconds": PAUSE,
    },
    "lag": {
        "lag_median_seconds": LOG, "lag_max_seconds": LOG, "lag_end_seconds": ANY_LAG, "seconds_to_level": LOG,
        "lost_writes_max": 10 * LOG,
    },
    "replay": {
        "seconds_to_catch_up": CLOCKS, "duration_seconds": CLOCKS, "seconds_to_first_progress": CLOCKS,
        # 32 MiB in a second, where the snapshot was copied, or in five.
        "bytes_per_second": CLOCKS * 1.2 * 32 * 2**20,
    },
    # One window of forty more or less near a snapshot; readings of what is left to trim are two seconds apart.
    "interval": {"latency_near_snapshot_seconds": 0.01, "latency_away_seconds": 0.01, "trimming_seconds": 2.1},
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
@FEW
@given(data=st.data())
def test_a_changed_digit_of_a_moment_a_number_or_a_name_is_refused_or_hardly_matters(name, data):
    cell = CELLS[name]
    role = data.draw(st.sampled_from(sorted(set(cell.files) & set(DIGITS))))
    result = outcome(name, **{role: data.draw(changed_digit(cell.files[role], DIGITS[role]))})
    if result is not None:
        assert_same(name, result, TOLERANCES[name.partition(",")[0]])


@pytest.mark.parametrize("name", ["lag, journal", "lag, snapshot"])
@FEW
@given(data=st.data())
def test_a_changed_digit_of_a_logged_latency_is_refused(name, data):
    assert outcome(name, latency=data.draw(changed_digit(CELLS[name].files["latency"], r"^\d+, (\d+),"))) is None


@pytest.mark.parametrize("name", [name for name in CELLS if name.startswith(("lag", "replay"))])
@FEW
@given(data=st.data())
def test_a_changed_counter_is_refused_or_stays_between_the_readings_beside_it(name, data):
    lines = CELLS[name].files["counters"].splitlines(keepends=True)
    metric = data.draw(st.sampled_from(["replay", "replay_bytes", "snapshots", "copied_snapshot_id"]))
    numbers = [number for number, line in enumerate(lines) if line.split(",")[2] == metric]
    if not numbers:
        return
    index = data.draw(st.integers(0, len(numbers) - 1))

    def with_value(value):
        fields = lines[numbers[index]].split(",")
        changed = ",".join([*fields[:3], f"{value}\n"])
        return outcome(name, counters="".join([*lines[: numbers[index]], changed, *lines[numbers[index] + 1 :]]))

    values = [int(lines[number].split(",")[3]) for number in numbers]
    before, after = values[max(0, index - 1)], values[min(len(values) - 1, index + 1)]
    result = with_value(data.draw(changed_digit(str(values[index]), r"(\d+)")))
    if result is not None:
        # A counter that has just begun to rise counts as progress, however small.
        around = [one.metrics for one in (TRUTH[name], *map(with_value, (before, before + 1, after))) if one]
        for found, value in result.metrics.items():
            least, most = min(one[found] for one in around), max(one[found] for one in around)
            assert least * (1 - 1e-9) - 1e-9 <= value <= most * (1 + 1e-9) + 1e-9, found
