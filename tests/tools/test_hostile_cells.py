"""Damaged cells of several files give a typed error that names file and line, or the same numbers as before.

Lines are counted, numbered or follow each other, so none can be lost or mixed with another cell's unseen.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError
from support.hostile import WAYS, at_most, damaged_lines
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


def outcome(name, **changed):
    """Return the result of parsing, or None for a typed error; any other exception fails the test."""
    try:
        return CELLS[name].parse(**changed)
    except OutputError as error:
        assert error.file in CELLS[name].files
        text = {**CELLS[name].files, **changed}[error.file]
        assert error.line is None or 1 <= error.line <= text.count("\n") + 1
        return None


def assert_same(name, result):
    """Assert that every metric is what it was."""
    assert result.metrics == pytest.approx(TRUTH[name].metrics, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", CELLS)
@FEW
@given(data=st.data())
def test_lines_that_are_lost_or_mixed_with_another_cell_s_are_refused_or_change_no_number(name, data):
    cell = CELLS[name]
    role = data.draw(st.sampled_from(sorted(cell.files.keys() - {"output"})))
    damaged = data.draw(damaged_lines(cell.files[role], CELLS[OTHER[name]].files[role], WAYS[:3]))
    result = outcome(name, **{role: damaged})
    if result is not None:
        assert_same(name, result)
        assert result.series == TRUTH[name].series


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
