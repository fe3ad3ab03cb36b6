"""The runs of tools found in files, before they are arranged as points, variants and repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: Half-open ranges of characters, or of bytes, in rising order.
Ranges = tuple[tuple[int, int], ...]
Level = str | int


@dataclass(frozen=True)
class Found:
    """A run as one file reports it.

    `tool` is the reader in `tools/imported`. `parts` are the characters of the file that report it. `levels` are the
    factors that every run of the tool has; `options` are all others that may change what it measures, as text. `job`
    is the name that a person gave it. `reported_at` is when it ended according to the tool, in UTC.
    """

    tool: str
    parts: Ranges
    levels: Mapping[str, Level]
    options: Mapping[str, str] = field(default_factory=dict)
    job: str = ""
    reported_at: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class NotTaken:
    """A part of a known tool's file that is not imported, and why."""

    why: str


@dataclass(frozen=True)
class Part:
    """The place of a run's text: bytes of an original. `whole`: all of them."""

    folder: int
    path: str
    sha256: str
    size: int
    ranges: Ranges

    @property
    def whole(self) -> bool:
        """Whether the text of the run is the original itself."""
        return self.ranges == ((0, self.size),)

    def cut(self, original: bytes) -> bytes:
        """Return the text of the run."""
        return b"".join(original[start:end] for start, end in self.ranges)


@dataclass(frozen=True)
class Run:
    """A run whose outputs were read: the facts of `Found`, the places of its texts, and the metrics that it states."""

    tool: str
    parts: tuple[Part, ...]
    levels: Mapping[str, Level]
    options: Mapping[str, str]
    job: str
    reported_at: str | None
    version: str | None
    metrics: frozenset[str]

    @property
    def folder(self) -> int:
        """The number of the folder in which it was found."""
        return self.parts[0].folder

    @property
    def path(self) -> str:
        """The file in which it was found: the first one, if there are several."""
        return self.parts[0].path


def joined(ranges: Sequence[tuple[int, int]]) -> Ranges:
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
