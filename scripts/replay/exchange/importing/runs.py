"""The runs that a file reports: where each is in its text, and the command line before it in a log. Pure."""

from __future__ import annotations

import codecs
import json
import re
import shlex
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

#: Half-open ranges of characters, or of bytes, in rising order.
Ranges = tuple[tuple[int, int], ...]
#: Bytes that binary files have near their beginning.
_SNIFFED = 8192
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
#: As long as what a log puts before a line can be.
LONGEST_PREFIX = 200
#: The parts of what a log puts before a line that may differ from line to line.
_VARIES = re.compile(r"\d+|\s+|[^\d\s]+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
JSON = json.JSONDecoder()


@dataclass(frozen=True)
class Text:
    """The text of a file. Its first `mark` bytes say that it is in this `encoding`."""

    text: str
    encoding: str = "utf-8"
    mark: int = 0

    def in_bytes(self, ranges: Ranges) -> Ranges:
        """Return ranges of characters as ranges of bytes of the file."""
        places, sizes, last, size = sorted({end for span in ranges for end in span}), {}, 0, self.mark
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


class TextView:
    """Some lines of a text without what stands before each of them. `text` is what is left, as one text."""

    def __init__(self, whole: str, pieces: Sequence[tuple[int, int]]) -> None:
        self._pieces = list(pieces)
        self._starts = [0, *accumulate(end - start for start, end in self._pieces)]
        self.text = "".join(whole[start:end] for start, end in self._pieces)

    def ranges_of(self, parts: Iterable[tuple[int, int]]) -> Ranges:
        """Return where parts of this text, in rising order, are in the whole one."""
        spans = []
        for start, end in joined(parts):
            for index in range(max(0, bisect_right(self._starts, start) - 1), len(self._pieces)):
                at, (begin, stop) = self._starts[index], self._pieces[index]
                if at >= end:
                    break
                spans.append((begin + max(0, start - at), min(stop, begin + end - at)))
        return joined(spans)


def whole_text(text: str) -> TextView:
    return TextView(text, [(0, len(text))])


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each line begins and ends, with its newline."""
    return (match.span() for match in _LINE.finditer(text))


def json_in(text: str, begins: re.Pattern[str]) -> Iterator[tuple[int, int, Any]]:
    """Yield (start, end, value) of each JSON document behind a match; if one is not whole, its value is the error."""
    at = 0
    while match := begins.search(text, at):
        start = match.end()
        try:
            value, at = JSON.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            value, at = error, start + 1
        yield start, at, value


def view_of(text: str, anchor: re.Pattern[str]) -> TextView:
    """Return the lines that begin like the first one with an anchor, without what stands before it in that line.

    A log puts a time, a host or a `>` there: numbers and blanks may differ. If nothing but blanks stands before, or if
    there is no anchor, that is the whole text.
    """
    match = anchor.search(text)
    at = match.start() if match else 0
    prefix = text[text.rfind("\n", 0, at) + 1 : at]
    if not prefix.strip() or len(prefix) > LONGEST_PREFIX:
        return whole_text(text)
    pattern = re.compile("".join(
        r"\d+" if part.isdigit() else r"[ \t]+" if part.isspace() else re.escape(part)
        for part in _VARIES.findall(prefix)
    ))  # fmt: skip
    matches = ((pattern.match(text, start, end), end) for start, end in lines(text))
    return TextView(text, [(match.end(), end) for match, end in matches if match])


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the ranges without empty ones, adjacent ones joined."""
    whole: list[tuple[int, int]] = []
    for start, end in ranges:
        if start == end:
            continue
        if whole and whole[-1][1] == start:
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return tuple(whole)


Level = str | int


@dataclass(frozen=True)
class Found:
    """A run as one file reports it.

    `tool` is the Reader that reads it. `parts` are the characters of the file that report it. `levels` are the factors
    that every run of the tool has; a level that the file does not state is missing. `options` are all others that may
    change what it measures, as text. `job` is the name that a person gave it, `place` its place among the jobs of its
    report that ran one after another. `reported_at` is when it ended according to the tool, in UTC. `notes` say what a
    person should know about its levels. `logs` are the beginnings of the names of its logs over time, by their kind.
    """

    tool: str
    parts: Ranges
    levels: Mapping[str, Level]
    options: Mapping[str, str] = field(default_factory=dict)
    job: str = ""
    place: str = ""
    reported_at: str | None = None
    version: str | None = None
    notes: tuple[str, ...] = ()
    logs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TextPart:
    """The place of a run's text: bytes of an original. `whole`: all of them. `role` is that of its file."""

    folder: int
    path: str
    sha256: str
    size: int
    ranges: Ranges
    encoding: str = "utf-8"
    role: str = ""

    @property
    def file(self) -> tuple[int, str]:
        """The original: the number of its folder, and its path there."""
        return self.folder, self.path

    @property
    def whole(self) -> bool:
        """Whether the text of the run is the original itself."""
        return self.ranges == ((0, self.size),)

    def cut(self, original: bytes) -> bytes:
        """Return the text of the run in UTF-8."""
        part = b"".join(original[start:end] for start, end in self.ranges)
        return part if self.encoding == "utf-8" else part.decode(self.encoding).encode()


@dataclass(frozen=True)
class FoundRun(Found):
    """A run whose outputs were read: what was found, the places of its texts, and the metrics that it states.

    `parts` are the outputs of processes that ran at once, then its logs over time. `series` are the metrics that it
    states over time.
    """

    parts: tuple[TextPart, ...]
    metrics: frozenset[str] = frozenset()
    series: frozenset[str] = frozenset()

    @property
    def folder(self) -> int:
        """The number of the folder in which it was found."""
        return self.parts[0].folder

    @property
    def path(self) -> str:
        """The file in which it was found: the first one, if there are several."""
        return self.parts[0].path


# The command line that stands before an output in a log or a note: what it asked for. An output that states less takes
# its levels from there, and one that states something else is refused.

_CONTINUED = re.compile(r"\\[ \t\r]*\n")


def commands(text: str, program: str, *needed: str) -> Iterator[list[str]]:
    """Yield the words after `program` in each line of a text that runs it with one of the `needed` words, last first.

    A line that ends in a backslash goes on in the next one.
    """
    for line in reversed(_CONTINUED.sub(" ", text).splitlines()):
        if program not in line:
            continue
        try:
            words = shlex.split(line.strip().strip("`"), comments=False)
        except ValueError:
            continue
        names = [word.rpartition("/")[2] for word in words]
        if program in names and (not needed or set(needed) & set(words)):
            yield words[names.index(program) + 1 :]


def option(words: Sequence[str], *names: str) -> str | None:
    """Return an option's value: of `--name value`, `--name=value`, `-n value` or `-nvalue`."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, sign, value = word.partition("=")
        if name in names:
            return value if sign else following
        if word[:2] in names:
            return word[2:]
    return None


def whole_number(text: str | None) -> int | None:
    """Return a whole number, None if the text is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 15 else None


def with_command(levels: Mapping[str, Level], asked: Mapping[str, Level | None]) -> dict[str, Level] | str:
    """Return levels with those that only the command line states; a reason if it states others than the output."""
    together = dict(levels)
    for name, value in asked.items():
        if value is None:
            continue
        if together.setdefault(name, value) != value:
            return f"its command line asks for {name} {value}, its output says {together[name]}"
    return together
