"""Reads a tool's JSON strictly. Each value knows its place, so that errors name its line and key. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from replay.tools.base import OutputError, number

Key = str | int
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class Place:
    """A value in a document, and the keys that lead to it from the outermost value.

    `value` is also None if there is no such value. An error then names the line of the value around it.
    """

    def __init__(self, source: _Source, value: Any, keys: tuple[Key, ...] = ()) -> None:
        self.value = value
        self.keys = keys
        self._source = source

    @property
    def name(self) -> str:
        """The keys as one text, `jobs[0].read`; empty for the outermost value."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).removeprefix(".")

    def at(self, *keys: Key) -> Place:
        """Return the place that further keys lead to."""
        here = self.value
        for key in keys:
            if isinstance(key, int):
                here = here[key] if isinstance(here, list) and key < len(here) else None
            else:
                here = here.get(key) if isinstance(here, dict) else None
        return Place(self._source, here, (*self.keys, *keys))

    def refuse(self, what: str, *, key: Key | None = None, reason: str = "unparsable") -> NoReturn:
        """Raise OutputError about this value, or about the one at `key` in it, naming its line."""
        line = self._source.line((*self.keys, key) if key is not None else self.keys)
        said = f"{self.name}: {what}" if self.keys else what
        raise OutputError(said, file=self._source.file, line=line, reason=reason)

    def number(self, key: Key) -> float:
        """Return the finite number of 0 or more at a key. Raises OutputError."""
        value = number(self.value.get(key) if isinstance(self.value, dict) else self.at(key).value)
        if value is None or value < 0:
            self.refuse(f"no number {key!r}", key=key)
        return value

    def whole(self, key: Key) -> int:
        """Return the whole number of 0 or more at a key. Raises OutputError."""
        value = self.at(key).value
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.refuse(f"no whole number {key!r}", key=key)
        return value

    def object(self, *keys: Key) -> Place:
        """Return the place of a JSON object. Raises OutputError if there is none."""
        place = self.at(*keys)
        if not isinstance(place.value, dict):
            place.refuse(f"no object {'.'.join(map(str, keys))!r}")
        return place

    def rows(self, key: Key) -> list[Place]:
        """Return the places of a list's members. Raises OutputError if there is no list."""
        listed = self.at(key)
        if not isinstance(listed.value, list):
            self.refuse(f"{key} is not a list", key=key)
        return [listed.at(index) for index in range(len(listed.value))]


def read_json(text: str, file: str, *, start: int = 0, may_repeat: Callable[[Any], bool] = lambda _: False) -> Place:
    """Return the outermost place of the only JSON document in `text` from `start` on.

    A key may occur twice in an object if both values are equal, or if `may_repeat` allows both values.
    Raises OutputError for anything but JSON, for `NaN`, for a key with two values, and if anything follows.
    """
    source = _Source(text, file, _SPACE.match(text, start).end())
    return Place(source, _read_strictly(source, may_repeat))


def _read_strictly(source: _Source, may_repeat: Callable[[Any], bool]) -> Any:
    """Return the value that `read_json` reads. Raises OutputError as it does."""
    text, file = source.text, source.file

    def constant(word: str) -> NoReturn:
        raise _RefusedError(f"{word} is not a number", text.find(word, source.start))

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        found = {}
        for key, value in pairs:
            if found.get(key, value) != value and not (may_repeat(value) and may_repeat(found[key])):
                raise _RefusedError(f"{key!r} occurs twice: output of two runs is mixed", source.start)
            found[key] = value
        return found

    try:
        value, end = json.JSONDecoder(parse_constant=constant, object_pairs_hook=once).raw_decode(text, source.start)
    except json.JSONDecodeError as error:
        raise OutputError(f"not JSON: {error.msg}", file=file, line=error.lineno) from None
    except _RefusedError as error:
        raise OutputError(str(error), file=file, line=source.line_at(error.offset)) from None
    except (ValueError, RecursionError) as error:
        raise OutputError(f"not a tool's JSON: {error}"[:200], file=file, line=source.line_at(source.start)) from None
    rest = _SPACE.match(text, end).end()
    if rest < len(text):
        what = "something follows the JSON: output of two runs is mixed"
        raise OutputError(what, file=file, line=source.line_at(rest))
    return value


class _RefusedError(Exception):
    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.offset = offset


@dataclass(frozen=True)
class _Source:
    """The text that a document was read from, at `start`."""

    text: str
    file: str
    start: int

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def line(self, keys: tuple[Key, ...]) -> int:
        """Return the line of a value, or of the innermost existing value around it."""
        offset = self.start
        for key in keys:
            inner = self._member(offset, key)
            if inner is None:
                break
            offset = inner
        return self.line_at(offset)

    def _member(self, offset: int, wanted: Key) -> int | None:
        """Return where the member `wanted` of the object or list at `offset` begins; of a repeated key, the last."""
        found = [start for key, start, _ in members(self.text, offset) if key == wanted]
        return found[-1] if found else None


def members(text: str, offset: int) -> Iterator[tuple[Key, int, int]]:
    """Yield (key or index, start, end) of each member of the valid JSON object or list at `offset`; else nothing."""
    opening, index = text[offset], 0
    if opening not in "{[":
        return
    at = _skip(text, offset + 1)
    while text[at] not in "}]":
        key: Key = index
        if opening == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        yield key, at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
        index += 1


def _skip(text: str, offset: int) -> int:
    return _SPACE.match(text, offset).end()
