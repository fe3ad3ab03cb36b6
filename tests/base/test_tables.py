"""Numbers in tables, and files that are replaced whole."""

from __future__ import annotations

import pytest

from replay.base.tables import number_text, short_size_text, write_if_changed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1073741824, "1073741824"),
        (30658995.654321, "30658995.7"),
        (1264674746.31, "1264674750"),
        (0.000000123456789123, "0.000000123456789"),
        (4096.0, "4096"),
        (1 / 3, "0.333333333"),
        (-0.5, "-0.5"),
        (True, "1"),
        (None, ""),
        (float("nan"), ""),
    ],
)
def test_numbers_have_nine_significant_digits_and_no_exponent(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("4096", "4K"),
        ("131072", "128K"),
        ("4194304", "4M"),
        ("1073741824", "1G"),
        ("1000", "1000"),
        ("512", "512"),
        ("offered", "offered"),
    ],
)
def test_sizes_are_written_as_an_engineer_writes_them(text, shown):
    assert short_size_text(text) == shown


def test_a_file_is_replaced_whole_and_only_when_it_changes(tmp_path):
    path = tmp_path / "folder" / "x.csv"
    assert write_if_changed(path, "a\n")
    inode = path.stat().st_ino
    assert not write_if_changed(path, "a\n")
    assert path.stat().st_ino == inode
    path.with_name(".x.csv.partial").write_text("what a killed process left")
    assert write_if_changed(path, "b\n")
    assert path.read_text() == "b\n"
    assert [one.name for one in path.parent.iterdir()] == ["x.csv"]
