"""Cells of several files that were cut off give a typed error that names the file, or the same numbers as before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError
from support.hostile import at_most
from support.samples import measured_cells

CELLS = measured_cells()
TRUTH = {name: cell.parse() for name, cell in CELLS.items()}
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
def test_a_file_cut_off_anywhere_is_refused_or_lost_only_its_end(name, data):
    cell = CELLS[name]
    role = data.draw(st.sampled_from(sorted(cell.files)))
    end = data.draw(st.integers(0, len(cell.files[role]) - 1))
    result = outcome(name, **{role: cell.files[role][:end]})
    if result is not None:
        assert role == "output", "only fio's report may lose its end without losing a figure"
        assert not cell.files[role][end:].strip(" \n}")
        assert_same(name, result)
