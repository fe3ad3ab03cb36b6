"""Reads JSON exactly as the standard library does, but faster: orjson reads whatever both of them read alike.

Without orjson the standard library reads everything: the sandbox's command also runs where nothing is installed.
"""

from __future__ import annotations

import json
from typing import Any

try:
    import orjson
except ModuleNotFoundError:
    orjson = None

#: orjson makes floats of whole numbers beyond 64 bits, which have at least this many digits.
_LONG_NUMBER = b"0" * 19
_DIGITS_AS_ZEROS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))


def loads(content: str | bytes) -> Any:
    """Return what `json.loads` returns. Raises what it raises."""
    value = read_or_none(content)
    return json.loads(content) if value is None else value


def read_or_none(content: str | bytes) -> Any:
    """Return the value of a JSON document, or None if the standard library has to read it.

    None stands for `null`, for anything that is not JSON, and for what orjson refuses or reads differently: `NaN`,
    numbers that are very long or beyond any float, lone surrogates, encodings other than UTF-8.
    """
    if orjson is None:
        return None
    try:
        encoded = content.encode() if isinstance(content, str) else content
        return None if _LONG_NUMBER in encoded.translate(_DIGITS_AS_ZEROS) else orjson.loads(encoded)
    except ValueError:  # JSONDecodeError and UnicodeError are subclasses
        return None


def has_each_key_once(text: str, value: Any) -> bool:
    """Return whether no object in a document repeats a key, given the value that was read from the document.

    False means that one might. Reading keeps only the last of equal keys, so the value, written again, has fewer colons
    than the document. Colons in strings count on both sides, unless they are escaped.
    """
    if "\\u" in text or orjson is None:
        return False
    try:
        return orjson.dumps(value).count(b":") == text.count(":")
    except orjson.JSONEncodeError:  # nested too deeply
        return False
