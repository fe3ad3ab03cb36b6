"""Reads a tool's JSON. Each value knows the keys that lead to it, so that errors name them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from replay.tools.base import OutputError, number

Key = str | int
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True)
class Place:
    """A value in a document, and the keys that lead to it. `value` is also None if there is no such value."""

    file: str
    value: Any
    keys: tuple[Key, ...] = ()

    @property
    def name(self) -> str:
        """The keys as one text, `jobs[0].read`; empty for the outermost value."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).removeprefix(".")

    def at(self, *keys: Key) -> Place:
        """Return the place that further keys lead to."""
        inner = self.value
        for key in keys:
            if isinstance(key, int):
                inner = inner[key] if isinstance(inner, list) and key < len(inner) else None
            else:
                inner = inner.get(key) if isinstance(inner, dict) else None
        return Place(self.file, inner, (*self.keys, *keys))

    def refuse(self, what: str, *, reason: str = "unparsable") -> NoReturn:
        """Raise OutputError about this value."""
        raise OutputError(f"{self.name}: {what}" if self.keys else what, file=self.file, reason=reason)

    def number(self, key: Key) -> float:
        """Return the finite number of 0 or more at a key. Raises OutputError."""
        value = number(self.at(key).value)
        if value is None or value < 0:
            self.refuse(f"no number {key!r}")
        return value

    def whole(self, key: Key) -> int:
        """Return the whole number of 0 or more at a key. Raises OutputError."""
        value = self.at(key).value
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.refuse(f"no whole number {key!r}")
        return value

    def object(self, *keys: Key) -> Place:
        """Return the place of a JSON object. Raises OutputError if there is none."""
        place = self.at(*keys)
        if not isinstance(place.value, dict):
            self.refuse(f"no object {'.'.join(map(str, keys))!r}")
        return place

    def rows(self, key: Key) -> list[Place]:
        """Return the places of a list's members. Raises OutputError if there is no list."""
        listed = self.at(key)
        if not isinstance(listed.value, list):
            self.refuse(f"no list {key!r}")
        return [listed.at(index) for index in range(len(listed.value))]


def read_json(text: str, file: str, *, start: int = 0, may_repeat: Callable[[Any], bool] = lambda _: False) -> Place:
    """Return the outermost place of the only JSON document in `text` from `start` on.

    A key may occur twice in an object if both values are equal, or if `may_repeat` allows both values. Raises
    OutputError for anything but JSON, for a key with two values, and if anything follows.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        known = dict(pairs)
        if len(known) < len(pairs):
            for key, value in pairs:
                if known[key] != value and not (may_repeat(value) and may_repeat(known[key])):
                    raise OutputError(f"{key!r} occurs twice: output of two runs is mixed", file=file)
        return known

    try:
        decoder = json.JSONDecoder(object_pairs_hook=once)
        value, end = decoder.raw_decode(text, _SPACE.match(text, start).end())
    except json.JSONDecodeError as error:
        raise OutputError(f"not JSON: {error.msg}", file=file, line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise OutputError(f"not a tool's JSON: {error}"[:200], file=file) from None
    rest = _SPACE.match(text, end).end()
    if rest < len(text):
        line = text.count("\n", 0, rest) + 1
        raise OutputError("something follows the JSON: output of two runs is mixed", file=file, line=line)
    return Place(file, value)
