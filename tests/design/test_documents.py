"""What people wrote is checked, and every error names its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay.base.errors import ConfigurationError
from replay.design.configuration import load_validated_document

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
    return load_validated_document(path, schema).data


def _load(path: Path) -> Any:
    schema = path.with_name("any.schema.json")
    schema.write_text("{}", encoding="utf-8")
    return load_validated_document(path, schema).data


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
        ("a: 1\nb: {{ name }}\n", "thing.yaml:2: a key is a mapping or a list"),
        ("a: 1\n? [b]\n: 2\n", "thing.yaml:2: a key is a mapping or a list"),
        ("a: 'x\n", "is not valid YAML"),
        ("a: !!python/object:os.system x\n", "is not valid YAML"),
    ],
)
def test_a_file_that_is_not_yaml_is_an_error_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "thing.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"thing\.yaml") as caught:
        _load(path)
    assert said in str(caught.value)


def test_a_file_of_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "thing.yaml"
    path.write_bytes("name: a\ntitle: Größe\n".encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"thing\.yaml:2: is not UTF-8\n  next: save it as UTF-8"):
        _load(path)


def test_for_a_missing_file_an_existing_one_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "sandbox.yaml").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"did you mean 'sandbox'\?"):
        _load(tmp_path / "sandbx.yaml")


def test_plain_scalars_have_the_type_that_they_look_like(tmp_path: Path) -> None:
    path = tmp_path / "thing.yaml"
    text = "a: 22:00\nb: on\nc: no\nd: 1e6\ne: 2026-01-02\nf: 0x10\ng: true\nh: ~\ni: 1.5\nj: 010\nk: -3\nl: .5\nm:\n"
    path.write_text(text, encoding="utf-8")
    expected = {"a": "22:00", "b": "on", "c": "no", "d": 1e6, "e": "2026-01-02", "f": 16, "g": True, "h": None}
    assert _load(path) == expected | {"i": 1.5, "j": "010", "k": -3, "l": 0.5, "m": None}
