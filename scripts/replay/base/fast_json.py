"""Reads JSON exactly as the standard library does, but faster: orjson reads what both understand alike."""

from __future__ import annotations

import json
from typing import Any

import orjson

#: orjson makes floats of whole numbers beyond 64 bits, which have at least this many digits.
_LONG_NUMBER = b"0" * 19
_DIGITS_AS_ZEROS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))


def loads(content: str | bytes) -> Any:
    """Return what `json.loads` returns. Raises what it raises."""
    value = read_or_none(content)
    return json.loads(content) if value is None else value


def read_or_none(content: str | bytes) -> Any:
    """Return the value of a JSON document, or None where only the standard library can tell what it is.

    None stands for `null`, for what is no JSON, and for what orjson refuses or reads in another way: `NaN`, numbers
    that are very long or beyond any float, lone surrogates, other encodings than UTF-8.
    """
    try:
        encoded = content.encode() if isinstance(content, str) else content
        return None if _LONG_NUMBER in encoded.translate(_DIGITS_AS_ZEROS) else orjson.loads(encoded)
    except ValueError:  # JSONDecodeError and UnicodeError are such
        return None


def has_each_key_once(text: str, value: Any) -> bool:
    """Tell whether each object in a document has each of its keys once, given the value that was read from it.

    False means that it may be otherwise. Reading keeps the last one of equal keys: written again, the document then
    has fewer colons. In strings, colons stay; an escaped character could be one.
    """
    if "\\u" in text:
        return False
    try:
        return orjson.dumps(value).count(b":") == text.count(":")
    except orjson.JSONEncodeError:  # it is too deep
        return False
