"""What people wrote is checked: documents with their places, and a site's time window."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ConfigurationError
from replay.design.documents import load_document, load_validated
from replay.design.time_window import TimeWindow

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "size"],
    "oneOf": [{"required": ["left"]}, {"required": ["right"]}],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "description": "small letters"},
        "size": {"type": "integer"},
        "left": {"type": "string"},
        "right": {"type": "string"},
        "nested": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"words": {"type": "array", "items": {"enum": ["crush", "second_site"]}}},
        },
    },
}


def _check(folder: Path, text: str) -> dict[str, Any]:
    path, schema = folder / "thing.yaml", folder / "thing.schema.json"
    path.write_text(text, encoding="utf-8")
    schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
    return load_validated(path, schema)


def _refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        _check(folder, text)
    return str(caught.value)


def test_a_valid_file_is_returned_unchanged(tmp_path: Path) -> None:
    assert _check(tmp_path, "name: a\nsize: 3\nleft: x\n") == {"name": "a", "size": 3, "left": "x"}


def test_a_misspelt_key_is_named_with_its_line_and_the_likely_word(tmp_path: Path) -> None:
    message = _refusal(tmp_path, "name: a\nsize: 1\nleft: x\nnested:\n  wrods: []\n")
    assert "thing.yaml:5: nested.wrods: unknown key; expected one of words" in message
    assert "did you mean 'words'?" in message


def test_a_wrong_type_says_what_was_expected_and_what_was_found(tmp_path: Path) -> None:
    assert 'thing.yaml:2: size: expected a whole number, found "big"' in _refusal(
        tmp_path, "name: a\nsize: big\nleft: x"
    )


def test_a_word_that_is_not_in_the_list_is_named_with_its_place(tmp_path: Path) -> None:
    message = _refusal(tmp_path, "name: a\nsize: 1\nleft: x\nnested:\n  words:\n    - crush\n    - second-site\n")
    assert "thing.yaml:7: nested.words[1]: 'second-site' is not one of crush, second_site" in message
    assert "did you mean 'second_site'?" in message


def test_a_pattern_says_in_words_what_was_expected(tmp_path: Path) -> None:
    assert "expected: small letters" in _refusal(tmp_path, "name: A\nsize: 1\nleft: x\n")


def test_a_missing_key_is_named_once(tmp_path: Path) -> None:
    message = _refusal(tmp_path, "left: x\n")
    assert message.count("name: this key is missing") == 1 and message.count("size: this key is missing") == 1


def test_alternatives_that_exclude_each_other_are_named(tmp_path: Path) -> None:
    assert "expected either left or right, found more than one" in _refusal(
        tmp_path, "name: a\nsize: 1\nleft: x\nright: y"
    )


def test_all_errors_are_reported_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    message = _refusal(tmp_path, "nmae: a\nsize: x\nleft: 3\n")
    places = [message.index(f"thing.yaml:{line}: {key}") for line, key in ((1, "nmae"), (2, "size"), (3, "left"))]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1\nb: 2\n", "thing.yaml:2: is not valid YAML"),
        ("a: 1\na: 2\n", "thing.yaml:2: the key 'a' appears twice"),
        ("a:\n\tb: 1\n", "thing.yaml:2: is not valid YAML: a tab character"),
        ("a: 'x\n", "is not valid YAML"),
        ("a: !!python/object:os.system x\n", "is not valid YAML"),
    ],
)
def test_a_file_that_is_not_yaml_is_an_error_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "thing.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"thing\.yaml") as caught:
        load_document(path)
    assert said in str(caught.value)


def test_for_a_missing_file_an_existing_one_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "sandbox.yaml").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"did you mean 'sandbox'\?"):
        load_document(tmp_path / "sandbx.yaml")


def test_plain_scalars_have_the_type_that_they_look_like(tmp_path: Path) -> None:
    path = tmp_path / "thing.yaml"
    text = "a: 22:00\nb: on\nc: no\nd: 1e6\ne: 2026-01-02\nf: 0x10\ng: true\nh: ~\ni: 1.5\nj: 010\nk: -3\nl: .5\nm:\n"
    path.write_text(text, encoding="utf-8")
    expected = {"a": "22:00", "b": "on", "c": "no", "d": 1e6, "e": "2026-01-02", "f": 16, "g": True, "h": None}
    assert load_document(path).data == expected | {"i": 1.5, "j": "010", "k": -3, "l": 0.5, "m": None}


BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = TimeWindow(time(22), time(6), BERLIN)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-01-10T21:59:59", False),
        ("2026-01-10T22:00:00", True),
        ("2026-01-11T00:00:00", True),
        ("2026-01-11T05:59:59", True),
        ("2026-01-11T06:00:00", False),
        ("2026-01-11T12:00:00", False),
    ],
)
def test_a_window_spans_midnight(moment: str, is_open: bool) -> None:
    assert NIGHT.is_open(_at(moment)) is is_open


def test_the_time_zone_of_the_site_counts_and_not_that_of_the_caller() -> None:
    assert NIGHT.is_open(datetime(2026, 1, 10, 21, 30, tzinfo=UTC))
    assert not NIGHT.is_open(datetime(2026, 7, 10, 4, 30, tzinfo=UTC))
    with pytest.raises(ValueError, match="time zone"):
        NIGHT.is_open(datetime(2026, 1, 10, 23))


def test_seconds_until_open_and_close() -> None:
    assert NIGHT.seconds_until_open(_at("2026-01-10T21:00")) == 3600
    assert NIGHT.seconds_until_open(_at("2026-01-10T23:00")) == 0
    assert NIGHT.seconds_until_close(_at("2026-01-10T23:00")) == 7 * 3600
    assert NIGHT.seconds_until_close(_at("2026-01-10T12:00")) == 0


def test_the_night_of_the_clock_change_is_an_hour_shorter_or_longer() -> None:
    assert NIGHT.seconds_until_close(_at("2026-03-28T22:00")) == 7 * 3600
    assert NIGHT.seconds_until_close(_at("2026-10-24T22:00")) == 9 * 3600


def test_in_a_doubled_hour_the_window_is_the_shorter_one() -> None:
    ends = TimeWindow(time(22), time(2, 30), BERLIN)
    assert ends.is_open(datetime(2026, 10, 25, 0, 29, tzinfo=UTC))  # 02:29, the first time
    assert not ends.is_open(datetime(2026, 10, 25, 1, 0, tzinfo=UTC))  # 02:00, the second time
    starts = TimeWindow(time(2, 30), time(6), BERLIN)
    assert not starts.is_open(datetime(2026, 10, 25, 0, 45, tzinfo=UTC))  # 02:45, the first time
    assert starts.is_open(datetime(2026, 10, 25, 1, 45, tzinfo=UTC))  # 02:45, the second time


def test_an_hour_that_does_not_exist_opens_after_it() -> None:
    window = TimeWindow(time(2, 30), time(6), BERLIN)
    assert not window.is_open(datetime(2026, 3, 29, 1, 15, tzinfo=UTC))  # 03:15
    assert window.is_open(datetime(2026, 3, 29, 1, 30, tzinfo=UTC))  # 03:30


times = st.builds(time, st.integers(0, 23), st.integers(0, 59))


@given(times, times, st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)))
def test_waiting_as_long_as_it_says_finds_it_open(start: time, end: time, naive: datetime) -> None:
    if start == end:
        return
    window, now = TimeWindow(start, end, BERLIN), naive.replace(tzinfo=UTC)
    seconds = window.seconds_until_open(now)
    opened = datetime.fromtimestamp(now.timestamp() + seconds, UTC)
    assert window.is_open(opened) or window.is_open(opened.replace(microsecond=min(999999, opened.microsecond + 2)))
    assert (seconds == 0) == window.is_open(now)
    assert seconds < 3 * 86400
