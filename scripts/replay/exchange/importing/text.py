"""The text of a file, and parts of it: where a line is in the file, and what stood before it in a log. Pure."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

#: Half-open ranges of characters, or of bytes, in rising order.
Ranges = tuple[tuple[int, int], ...]
#: Bytes that binary files have near their beginning.
_SNIFFED = 8192
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
#: As long as what a log puts before a line can be.
LONGEST_PREFIX = 200
#: The parts of what a log puts before a line that may differ from line to line.
_VARIES = re.compile(r"\d+|\s+|[^\d\s]+")


@dataclass(frozen=True)
class Text:
    """The text of a file. Its first `mark` bytes say that it is in this `encoding`."""

    text: str
    encoding: str = "utf-8"
    mark: int = 0

    def in_bytes(self, ranges: Ranges) -> Ranges:
        """Return ranges of characters as ranges of bytes of the file."""
        places, sizes, last, size = sorted({end for one in ranges for end in one}), {}, 0, self.mark
        for place in places:
            part = self.text[last:place]
            size += len(part) if part.isascii() and self.encoding == "utf-8" else len(part.encode(self.encoding))
            last = place
            sizes[place] = size
        return tuple((sizes[start], sizes[end]) for start, end in ranges)


def decoded(content: bytes) -> Text | str:
    """Return the text of a file in UTF-8, or in UTF-16 with its mark; or why it is no text."""
    mark, encoding = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", "utf-8"))
    if b"\0" in content[:_SNIFFED] and encoding == "utf-8":
        return "not text"
    try:
        return Text(content[len(mark) :].decode(encoding), encoding, len(mark))
    except UnicodeDecodeError:
        return f"not {encoding[:6].upper()} text"


class View:
    """Some lines of a text without what stands before each of them. `text` is what is left, as one text."""

    def __init__(self, whole: str, pieces: Sequence[tuple[int, int]]) -> None:
        self._pieces = list(pieces)
        self._starts = [0, *accumulate(end - start for start, end in self._pieces)]
        self.text = "".join(whole[start:end] for start, end in self._pieces)

    def ranges(self, start: int, end: int) -> Ranges:
        """Return where a part of this text is in the whole one."""
        found = []
        for index in range(max(0, bisect_right(self._starts, start) - 1), len(self._pieces)):
            at, (begin, stop) = self._starts[index], self._pieces[index]
            if at >= end:
                break
            found.append((begin + max(0, start - at), min(stop, begin + end - at)))
        return joined(found)


def whole(text: str) -> View:
    """Return all of a text."""
    return View(text, [(0, len(text))])


def lines(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where each line from `start` on begins and ends, with its newline."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield start, end
        start = end


def without_prefix(text: str, at: int) -> View | None:
    """Return the lines that begin like the one with the character `at`, without what stands before it in that line.

    A log puts a time, a host or a `>` there: numbers and blanks may differ. None if nothing but blanks stands before.
    """
    prefix = text[text.rfind("\n", 0, at) + 1 : at]
    if not prefix.strip() or len(prefix) > LONGEST_PREFIX:
        return None
    pattern = re.compile("".join(
        r"\d+" if part.isdigit() else r"[ \t]+" if part.isspace() else re.escape(part)
        for part in _VARIES.findall(prefix)
    ))  # fmt: skip
    matches = ((pattern.match(text, start, end), end) for start, end in lines(text))
    return View(text, [(match.end(), end) for match, end in matches if match])


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the ranges without empty ones, adjacent ones joined."""
    found: list[tuple[int, int]] = []
    for start, end in ranges:
        if start == end:
            continue
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)
